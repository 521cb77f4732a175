"""Rules of one's own, live: rewards that add up, rewards learned by arm, and rewards learned one after another."""

import dataclasses
import json
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from rich.console import Console
from scipy import stats
from tests.online.scenes import ARMS, Ticker, assert_same_evidence, ids

import driftbandit as db
import own_policies
from driftbandit.compiling import gears
from driftbandit.engine.cpu import shard
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.exact.choice import arm_probabilities, rule_probabilities
from driftbandit.online import Bandit
from driftbandit.policies import Clock, Posterior, Rule, posterior
from own_policies import EXAMPLES
from rules import RULES, Given, Plain

ADDITIVE = [policy for policy in EXAMPLES if policy.rule(4).learning == "additive"]
IN_ORDER = [policy for policy in EXAMPLES if policy.rule(4).learning != "additive"]


def rewarded(policy: db.Policy, horizon: int, n_arms: int, rewards: str = "bernoulli") -> Iterator[tuple[int, float]]:
    """The decisions of run 0, and what each earned."""
    environment = db.Sinusoidal(period=60.5, n_arms=n_arms, rewards=rewards)
    steps = tuple(range(1, horizon + 1))
    outcome = run_shard(Shard(policy, environment, horizon, seed=11, first_run=0, runs=1, steps=steps))
    earned = np.diff(outcome.reward[0], prepend=0.0)
    yield from zip(outcome.choices.argmax(axis=1).tolist(), earned.tolist(), strict=True)


@pytest.mark.parametrize("policy", EXAMPLES, ids=ids)
def test_decisions_are_those_of_the_simulation(policy: db.Policy) -> None:
    bandit = Bandit(range(4), policy, seed=11)
    for arm, reward in rewarded(policy, 400, 4):
        decision = bandit.select()
        assert decision.arm == arm, f"step {decision.id}"
        bandit.reward(decision.id, float(round(reward)))


@pytest.mark.parametrize("rewards", ["bernoulli", "mean"])
@pytest.mark.parametrize("name", RULES)
def test_every_part_of_a_rule_does_what_it_does_in_a_simulation(
    name: str, rewards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard, "CPU", Plain())
    monkeypatch.setattr(gears._background, "start", lambda: None)  # nothing is compiled
    policy = Given(given=dataclasses.replace(RULES[name], learning="sequential"))
    bandit = Bandit(range(3), policy, seed=11)
    environment = db.Sinusoidal(period=60.5, n_arms=3, rewards=rewards)
    for arm, reward in rewarded(policy, 150, 3, rewards):
        decision = bandit.select()
        assert decision.arm == arm, f"step {decision.id}"
        if rewards == "mean":
            reward = float(environment.means_at(np.array([decision.id]))[0, arm])
        bandit.reward(decision.id, float(round(reward)) if rewards == "bernoulli" else reward)


ADD_UP_TOO: dict[str, Rule] = {
    "one number": RULES["one number"],
    "a decay each": dataclasses.replace(RULES["a decay each"], decay=(0.5, 0.9)),
    "exploration": RULES["exploration"],
    "exploration that fades": RULES["exploration that fades"],
    "luck and a mixture": RULES["luck and a mixture"],
    "an optimistic mixture": RULES["an optimistic mixture"],
    "weights and exploration": RULES["weights and exploration"],
    "weights of another kind": RULES["weights of another kind"],
    "weights and luck": dataclasses.replace(
        RULES["weights and exploration"],
        log_weight=lambda p, shared, n, s: (2.0 + shared) * s / (n + 1.0),
        context=lambda p, total, luck: 0.0 if luck < 0.3 else 1.0,
        luck=True,
        pieces=lambda p, total: (0.3, 1.0),
    ),
    "an index and luck": dataclasses.replace(
        RULES["exploration"],
        context=lambda p, total, luck: 0.0 if luck < 0.3 else 1.0,
        luck=True,
        pieces=lambda p, total: (0.3, 1.0),
    ),
    "a start that fades": dataclasses.replace(RULES["exploration"], initial=(0.7, 0.2), decay=0.9),
    "a start that fades, again and again": dataclasses.replace(
        RULES["exploration"], initial=(0.7, 0.2), decay=0.9, restart=35
    ),
    "a start and a window": dataclasses.replace(
        RULES["exploration"], initial=(0.7, 0.2), window=20, unlearn=lambda p, n, s, reward: (n - 1.0, s - reward)
    ),
}


@pytest.mark.parametrize("name", ADD_UP_TOO)
def test_what_adds_up_does_so_too(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "CPU", Plain())
    monkeypatch.setattr(gears._background, "start", lambda: None)  # nothing is compiled
    policy = Given(given=dataclasses.replace(ADD_UP_TOO[name], learning="additive"))
    bandit = Bandit(range(3), policy, seed=11)
    for arm, reward in rewarded(policy, 250, 3):
        expected = bandit.probabilities()
        decision = bandit.select()
        assert decision.probability == pytest.approx(expected[arm], rel=1e-12)
        assert decision.arm == arm, f"step {decision.id}"
        bandit.reward(decision.id, float(round(reward)))


# Probabilities


@pytest.mark.parametrize("floor", [0.0, 0.04])
@pytest.mark.parametrize("policy", EXAMPLES, ids=ids)
def test_probabilities_match_the_frequencies_of_choice(policy: db.Policy, floor: float) -> None:
    """Choice minus probability is a martingale: its sum, by arm and by size of probability, stays within 4.5 errors."""
    rng = np.random.default_rng(8)
    clock = Ticker()
    options: dict[str, Any] = {"minimum_probability": floor, "wait": 4.0, "default_reward": 0.0}
    bandit = Bandit(list("abcd"), policy, seed=21, step_seconds=3.0, clock=clock, **options)
    means = {"a": 0.2, "b": 0.5, "c": 0.6, "d": 0.8, "e": 0.7}
    surplus: dict[Any, float] = {}
    variance: dict[Any, float] = {}
    for step in range(700):
        clock.now += float(rng.exponential(1.0))
        if step == 200:
            bandit.add("e")
        if step == 450:
            bandit.remove("c")
        mask = None
        if rng.random() < 0.3:
            mask = list(rng.permutation(list(bandit.arms))[: int(rng.integers(1, len(bandit)))])
        expected = bandit.probabilities(arms=mask)
        decision = bandit.select(arms=mask)
        assert sum(expected.values()) == pytest.approx(1.0, abs=1e-10)
        assert decision.probability == pytest.approx(expected[decision.arm], rel=1e-10)
        assert decision.probability > 0.0
        assert min(expected.values()) >= floor
        for arm, chance in expected.items():
            for group in (arm, int(5 * chance)):
                surplus[group] = surplus.get(group, 0.0) + (arm == decision.arm) - chance
                variance[group] = variance.get(group, 0.0) + chance * (1.0 - chance)
        if rng.random() < 0.8:
            bandit.reward(decision.id, float(rng.random() < means[decision.arm]))
    for group, total in surplus.items():
        assert abs(total) <= 4.5 * np.sqrt(variance[group]) + 1e-9, group


def swapped_index(p: Any, shared: float, b: float, a: float) -> float:
    return (b + math.sqrt(shared * a)) / a if a > 0.0 else math.inf


def swapped_observe(p: Any, b: float, a: float, reward: float, probability: float) -> tuple[float, float]:
    return b + reward, a + 1.0


def log_of_total(p: Any, total: float) -> float:
    return 2.0 * math.log(max(total, 1.0))


SWAPPED = Rule(selection="index", score=swapped_index, context=log_of_total, learn=swapped_observe, parameters=())


@pytest.mark.parametrize("learning", ["additive", "sequential"])
def test_probabilities_are_of_the_true_number_of_observations(learning: Any) -> None:
    """UCB1 with its two numbers the other way round, whose sum of rewards is no number of observations."""
    bandit = Bandit(ARMS, Given(given=dataclasses.replace(SWAPPED, learning=learning)), seed=1)
    plain = Bandit(ARMS, db.UCB1(), seed=1)
    rng = np.random.default_rng(4)
    for _ in range(400):
        expected = bandit.probabilities()
        decision, same = bandit.select(), plain.select()
        assert decision.arm == same.arm
        assert decision.probability == expected[decision.arm] == same.probability
        reward = float(rng.random())
        bandit.reward(decision.id, reward)
        plain.reward(same.id, reward)


def test_the_probability_of_a_mixture_is_that_of_the_time_of_the_choice() -> None:
    bandit = Bandit(ARMS, own_policies.DiscountMixture(), seed=1)
    for number in range(30):
        bandit.reward(bandit.select().id, float(number % 3 == 0))
    before = bandit.probabilities()
    decision = bandit.select()
    for _ in range(30):
        bandit.reward(bandit.select().id, 1.0)
    assert decision.probability == pytest.approx(before[decision.arm], rel=1e-12)
    assert bandit.probabilities() != before


def falling(p: Any, step: float) -> float:
    return 1.0 / step


@pytest.mark.parametrize("step_seconds", [None, 1.0])
def test_exploration_knows_the_step(step_seconds: float | None) -> None:
    """A decision's own number, counted from 1, also by the clock."""
    policy = Given(given=dataclasses.replace(SWAPPED, explore=falling))
    clock = Ticker(5.0)
    bandit = Bandit(["a", "b"], policy, seed=1, step_seconds=step_seconds, clock=clock)
    for arm, value in (("a", 1.0), ("b", 0.0)) * 5:
        bandit.reward(bandit.select(arms=[arm]).id, value)
    share = 1.0 / 11.0
    assert bandit.probabilities() == pytest.approx({"a": 1.0 - share / 2.0, "b": share / 2.0})


def test_scores_without_bounds_choose_an_arm_that_is_there() -> None:
    for value in (-math.inf, math.inf):
        rule = dataclasses.replace(SWAPPED, score=lambda p, shared, b, a, value=value: value)
        bandit = Bandit(ARMS, Given(given=rule), seed=1)
        assert {bandit.select().arm for _ in range(100)} == set(ARMS)
        assert {bandit.select(arms=["b"]).arm for _ in range(20)} == {"b"}
        assert bandit.select().probability == 0.25


# State


def lived(bandit: Bandit, clock: Ticker, rng: np.random.Generator, steps: int, waiting: list[Any]) -> list[Any]:
    made = []
    for _ in range(steps):
        clock.now += float(rng.exponential(1.0))
        arms = [arm for arm in bandit.arms if rng.random() < 0.7] if rng.random() < 0.3 else None
        decision = bandit.select(arms=arms or None)
        made.append((decision.id, decision.arm, decision.time, decision.probability))
        waiting.append(decision.id)
        while waiting and rng.random() < 0.7:
            bandit.reward(waiting.pop(int(rng.integers(len(waiting)))), float(rng.random() < 0.5))
    return made


@pytest.mark.parametrize("step_seconds", [None, 2.0])
@pytest.mark.parametrize("policy", EXAMPLES, ids=ids)
def test_a_restored_bandit_decides_as_one_that_never_stopped(
    policy: db.Policy, step_seconds: float | None, tmp_path: Path
) -> None:
    for before in (0, 1, 60):
        clock, waiting = Ticker(), []  # type: ignore[var-annotated]
        rng = np.random.default_rng(before)
        options: dict[str, Any] = {"step_seconds": step_seconds, "minimum_probability": 0.05}
        bandit = Bandit(ARMS, policy, seed=9, clock=clock, wait=25.0, default_reward=0, **options)
        lived(bandit, clock, rng, before, waiting)
        bandit.add("late")
        bandit.remove("b")
        lived(bandit, clock, rng, 5, waiting)
        bandit.save(tmp_path / "bandit.json")
        copy_clock, copy_waiting = Ticker(clock.now), list(waiting)
        copy = Bandit.load(tmp_path / "bandit.json", clock=copy_clock, continued=True)
        assert copy.state() == bandit.state()
        rng_state = rng.bit_generator.state
        expected = lived(bandit, clock, rng, 60, waiting)
        rng.bit_generator.state = rng_state
        assert lived(copy, copy_clock, rng, 60, copy_waiting) == expected
        assert copy.state() == bandit.state()


@pytest.mark.parametrize("policy", EXAMPLES, ids=ids)
def test_the_log_leads_to_the_same_state(policy: db.Policy) -> None:
    log: list[dict[str, Any]] = []
    clock = Ticker()
    bandit = Bandit(ARMS, policy, seed=9, clock=clock, step_seconds=1.5, log=log.append)
    rng, waiting = np.random.default_rng(2), []  # type: ignore[var-annotated]
    for _ in range(120):
        clock.now += float(rng.exponential(1.0))
        waiting.append(bandit.select().id)
        while waiting and rng.random() < 0.5:
            bandit.reward(waiting.pop(int(rng.integers(len(waiting)))), float(rng.random()))
    again = Bandit(ARMS, policy, seed=9, clock=clock, step_seconds=1.5)
    for event in json.loads(json.dumps(log))[1:]:
        if event["event"] == "decision":
            decision = again.select(time=event["time"])
            assert (decision.id, decision.arm) == (event["id"], event["arm"])
        else:
            assert again.reward(event["id"], event["reward"]) == event["status"]
    assert again.state() | {"log": None} == bandit.state() | {"log": None}


SPOILED: list[tuple[str, Any]] = [
    ("common", [0.0]),
    ("common", [0.0, 0.0, "x"]),
    ("common", None),
    ("common", 3),
    ("histories", [[0, 1, []]]),
    ("histories", [[0, 1, [0.5, 0.5]]]),
    ("histories", [[0, -1, []]]),
    ("histories", [[0, 1, ["x"]]]),
    ("histories", [[0, 1, 3]]),
    ("histories", [[9, 0, []]]),
    ("histories", [[0, 1]]),
    ("window", [[0.0, 0, 1.0, 4]]),
    ("window", [[0.0, 9, 1.0]]),
    ("window", [[1.0, 0, 1.0], [0.0, 0, 1.0]]),
    ("table", [[0] + [0.0] * 9]),
    ("table", [[0] + [0.0] * 10]),
    ("parts", [[1, []]]),
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Everything(db.Policy):
    """A rule with shared numbers, a history and a window of steps."""

    name: ClassVar[str] = "everything-for-a-test"

    def rule(self, n_arms: int) -> Rule:
        rule = own_policies.MonitoredUCB().rule(n_arms)
        return dataclasses.replace(
            rule,
            common=(0.0, 0.0, 0.0),
            context=total_and_more,
            notice=counted,
            window=9,
            unlearn=own_policies.forget,
            drift=(0.0, 0.0),
        )


def total_and_more(p: Any, total: float, *common: float) -> float:
    return 2.0 * math.log(max(total, 1.0))


def counted(p: Any, common: Any, own: Any, reward: float, probability: float) -> tuple[float, float, float]:
    return common[0] + 1.0, common[1] + reward, own[0]


@pytest.mark.parametrize(("name", "value"), SPOILED, ids=[f"{name}={str(value)[:30]}" for name, value in SPOILED])
def test_a_spoiled_state_is_answered_in_one_line(name: str, value: Any) -> None:
    bandit = Bandit(ARMS, Everything(), seed=1)
    for _ in range(20):
        bandit.reward(bandit.select().id, 1.0)
    state = json.loads(json.dumps(bandit.state()))
    assert Bandit.from_state(state).state() == state
    evidence = state["evidence"]
    for spoiled in ({**evidence, name: value}, {key: entry for key, entry in evidence.items() if key != name}):
        with pytest.raises(db.InvalidValue) as caught:
            Bandit.from_state({**state, "evidence": spoiled})
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("policy", IN_ORDER, ids=ids)
def test_what_is_learned_in_order_cannot_be_merged(policy: db.Policy, tmp_path: Path) -> None:
    bandits = [Bandit(ARMS, policy, seed=1, replica=k) for k in range(2)]
    for merge in (lambda: Bandit.merge(bandits), lambda: Bandit.from_state(bandits[0].state(), replica=7)):
        with pytest.raises(db.InvalidValue, match=r"cannot be merged.*in the order in which they come") as caught:
            merge()
        assert "\n" not in str(caught.value)
    assert Bandit.from_state(bandits[1].state(), replica=1).state() == bandits[1].state()


THREE = Rule(
    selection="index",
    score=lambda p, shared, b, a, c: (a + 1.0) / (b + c + 1.0),
    learn=lambda p, b, a, c, reward, probability: (b + reward, a + 1.0, c + 2.0 * reward),
    parameters=(),
    initial=(0.5, 0.0, 2.0),
    decay=(0.3, 0.9, 1.0),
)


@pytest.mark.parametrize("policy", [*ADDITIVE, Given(given=THREE)], ids=lambda policy: policy.name)
def test_what_adds_up_comes_late_in_any_order_and_merges(policy: db.Policy) -> None:
    clock = Ticker()
    rng = np.random.default_rng(3)
    replicas = [Bandit(ARMS, policy, seed=3, replica=k, step_seconds=2.0, clock=clock) for k in range(2)]
    one = Bandit(ARMS, policy, seed=3, replica=2, step_seconds=2.0, clock=clock)
    pairs: list[list[Any]] = [[], [], []]
    for _ in range(50):
        clock.now += float(rng.exponential(1.0))
        replica, arm, value = int(rng.integers(2)), ARMS[int(rng.integers(4))], float(rng.random() < 0.5)
        pairs[replica].append((replicas[replica].select(arms=[arm]).id, value))
        pairs[2].append((one.select(arms=[arm]).id, value))
    one.rewards(pairs[2])
    for replica in range(2):
        replicas[replica].rewards(reversed(pairs[replica]))
    assert_same_evidence(Bandit.merge(replicas), one)


# Time


def test_what_an_arm_starts_with_fades_from_its_start() -> None:
    clock = Ticker(5000.0)
    rule = dataclasses.replace(THREE, decay=0.5)
    bandit = Bandit(["a", "b"], Given(given=rule), seed=1, step_seconds=1.0, clock=clock)
    assert bandit.evidence()["a"] == (0.5, 0.0, 2.0, 0.0)
    bandit.select()
    assert bandit.evidence()["a"] == (0.5, 0.0, 2.0, 0.0)
    clock.now += 3.0
    bandit.select()
    bandit.add("c")
    assert bandit.evidence()["a"] == (0.0625, 0.0, 0.25, 0.0)
    assert bandit.evidence()["c"] == (0.5, 0.0, 2.0, 0.0)
    clock.now += 1.0
    assert Bandit.from_state(bandit.state(), clock=clock).evidence() == bandit.evidence()
    assert bandit.evidence()["c"] == (0.25, 0.0, 1.0, 0.0)


class Twin:
    """A rule's numbers as its docstring says, aged step by step and told of rewards as they come."""

    def __init__(self, rule: Rule, arms: list[Any]) -> None:
        self.rule = rule
        self.own = {arm: tuple(map(float, rule.initial)) for arm in arms}
        self.common = tuple(map(float, rule.common))
        self.past: dict[Any, list[float]] = {arm: [] for arm in arms}

    def age(self, steps: int) -> None:
        for _ in range(steps):
            for arm, own in self.own.items():
                aged = zip(own, self.rule.decays, self.rule.drifts, strict=True)
                self.own[arm] = tuple(x * d + c for x, d, c in aged)

    def learn(self, arm: Any, reward: float) -> None:
        rule, p, past = self.rule, self.rule.parameters, self.past[arm]
        self.common = rule.notice(p, self.common, self.own[arm], reward, 1.0)
        own = rule.learn(p, *self.own[arm], reward, 1.0)
        past.append(reward)
        if rule.window and len(past) > rule.window:
            own = rule.unlearn(p, *own, past[-1 - rule.window])
        self.own[arm] = own
        last = past[-rule.history :]
        history = ((np.array(last), len(last), rule.history),) if rule.history else ()
        if rule.alarm is not None and rule.alarm(p, *own, *history):
            for each in [arm] if rule.alarm_resets == "arm" else list(self.own):
                self.own[each], self.past[each] = tuple(map(float, rule.initial)), []
            self.common = tuple(map(float, rule.common)) if rule.alarm_resets == "all" else self.common


@pytest.mark.parametrize("step_seconds", [None, 2.0])
@pytest.mark.parametrize("policy", IN_ORDER, ids=ids)
def test_rewards_that_come_late_are_learned_as_they_come(policy: db.Policy, step_seconds: float | None) -> None:
    rng = np.random.default_rng(6)
    clock = Ticker(10_000.0)
    bandit = Bandit(ARMS, policy, seed=1, step_seconds=step_seconds, clock=clock)
    twin = Twin(policy.rule(4), ARMS)
    waiting: list[Any] = []
    for number in range(150):
        steps = int(rng.integers(0, 4))
        clock.now += steps * (step_seconds or 1.0)
        waiting.append(bandit.select())
        twin.age(1 if step_seconds is None else steps if number else 0)  # before the first decision nothing ages
        while waiting and rng.random() < 0.6:
            decision = waiting.pop(int(rng.integers(len(waiting))))
            reward = float(rng.random() < (0.8 if number < 75 else 0.2))
            assert bandit.reward(decision.id, reward) == "accepted"
            twin.learn(decision.arm, reward)
            for arm, seen in bandit.evidence().items():
                np.testing.assert_allclose(seen[:-1], twin.own[arm], rtol=1e-10, atol=1e-12)
    assert bandit._evidence.common() == pytest.approx(twin.common)


def test_fractions_of_a_step_count() -> None:
    """Two pauses age numbers as one of their length does, and looking ahead is what waiting leads to."""
    seen = []
    for pauses in ([3.0], [0.75, 2.25], [1.0, 1.0, 1.0], [0.1] * 30):
        clock = Ticker(0.0)
        bandit = Bandit(ARMS, own_policies.KalmanThompsonSampling(), seed=1, step_seconds=1.0, clock=clock)
        bandit.reward(bandit.select(arms=["a"]).id, 4.0)
        ahead = bandit.evidence(time=3.0)
        for pause in pauses:
            clock.now += pause
            bandit.select(arms=["b"])
        seen.append(bandit.evidence()["a"])
        assert seen[-1] == pytest.approx(ahead["a"], rel=1e-12)
    for other in seen[1:]:
        assert other == pytest.approx(seen[0], rel=1e-12)


def test_restarts_go_by_the_calendar() -> None:
    policy = Given(given=dataclasses.replace(own_policies.MonitoredUCB().rule(4), restart=10))
    clock = Ticker(3.0)
    bandit = Bandit(ARMS, policy, seed=1, step_seconds=1.0, clock=clock)
    early = [bandit.select() for _ in range(6)]
    bandit.reward(early[0].id, 1.0)
    assert sum(row[-1] for row in bandit.evidence().values()) == 1.0
    assert sum(row[-1] for row in bandit.evidence(time=10.0).values()) == 0.0
    clock.now = 11.0
    bandit.select()
    assert bandit.reward(early[1].id, 1.0) == "accepted"  # of the time before: nothing to learn
    assert sum(row[-1] for row in bandit.evidence().values()) == 0.0


def test_a_default_reward_is_learned_when_the_wait_is_over() -> None:
    clock = Ticker()
    options: dict[str, Any] = {"wait": 5.0, "default_reward": 1.0}
    policy = own_policies.CusumUCB(exploration=0.0)
    bandit = Bandit(ARMS, policy, seed=1, step_seconds=1.0, clock=clock, **options)
    decision = bandit.select()
    before = bandit.state()
    assert bandit.evidence()[decision.arm] == (0.0,) * 6
    assert bandit.evidence(time=clock.now + 6.0)[decision.arm] == (1.0, 1.0, 1.0, 0.0, 0.0, 1.0)
    assert bandit.state() == before
    clock.now += 6.0
    bandit.select()
    assert bandit.reward(decision.id, 0.0) == "expired"
    assert bandit.evidence()[decision.arm][:2] == (1.0, 1.0)


# Arms, rewards, looking


def test_a_new_arm_starts_as_any_arm_did() -> None:
    bandit = Bandit(["a", "b"], own_policies.KalmanThompsonSampling(persistence=0.999, movement=0.2), seed=4)
    for _ in range(50):
        bandit.reward(bandit.select().id, 3.0)
    for name in ("c", "d", "e"):
        bandit.add(name)
        assert bandit.evidence()[name] == (0.5, 0.09, 0.0)
    bandit.remove("c")
    bandit.add("again")
    assert bandit.evidence()["again"] == (0.5, 0.09, 0.0)
    assert max(row[0] for row in bandit.evidence().values()) > 2.5


def test_rewards_are_those_that_the_rule_can_learn_from() -> None:
    bandit = Bandit(ARMS, own_policies.KalmanThompsonSampling(), seed=1)
    assert bandit.reward(bandit.select().id, -37.5) == "accepted"
    for value in (math.inf, -math.inf, math.nan, "1"):
        with pytest.raises(db.InvalidValue, match=r"reward must be in \[-1e\+100, 1e\+100\], got"):
            bandit.reward(bandit.select().id, value)  # type: ignore[arg-type]
    rule = dataclasses.replace(SWAPPED, least_reward=-1.0, largest_reward=math.inf)
    bandit = Bandit(ARMS, Given(given=rule), seed=1)
    assert bandit.reward(bandit.select().id, 1e6) == "accepted"
    with pytest.raises(db.InvalidValue, match=r"reward must be in \[-1, 1e\+100\], got -2"):
        bandit.reward(bandit.select().id, -2)


def test_a_field_with_a_familiar_name_means_nothing() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Capped(db.Policy):
        name: ClassVar[str] = "capped-for-a-test"
        bound: float = 50.0

        def rule(self, n_arms: int) -> Rule:
            return dataclasses.replace(SWAPPED, score=lambda p, shared, b, a: min(p[0], b), parameters=(self.bound,))

    bandit = Bandit(ARMS, Capped(), seed=1)
    with pytest.raises(db.InvalidValue, match=r"reward must be in \[0, 1\], got 37"):
        bandit.reward(bandit.select().id, 37)
    del db.Policy.known["capped-for-a-test"]


@pytest.mark.parametrize("policy", EXAMPLES, ids=ids)
def test_every_kind_of_rule_is_described_and_drawn(policy: db.Policy) -> None:
    bandit = Bandit(ARMS, policy, seed=2)
    for number in range(100):
        bandit.reward(bandit.select().id, float(number % 3 == 0))
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(bandit)
    console.file.close()
    bandit.plot().canvas.draw()
    rows = bandit._summary()
    assert sum(row.probability for row in rows) == pytest.approx(1.0, abs=1e-11)
    assert sum(row.decisions for row in rows) == 100


def test_a_normal_posterior_has_its_own_interval_and_axis() -> None:
    policy = own_policies.KalmanThompsonSampling(persistence=0.999, movement=0.2)
    bandit = Bandit(ARMS, policy, seed=2)
    for _ in range(60):
        bandit.reward(bandit.select().id, 7.0)
    rule = policy.rule(4)
    for row in bandit._summary():
        assert rule.posterior is not None
        mean, deviation = rule.posterior.shape(rule.parameters, 0.0, *bandit.evidence()[row.arm][:2])
        assert row.mean == pytest.approx(mean)
        assert (row.low, row.high) == pytest.approx(stats.norm(mean, deviation).interval(0.95), rel=1e-4)
    assert bandit.plot().axes[0].get_xlim()[1] > 7.0


def test_threads_lose_nothing() -> None:
    bandit = Bandit(ARMS, own_policies.LastChoices(window=10_000), seed=1)
    bandit.select()

    def work() -> None:
        for number in range(300):
            bandit.reward(bandit.select().id, float(number % 2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(row[0] for row in bandit.evidence().values()) == 1200.0
    assert sum(row[1] for row in bandit.evidence().values()) == 600.0


# Dormant arms


def doubled(p: Any, shared: float, b: float, a: float, c: float) -> tuple[float, float]:
    return 2.0 * a + p[0] + shared, 2.0 * b + p[1]


def three_counts(p: Any, b: float, a: float, c: float, reward: float, probability: float) -> Any:
    return b + (1.0 - reward), a + reward, c + 1.0


def small_part(p: Any, total: float) -> float:
    return 1.0 / (2.0 + total)


@pytest.mark.parametrize("law", ["beta", "optimistic beta"])
@pytest.mark.parametrize("small", [False, True])
def test_arms_of_any_beta_law_sleep_and_are_drawn_as_one(law: Any, small: bool) -> None:
    rule = Rule(
        selection="sampled",
        posterior=Posterior(law, doubled, small),
        context=small_part,
        learn=three_counts,
        parameters=(1.0, 1.5),
        initial=(0.0, 0.0, 0.0),
        decay=(0.9, 0.9, 1.0) if small else 0.9,
        binary=True,
        explore=0.1,
    )
    clock = Ticker()
    bandit = Bandit(range(150), Given(given=rule), seed=5, step_seconds=1.0, clock=clock)
    for arm, value in [(0, 1), (0, 1), (1, 0), (2, 1), (2, 0), *[(4, 1)] * 10]:
        bandit.reward(bandit.select(arms=[arm]).id, value)
    expected, draws = bandit.probabilities(), 8000
    assert sum(expected.values()) == pytest.approx(1.0, abs=1e-10)
    counts = np.zeros(150)
    for _ in range(draws):
        counts[bandit.select().arm] += 1
    assert bandit._evidence.order.active == 4
    groups: list[Any] = [0, 1, 2, 4, [3, *range(5, 150)]]
    chance = np.array([expected[arm] for arm in range(150)])
    observed = np.array([counts[group].sum() for group in groups])
    wanted = np.array([chance[group].sum() for group in groups]) * draws
    assert stats.chi2.sf(np.sum((observed - wanted) ** 2 / wanted), 4) > 1e-4


def steps_of_five(p: Any, shared: float, a: float, b: float) -> tuple[float, float]:
    return math.floor(a / 5.0) + 1.0, math.floor(b / 5.0) + 1.0


def test_evidence_that_no_score_shows_yet_is_not_forgotten() -> None:
    rule = Rule(selection="sampled", posterior=Posterior("beta", steps_of_five), learn=posterior.count, parameters=())
    bandit = Bandit(range(100), Given(given=rule), seed=5)
    for _ in range(12):
        bandit.reward(bandit.select(arms=[3]).id, 1.0)
        bandit.select()
    assert bandit.evidence()[3] == (12.0, 0.0, 12.0)


# Classes that are not what they say


def floored(p: Any, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    return math.floor(a) + 1.0 + 0.5 * reward, b + reward


def halved_when_large(p: Any, n: float, s: float, reward: float, probability: float) -> tuple[float, float]:
    return (n + 1.0, s + reward) if n < 500.0 else (0.5 * n, 0.5 * s)


def fade_and_count(p: Any, n: float, s: float, reward: float, probability: float) -> tuple[float, float]:
    return 0.9 * n + 1.0, 0.9 * s + reward


def unlearn_half(p: Any, n: float, s: float, reward: float) -> tuple[float, float]:
    return n - 0.5, s - reward


def never(p: Any, *own: Any) -> bool:
    return False


def zero(p: Any, total: float, *common: float) -> float:
    return 0.0


def same(p: Any, common: Any, own: Any, reward: float, probability: float) -> Any:
    return common


PLAIN = Rule(selection="index", score=own_policies.mean_of, learn=own_policies.observe, parameters=())
ADD_UP = r'policy must be one whose rewards add up, or say learning="by arm" or "sequential" \(learn depends'
EITHER = r'learning of Given must be "by arm" or "sequential", as its rule has {}, got "additive"'
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"learn": floored}, ADD_UP),
    ({"learn": halved_when_large}, ADD_UP),
    ({"learn": fade_and_count}, ADD_UP),
    ({"learn": fade_and_count, "clock": Clock(0.8)}, ADD_UP + " on the evidence otherwise than its clock"),
    ({"learn": fade_and_count, "clock": Clock(0.9, grace=3)}, ADD_UP),
    ({"learn": fade_and_count, "clock": Clock(0.9, early=True)}, ADD_UP),
    ({"learn": fade_and_count, "clock": Clock(1.5)}, r"discount of the clock of Given must be in \(0, 1\], got 1.5"),
    ({"learn": fade_and_count, "clock": Clock(0.9), "restart": 5}, "policy must be one with a clock, or with"),
    ({"common": (0.0,), "notice": same, "context": zero}, EITHER.format("common")),
    ({"alarm": never}, EITHER.format("alarm")),
    ({"history": 3}, EITHER.format("history")),
    ({"drift": 0.1}, EITHER.format("drift")),
    ({"window": 5, "window_of": "choices", "unlearn": own_policies.forget}, EITHER.format('window_of "choices"')),
    ({"window": 5, "unlearn": own_policies.forget, "decay": 0.9}, "policy must be one with a window or a discount"),
    ({"window": 5, "unlearn": unlearn_half}, "policy must be one whose unlearn undoes its learn"),
    ({"window": 5}, "unlearn of Given must be given, as observations leave its window"),
    (
        {"learning": "by arm", "common": (0.0,), "notice": same, "context": zero},
        'learning of Given must be "sequential", as its rule has common, got "by arm"',
    ),
    (
        {"learning": "by arm", "alarm": never, "alarm_resets": "all"},
        'learning of Given must be "sequential", as its rule has alarm_resets "all", got "by arm"',
    ),
]


@pytest.mark.parametrize(("change", "message"), REFUSED, ids=[str(sorted(change)) for change, _ in REFUSED])
def test_a_rule_that_is_not_of_its_class_is_refused_in_one_line(change: dict[str, Any], message: str) -> None:
    with pytest.raises(db.InvalidValue, match=message) as caught:
        Bandit(ARMS, Given(given=dataclasses.replace(PLAIN, **change)), seed=1)
    assert "\n" not in str(caught.value)


def test_a_clock_of_ones_own_is_believed_where_it_is_right() -> None:
    rule = dataclasses.replace(PLAIN, learn=fade_and_count, clock=Clock(0.9), observations=own_policies.first)
    bandit, present_ = (
        Bandit(ARMS, Given(given=dataclasses.replace(rule, learning=learning)), seed=1)  # type: ignore[arg-type]
        for learning in ("additive", "by arm")
    )
    for number in range(80):
        for each in (bandit, present_):
            each.reward(each.select().id, float(number % 3 == 0))
    assert_same_evidence(bandit, present_)


# What a rule is told, and what it may not change


def one_over(p: Any, step: float) -> float:
    return 1.0 / step


def test_the_step_of_a_share_is_the_number_of_the_decision_whatever_the_clock_shows() -> None:
    policy = Given(given=dataclasses.replace(PLAIN, explore=one_over))
    for moment in (1.7e9, -5.0, 0.0):
        bandit = Bandit(["a", "b"], policy, seed=1, step_seconds=1.0, clock=Ticker(moment))
        for number in range(1, 6):
            expected = bandit.probabilities()
            decision = bandit.select(time=moment + number)
            assert decision.probability == pytest.approx(expected[decision.arm])
            assert 0.5 / number - 1e-12 <= decision.probability <= 1.0
            bandit.reward(decision.id, float(decision.arm == "a"))


def padded(p: Any, shared: float, n: float, s: float) -> float:
    return s + shared / (n + 1.0)


def test_observations_beyond_the_length_of_a_window_are_counted_alike_everywhere() -> None:
    rule = dataclasses.replace(
        PLAIN,
        score=padded,
        context=lambda p, total: total,
        observations=own_policies.first,
        window=5,
        unlearn=own_policies.forget,
        learning="by arm",
        explore=0.1,
    )
    bandit = Bandit(ARMS, Given(given=rule), seed=1)
    decisions = [bandit.select() for _ in range(12)]
    for decision in decisions:
        bandit.reward(decision.id, 1.0)
    expected = bandit.probabilities()
    decision = bandit.select()
    assert decision.probability == pytest.approx(expected[decision.arm])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Growing(db.Policy):
    """A policy with a parameter for each arm."""

    name: ClassVar[str] = "growing"

    def rule(self, n_arms: int) -> Rule:
        return dataclasses.replace(PLAIN, parameters=(1.0,) * n_arms)


def test_rules_may_not_have_other_numbers_of_parameters_for_other_numbers_of_arms() -> None:
    bandit = Bandit(ARMS, Growing(), seed=1)
    with pytest.raises(db.InvalidValue, match="rule of Growing must differ only in the values of its parameters"):
        bandit.select(arms=ARMS[:2])


def test_a_merge_keeps_the_start_of_an_arm_that_only_one_replica_has() -> None:
    policy = db.DynamicThompsonSampling(threshold=5)
    first, second = (Bandit(["x", "y"], policy, seed=1, replica=i) for i in range(2))
    first.add("z")
    assert Bandit.merge([first, second]).evidence()["z"] == (1.0, 1.0, 0.0)
    assert Bandit.merge([second, first]).evidence()["z"] == (1.0, 1.0, 0.0)


def test_a_log_needs_odds_that_are_known() -> None:
    lucky = dataclasses.replace(PLAIN, luck=True, context=lambda p, total, luck: luck)
    Bandit(ARMS, Given(given=lucky), seed=1)
    with pytest.raises(db.InvalidValue, match="log must be None, as this policy's odds are not known"):
        Bandit(ARMS, Given(given=lucky), seed=1, log=print)


def test_a_share_beyond_1_is_1_and_below_0_is_0_wherever_odds_are_told() -> None:
    for share in (7.0, -3.0):
        rule = dataclasses.replace(db.ThompsonSampling().rule(2), explore=lambda p, step, share=share: share)
        odds = arm_probabilities(rule, np.array([[9.0, 1.0], [1.0, 9.0]]))[0]
        exact = rule_probabilities(rule, np.array([[9.0, 1.0], [1.0, 9.0]]), np.zeros(0), None, 1.0)
        assert odds == pytest.approx(exact)
        assert (odds == pytest.approx([0.5, 0.5])) == (share > 0)
