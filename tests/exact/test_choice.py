"""The probability of choosing each arm, for every policy: against the frequencies that `simulate` records."""

import numpy as np
import pytest

import driftbandit as db
import examples
import naive
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.policies import Rule
from own_policies import GUIDE
from rules import Given

POLICIES = [
    *(policy for policy in examples.SHORT if policy.rule(2).beliefs is None),
    db.DiscountedThompsonSampling(discount=0.8, prior_successes=0.01, prior_failures=0.02),
    db.DynamicThompsonSampling(threshold=4),
    db.RestartingExp3(batch=3),
    db.SlidingWindowUCB(window=3),
    db.DiscountedWindowThompsonSampling(discount=0.9, window=3),
]
RUNS = 100_000


def odds_after(policy, arms, rewards):
    """The odds of a policy that chose these arms and got these rewards, by the rule's own plain functions."""
    player = naive.Ruled(2, policy.rule(2))
    for arm, reward in zip(arms, rewards, strict=True):
        player.chance = odds_of(policy, player)[arm]
        player.learn(arm, reward)
    return odds_of(policy, player)


def odds_of(policy, player):
    common = {"common": player.common} if player.common else {}
    return policy.selection_probabilities(player.own, total=player.total(), step=player.t + 1, **common)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_expected_frequency_at_each_step_is_what_simulate_records(policy):
    """Arm 0 always pays and arm 1 never: a history is a sequence of arms, so frequencies can be summed exactly."""
    steps = 5
    histories = {(): 1.0}
    expected = np.zeros((steps, 2))
    for step in range(steps):
        following = {}
        for arms, weight in histories.items():
            chances = odds_after(policy, arms, [1.0 - arm for arm in arms])
            expected[step] += weight * chances
            for arm in range(2):
                following[(*arms, arm)] = weight * chances[arm]
        histories = {arms: weight for arms, weight in following.items() if weight > 0}
    shard = Shard(policy, db.FromMeans(means=[[1.0, 0.0]]), steps, 3, 0, RUNS, (steps,))
    found = run_shard(shard).choices / RUNS
    error = np.sqrt(expected * (1 - expected) / RUNS)
    assert expected.sum(axis=1) == pytest.approx(np.ones(steps), abs=1e-12)
    assert np.all(np.abs(found - expected) <= 4.5 * error + 1e-12)


def test_ties_of_an_index_are_shared_evenly_and_arms_without_observations_come_first():
    assert db.UCB1().selection_probabilities([(2, 1), (0, 0), (0, 0)]).tolist() == [0, 0.5, 0.5]
    assert db.UCB1().selection_probabilities([(2, 1), (2, 1), (2, 0)]).tolist() == [0.5, 0.5, 0]


def test_many_states_are_answered_at_once():
    states = np.random.default_rng(1).uniform(0, 5, size=(3, 7, 4, 2))
    policy = db.DiscountedThompsonSampling(discount=0.9)
    found = policy.selection_probabilities(states)
    assert found.shape == (3, 7, 4)
    assert found[2, 3] == pytest.approx(policy.selection_probabilities(states[2, 3]), abs=1e-15)


@pytest.mark.parametrize(
    "evidence", [[], [(1, 2)], [(1, 2, 3), (1, 2, 3)], [(np.nan, 1), (1, 1)], [(np.inf, 1), (1, 1)], "no", 3]
)
def test_evidence_that_makes_no_sense_is_answered_in_one_line(evidence):
    with pytest.raises(db.InvalidValue, match="evidence must be finite numbers") as error:
        db.Exp3(exploration=0.1).selection_probabilities(evidence)
    assert "\n" not in str(error.value)


def test_no_state_has_no_answer_and_what_does_not_fit_is_told_in_one_line():
    assert db.UCB1().selection_probabilities(np.zeros((0, 3, 2))).shape == (0, 3)
    with pytest.raises(db.InvalidValue, match=r"^common and total must fit evidence of shape \(5, 2, 2\)"):
        db.UCB1().selection_probabilities(np.zeros((5, 2, 2)), total=[1.0, 2.0])


def test_shared_numbers_must_be_given_and_a_total_only_where_it_matters():
    mixture = GUIDE[1]
    evidence = np.zeros((3, 6))
    assert mixture.selection_probabilities(evidence, common=(0.0, -1.0, 2.0)) == pytest.approx(np.ones(3) / 3)
    with pytest.raises(db.InvalidValue, match="common must be given for example-discount-mixture, whose arms share 3"):
        mixture.selection_probabilities(evidence)
    rule = Rule(
        selection="index",
        score=lambda p, shared, a, b: shared * b,
        context=lambda p, total: total,
        learn=lambda p, a, b, r, q: (a + 1.0, b + r),
        parameters=(),
    )
    with pytest.raises(db.InvalidValue, match="total must be given for given"):
        Given(given=rule).selection_probabilities([(1, 0), (2, 1)])
    assert Given(given=rule).selection_probabilities([(1, 0), (2, 1)], total=3.0).tolist() == [0.0, 1.0]
