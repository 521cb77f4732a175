"""Why UCB1 follows waves that are in step: what docs/findings.md says of it, in small."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import driftbandit as db

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures"
if not (FIGURES / "waves.py").is_file():
    pytest.skip("a package of the sources without its documents", allow_module_level=True)
sys.path.append(str(FIGURES))

import interventions as changed  # noqa: E402  # found only now
import waves  # noqa: E402

RUNS = 60
FITTED = db.DiscountedThompsonSampling(discount=0.65, prior_successes=1e-4, prior_failures=1e-4)
"""The best of 174 settings in the fast waves, and near it in those that are changed."""
FITTED_RESTED = db.DiscountedThompsonSampling(discount=0.94, prior_successes=1e-6, prior_failures=1e-6)
MIXED = changed.waves(periods=(50, 80, 130, 210))


def played(*policies: db.Policy, environment: db.Environment, horizon: int = 5000) -> db.Result:
    return db.simulate(policies, environment, horizon=horizon, runs=RUNS, seed=5, threads=2, progress=False)


def apart(one: db.Policy, other: db.Policy, environment: db.Environment) -> float:
    """How many standard errors more regret one policy has than another, run by run."""
    values = played(one, other, environment=environment).dataset.regret.values[:, :, -1]
    difference = values[0] - values[1]
    return float(difference.mean() / (difference.std(ddof=1) / math.sqrt(RUNS)))


@pytest.mark.parametrize(
    ("environment", "rival", "sign"),
    [
        (db.Fast(), FITTED, -1),
        (changed.shuffled(), FITTED, -1),
        (MIXED, FITTED, 1),
        (changed.levelled(MIXED), FITTED, -1),
        (changed.louder_and_quieter(), FITTED, 1),
        (db.Fast(rested=True), FITTED_RESTED, 1),
    ],
    ids=["in step", "no waves", "mixed periods", "mixed and levelled", "louder and quieter", "rested"],
)
def test_ucb1_beside_fitted_ts(environment: db.Environment, rival: db.Policy, sign: int) -> None:
    assert sign * apart(db.UCB1(), rival, environment) > 5


def test_forgetting_gains_much_to_sampling_and_little_to_bounds() -> None:
    forgets, bounds = db.DiscountedUCB(discount=0.999), (db.UCB1(), db.ThompsonSampling())
    found = played(FITTED, forgets, *bounds, environment=db.Fast()).normalized_regret
    assert found["ts"].low > 2.5 * found[str(FITTED)].high
    assert found["ucb1"].high < 1.4 * found[str(forgets)].low


def test_one_run_written_out_is_ucb1() -> None:
    regrets = []
    for seed in range(RUNS):
        trace = waves.traced(db.Fast(), 1000, seed)
        regrets.append((trace.means.max(axis=1) - trace.means[np.arange(1000), trace.arm]).mean())
    expected = played(db.UCB1(), environment=db.Fast(), horizon=1000).dataset.regret.values[0, :, -1] / 1000
    error = math.sqrt((np.var(regrets, ddof=1) + expected.var(ddof=1)) / RUNS)
    assert abs(np.mean(regrets) - expected.mean()) < 3.5 * error


@pytest.mark.parametrize("environment", [db.Slow(), db.Fast()], ids=str)
def test_ucb1_chooses_the_largest_sum_above_a_threshold(environment: db.Environment) -> None:
    """Guesses would be right a quarter of the time; the best arm is chosen in .55 (fast) and .86 (slow)."""
    assert np.mean([waves.traced(environment, 5000, seed).foreseen for seed in range(6)]) > 0.9


def test_the_model_foretells_regret() -> None:
    environment = db.Fast()
    best, regrets = waves.best_mean(environment, 100), waves.response(environment, 2000, runs=20)
    policies = {
        db.UCB1(): waves.usual(2.0),
        db.UCB1(confidence=8.0): waves.usual(8.0),
        db.UCB1(confidence=32.0): waves.usual(32.0),
        changed.Padded(kind="steady", size=0.3): lambda n: 0.3,
    }
    found = played(*policies, environment=environment).normalized_regret
    for policy, padding in policies.items():
        told = waves.foretold(regrets, best, padding, [5000])[0]
        assert abs(told - found[str(policy)].mean) < 0.012, policy


def test_a_padding_that_may_grow_for_ever_is_that_of_ucb1() -> None:
    policy = changed.Padded(kind="frozen", steps=1e18)
    values = played(policy, db.UCB1(), environment=db.Fast(), horizon=1000).dataset.regret.values
    assert np.array_equal(values[0], values[1])


def test_noise_of_every_arm_by_itself_is_what_index_policies_lack() -> None:
    noisy = changed.Padded(kind="frozen", steps=1e18, noise=0.4)
    found = played(noisy, changed.Swayed(), db.UCB1(), environment=db.Slow()).normalized_regret
    assert found["ucb1"].high < found["swayed"].high < 0.06
    assert found[str(noisy)].low > 0.2
