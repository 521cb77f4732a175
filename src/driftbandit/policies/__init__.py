"""The policies, one a file."""

from driftbandit.policies.beliefs import Beliefs
from driftbandit.policies.clock import Clock
from driftbandit.policies.discounted_thompson import DiscountedOptimisticThompsonSampling, DiscountedThompsonSampling
from driftbandit.policies.discounted_ucb import DiscountedUCB
from driftbandit.policies.discounted_window_thompson import DiscountedWindowThompsonSampling
from driftbandit.policies.drift_filter import DriftFilter
from driftbandit.policies.dynamic_thompson import DynamicThompsonSampling
from driftbandit.policies.exp3 import Exp3
from driftbandit.policies.exp3_ix import Exp3IX
from driftbandit.policies.gaussian_thompson import GaussianThompsonSampling
from driftbandit.policies.history import History, ago, kept
from driftbandit.policies.kalman_thompson import KalmanThompsonSampling
from driftbandit.policies.policy import Policy
from driftbandit.policies.posterior import Posterior, Sampler
from driftbandit.policies.predictive_sampling import PredictiveSampling
from driftbandit.policies.restarting_exp3 import RestartingExp3
from driftbandit.policies.rule import Rule
from driftbandit.policies.sliding_window_thompson import SlidingWindowThompsonSampling
from driftbandit.policies.sliding_window_ucb import SlidingWindowUCB
from driftbandit.policies.thompson import OptimisticThompsonSampling, ThompsonSampling
from driftbandit.policies.ucb1 import UCB1
from driftbandit.policies.uniform_random import UniformRandom

__all__ = [
    "UCB1",
    "Beliefs",
    "Clock",
    "DiscountedOptimisticThompsonSampling",
    "DiscountedThompsonSampling",
    "DiscountedUCB",
    "DiscountedWindowThompsonSampling",
    "DriftFilter",
    "DynamicThompsonSampling",
    "Exp3",
    "Exp3IX",
    "GaussianThompsonSampling",
    "History",
    "KalmanThompsonSampling",
    "OptimisticThompsonSampling",
    "Policy",
    "Posterior",
    "PredictiveSampling",
    "RestartingExp3",
    "Rule",
    "Sampler",
    "SlidingWindowThompsonSampling",
    "SlidingWindowUCB",
    "ThompsonSampling",
    "UniformRandom",
    "ago",
    "kept",
]
