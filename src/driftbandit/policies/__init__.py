"""The policies, one a file."""

from driftbandit.policies.discounted_thompson import (
    DiscountedOptimisticThompsonSampling,
    DiscountedThompsonSampling,
)
from driftbandit.policies.discounted_ucb import DiscountedUCB
from driftbandit.policies.dynamic_thompson import DynamicThompsonSampling
from driftbandit.policies.exp3 import Exp3
from driftbandit.policies.exp3_ix import Exp3IX
from driftbandit.policies.policy import Policy, Rule
from driftbandit.policies.restarting_exp3 import RestartingExp3
from driftbandit.policies.sliding_window_ucb import SlidingWindowUCB
from driftbandit.policies.thompson import OptimisticThompsonSampling, ThompsonSampling
from driftbandit.policies.ucb1 import UCB1
from driftbandit.policies.uniform_random import UniformRandom

__all__ = [
    "UCB1",
    "DiscountedOptimisticThompsonSampling",
    "DiscountedThompsonSampling",
    "DiscountedUCB",
    "DynamicThompsonSampling",
    "Exp3",
    "Exp3IX",
    "OptimisticThompsonSampling",
    "Policy",
    "RestartingExp3",
    "Rule",
    "SlidingWindowUCB",
    "ThompsonSampling",
    "UniformRandom",
]
