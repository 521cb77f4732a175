"""Every reward gets an answer that a person can read."""

from typing import Any

import pytest
from tests.online.scenes import ADDITIVE, ARMS, Ticker, assert_same_evidence, ids

import driftbandit as db
from driftbandit.online import Bandit, RewardStatus


def test_the_four_answers() -> None:
    clock = Ticker()
    bandit = Bandit(ARMS, db.ThompsonSampling(), seed=1, step_seconds=1.0, clock=clock, wait=10.0)
    first, second = bandit.select(), bandit.select()
    assert bandit.reward(first.id, 1.0) is RewardStatus.ACCEPTED
    assert bandit.reward(first.id, 0.0) == "repeated"
    assert bandit.reward(second.id + 1, 1.0) == "unknown"
    assert bandit.reward((7 << 40) + 1, 1.0) == "unknown"
    assert bandit.reward(0, 1.0) == "unknown"
    clock.now += 10.5
    assert bandit.reward(second.id, 1.0) == "expired"
    assert bandit.reward(first.id, 1.0) == "expired"  # closed long ago, whatever became of it
    assert sum(count for _, _, count in bandit.evidence().values()) == 1.0
    assert str(RewardStatus.ACCEPTED) == "accepted"


def test_a_reward_just_in_time_is_accepted() -> None:
    clock = Ticker()
    bandit = Bandit(ARMS, db.ThompsonSampling(), seed=1, step_seconds=4.0, clock=clock, wait=10.0)
    decision = bandit.select()
    clock.now += 10.0
    assert bandit.reward(decision.id, 1.0) == "accepted"


def test_waiting_is_counted_in_steps_where_a_step_is_a_decision() -> None:
    bandit = Bandit(ARMS, db.ThompsonSampling(), seed=1, wait=2)
    first = bandit.select()
    bandit.select()
    bandit.select()
    assert bandit.reward(first.id, 1.0) == "accepted"
    second = bandit.select()
    for _ in range(3):
        bandit.select()
    assert bandit.reward(second.id, 1.0) == "expired"
    assert bandit.pending == 3


@pytest.mark.parametrize("step_seconds", [None, 1.0])
@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
def test_a_default_reward_ages_from_the_decision_like_any_other(policy: db.Policy, step_seconds: float | None) -> None:
    """A bandit whose decisions expire with a default knows what one knows that was told that reward."""
    bandits, pairs = [], []
    for options in ({"wait": 3.0, "default_reward": 0.0}, {}):
        clock = Ticker()
        bandit = Bandit(ARMS, policy, seed=1, step_seconds=step_seconds, clock=clock, **options)
        pairs = []
        for number in range(14):
            clock.now += 1.0
            pairs.append((bandit.select(arms=[ARMS[number % 3]]).id, 0.0))
        bandits.append(bandit)
    expiring, told = bandits
    assert expiring.pending == 4
    told.rewards(pairs[:-4])
    assert_same_evidence(expiring, told)
    assert expiring.reward(pairs[-5][0], 1.0) == "expired"
    assert expiring.reward(pairs[-3][0], 1.0) == "accepted"


def test_looking_expires_nothing_but_counts_what_the_next_decision_would() -> None:
    clock = Ticker()
    options: dict[str, Any] = {"wait": 5.0, "default_reward": 1.0}
    bandit = Bandit(ARMS, db.ThompsonSampling(), seed=1, step_seconds=1.0, clock=clock, **options)
    decision = bandit.select()
    before = bandit.state()
    assert bandit.evidence()[decision.arm] == (0.0, 0.0, 0.0)
    assert bandit.evidence(time=clock.now + 6.0)[decision.arm] == (1.0, 0.0, 1.0)
    assert bandit.probabilities(time=clock.now + 6.0)[decision.arm] > bandit.probabilities()[decision.arm]
    assert bandit.state() == before
    assert bandit.reward(decision.id, 0.0) == "accepted"


def test_a_batch_is_checked_before_anything_is_learned() -> None:
    bandit = Bandit(ARMS, db.ThompsonSampling(), seed=1)
    one, two = bandit.select(), bandit.select()
    with pytest.raises(db.InvalidValue, match=r"reward must be in \[0, 1\], got 2.0"):
        bandit.rewards([(one.id, 1.0), (two.id, 2.0)])
    assert bandit.pending == 2
    assert bandit.rewards({one.id: 1.0, two.id: 0.0}) == ["accepted", "accepted"]
    assert bandit.rewards([]) == []


@pytest.mark.parametrize("value", [True, 1, 0.25, False])
def test_rewards_may_be_numbers_or_truth_values(value: Any) -> None:
    bandit = Bandit(ARMS, db.ThompsonSampling(), seed=1)
    assert bandit.reward(bandit.select().id, value) == "accepted"


def test_a_larger_bound_allows_larger_rewards() -> None:
    bandit = Bandit(ARMS, db.DiscountedUCB(discount=0.9, bound=10), seed=1)
    assert bandit.reward(bandit.select().id, 7.5) == "accepted"
    with pytest.raises(db.InvalidValue, match=r"reward must be in \[0, 10\], got 11"):
        bandit.reward(bandit.select().id, 11)


def test_memory_is_bounded_by_the_wait() -> None:
    bandit = Bandit(ARMS, db.ThompsonSampling(), seed=1, wait=50)
    for number in range(2000):
        decision = bandit.select()
        if number % 2:
            bandit.reward(decision.id, 1.0)
    assert len(bandit.state()["pending"]["decisions"]) <= 52
