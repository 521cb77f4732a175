"""States of several replicas merge into one that knows what all know."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.online.scenes import ADDITIVE, ARMS, Ticker, assert_same_evidence, ids

import driftbandit as db
from driftbandit.online import Bandit

EVENTS = st.lists(
    st.tuples(st.integers(0, 1), st.floats(0.0, 5.0), st.sampled_from(ARMS), st.booleans(), st.booleans()),
    min_size=1,
    max_size=30,
)


@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
@given(events=EVENTS)
@settings(max_examples=10)
def test_by_the_clock_two_replicas_merged_equal_one_that_saw_everything(policy: db.Policy, events: list[Any]) -> None:
    clock = Ticker()
    replicas = [Bandit(ARMS, policy, seed=3, replica=k, step_seconds=2.0, clock=clock) for k in range(2)]
    one = Bandit(ARMS, policy, seed=3, replica=2, step_seconds=2.0, clock=clock)
    for replica, pause, arm, rewarded, success in events:
        clock.now += pause
        decision, same = replicas[replica].select(arms=[arm]), one.select(arms=[arm])
        if rewarded:
            replicas[replica].reward(decision.id, success)
            one.reward(same.id, success)
    merged = Bandit.merge(replicas)
    if merged._evidence.clock is not None:
        return  # ages by the decisions of each replica: see the next test
    assert_same_evidence(merged, one)
    assert merged.pending == one.pending
    assert merged.decisions == one.decisions


@pytest.mark.parametrize("step_seconds", [None, 2.0])
@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
@given(events=EVENTS)
@settings(max_examples=8)
def test_rewards_before_a_merge_equal_rewards_after_it(
    policy: db.Policy, step_seconds: float | None, events: list[Any]
) -> None:
    merged = []
    for first in (True, False):
        clock = Ticker()
        replicas = [Bandit(ARMS, policy, seed=3, replica=k, step_seconds=step_seconds, clock=clock) for k in range(2)]
        pairs = []
        for replica, pause, arm, rewarded, success in events:
            clock.now += pause
            decision = replicas[replica].select(arms=[arm])
            if rewarded:
                pairs.append((replica, decision.id, float(success)))
        if first:
            for replica, id, value in pairs:
                replicas[replica].reward(id, value)
        result = Bandit.merge(replicas)
        if not first:
            assert result.rewards([(id, value) for _, id, value in pairs]) == ["accepted"] * len(pairs)
        assert result.rewards([(id, value) for _, id, value in pairs]) == ["repeated"] * len(pairs)
        merged.append(result)
    assert_same_evidence(*merged)


@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
def test_order_and_repetition_of_merges_do_not_matter(policy: db.Policy) -> None:
    clock = Ticker()
    replicas = [Bandit(ARMS, policy, seed=3, replica=k, step_seconds=2.0, clock=clock) for k in range(3)]
    rng = np.random.default_rng(4)
    for _ in range(60):
        clock.now += 0.5
        bandit = replicas[int(rng.integers(3))]
        bandit.reward(bandit.select().id, float(rng.random() < 0.5))
    straight = Bandit.merge(replicas, replica=9)
    for number, order in enumerate(itertools.permutations(replicas)):
        assert_same_evidence(straight, Bandit.merge(order, replica=10 + number))
    pair = Bandit.merge(replicas[:2], replica=20)
    assert_same_evidence(straight, Bandit.merge([pair, replicas[2]], replica=21))
    assert_same_evidence(straight, Bandit.merge([pair, *replicas, straight], replica=22))


def test_replicas_share_evidence_and_go_on_without_counting_twice() -> None:
    clock = Ticker()
    policy = db.DiscountedThompsonSampling(discount=0.99)
    one, first = (Bandit(ARMS, policy, seed=3, replica=k, step_seconds=1.0, clock=clock) for k in (8, 0))

    def live(bandit: Bandit, arm: str) -> None:
        clock.now += 1.0
        for each in (bandit, one):
            each.reward(each.select(arms=[arm]).id, 1.0)

    live(first, "a")
    second = Bandit.from_state(first.state(), replica=1, clock=clock)  # a fork: knows what the first knew
    assert_same_evidence(first, second)
    live(first, "b")
    live(second, "c")
    both = Bandit.merge([first, second])
    assert_same_evidence(both, one)
    live(first, "a")
    live(second, "d")
    assert_same_evidence(Bandit.merge([both, first, second]), one)


@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
@pytest.mark.parametrize("arms", [4, 90])
def test_a_merged_bandit_is_saved_and_restored_like_any_other(policy: db.Policy, arms: int) -> None:
    rng = np.random.default_rng(6)
    replicas = [Bandit(range(arms), policy, seed=3, replica=k) for k in range(2)]
    for bandit in replicas:
        for _ in range(30):
            bandit.reward(bandit.select().id, float(rng.random() < 0.5))
            bandit.select()
    merged = Bandit.from_state(Bandit.merge(replicas).state(), continued=True)
    copy = Bandit.from_state(merged.state(), continued=True)
    assert copy.state() == merged.state()
    for _ in range(100):
        one, two = merged.select(), copy.select()
        assert (one.id, one.arm) == (two.id, two.arm)
        for bandit in (merged, copy):
            bandit.reward(one.id, 1.0)
    assert copy.state() == merged.state()


def test_replicas_share_neither_ids_nor_random_numbers() -> None:
    bandits = [Bandit(ARMS, db.UniformRandom(), seed=3, replica=k) for k in range(2)]
    decisions = [[bandit.select() for _ in range(200)] for bandit in bandits]
    assert not {d.id for d in decisions[0]} & {d.id for d in decisions[1]}
    agreement = np.mean([a.arm == b.arm for a, b in zip(*decisions, strict=True)])
    assert abs(agreement - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 200)
    assert max(d.id for d in decisions[1]) < 2**53


def test_a_decision_rewarded_in_one_replica_waits_in_none() -> None:
    first = Bandit(ARMS, db.ThompsonSampling(), seed=3)
    decision = first.select()
    second = Bandit.from_state(first.state(), replica=1)
    second.reward(decision.id, 1.0)
    merged = Bandit.merge([first, second])
    assert merged.pending == 0
    assert merged.reward(decision.id, 1.0) == "repeated"
    assert sum(count for _, _, count in merged.evidence().values()) == 1.0


def test_arms_of_all_replicas_are_in_the_merge() -> None:
    first, second = (Bandit(["a", "b"], db.Exp3(exploration=0.1), seed=3, replica=k) for k in range(2))
    for _ in range(50):
        first.reward(first.select().id, 1.0)
    first.add("new")
    second.add("other")
    merged = Bandit.merge([first, second])
    assert merged.arms == ("a", "b", "new", "other")
    assert merged.evidence()["new"][0] == pytest.approx(max(first.evidence()[arm][0] for arm in "ab"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step_seconds": 1.0}, "step_seconds must be the same"),
        ({"policy": db.UCB1()}, "policy must be the same"),
    ],
)
def test_bandits_that_do_not_belong_together_are_refused(change: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"policy": db.ThompsonSampling(), "replica": 1, "seed": 1}
    with pytest.raises(db.InvalidValue, match=message):
        Bandit.merge([Bandit(ARMS, db.ThompsonSampling(), seed=1), Bandit(ARMS, **{**options, **change})])


def test_a_replica_number_in_use_is_refused() -> None:
    bandits = [Bandit(ARMS, db.UCB1(), seed=1, replica=k) for k in range(2)]
    for bandit in bandits:
        bandit.select()
    with pytest.raises(db.InvalidValue, match="replica must be none of 0, 1, got 1"):
        Bandit.merge(bandits, replica=1)
    with pytest.raises(db.InvalidValue, match="bandits must be one bandit at least"):
        Bandit.merge([])


MOVED = {
    "settings.replica": "the result writes under a number of its own",
    "evidence.table": "what was learned is what the result took over, in evidence.parts",
    "pending.own": "and has made no decisions: those of others are in pending.replicas",
}


@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
def test_no_entry_of_a_state_gets_lost_in_a_merge(policy: db.Policy) -> None:
    """A new field of the state has to be merged too, and goes on under another number."""
    clock = Ticker()
    options: dict[str, Any] = {"seed": 3, "clock": clock, "step_seconds": 2.0, "wait": 1e6, "default_reward": 0.0}
    bandit = Bandit(ARMS, policy, replica=1, **options)
    fresh = Bandit(ARMS, policy, replica=0, **options).state()
    for number in range(30):
        clock.now += 1.0
        decision = bandit.select()
        if number % 3:
            bandit.reward(decision.id, 1.0)
    bandit.add("late")
    lived, merged = bandit.state(), Bandit.from_state(bandit.state(), replica=5, clock=clock).state()
    for part in fresh:
        for name in fresh[part] if isinstance(fresh[part], dict) else [""]:
            first, before, after = (state[part][name] if name else state[part] for state in (fresh, lived, merged))
            path = f"{part}.{name}" if name else part
            assert before == first or after != first or path in MOVED, path
