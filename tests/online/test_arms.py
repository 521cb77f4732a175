"""Arms come, are explored, and go."""

import numpy as np
import pytest
from tests.online.scenes import POLICIES, ids

import driftbandit as db
from driftbandit.online import Bandit

CONTENT = {"gittins"}
"""Policies that leave a new arm alone while another is good enough."""


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy.name not in CONTENT], ids=ids)
@pytest.mark.parametrize("rewarding", [0.9, 0.1])
def test_an_arm_added_later_is_explored(policy: db.Policy, rewarding: float) -> None:
    rng = np.random.default_rng(2)
    bandit = Bandit(["a", "b", "c"], policy, seed=4)
    for _ in range(2000):
        decision = bandit.select()
        mean = rewarding if decision.arm == "a" else rewarding / 2
        bandit.reward(decision.id, float(rng.random() < mean))
    bandit.add("new")
    chosen = []
    for _ in range(300):
        decision = bandit.select()
        chosen.append(decision.arm)
        bandit.reward(decision.id, float(rng.random() < (0.95 if decision.arm == "new" else 0.3)))
    assert "new" in chosen


@pytest.mark.parametrize("policy", POLICIES, ids=ids)
def test_a_removed_arm_is_never_chosen_and_its_rewards_are_answered(policy: db.Policy) -> None:
    bandit = Bandit(["a", "b", "c"], policy, seed=4)
    waiting = [bandit.select(arms=["b"]) for _ in range(3)]
    bandit.reward(waiting[0].id, 1.0)
    bandit.remove("b")
    assert bandit.arms == ("a", "c")
    assert {bandit.select().arm for _ in range(100)} <= {"a", "c"}
    assert bandit.reward(waiting[1].id, 1.0) == "removed"
    assert bandit.reward(waiting[1].id, 1.0) == "repeated"
    bandit.add("b")
    start = bandit.evidence()["b"]
    assert start[-1] == 0.0
    assert bandit.reward(waiting[2].id, 1.0) == "removed"  # of the arm that was, not of the one that is
    assert bandit.evidence()["b"] == start


@pytest.mark.parametrize("policy", POLICIES, ids=ids)
def test_a_mask_holds_for_one_decision(policy: db.Policy) -> None:
    bandit = Bandit(["a", "b", "c", "d"], policy, seed=4)
    for _ in range(50):
        decision = bandit.select(arms=["d", "b"])
        assert decision.arm in ("b", "d")
        bandit.reward(decision.id, 0.0)
    only = bandit.select(arms=["c"])
    assert only.arm == "c"
    assert only.probability == 1.0
    for _ in range(50):
        bandit.reward(bandit.select().id, 1.0)
    assert set(bandit.probabilities()) == {"a", "b", "c", "d"}
    assert set(bandit.probabilities(arms=["a", "c"])) == {"a", "c"}


def test_numbers_of_removed_arms_are_used_again() -> None:
    bandit = Bandit(["a", "b"], db.DiscountedThompsonSampling(discount=0.9), seed=4)
    for number in range(1000):
        bandit.add(f"arm {number}")
        bandit.reward(bandit.select().id, 1.0)
        bandit.remove(bandit.arms[0])
    assert len(bandit) == 2
    assert len(bandit._evidence.table) <= 4
    assert sum(bandit.probabilities().values()) == pytest.approx(1.0)


@pytest.mark.parametrize("policy", POLICIES, ids=ids)
def test_one_arm_is_enough(policy: db.Policy) -> None:
    bandit = Bandit(["only"], policy, seed=4)
    for _ in range(20):
        decision = bandit.select()
        assert (decision.arm, decision.probability) == ("only", 1.0)
        bandit.reward(decision.id, 0.5)
    bandit.add("other")
    assert {bandit.select().arm for _ in range(200)} == {"only", "other"} or policy.name in (
        "d-ucb",
        "sw-ucb",
        "ucb1",
        *CONTENT,
    )


def test_under_exponential_weights_a_new_arm_starts_level_with_the_best() -> None:
    bandit = Bandit(["a", "b"], db.Exp3IX(learning_rate=0.5), seed=4)
    for _ in range(3000):
        decision = bandit.select()
        bandit.reward(decision.id, 0.0)
    bandit.add("new")
    evidence = bandit.evidence()
    assert evidence["new"][0] == max(evidence["a"][0], evidence["b"][0]) < -100.0
    assert 1 / 3 <= bandit.probabilities()["new"] <= 0.5
