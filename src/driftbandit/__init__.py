"""Bandits whose arms drift: exact, fast, and the same policy code from simulation to live decisions."""

from driftbandit._version import __version__
from driftbandit.engine import Estimate, Result, simulate
from driftbandit.environments import (
    Abrupt,
    Brownian,
    Environment,
    Fast,
    FromMeans,
    Piecewise,
    Sinusoidal,
    Slow,
)
from driftbandit.errors import ClusterError, DriftbanditError, Interrupted, InvalidValue, MissingExtra
from driftbandit.exact import expected_path, ratio_density, selection_probabilities, suboptimal_probability
from driftbandit.online import Bandit, Decision, RewardStatus
from driftbandit.policies import (
    UCB1,
    DiscountedOptimisticThompsonSampling,
    DiscountedThompsonSampling,
    DiscountedUCB,
    DynamicThompsonSampling,
    Exp3,
    Exp3IX,
    OptimisticThompsonSampling,
    Policy,
    RestartingExp3,
    Rule,
    SlidingWindowUCB,
    ThompsonSampling,
    UniformRandom,
)

__all__ = [
    "UCB1",
    "Abrupt",
    "Bandit",
    "Brownian",
    "ClusterError",
    "Decision",
    "DiscountedOptimisticThompsonSampling",
    "DiscountedThompsonSampling",
    "DiscountedUCB",
    "DriftbanditError",
    "DynamicThompsonSampling",
    "Environment",
    "Estimate",
    "Exp3",
    "Exp3IX",
    "Fast",
    "FromMeans",
    "Interrupted",
    "InvalidValue",
    "MissingExtra",
    "OptimisticThompsonSampling",
    "Piecewise",
    "Policy",
    "RestartingExp3",
    "Result",
    "RewardStatus",
    "Rule",
    "Sinusoidal",
    "SlidingWindowUCB",
    "Slow",
    "ThompsonSampling",
    "UniformRandom",
    "__version__",
    "expected_path",
    "ratio_density",
    "selection_probabilities",
    "simulate",
    "suboptimal_probability",
]
