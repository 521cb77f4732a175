"""Replicas, whose decisions are kept elsewhere: they decide as a bandit does, and learn what any of them decided."""

import dataclasses
import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.online.scenes import ADDITIVE, ARMS, POLICIES, Ticker, ids

import driftbandit as db
from driftbandit.online import decision as decisions
from driftbandit.online.bandit import Bandit
from driftbandit.online.decision import odds_of, probability_of
from driftbandit.replica import Made, Replica, Settings

BEGUN = 1000.0
Step = tuple[str, Any]


def settings_of(policy: db.Policy, step_seconds: float | None = 10.0, **more: Any) -> Settings:
    return Settings.of(policy, step_seconds=step_seconds, seed=5, minimum_probability=0.02, **more)


def replica_of(
    policy: db.Policy, clock: Callable[[], float], step_seconds: float | None = 10.0, **more: Any
) -> Replica:
    return Replica(ARMS, settings_of(policy, step_seconds, **more), BEGUN, clock)


def converging(policy: db.Policy) -> bool:
    return replica_of(policy, Ticker()).convergent


class Keeper:
    """Plays a replica and keeps what it decided and was rewarded, in order; rewards come late and out of order."""

    def __init__(self, replica: Replica, clock: Ticker, seed: int) -> None:
        self.replica, self.clock, self.dice = replica, clock, random.Random(seed)
        self.open: list[Made] = []
        self.history: list[Step] = []

    def play(self, steps: int) -> None:
        for _ in range(steps):
            self.clock.now += self.dice.expovariate(0.2)
            among = sorted(self.dice.sample(range(4), 3)) if self.dice.random() < 0.2 else None
            made, _ = self.replica.select(self.replica.order(among))
            self.open.append(made)
            self.history.append(("again", (made, among)))
            while self.open and self.dice.random() < 0.55:
                made = self.open.pop(self.dice.randrange(len(self.open)))
                kind = "learn" if self.dice.random() < 0.9 else "give_up"
                step = (made, float(self.dice.random() < 0.2 + 0.2 * made.arm)) if kind == "learn" else (made,)
                getattr(self.replica, kind)(*step)
                self.history.append((kind, step))


def assert_alike(one: Replica, other: Replica, tolerance: float) -> None:
    first, second = one.evidence(), other.evidence()
    assert first.keys() == second.keys()
    for arm in first:
        np.testing.assert_allclose(first[arm], second[arm], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("step_seconds", [10.0, None], ids=["clock", "decisions"])
@pytest.mark.parametrize("policy", POLICIES, ids=ids)
def test_a_replica_decides_as_a_bandit_and_goes_on_after_a_crash(policy: db.Policy, step_seconds: float | None) -> None:
    clock = Ticker(BEGUN)
    keeper = Keeper(replica_of(policy, clock, step_seconds), clock, 3)
    twin = Bandit(ARMS, policy, seed=5, clock=clock, step_seconds=step_seconds, minimum_probability=0.02)
    steps, replica, told = 40, keeper.replica, list[Any]()
    select = replica.select

    def noted(order: Any) -> Any:
        if not told:  # arms begin to fade when replicas begin, and with a bandit's first decision
            twin._timing.move_to(BEGUN)
            twin._evidence.begin(twin._timing.steps)
        made, what = select(order)
        names = None if order is replica._state.evidence.order else [ARMS[k] for k in keeper_among[-1]]
        decision = twin.select(arms=names)
        assert (made.id, ARMS[made.arm], made.time) == (decision.id, decision.arm, decision.time)
        assert (what if isinstance(what, float) else probability_of(what)) == decision.probability
        told.append(what)
        return made, what

    keeper_among: list[Any] = []
    order_of = replica.order
    replica.order = lambda arms=None: keeper_among.append(arms) or order_of(arms)  # type: ignore[method-assign, func-returns-value]
    replica.select = noted  # type: ignore[method-assign]
    learn, give_up = replica.learn, replica.give_up
    replica.learn = lambda made, reward: (twin.reward(made.id, reward), learn(made, reward))[1]  # type: ignore[method-assign, func-returns-value]
    replica.give_up = lambda made: (_give_up(twin, made), give_up(made))[1]  # type: ignore[method-assign, func-returns-value]
    keeper.play(steps)
    later = [one for one in told if not isinstance(one, float)]
    assert [odds.chosen for odds in odds_of(later)] == [probability_of(one) for one in later]
    assert all(abs(odds.awake.sum() - 1.0) < 1e-9 for odds in odds_of(later))

    rebuilt = replica_of(policy, clock, step_seconds)
    halfway = None
    for place, (kind, arguments) in enumerate(keeper.history):
        if place == len(keeper.history) // 2:
            halfway = json.loads(json.dumps(rebuilt.state())), rebuilt.last
        getattr(rebuilt, kind)(*arguments)
    assert halfway is not None
    loaded = Replica.restored(halfway[0], settings_of(policy, step_seconds), clock, halfway[1], halfway[1])
    for kind, arguments in keeper.history[len(keeper.history) // 2 :]:
        getattr(loaded, kind)(*arguments)
    clock.now += 7.0
    expected = [select(None)[0] for _ in range(5)]
    for other in (rebuilt, loaded):
        assert [other.select()[0] for _ in range(5)] == expected
        assert other.evidence() == replica.evidence()
        assert other.state() == replica.state()


def _give_up(twin: Bandit, made: Made) -> None:
    twin._state.evidence.give_up(made.arm)
    del twin._pending.decisions[made.id]


@pytest.mark.parametrize("policy", [policy for policy in ADDITIVE if converging(policy)], ids=ids)
def test_replicas_that_learn_in_any_order_know_the_same(policy: db.Policy) -> None:
    clock = Ticker(BEGUN)
    replicas = [replica_of(policy, clock, replica=slot) for slot in range(3)]
    everything: list[Made] = []
    dice = random.Random(1)
    rewarded: list[tuple[Made, float]] = []
    unread: list[list[int]] = [[], [], []]
    for step in range(300):
        clock.now += dice.expovariate(0.3)
        everything.append(dice.choice(replicas).select()[0])
        if step == 150:
            added = replicas[0].start_of_new(), clock.now
            for replica in dice.sample(replicas, 3):
                replica.add("e", *added)
        while everything and dice.random() < 0.5:
            made = everything.pop(dice.randrange(len(everything)))
            rewarded.append((made, dice.random()))
            for each in unread:
                each.append(len(rewarded) - 1)
        for replica, each in zip(replicas, unread, strict=True):
            while each and dice.random() < 0.4:
                replica.learn(*rewarded[each.pop(dice.randrange(len(each)))])
    late = replica_of(policy, clock, replica=3)
    late.add("e", *added)
    for made, reward in sorted(rewarded, key=lambda _: dice.random()):
        late.learn(made, reward)
    clock.now += 1.0
    for replica, each in zip(replicas, unread, strict=True):
        for place in each:
            replica.learn(*rewarded[place])
        replica.select()
        assert_alike(replica, late, 1e-12)


def test_which_policies_converge() -> None:
    known = {policy.name for policy in POLICIES if converging(policy)}
    assert {"ts", "dts", "dots", "d-ucb", "sw-ucb", "sw-ts", "ucb1", "exp3", "exp3-ix", "rexp3", "kl-ucb"} <= known
    assert not known & {"dynamic-ts", "drift-filter", "cts", "glr-kl-ucb", "exp3-s", "bob"}
    assert not replica_of(db.ThompsonSampling(), Ticker(), None).convergent
    played = db.DiscountedThompsonSampling(discount=0.9, discounted_arms="played")
    assert not converging(played)


def test_numbers_of_arms_are_never_given_again() -> None:
    clock = Ticker(BEGUN)
    replica = replica_of(db.ThompsonSampling(), clock)
    made = replica.select(replica.order([1]))[0]
    replica.remove(1)
    replica.add("e", replica.start_of_new(), clock.now)
    replica.learn(made, 1.0)  # of an arm that is gone
    assert replica.evidence()[4] == [0.0, 0.0, 0.0]
    again = Replica.restored(replica.state(), settings_of(db.ThompsonSampling()), clock, replica.last)
    again.add("b", again.start_of_new(), clock.now)
    assert sorted(again.odds()) == [0, 2, 3, 4, 5]
    assert sum(again.odds().values()) == pytest.approx(1.0, abs=1e-12)


def test_a_clock_behind_goes_on_from_the_newest_decision_that_is_known() -> None:
    slow, fast = Ticker(BEGUN), Ticker(BEGUN + 5.0)
    policy = db.DiscountedThompsonSampling(discount=0.9)
    one, other = replica_of(policy, slow), replica_of(policy, fast, replica=1)
    made = other.select()[0]
    one.learn(made, 1.0)
    assert one.select()[0].time == made.time == BEGUN + 5.0


def test_what_follows_from_the_same_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Ticker(BEGUN)
    replica = replica_of(db.DiscountedOptimisticThompsonSampling(discount=0.9), clock)
    told = [one for _, one in (replica.select() for _ in range(20)) if not isinstance(one, float)]
    asked: list[int] = []
    real = decisions.all_probabilities
    monkeypatch.setattr(decisions, "all_probabilities", lambda given: (asked.append(len(given)), real(given))[1])
    found = odds_of(told)
    assert asked == [1]
    assert [odds.chosen for odds in found] == [probability_of(one) for one in told]
    assert len({id(odds.awake) for odds in found}) == 1


def test_a_replica_with_another_number_draws_other_random_numbers() -> None:
    clock = Ticker(BEGUN)
    one = replica_of(db.UniformRandom(), clock)
    other = replica_of(db.UniformRandom(), clock, replica=1)
    arms = [[replica.select()[0].arm for _ in range(200)] for replica in (one, other)]
    assert abs(sum(x == y for x, y in zip(*arms, strict=True)) - 50) < 5 * (200 * 3 / 16) ** 0.5
    late = dataclasses.replace(settings_of(db.UniformRandom()))
    onward = Replica(ARMS, late, BEGUN, clock, last=200)
    assert onward.select()[0] == one.select()[0]
