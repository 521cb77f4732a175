"""kl-UCB and its relatives earn what others measured with code of their own, in the same games."""

import math

import pytest

import driftbandit as db

ENV_A = (db.EnvA(), 10_000)
FIRST, SECOND = ((db.Besson(problem=problem), 5000) for problem in (1, 2))
CASES = [
    # policy, game, regret measured elsewhere, its standard error (where none is told: that of its neighbours)
    (db.DiscountedKLUCB(discount=0.996464, logarithm="time"), ENV_A, 461, 3),
    (db.SlidingWindowKLUCB(window=429, logarithm="time"), ENV_A, 384, 3),
    (db.DiscountedKLUCB(discount=0.996464), ENV_A, 395, 3),
    (db.SlidingWindowKLUCB(window=429), ENV_A, 339, 3),
    (db.KLUCB(), FIRST, 284, 7),
    (db.KLUCB(), SECOND, 163, 4),
    (db.SlidingWindowKLUCB(window=206), FIRST, 178, 1),
    (db.SlidingWindowKLUCB(window=206), SECOND, 180, 1),
    (db.DiscountedKLUCB(discount=0.9929), FIRST, 215, 1),
    (db.DiscountedKLUCB(discount=0.9929), SECOND, 218, 1),
    (db.DiscountedKLUCB(discount=0.95), FIRST, 482, 1),
    (db.DiscountedKLUCB(discount=0.95), SECOND, 505, 1),
    (db.ThompsonSampling(), FIRST, 495, 11),
    (db.ThompsonSampling(), SECOND, 379, 11),
]


@pytest.mark.parametrize(("policy", "game", "regret", "error"), CASES, ids=lambda value: str(value)[:40])
def test_the_regret_is_the_one_that_was_measured_elsewhere(
    policy: db.Policy, game: tuple[db.Environment, int], regret: float, error: float
) -> None:
    environment, horizon = game
    result = db.simulate(policy, environment, horizon=horizon, runs=300, seed=7, threads=2, progress=False)
    (found,) = result.normalized_regret.values()
    own_error = found.ci95 * horizon / 1.968  # Student's t of 300 runs
    assert abs(found.mean * horizon - regret) <= 3.5 * math.hypot(own_error, error)
