"""Policies with beliefs earn what others have measured for them, within 3.5 standard errors of both."""

import math
from typing import NamedTuple

import pytest

import driftbandit as db

CTS = db.ChangePointThompsonSampling


class Row(NamedTuple):
    """A policy, where it plays, its regret as measured elsewhere, and the standard error or rounding of that."""

    policy: db.Policy
    environment: db.Environment
    horizon: int
    regret: float
    error: float
    runs: int = 200

    def __str__(self) -> str:
        return f"{self.policy}-{self.environment}"


ROWS = [
    Row(CTS(hazard=2e-4, runs=50), db.EnvA(), 10_000, 105, 4),
    Row(CTS(hazard=1e-4, runs=50), db.EnvA(), 10_000, 111, 4),
    Row(CTS(hazard=1e-3, runs=50), db.EnvA(), 10_000, 121, 4),
    Row(CTS(hazard=1e-2, runs=50), db.EnvA(), 10_000, 375, 4),
    Row(CTS(hazard=8e-4, runs=20), db.Besson(problem=1), 5000, 46, 2, 400),
    Row(CTS(hazard=8e-4, runs=20), db.Besson(problem=2), 5000, 65, 2, 400),
    Row(CTS(hazard=8e-4, runs=100), db.Besson(problem=1), 5000, 57, 1),
    Row(CTS(hazard=8e-4, runs=100), db.Besson(problem=2), 5000, 74, 1),
    Row(CTS(hazard=8e-4, scope="arm", runs=50), db.Besson(problem=1), 5000, 102, 1),
    Row(CTS(hazard=8e-4, scope="arm", runs=50), db.Besson(problem=2), 5000, 122, 1),
    Row(CTS(hazard=0.005, scope="arm", runs=50), db.Slow(), 5000, 0.056 * 5000, 0.001 * 5000, 40),
    Row(CTS(hazard=0.02, scope="arm", runs=50), db.Fast(), 5000, 0.240 * 5000, 0.001 * 5000, 40),
    Row(CTS(hazard=0.005, scope="arm", runs=50), db.Abrupt(), 5000, 0.112 * 5000, 0.001 * 5000, 40),
    Row(CTS(hazard=0.01, runs=50), db.Slow(), 5000, 0.058 * 5000, 0.001 * 5000, 40),
    Row(CTS(hazard=0.01, runs=50), db.Fast(), 5000, 0.236 * 5000, 0.001 * 5000, 40),
    Row(CTS(hazard=0.01, runs=50), db.Abrupt(), 5000, 0.137 * 5000, 0.001 * 5000, 40),
]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_regret_is_as_measured_elsewhere(row: Row) -> None:
    result = db.simulate([row.policy], row.environment, horizon=row.horizon, runs=row.runs, seed=1, threads=2)
    found = result.normalized_regret[str(row.policy)]
    error = math.hypot(found.ci95 / 1.97 * row.horizon, row.error)
    assert abs(found.mean * row.horizon - row.regret) <= 3.5 * error


@pytest.mark.parametrize(
    ("environment", "horizon", "known"),
    [(db.EnvA(), 10_000, 2e-4), (db.Besson(problem=1), 5000, 8e-4), (db.Besson(problem=2), 5000, 8e-4)],
    ids=str,
)
def test_hazards_that_are_mixed_do_about_as_well_as_the_true_one(
    environment: db.Environment, horizon: int, known: float
) -> None:
    policies = [CTS(), CTS(hazard=known)]
    result = db.simulate(policies, environment, horizon=horizon, runs=100, seed=1, threads=2)
    mixed, true = (result.normalized_regret[str(policy)].mean for policy in policies)
    assert mixed < 1.25 * true
