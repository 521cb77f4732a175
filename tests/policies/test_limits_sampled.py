"""Where one policy that compares samples is a special case of another, both make the same decisions."""

import dataclasses
from typing import Any, ClassVar

import numpy as np
import pytest

import driftbandit as db
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.numerics.sampling import odds_accepted, odds_attempt

HORIZON = 60
WORLDS = [db.Sinusoidal(period=30), db.Abrupt(period=20, n_arms=3), db.Sinusoidal(period=30, rewards="mean")]


def decisions(policy: db.Policy, environment: db.Environment) -> np.ndarray:
    """The choices of single runs, one by one."""
    shards = [Shard(policy, environment, HORIZON, 4, run, 1, (HORIZON,)) for run in range(3)]
    return np.array([run_shard(shard, target=INTERPRETED).choices for shard in shards])


@pytest.mark.parametrize("environment", WORLDS, ids=str)
@pytest.mark.parametrize("window", [HORIZON, 10**9])
@pytest.mark.parametrize("prior", [{}, {"prior_successes": 0.01, "prior_failures": 0.02}], ids=str)
def test_a_window_as_long_as_the_game_is_thompson_sampling(
    environment: db.Environment, window: int, prior: dict[str, float]
) -> None:
    sliding, plain = db.SlidingWindowThompsonSampling(window=window, **prior), db.ThompsonSampling(**prior)
    assert np.array_equal(decisions(sliding, environment), decisions(plain, environment))


@pytest.mark.parametrize("environment", WORLDS, ids=str)
def test_gaussian_samples_of_everything_are_the_same_by_a_window_and_by_a_discount(
    environment: db.Environment,
) -> None:
    plain = decisions(db.GaussianThompsonSampling(discount=1), environment)
    assert np.array_equal(decisions(db.GaussianThompsonSampling(window=HORIZON), environment), plain)
    assert not np.array_equal(decisions(db.GaussianThompsonSampling(window=10), environment), plain)
    assert not np.array_equal(decisions(db.GaussianThompsonSampling(discount=0.9), environment), plain)


def test_arms_of_which_nothing_is_known_come_first_and_share_evenly() -> None:
    policy = db.GaussianThompsonSampling(deviation=1e20)
    assert policy.selection_probabilities([(0, 0), (2, 2e30), (0, 0)]).tolist() == [0.5, 0.0, 0.5]
    faded = db.GaussianThompsonSampling(discount=0.5)
    assert faded.selection_probabilities([(9e-9, 1e-9), (1, 1), (1, 0)]).tolist() == [1.0, 0.0, 0.0]
    assert 0.0 < faded.selection_probabilities([(1e-8, 1e-9), (1, 1), (1, 0)])[0] < 0.6
    firsts = np.zeros(3)
    for run in range(300):
        outcome = run_shard(Shard(policy, db.Fast(n_arms=3), 3, 4, run, 1, (3,)), target=INTERPRETED)
        assert outcome.choices.sum(axis=0).tolist() == [1, 1, 1]
        firsts += outcome.choices[0]
    assert np.all(np.abs(firsts - 100) <= 4 * np.sqrt(300 * 2 / 9))


class FirstOfTwo(db.DiscountedWindowThompsonSampling):
    """Only the first of the two samples counts, and only that must be accepted."""

    name: ClassVar[str] = "test-first-of-two"

    def rule(self, n_arms: int) -> db.Rule:
        rule = super().rule(n_arms)
        assert rule.sampler is not None
        return dataclasses.replace(rule, sampler=dataclasses.replace(rule.sampler, attempt=self.attempt()))

    def attempt(self) -> Any:
        return first_alone


class SecondOfTwo(FirstOfTwo):
    """Only the second, drawn with the words of the first."""

    name: ClassVar[str] = "test-second-of-two"

    def attempt(self) -> Any:
        return second_alone


def first_alone(shape: Any, words: Any, more: Any) -> Any:
    return odds_attempt(shape[0], shape[1], words)[0], odds_accepted(shape[0], shape[1], words)


def second_alone(shape: Any, words: Any, more: Any) -> Any:
    return odds_attempt(shape[2], shape[3], words)[0], odds_accepted(shape[2], shape[3], words)


@pytest.mark.parametrize("environment", WORLDS, ids=str)
def test_two_posteriors_that_forget_nothing_are_both_that_of_thompson_sampling(environment: db.Environment) -> None:
    plain = decisions(db.ThompsonSampling(), environment)
    for kind in (FirstOfTwo, SecondOfTwo):
        assert np.array_equal(decisions(kind(discount=1, window=HORIZON), environment), plain)
    discounted = decisions(db.DiscountedThompsonSampling(discount=0.9), environment)
    assert np.array_equal(decisions(FirstOfTwo(discount=0.9, window=3), environment), discounted)


@pytest.mark.parametrize("environment", [*WORLDS, db.Sinusoidal(period=30, rewards="normal")], ids=str)
@pytest.mark.parametrize("spread", [0.1, 3.0])
def test_where_means_never_move_predictive_sampling_is_thompson_sampling(
    environment: db.Environment, spread: float
) -> None:
    settings = {"movement": 0.0, "persistence": 1.0, "noise": 0.4, "spread": spread}
    thompson = decisions(db.KalmanThompsonSampling(**settings), environment)
    assert np.array_equal(decisions(db.PredictiveSampling(**settings), environment), thompson)
    settings["movement"] = 0.2
    thompson = decisions(db.KalmanThompsonSampling(**settings), environment)
    assert not np.array_equal(decisions(db.PredictiveSampling(**settings), environment), thompson)


def test_an_arm_is_never_less_certain_than_at_the_start() -> None:
    policy = db.KalmanThompsonSampling(movement=1.0, spread=0.5)
    assert policy.selection_probabilities([(0.5, 0.25), (0.9, 1e6)]) == pytest.approx(
        policy.selection_probabilities([(0.5, 0.25), (0.9, 0.25)])
    )


def test_a_vague_prior_leaves_what_one_reward_says() -> None:
    for policy in (db.KalmanThompsonSampling(movement=0, spread=1e8), db.PredictiveSampling(movement=0, spread=1e8)):
        rule = policy.rule(2)
        mean, variance = rule.learn(rule.parameters, *rule.initial, 1.0, 1.0)
        assert (mean, variance) == pytest.approx((1.0, 0.25), rel=1e-6)
