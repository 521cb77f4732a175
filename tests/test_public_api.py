"""What the outside sees: names, parameters and defaults are a contract."""

import dataclasses
import inspect
import subprocess
import sys

import pytest

import driftbandit as db

REQUIRED = inspect.Parameter.empty
PRIOR = {"prior_successes": 1, "prior_failures": 1}
KALMAN = {"movement": REQUIRED, "persistence": 1, "level": 0.5, "noise": 0.5, "spread": 0.5}
EVERY_ENVIRONMENT = {"rested": False, "rewards": "bernoulli", "concentration": 10, "deviation": 0.5}
PARAMETERS = {
    "ThompsonSampling": ("ts", PRIOR),
    "OptimisticThompsonSampling": ("ots", PRIOR),
    "DiscountedThompsonSampling": ("dts", {"discount": REQUIRED, **PRIOR, "discounted_arms": "all"}),
    "DiscountedOptimisticThompsonSampling": ("dots", {"discount": REQUIRED, **PRIOR, "discounted_arms": "all"}),
    "DriftFilter": ("drift-filter", {"momentum": True, "randomized": False}),
    "DynamicThompsonSampling": ("dynamic-ts", {"threshold": REQUIRED, **PRIOR}),
    "Exp3": ("exp3", {"exploration": REQUIRED}),
    "RestartingExp3": ("rexp3", {"batch": REQUIRED, "exploration": None}),
    "Exp3IX": ("exp3-ix", {"learning_rate": REQUIRED, "implicit_exploration": None}),
    "DiscountedUCB": ("d-ucb", {"discount": REQUIRED, "confidence": 0.5, "bound": 1}),
    "SlidingWindowUCB": ("sw-ucb", {"window": REQUIRED, "confidence": 0.5, "bound": 1}),
    "UCB1": ("ucb1", {"confidence": 2}),
    "UniformRandom": ("uniform", {}),
    "SlidingWindowThompsonSampling": ("sw-ts", {"window": REQUIRED, **PRIOR}),
    "GaussianThompsonSampling": ("gaussian-ts", {"deviation": 0.5, "discount": 1, "window": None}),
    "DiscountedWindowThompsonSampling": ("f-dsw-ts", {"discount": REQUIRED, "window": REQUIRED, "combine": "mean"}),
    "KalmanThompsonSampling": ("kalman-ts", KALMAN),
    "PredictiveSampling": ("predictive", KALMAN),
    "Sinusoidal": ("sinusoidal", {"period": REQUIRED, "n_arms": 4, **EVERY_ENVIRONMENT}),
    "Slow": ("slow", {"n_arms": 4, **EVERY_ENVIRONMENT}),
    "Fast": ("fast", {"n_arms": 4, **EVERY_ENVIRONMENT}),
    "Abrupt": ("abrupt", {"period": 250, "n_arms": 4, **EVERY_ENVIRONMENT}),
    "Piecewise": ("piecewise", {"levels": REQUIRED, "change_points": (), **EVERY_ENVIRONMENT}),
    "Brownian": ("brownian", {"volatility": 0.02, "start": None, "n_arms": 4, **EVERY_ENVIRONMENT}),
    "Switching": (
        "switching",
        {"hazard": 0.01, "together": False, "low": 0, "high": 1, "n_arms": 4, **EVERY_ENVIRONMENT},
    ),
    "EnvA": ("env-a", EVERY_ENVIRONMENT),
    "Besson": ("besson", {"problem": 1, **EVERY_ENVIRONMENT}),
    "FDSW": ("f-dsw", {"test": 1, **EVERY_ENVIRONMENT}),
    "FromMeans": ("from-means", {"means": REQUIRED, **EVERY_ENVIRONMENT}),
}
SIMULATE = {
    "policies": REQUIRED,
    "environment": REQUIRED,
    "horizon": REQUIRED,
    "runs": REQUIRED,
    "seed": 0,
    "threads": None,
    "device": "cpu",
    "progress": None,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_constructors_have_the_promised_parameters_and_defaults(name: str) -> None:
    cls = getattr(db, name)
    text_name, promised = PARAMETERS[name]
    found = {key: parameter.default for key, parameter in inspect.signature(cls).parameters.items()}
    assert found == promised
    assert cls.name == text_name


def test_every_public_policy_and_environment_is_promised() -> None:
    public = {name for name in db.__all__ if inspect.isclass(getattr(db, name))}
    kinds = {name for name in public if issubclass(getattr(db, name), db.Policy | db.Environment)}
    assert kinds - {"Policy", "Environment"} == set(PARAMETERS)


def test_simulate_has_the_promised_parameters_and_defaults() -> None:
    found = {key: parameter.default for key, parameter in inspect.signature(db.simulate).parameters.items()}
    assert SIMULATE.items() <= found.items()
    assert all(found[name] is not REQUIRED for name in found.keys() - SIMULATE.keys()), "what was added is optional"


def test_results_have_the_promised_attributes() -> None:
    promised = {"normalized_regret", "static_regret", "mean_reward", "dataset", "plot", "save", "load", "difference"}
    assert promised <= set(dir(db.Result)) | set(db.Result.__dataclass_fields__)


def test_the_public_list_is_sorted_and_complete() -> None:
    assert sorted(db.__all__) == sorted(set(db.__all__))
    constants = [name for name in db.__all__ if name.isupper()]
    assert db.__all__[: len(constants)] == sorted(constants)
    rest = db.__all__[len(constants) :]
    assert rest == sorted(rest)
    modules = {name for name, value in vars(db).items() if inspect.ismodule(value)}
    public = {name for name in vars(db) if not name.startswith("_")} - modules | {"__version__"}
    assert public <= set(db.__all__)
    assert all(hasattr(db, name) for name in db.__all__)


def test_errors_form_the_documented_tree() -> None:
    assert issubclass(db.InvalidValue, db.DriftbanditError)
    assert issubclass(db.InvalidValue, ValueError)
    assert issubclass(db.MissingExtra, db.DriftbanditError)
    assert issubclass(db.MissingExtra, ImportError)
    assert issubclass(db.InvalidFile, db.InvalidValue)
    assert issubclass(db.InvalidFile, OSError)
    assert issubclass(db.MissingFile, db.InvalidFile)
    assert issubclass(db.MissingFile, FileNotFoundError)
    assert issubclass(db.Interrupted, KeyboardInterrupt)
    assert not issubclass(db.Interrupted, Exception), "a sweep that catches errors would go on after Ctrl-C"
    assert issubclass(db.ClusterError, db.DriftbanditError)


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = ["numba", "llvmlite", "matplotlib", "xarray", "pandas", "scipy", "rich", "typer", "distributed", "dask"]
    script = f"import sys, driftbandit; print([name for name in {heavy} if name in sys.modules])"
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_listing_the_package_and_making_specifications_stays_light() -> None:
    script = (
        "import sys, driftbandit as db; dir(db); "
        "db.DiscountedThompsonSampling(discount=0.5).rule(4); db.Fast(); db.Policy.parse('sw-ucb:window=3'); "
        "print('numba' in sys.modules or 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("value", [db.Rule, db.Posterior, db.Sampler], ids=lambda value: value.__name__)
def test_help_tells_what_every_field_means(value: type) -> None:
    lines = [line.strip() for line in (value.__doc__ or "").splitlines()]
    told = {name.strip() for line in lines if ": " in line for name in line.split(":")[0].split(",")}
    assert {field.name for field in dataclasses.fields(value)} <= told
