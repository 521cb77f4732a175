"""What the outside sees: names, parameters and defaults are a contract."""

import dataclasses
import importlib
import inspect
import subprocess
import sys
from typing import Any

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
    "Exp3S": ("exp3-s", {"exploration": REQUIRED, "sharing": REQUIRED}),
    "Exp3SIX": ("exp3-six", {"learning_rate": REQUIRED, "sharing": REQUIRED, "implicit_exploration": None}),
    "DiscountedUCB": ("d-ucb", {"discount": REQUIRED, "confidence": 0.5, "bound": 1}),
    "SlidingWindowUCB": ("sw-ucb", {"window": REQUIRED, "confidence": 0.5, "bound": 1}),
    "UCB1": ("ucb1", {"confidence": 2}),
    "UniformRandom": ("uniform", {}),
    "CusumUCB": (
        "cusum-ucb",
        {
            "threshold": REQUIRED,
            "exploration": REQUIRED,
            "drift": 0.1,
            "warm_up": 100,
            "confidence": 0.5,
            "index": "ucb",
            "forced_warm_up": False,
        },
    ),
    "PageHinkleyUCB": (
        "pht-ucb",
        {"threshold": REQUIRED, "exploration": REQUIRED, "drift": 0.1, "confidence": 0.5, "index": "ucb"},
    ),
    "MonitoredUCB": (
        "m-ucb",
        {"window": REQUIRED, "threshold": REQUIRED, "exploration": REQUIRED, "index": "ucb"},
    ),
    "GLRKLUCB": (
        "glr-kl-ucb",
        {
            "exploration": REQUIRED,
            "false_alarm": REQUIRED,
            "scope": "arm",
            "confidence": 0,
            "history": 4096,
            "growing": False,
        },
    ),
    "BayesUCB": ("bayes-ucb", {**PRIOR, "discount": 1, "window": None}),
    "KLUCB": ("kl-ucb", {"confidence": 0}),
    "SlidingWindowKLUCB": ("sw-kl-ucb", {"window": REQUIRED, "confidence": 0, "logarithm": "evidence"}),
    "DiscountedKLUCB": ("d-kl-ucb", {"discount": REQUIRED, "confidence": 0, "logarithm": "evidence"}),
    "UCBV": ("ucb-v", {"confidence": 1, "bound": 1}),
    "UCBTuned": ("ucb-tuned", {"confidence": 1}),
    "MOSS": ("moss", {"confidence": 1.35, "horizon": None}),
    "EpsilonGreedy": (
        "epsilon-greedy",
        {"exploration": REQUIRED, "discount": 1, "decreasing": False, "step_size": None},
    ),
    "Softmax": ("softmax", {"temperature": REQUIRED, "discount": 1}),
    "BanditOverBandit": ("bob", {"horizon": REQUIRED, "batch": REQUIRED, "confidence": 0.5}),
    "GittinsIndex": ("gittins", {"future": REQUIRED, "method": "table", "discount": 1, **PRIOR}),
    "ChangePointThompsonSampling": ("cts", {"hazard": None, "scope": "all", "runs": 20, **PRIOR}),
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
    "Stationary": ("stationary", {"best": 0.6, "gap": 0.1, "n_arms": 4, **EVERY_ENVIRONMENT}),
    "RandomPiecewise": (
        "random-piecewise",
        {"number": 1, "changes": 6, "apart": 1000, "length": 20000, "n_arms": 5, **EVERY_ENVIRONMENT},
    ),
    "FromMeans": ("from-means", {"means": REQUIRED, "repeat": 1, **EVERY_ENVIRONMENT}),
    "Flights": ("flights", {"by": "hour", "repeat": 1, **EVERY_ENVIRONMENT}),
    "Weather": ("weather", {"repeat": 1, **EVERY_ENVIRONMENT}),
}
PUBLIC = {name: getattr(db, name) for name in db.__all__} | vars(db.datasets)
"""By name; recorded environments are in a module of their own."""
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
REPLAY = {
    "table": REQUIRED,
    "policies": None,
    "repeat": 1,
    "delay": 0,
    "blocks": 40,
    "window": None,
    "runs": 200,
    "split": None,
    "seed": 0,
    "threads": None,
    "progress": None,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_constructors_have_the_promised_parameters_and_defaults(name: str) -> None:
    cls = PUBLIC[name]
    text_name, promised = PARAMETERS[name]
    found = {key: parameter.default for key, parameter in inspect.signature(cls).parameters.items()}
    assert found == promised
    assert cls.name == text_name


def test_every_public_policy_and_environment_is_promised() -> None:
    public = {name for name in (*db.__all__, *db.datasets.__all__) if inspect.isclass(PUBLIC[name])}
    kinds = {name for name in public if issubclass(PUBLIC[name], db.Policy | db.Environment)}
    assert kinds - {"Policy", "Environment", "Foreign"} == set(PARAMETERS)


def test_what_neighbours_use_has_the_promised_parameters() -> None:
    def asked(function: Any) -> dict[str, Any]:
        return {key: parameter.default for key, parameter in inspect.signature(function).parameters.items()}

    assert asked(db.Foreign) == {"factory": REQUIRED, "label": REQUIRED}
    pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    gym = importlib.import_module("driftbandit.gym")
    assert gym.__all__ == ["BanditEnv", "BanditVectorEnv"]
    common = {"observation": "none", "render_mode": None, "parameters": REQUIRED}
    assert asked(gym.BanditEnv) == {"environment": REQUIRED} | common
    vector = {"num_envs": 1, "max_episode_steps": None, "environment": REQUIRED}
    assert asked(gym.BanditVectorEnv) == vector | common


def test_simulate_has_the_promised_parameters_and_defaults() -> None:
    found = {key: parameter.default for key, parameter in inspect.signature(db.simulate).parameters.items()}
    assert SIMULATE.items() <= found.items()
    assert all(found[name] is not REQUIRED for name in found.keys() - SIMULATE.keys()), "what was added is optional"


def test_replay_has_the_promised_parameters_and_its_outcome_the_promised_attributes() -> None:
    parameters = inspect.signature(db.replay).parameters
    assert {key: parameter.default for key, parameter in parameters.items()} == REPLAY
    by_place = {key for key, parameter in parameters.items() if parameter.kind is not parameter.KEYWORD_ONLY}
    assert by_place == {"table", "policies"}
    promised = {"result", "mean_reward", "by_block", "difference", "arm", "chosen", "before", "warnings", "plot"}
    assert promised <= set(dir(db.Replay)) | set(db.Replay.__dataclass_fields__)


def test_logs_have_the_promised_methods_and_parameters() -> None:
    def asked(function: Any) -> dict[str, Any]:
        found = inspect.signature(function).parameters
        return {key: parameter.default for key, parameter in found.items() if key != "self"}

    assert asked(db.Log) == {
        "arms": REQUIRED, "probabilities": None, "rewards": None, "times": None, "names": None, "among": None,
        "missing": None, "policy": None, "minimum_probability": None,
    }  # fmt: skip
    told = {"missing": None, "policy": None, "minimum_probability": None}
    assert asked(db.Log.read) == {"path": REQUIRED} | told
    assert asked(db.Log.of) == {"frame": REQUIRED, "names": None} | told
    options = {"minimum_probability": None, "seed": 0, "progress": None}
    value = {"target": REQUIRED, "anytime": False, "live": False, "current": None}
    assert asked(db.Log.value) == value | options
    assert asked(db.Log.tune) == {"candidates": None, "current": None} | options
    over_time = {"target": REQUIRED, "window": None, "minimum_probability": None, "seed": 0}
    assert asked(db.Log.over_time) == over_time
    assert asked(db.Log.plot) == {"targets": None, "window": None, "minimum_probability": None, "seed": 0}
    assert {"arms", "decisions", "policy", "mean_reward", "notes", "check"} <= set(dir(db.Log))
    assert list(db.Value.__dataclass_fields__) == [
        "target", "mean", "low", "high", "kind", "decisions", "effective_size", "largest_weight", "snips", "anytime",
        "warnings",
    ]  # fmt: skip
    fields = {"best", "sure", "current", "candidates", "longest_half_life", "decisions", "notes"}
    assert set(db.Tuning.__dataclass_fields__) == fields
    assert {"advice", "best_judged", "plot"} <= set(dir(db.Tuning))


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


def test_what_is_imported_late_is_there_all_the_same() -> None:
    program = (
        "import sys, driftbandit as db; assert 'driftbandit.logs' not in sys.modules; assert 'Log' in dir(db); "
        "from driftbandit import Log, replay; assert db.Log is Log and callable(replay); "
        "assert not hasattr(db, 'Nothing')"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


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
    assert issubclass(db.ServiceError, db.DriftbanditError)


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
