"""Where one policy is a special case of another, both make the same decisions."""

import numpy as np
import pytest

import driftbandit as db
from driftbandit.engine.cpu.shard import Shard, run_shard

HORIZON = 400
RUNS = 30
FAST = db.Sinusoidal(period=100)
PRIORS = [{}, {"prior_successes": 1e-3, "prior_failures": 1e-3}]


def record(policy: db.Policy, environment: db.Environment, runs: int = RUNS) -> list[np.ndarray]:
    outcome = run_shard(Shard(policy, environment, HORIZON, 4, 0, runs, tuple(range(1, HORIZON + 1))))
    return list(outcome)


def assert_same_decisions(policy: db.Policy, other: db.Policy, environment: db.Environment) -> None:
    for figure, twin in zip(record(policy, environment), record(other, environment), strict=True):
        assert np.array_equal(figure, twin)
    for run in range(3):  # the choices of single runs, one by one
        shards = [Shard(each, environment, HORIZON, 4, run, 1, (HORIZON,)) for each in (policy, other)]
        first, second = (run_shard(shard).choices for shard in shards)
        assert np.array_equal(first, second)


@pytest.mark.parametrize("prior", PRIORS, ids=["prior 1", "prior 0.001"])
@pytest.mark.parametrize("arms", ["all", "played"])
def test_a_discount_of_1_is_thompson_sampling(prior: dict, arms: str) -> None:
    discounted = db.DiscountedThompsonSampling(discount=1, discounted_arms=arms, **prior)
    assert_same_decisions(discounted, db.ThompsonSampling(**prior), FAST)


@pytest.mark.parametrize(("arms", "prior"), [("all", PRIORS[0]), ("all", PRIORS[1]), ("played", PRIORS[0])])
def test_an_optimistic_discount_of_1_is_optimistic_thompson_sampling(arms: str, prior: dict) -> None:
    discounted = db.DiscountedOptimisticThompsonSampling(discount=1, discounted_arms=arms, **prior)
    assert_same_decisions(discounted, db.OptimisticThompsonSampling(**prior), FAST)


def test_a_threshold_never_reached_is_thompson_sampling() -> None:
    # its posterior is sampled through logarithms, so equal up to rounding: decisions, not bits, are compared
    dynamic, plain = db.DynamicThompsonSampling(threshold=1e6), db.ThompsonSampling()
    for run in range(5):
        shards = [Shard(each, FAST, HORIZON, 4, run, 1, (HORIZON,)) for each in (dynamic, plain)]
        first, second = (run_shard(shard).choices for shard in shards)
        assert np.array_equal(first, second)


@pytest.mark.parametrize("batch", [HORIZON, HORIZON + 1, 10**9])
def test_a_batch_as_long_as_the_game_is_exp3(batch: int) -> None:
    restarting = db.RestartingExp3(batch=batch, exploration=0.2)
    assert_same_decisions(restarting, db.Exp3(exploration=0.2), FAST)


def test_the_exploration_of_rexp3_by_formula_is_that_of_exp3_tuned_for_one_batch() -> None:
    tuned = db.Exp3.tuned(horizon=HORIZON, n_arms=4)
    assert_same_decisions(db.RestartingExp3(batch=HORIZON), tuned, FAST)


def test_rexp3_repeats_nothing_of_a_batch_in_the_next() -> None:
    # with no evidence kept, a batch of 1 is uniform choice
    assert_same_decisions(db.RestartingExp3(batch=1), db.UniformRandom(), FAST)
    assert_same_decisions(db.Exp3(exploration=1), db.UniformRandom(), FAST)


@pytest.mark.parametrize("window", [HORIZON, HORIZON + 1, 10**9])
@pytest.mark.parametrize("environment", [FAST, db.Abrupt(), db.Brownian()], ids=str)
def test_a_window_as_long_as_the_game_is_ucb_with_that_padding(window: int, environment: db.Environment) -> None:
    sliding = db.SlidingWindowUCB(window=window, confidence=0.7, bound=1)
    assert_same_decisions(sliding, db.UCB1(confidence=0.7), environment)


def test_a_discounted_ucb_that_forgets_nothing_is_ucb_with_four_times_the_padding() -> None:
    assert_same_decisions(db.DiscountedUCB(discount=1, confidence=0.5), db.UCB1(confidence=2), FAST)


def test_a_shorter_window_does_decide_otherwise() -> None:
    sliding, plain = db.SlidingWindowUCB(window=HORIZON // 2, confidence=0.7), db.UCB1(confidence=0.7)
    assert not np.array_equal(record(sliding, FAST)[3], record(plain, FAST)[3])
