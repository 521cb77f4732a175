"""The example that fits a discount with Optuna finds one near the best, and judges it on another seed."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("optuna", reason="optuna is not installed")

import driftbandit as db

EXAMPLE = Path(__file__).parents[1] / "examples" / "fitted_discount.py"


@pytest.fixture(scope="module")
def example() -> Any:
    specification = importlib.util.spec_from_file_location("fitted_discount", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    module.ENVIRONMENT, module.HORIZON, module.FITTING_RUNS = db.Brownian(volatility=0.1), 300, 50
    return module


def test_the_fitted_half_life_is_as_good_as_the_best_of_a_grid(example: Any) -> None:
    found = example.run(trials=25, judging_runs=300)
    judged, fitted = found["judged"], found["fitted"]
    assert judged.seed not in example.FITTING_SEEDS
    assert judged.difference(fitted, "ts").high < 0.0
    grid = [example.policy_of(half_life) for half_life in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 400.0)]
    best = db.simulate(
        [db.Policy.parse(fitted), *grid], example.ENVIRONMENT, horizon=300, runs=300, seed=judged.seed
    )  # fmt: skip
    assert max(best.difference(fitted, str(policy)).mean for policy in grid) < 0.01
    assert min(best.normalized_regret[str(policy)].mean for policy in grid[:1] + grid[-1:]) > (
        best.normalized_regret[fitted].mean + 0.02
    ), "a grid whose ends are worse, or anything would do"


def test_the_same_call_finds_the_same(example: Any) -> None:
    first, second = (example.run(trials=6, judging_runs=2)["study"].best_params for _ in range(2))
    assert first == second
