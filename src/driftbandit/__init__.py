"""Bandits whose arms drift: exact, fast, and the same policy code from simulation to live decisions."""

import importlib
import logging
import typing

from driftbandit import datasets
from driftbandit._version import __version__
from driftbandit.engine import Estimate, Foreign, Result, simulate
from driftbandit.environments import (
    FDSW,
    Abrupt,
    Besson,
    Brownian,
    EnvA,
    Environment,
    Fast,
    FromMeans,
    Path,
    Piecewise,
    RandomPiecewise,
    Sinusoidal,
    Slow,
    Stationary,
    Switching,
)
from driftbandit.errors import (
    ClusterError,
    DriftbanditError,
    Interrupted,
    InvalidFile,
    InvalidValue,
    MissingExtra,
    MissingFile,
    ServiceError,
)
from driftbandit.exact import expected_path, ratio_density, selection_probabilities, suboptimal_probability
from driftbandit.online import Bandit, Decision, RewardStatus
from driftbandit.policies import (
    GLRKLUCB,
    KLUCB,
    MOSS,
    UCB1,
    UCBV,
    BanditOverBandit,
    BayesUCB,
    Beliefs,
    ChangePointThompsonSampling,
    Clock,
    CusumUCB,
    DiscountedKLUCB,
    DiscountedOptimisticThompsonSampling,
    DiscountedThompsonSampling,
    DiscountedUCB,
    DiscountedWindowThompsonSampling,
    DriftFilter,
    DynamicThompsonSampling,
    EpsilonGreedy,
    Exp3,
    Exp3IX,
    Exp3S,
    Exp3SIX,
    GaussianThompsonSampling,
    GittinsIndex,
    KalmanThompsonSampling,
    MonitoredUCB,
    OptimisticThompsonSampling,
    PageHinkleyUCB,
    Policy,
    Posterior,
    PredictiveSampling,
    RestartingExp3,
    Rule,
    Sampler,
    SlidingWindowKLUCB,
    SlidingWindowThompsonSampling,
    SlidingWindowUCB,
    Softmax,
    ThompsonSampling,
    UCBTuned,
    UniformRandom,
    ago,
    gittins_index,
    kept,
)

if typing.TYPE_CHECKING:
    from driftbandit.logs import Log, Replay, Tuning, Value
    from driftbandit.logs.replay import replay

__all__ = [
    "FDSW",
    "GLRKLUCB",
    "KLUCB",
    "MOSS",
    "UCB1",
    "UCBV",
    "Abrupt",
    "Bandit",
    "BanditOverBandit",
    "BayesUCB",
    "Beliefs",
    "Besson",
    "Brownian",
    "ChangePointThompsonSampling",
    "Clock",
    "ClusterError",
    "CusumUCB",
    "Decision",
    "DiscountedKLUCB",
    "DiscountedOptimisticThompsonSampling",
    "DiscountedThompsonSampling",
    "DiscountedUCB",
    "DiscountedWindowThompsonSampling",
    "DriftFilter",
    "DriftbanditError",
    "DynamicThompsonSampling",
    "EnvA",
    "Environment",
    "EpsilonGreedy",
    "Estimate",
    "Exp3",
    "Exp3IX",
    "Exp3S",
    "Exp3SIX",
    "Fast",
    "Foreign",
    "FromMeans",
    "GaussianThompsonSampling",
    "GittinsIndex",
    "Interrupted",
    "InvalidFile",
    "InvalidValue",
    "KalmanThompsonSampling",
    "Log",
    "MissingExtra",
    "MissingFile",
    "MonitoredUCB",
    "OptimisticThompsonSampling",
    "PageHinkleyUCB",
    "Path",
    "Piecewise",
    "Policy",
    "Posterior",
    "PredictiveSampling",
    "RandomPiecewise",
    "Replay",
    "RestartingExp3",
    "Result",
    "RewardStatus",
    "Rule",
    "Sampler",
    "ServiceError",
    "Sinusoidal",
    "SlidingWindowKLUCB",
    "SlidingWindowThompsonSampling",
    "SlidingWindowUCB",
    "Slow",
    "Softmax",
    "Stationary",
    "Switching",
    "ThompsonSampling",
    "Tuning",
    "UCBTuned",
    "UniformRandom",
    "Value",
    "__version__",
    "ago",
    "datasets",
    "expected_path",
    "gittins_index",
    "kept",
    "ratio_density",
    "replay",
    "selection_probabilities",
    "simulate",
    "suboptimal_probability",
]
logging.getLogger("driftbandit").addHandler(logging.NullHandler())  # silent unless somebody listens
_OF_LOGS = ("Log", "Replay", "Tuning", "Value", "replay")
"""Imported when they are asked for: whoever decides live does not wait for them."""


def __getattr__(name: str) -> typing.Any:
    if name not in _OF_LOGS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(importlib.import_module("driftbandit.logs"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
