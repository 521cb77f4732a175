"""Same seed, same answer, to the bit: however the work is cut, ordered, threaded, or stored."""

import json

import numpy as np
import pytest

import driftbandit as db
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.engine.games import recorded_steps

POLICIES = [
    db.DiscountedThompsonSampling(discount=0.9),
    db.Exp3(exploration=0.2),
    db.SlidingWindowUCB(window=30),
    db.DiscountedOptimisticThompsonSampling(discount=0.9, prior_successes=1e-3, prior_failures=1e-3),
]
ENVIRONMENTS = [db.Sinusoidal(period=50.5), db.Brownian(rested=True), db.Abrupt(rested=True, n_arms=7), db.Brownian()]
# a kernel of every kind of selection, and of every kind of environment, without all pairs of them
PAIRS = [
    (POLICIES[0], ENVIRONMENTS[0]),
    (POLICIES[1], ENVIRONMENTS[0]),
    (POLICIES[2], ENVIRONMENTS[0]),
    (POLICIES[3], ENVIRONMENTS[0]),
    (POLICIES[0], ENVIRONMENTS[1]),
    (POLICIES[0], ENVIRONMENTS[2]),
    (POLICIES[2], ENVIRONMENTS[3]),
]


def assert_equal(result: db.Result, other: db.Result) -> None:
    assert set(result.dataset.data_vars) == set(other.dataset.data_vars)
    for name in result.dataset.data_vars:
        assert result.dataset[name].dtype == other.dataset[name].dtype
        assert np.array_equal(result.dataset[name].values, other.dataset[name].values), name
    assert result.dataset.attrs == other.dataset.attrs
    assert result.policies == other.policies


@pytest.mark.parametrize(("policy", "environment"), PAIRS, ids=str)
def test_the_block_size_changes_nothing(policy: db.Policy, environment: db.Environment) -> None:
    shard = Shard(policy, environment, 200, 3, 17, 75, tuple(range(1, 201)))
    whole = run_shard(shard)
    for size in (1, 3, 8, 13, 64, 75, 512):
        for figure, again in zip(whole, run_shard(shard, block_size=size), strict=True):
            assert np.array_equal(figure, again), f"blocks of {size}"


@pytest.mark.parametrize(("policy", "environment"), PAIRS, ids=str)
def test_where_a_shard_begins_changes_nothing(policy: db.Policy, environment: db.Environment) -> None:
    steps = (50, 120)
    whole = run_shard(Shard(policy, environment, 120, 3, 0, 40, steps))
    parts = [run_shard(Shard(policy, environment, 120, 3, first, 8, steps)) for first in range(0, 40, 8)]
    for name in ("regret", "expected", "reward"):
        assert np.array_equal(getattr(whole, name), np.concatenate([getattr(part, name) for part in parts]))
    assert np.array_equal(whole.choices, sum(part.choices for part in parts))


def test_a_shard_cut_into_many_kernel_calls_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for policy, environment in PAIRS:
        shard = Shard(policy, environment, 200, 3, 0, 10, tuple(range(10, 201, 10)))
        whole = run_shard(shard)
        monkeypatch.setattr("driftbandit.engine.cpu.shard.CALL_NUMBERS", 7 * 10 * environment.n_arms)
        for figure, again in zip(whole, run_shard(shard), strict=True):
            assert np.array_equal(figure, again)
        monkeypatch.undo()


def test_the_number_of_threads_changes_nothing() -> None:
    options = {"horizon": 150, "runs": 1100, "seed": 8}
    one = db.simulate(POLICIES, ENVIRONMENTS[0], threads=1, **options)
    for threads in (2, 5, None):
        assert_equal(one, db.simulate(POLICIES, ENVIRONMENTS[0], threads=threads, **options))


def test_the_order_and_the_company_of_policies_change_nothing() -> None:
    options = {"horizon": 120, "runs": 600, "seed": 8}
    together = db.simulate(POLICIES, ENVIRONMENTS[0], **options).dataset
    backwards = db.simulate(POLICIES[::-1], ENVIRONMENTS[0], **options).dataset
    for policy in POLICIES:
        alone = db.simulate(policy, ENVIRONMENTS[0], **options).dataset
        for name in ("regret", "expected", "reward", "choices"):
            expected = alone[name].sel(policy=str(policy)).values
            assert np.array_equal(together[name].sel(policy=str(policy)).values, expected)
            assert np.array_equal(backwards[name].sel(policy=str(policy)).values, expected)


@pytest.mark.parametrize("environment", [ENVIRONMENTS[0], ENVIRONMENTS[3]], ids=str)
def test_the_first_100_of_1000_runs_are_a_simulation_of_100_runs(environment: db.Environment) -> None:
    few = db.simulate(POLICIES[2], environment, horizon=100, runs=100, seed=5).dataset
    many = db.simulate(POLICIES[2], environment, horizon=100, runs=1000, seed=5).dataset
    for name in ("regret", "expected", "reward"):
        assert np.array_equal(few[name].values, many[name].values[:, :100])
    assert np.array_equal(few["static_oracle"].values, many["static_oracle"].values[:100])


def test_a_shorter_game_is_the_beginning_of_a_longer_one() -> None:
    for policy, environment in PAIRS:
        short = run_shard(Shard(policy, environment, 60, 3, 0, 5, (30, 60)))
        long = run_shard(Shard(policy, environment, 140, 3, 0, 5, (30, 60, 140)))
        assert np.array_equal(short.regret, long.regret[:, :2])
        assert np.array_equal(short.choices, long.choices[:60])


def test_another_seed_gives_another_game() -> None:
    first, second = (db.simulate(POLICIES[0], ENVIRONMENTS[0], horizon=50, runs=20, seed=seed) for seed in (1, 2))
    assert not np.array_equal(first.dataset["regret"].values, second.dataset["regret"].values)


def test_different_runs_of_a_policy_differ() -> None:
    regret = db.simulate(POLICIES[0], ENVIRONMENTS[0], horizon=100, runs=300, seed=1).dataset["regret"].values
    assert len(np.unique(regret[0, :, -1])) > 250


def test_a_saved_and_reloaded_result_is_the_same(tmp_path) -> None:
    result = db.simulate(POLICIES, ENVIRONMENTS[3], horizon=120, runs=70, seed=2**64 - 1)
    path = tmp_path / "result.nc"
    result.save(path)
    again = db.Result.load(path)
    assert_equal(result, again)
    for name in ("normalized_regret", "mean_reward", "static_regret"):
        assert getattr(result, name) == getattr(again, name)
    assert again.seed == 2**64 - 1
    assert (again.horizon, again.runs, again.environment) == (120, 70, str(ENVIRONMENTS[3]))
    assert [path.name for path in tmp_path.iterdir()] == ["result.nc"]


def test_the_specification_inside_a_result_rebuilds_the_simulation(tmp_path) -> None:
    means = db.FromMeans(means=[[0.1, 0.9], [0.7, 0.2]])
    schedule = db.Piecewise(levels=[[0.1, 0.9], [0.7, 0.2]], change_points=[20])
    for environment in (means, schedule, ENVIRONMENTS[0]):
        result = db.simulate(POLICIES[:1] + POLICIES[2:3], environment, horizon=40, runs=9, seed=6)
        result.save(tmp_path / "result.nc")
        loaded = db.Result.load(tmp_path / "result.nc")
        told = json.loads(loaded.dataset.attrs["specification"])
        policies = [db.Policy.build(each["name"], each["parameters"]) for each in told["policies"]]
        rebuilt = db.Environment.build(told["environment"]["name"], told["environment"]["parameters"])
        assert rebuilt == environment
        again = db.simulate(policies, rebuilt, horizon=told["horizon"], runs=told["runs"], seed=told["seed"])
        assert_equal(loaded, again)
        assert loaded.dataset.attrs["driftbandit_version"] == db.__version__


@pytest.mark.parametrize(("horizon", "runs"), [(1, 1), (7, 3), (250, 10), (251, 10), (5000, 1000), (1000, 10**6)])
def test_recorded_steps_increase_to_the_horizon(horizon: int, runs: int) -> None:
    steps = recorded_steps(horizon, runs)
    assert steps[-1] == horizon
    assert steps[0] >= 1
    assert np.all(np.diff(steps) > 0)
    assert len(steps) <= 250
