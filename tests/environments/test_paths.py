"""Environments that are random by run: the bits of random walks, and switches as often and as far as they should be."""

import hashlib

import numpy as np
import pytest
from scipy import stats

import driftbandit as db
from driftbandit.compiling.linking import link
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.engine.oracle import static_oracle
from driftbandit.engine.step.forms import mean_after, mean_at_start

# Of choices, figures and static oracle, recorded when walks were the only random environments.
BITS = [
    ("dts:discount=0.9", None, False, "43b6801f0223eeac", "a329b798c20a8610", "db8346c05d7c50f0"),
    ("dts:discount=0.9", None, True, "cc99d46cf9de9d8e", "d1739f3ab8aca6af", "db8346c05d7c50f0"),
    ("dts:discount=0.9", 0.9, False, "aa870dcfcbfb8ba6", "bb2141327480f8c8", "f575a096472dcfd3"),
    ("dts:discount=0.9", 0.9, True, "b2e2a2a3b04b4f7f", "609231660673de0a", "f575a096472dcfd3"),
    ("uniform", None, False, "bf7f5a8621f1d54c", "5784cf74c370f2cd", "db8346c05d7c50f0"),
    ("uniform", None, True, "bf7f5a8621f1d54c", "254415457f57270a", "db8346c05d7c50f0"),
    ("uniform", 0.9, False, "bf7f5a8621f1d54c", "66ef29798e77a684", "f575a096472dcfd3"),
    ("uniform", 0.9, True, "bf7f5a8621f1d54c", "a76b29709f969ac4", "f575a096472dcfd3"),
]


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:16]


@pytest.mark.parametrize(("policy", "start", "rested", "choices", "figures", "oracle"), BITS)
def test_walks_have_the_bits_they_always_had(policy, start, rested, choices, figures, oracle) -> None:
    environment = db.Brownian(volatility=0.05, start=start, rested=rested)
    outcome = run_shard(Shard(db.Policy.parse(policy), environment, 300, 12345, 3, 37, (100, 200, 300)))
    assert digest(outcome.choices) == choices
    assert digest(*outcome[:3]) == figures
    assert digest(static_oracle(environment, 300, 12345, 37)) == oracle


def follow(parameters, seed, first_run, means):
    """The means of every run and arm at clock 1, 2 and so on."""
    for r in range(means.shape[0]):
        for k in range(means.shape[1]):
            run, arm = np.uint64(first_run + r), np.uint64(k)
            means[r, k, 0] = mean_at_start(parameters, seed, run, arm)
            for t in range(1, means.shape[2]):
                means[r, k, t] = mean_after(parameters, means[r, k, t - 1], seed, run, np.uint64(t), arm)


def paths(environment: db.Environment, runs: int, steps: int, seed: int = 5) -> np.ndarray:
    """The means `[run, arm, clock]`."""
    path = environment.path()
    assert path is not None
    means = np.empty((runs, environment.n_arms, steps))
    link(follow, first_mean=path.first, next_mean=path.following)(path.numbers, np.uint64(seed), 0, means)
    return means


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("hazard", [0.02, 0.3])
def test_means_switch_as_often_as_the_hazard_says(hazard: float, together: bool) -> None:
    means = paths(db.Switching(hazard=hazard, together=together, n_arms=3), runs=200, steps=300)
    switched = np.diff(means) != 0.0
    trials = switched[:, 0].size if together else switched.size
    assert switched.mean() == pytest.approx(hazard, abs=4 * np.sqrt(hazard * (1 - hazard) / trials))
    at_once = switched.all(axis=1).mean()
    expected = hazard if together else hazard**3
    assert at_once == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / switched[:, 0].size))
    if together:
        assert np.array_equal(switched.any(axis=1), switched.all(axis=1))


@pytest.mark.parametrize("together", [False, True])
def test_new_means_are_uniform_between_low_and_high_and_not_correlated(together: bool) -> None:
    means = paths(db.Switching(hazard=1, together=together, low=0.2, high=0.7, n_arms=2), runs=100, steps=50)
    assert np.all((means >= 0.2) & (means <= 0.7))
    assert stats.kstest(means.ravel(), stats.uniform(0.2, 0.5).cdf).pvalue > 1e-4
    assert stats.kstest(means[:, :, 0].ravel(), stats.uniform(0.2, 0.5).cdf).pvalue > 1e-4
    for some, others in (
        (means[:, :, 1:], means[:, :, :-1]),
        (means[:, 0], means[:, 1]),
        (means[1:], means[:-1]),
    ):
        assert abs(np.corrcoef(some.ravel(), others.ravel())[0, 1]) < 4 / np.sqrt(some.size)


def test_without_hazard_means_stay_and_without_room_they_are_known() -> None:
    means = paths(db.Switching(hazard=0), runs=3, steps=20)
    assert np.all(means == means[:, :, :1])
    assert len(np.unique(means)) == 12
    assert np.all(paths(db.Switching(hazard=1, low=0.3, high=0.3), runs=2, steps=5) == 0.3)


def test_seeds_give_other_paths() -> None:
    one, other = (paths(db.Switching(hazard=0.1), 5, 50, seed) for seed in (1, 2))
    assert not np.any(one == other)


def test_low_is_not_above_high() -> None:
    with pytest.raises(db.InvalidValue, match=r"^low must be at most high, which is 0\.2, got 0\.5$"):
        db.Switching(low=0.5, high=0.2)


@pytest.mark.parametrize("environment", [db.Brownian(), db.Switching()], ids=str)
def test_the_means_of_a_path_are_not_known_beforehand(environment: db.Environment) -> None:
    with pytest.raises(
        db.InvalidValue, match=f"^{environment.name} has no means before it runs: every run has its own"
    ):
        environment.means_at(np.array([1]))
    with pytest.raises(db.InvalidValue, match="environment must be restless, with means that are known beforehand"):
        db.expected_path(db.ThompsonSampling(), environment, 5)


def test_results_tell_the_environment() -> None:
    environment = db.Switching(hazard=0.05, together=True, rewards="normal", deviation=0.1)
    result = db.simulate(db.UCB1(), environment, horizon=20, runs=4, progress=False)
    assert result.environment == "switching:rewards=normal,deviation=0.1,hazard=0.05,together=true"
    assert db.Environment.parse(result.environment) == environment
