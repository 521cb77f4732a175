"""Random walks: reflected, with the right movements, another in every run and the same for every policy."""

import numpy as np
import pytest
from scipy import stats

import driftbandit as db
import naive
from driftbandit.compiling.linking import link
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.engine.step.forms import mean_after, mean_at_start


def walk(parameters, seed, run, arm, means):
    """The means of one arm at clock 1, 2 and so on."""
    means[0] = mean_at_start(parameters, seed, run, arm)
    for t in range(1, means.size):
        means[t] = mean_after(parameters, means[t - 1], seed, run, np.uint64(t), arm)


def paths(
    volatility: float, runs: int, steps: int, start: float | None = None, arm: int = 0, seed: int = 9
) -> np.ndarray:
    found = np.empty((runs, steps))
    path = db.Brownian(volatility=volatility, start=start).path()
    compiled = link(walk, first_mean=path.first, next_mean=path.following)
    for run in range(runs):
        compiled(path.numbers, np.uint64(seed), np.uint64(run), np.uint64(arm), found[run])
    return found


@pytest.mark.parametrize("volatility", [1e-3, 0.1, 1.0])
def test_walks_stay_between_0_and_1(volatility: float) -> None:
    found = paths(volatility, runs=50, steps=2000)
    assert np.all((found >= 0) & (found <= 1))


def test_movements_are_normal_with_the_volatility_as_standard_deviation() -> None:
    moves = np.diff(paths(0.002, runs=100, steps=200, start=0.5)).ravel()
    assert stats.kstest(moves / 0.002, "norm").pvalue > 1e-4
    error = 0.002 / np.sqrt(2 * len(moves))  # of a standard deviation
    assert abs(moves.std() - 0.002) < 4 * error


def test_movements_of_one_walk_are_not_correlated() -> None:
    moves = np.diff(paths(0.002, runs=200, steps=200, start=0.5))
    correlation = np.corrcoef(moves[:, 1:].ravel(), moves[:, :-1].ravel())[0, 1]
    assert abs(correlation) < 4 / np.sqrt(moves.size)


def test_a_long_reflected_walk_is_uniform() -> None:
    ends = paths(0.5, runs=2000, steps=40, start=0.9)[:, -1]
    assert stats.kstest(ends, "uniform").pvalue > 1e-4


def test_starts_are_uniform_or_as_given() -> None:
    assert stats.kstest(paths(0.1, runs=2000, steps=1)[:, 0], "uniform").pvalue > 1e-4
    assert np.all(paths(0.1, runs=5, steps=1, start=0.25) == 0.25)


def test_walks_of_other_runs_arms_and_seeds_differ_and_are_not_correlated() -> None:
    one = paths(0.02, runs=60, steps=100, start=0.5)
    assert len(np.unique(one[:, -1])) == 60
    for other in (paths(0.02, 60, 100, start=0.5, arm=1), paths(0.02, 60, 100, start=0.5, seed=10)):
        assert not np.any(one[:, 1:] == other[:, 1:])
        correlation = np.corrcoef(np.diff(one).ravel(), np.diff(other).ravel())[0, 1]
        assert abs(correlation) < 4 / np.sqrt(one.size)


@pytest.mark.parametrize("outside", [-0.3, 1.4, 2.3, -1.7, 0.0, 1.0, 0.5])
def test_reflection_mirrors_at_both_walls(outside: float) -> None:
    # a movement of exactly this size is the same as folding the straight line
    assert naive.reflected(outside) == pytest.approx(abs((outside + 1) % 2 - 1))


def test_the_means_of_a_walk_are_not_known_beforehand() -> None:
    with pytest.raises(db.InvalidValue, match="every run has its own path"):
        db.Brownian().means_at(np.array([1]))


def chosen_means(
    policy: db.Policy, environment: db.Environment, horizon: int, run: int
) -> tuple[np.ndarray, np.ndarray]:
    """The arm that one run chose at every step, and the mean it had."""
    steps = tuple(range(1, horizon + 1))
    outcome = run_shard(Shard(policy, environment, horizon, 9, run, 1, steps))
    return outcome.choices.argmax(axis=1), np.diff(outcome.expected[0], prepend=0.0)


@pytest.mark.parametrize("rested", [False, True])
@pytest.mark.parametrize("policy", [db.UniformRandom(), db.SlidingWindowUCB(window=24)], ids=str)
def test_every_policy_meets_the_same_walk_on_the_clock_of_the_game_or_of_the_arm(policy, rested: bool) -> None:
    environment = db.Brownian(volatility=0.05, rested=rested)
    for run in range(3):
        arms, means = chosen_means(policy, environment, 80, run)
        clocks = np.ones(4, int)
        path = naive.Walk(naive.Dice(9, run), 0.05, None, 4)
        for t, (arm, mean) in enumerate(zip(arms.tolist(), means.tolist(), strict=True), 1):
            assert mean == pytest.approx(path.mean(arm, int(clocks[arm]) if rested else t), abs=1e-12)
            clocks[arm] += 1


@pytest.mark.parametrize("rested", [False, True])
def test_the_static_oracle_is_the_best_arm_of_each_run_s_walk(rested: bool) -> None:
    environment = db.Brownian(volatility=0.1, n_arms=3, rested=rested)
    result = db.simulate(db.UniformRandom(), environment, horizon=50, runs=4, seed=9, progress=False)
    for run, best in enumerate(result.dataset["static_oracle"].values):
        path = naive.Walk(naive.Dice(9, run), 0.1, None, 3)
        assert best == pytest.approx(max(sum(path.mean(k, t) for t in range(1, 51)) for k in range(3)), rel=1e-12)
