"""EXP3.S and EXP3-SIX: their limits, published numbers, and weights that hold live whatever happens to arms."""

import math

import numpy as np
import pytest

import driftbandit as db
from driftbandit.engine.cpu.shard import Shard, run_shard


def choices(policy: db.Policy, horizon: int = 400) -> np.ndarray:
    return run_shard(Shard(policy, db.Sinusoidal(period=60.5, n_arms=3), horizon, 5, 0, 4, (horizon,))).choices


def test_without_sharing_they_are_exp3_and_exp3_ix() -> None:
    assert np.array_equal(choices(db.Exp3S(exploration=0.2, sharing=0)), choices(db.Exp3(exploration=0.2)))
    assert np.array_equal(choices(db.Exp3SIX(learning_rate=0.1, sharing=0)), choices(db.Exp3IX(learning_rate=0.1)))


def test_exp3_s_has_the_regret_that_was_measured_elsewhere() -> None:
    policy = db.Exp3S(exploration=0.07664, sharing=1e-4)
    (found,) = db.simulate(policy, db.EnvA(), horizon=10_000, runs=200, seed=3).normalized_regret.values()
    assert abs(found.mean * 10_000 - 523.0) < 3.5 * math.hypot(found.ci95 / 1.96 * 10_000, 4.0)


@pytest.mark.parametrize(("problem", "expected"), [(1, 334.0), (2, 301.0)])
def test_exp3_s_on_problems_of_besson(problem: int, expected: float) -> None:
    policy = db.Exp3S.tuned(horizon=5000, n_arms=3, change_points=4)
    found = db.simulate(policy, db.Besson(problem=problem), horizon=5000, runs=200, seed=3, progress=False)
    (regret,) = found.normalized_regret.values()
    assert abs(regret.mean * 5000 - expected) < 3.5 * math.hypot(regret.ci95 / 1.96 * 5000, 2.0)


@pytest.mark.parametrize(
    "policy", [db.Exp3SIX(learning_rate=0.5, sharing=0.001), db.Exp3S(exploration=0.2, sharing=0.001)]
)
def test_weights_hold_with_floors_masks_and_arms_that_come_and_go(policy: db.Policy) -> None:
    bandit = db.Bandit(list("abcdef"), policy, seed=1, minimum_probability=0.08)
    rng = np.random.default_rng(0)
    for step in range(600):
        if step == 200:
            bandit.remove(max(bandit.probabilities(), key=lambda arm: bandit.probabilities()[arm]))
            bandit.add("new")
        mask = ["a", "b"] if step % 3 and "a" in bandit.arms and "b" in bandit.arms else None
        decision = bandit.select(arms=mask)
        bandit.reward(decision, float(rng.random() < (0.8 if decision.arm == "c" else 0.3)))
        weights = [numbers[0] for numbers in bandit.evidence().values()]
        assert all(0.0 < weight < 1e3 for weight in weights), step
    assert sum(bandit.probabilities().values()) == pytest.approx(1.0)
