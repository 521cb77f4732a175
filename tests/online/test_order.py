"""The state after a set of rewards does not depend on their order, their batching or duplicates."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.online.scenes import ADDITIVE, ARMS, Ticker, assert_same_evidence, ids

import driftbandit as db
from driftbandit.online import Bandit

PAUSES = st.lists(st.floats(0.0, 40.0), min_size=1, max_size=25)


def decided(policy: db.Policy, pauses: list[float], step_seconds: float | None) -> tuple[Bandit, Any, Ticker]:
    clock = Ticker()
    bandit = Bandit(ARMS, policy, seed=3, step_seconds=step_seconds, clock=clock)
    decisions = []
    for pause in pauses:
        clock.now += pause
        decisions.append(bandit.select())
    return bandit, decisions, clock


@pytest.mark.parametrize("step_seconds", [None, 1.5])
@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
@given(pauses=PAUSES, data=st.data())
@settings(max_examples=12)
def test_order_batches_and_duplicates_change_nothing(
    policy: db.Policy, step_seconds: float | None, pauses: list[float], data: st.DataObject
) -> None:
    straight, decisions, _ = decided(policy, pauses, step_seconds)
    pairs = [(d.id, data.draw(st.floats(0.0, 1.0), label="reward")) for d in decisions]
    given_ = [pair for pair in pairs if data.draw(st.booleans(), label="rewarded")]
    for id, value in given_:
        assert straight.reward(id, value) == "accepted"

    shuffled, _, _ = decided(policy, pauses, step_seconds)
    order = data.draw(st.permutations(given_ + given_[: len(given_) // 2]), label="order")
    cut = data.draw(st.integers(0, len(order)), label="cut")
    statuses = shuffled.rewards(order[:cut]) + [shuffled.reward(*pair) for pair in order[cut:]]
    assert statuses.count("accepted") == len(given_)
    assert statuses.count("repeated") == len(order) - len(given_)
    assert_same_evidence(straight, shuffled)


@pytest.mark.parametrize("step_seconds", [None, 1.5])
@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
@given(pauses=PAUSES, data=st.data())
@settings(max_examples=8)
def test_rewards_between_decisions_equal_rewards_after_them(
    policy: db.Policy, step_seconds: float | None, pauses: list[float], data: st.DataObject
) -> None:
    """The same decisions (forced, as rewards would change them), rewarded at once or much later."""
    arms = [data.draw(st.sampled_from(ARMS)) for _ in pauses]
    values = [float(data.draw(st.booleans())) for _ in pauses]
    final = 1000.0 + sum(pauses)
    bandits = []
    for at_once in (True, False):
        clock = Ticker()
        bandit = Bandit(ARMS, policy, seed=3, step_seconds=step_seconds, clock=clock)
        waiting = []
        for pause, arm, value in zip(pauses, arms, values, strict=True):
            clock.now += pause
            decision = bandit.select(arms=[arm])
            if at_once:
                bandit.reward(decision.id, value)
            else:
                waiting.append((decision.id, value))
        bandit.rewards(reversed(waiting))
        clock.now = max(clock.now, final)
        bandits.append(bandit)
    assert_same_evidence(*bandits)


def test_a_fractional_reward_is_the_same_success_wherever_it_arrives() -> None:
    one, decisions, _ = decided(db.ThompsonSampling(), [0.0] * 20, None)
    two, _, _ = decided(db.ThompsonSampling(), [0.0] * 20, None)
    for decision in decisions:
        one.reward(decision.id, 0.5)
    for decision in reversed(decisions):
        two.reward(decision.id, 0.5)
    assert one.evidence() == two.evidence()
    successes = sum(a for a, _, _ in one.evidence().values())
    assert 3 <= successes <= 17


def test_many_steps_between_decision_and_reward_stay_within_rounding() -> None:
    policy = db.DiscountedThompsonSampling(discount=0.9995)
    early, late = (Bandit(["a", "b"], policy, seed=1) for _ in range(2))
    ids_, values = [], []
    for step in range(20_000):
        arm = "ab"[step % 3 == 0]
        early.reward(early.select(arms=[arm]).id, float(step % 7 == 0))
        ids_.append(late.select(arms=[arm]).id)
        values.append(float(step % 7 == 0))
    late.rewards(list(zip(ids_, values, strict=True))[::-1])
    assert_same_evidence(early, late)
