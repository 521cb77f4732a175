"""The policies, one a file."""

from driftbandit.policies.bayes_ucb import BayesUCB
from driftbandit.policies.beliefs import Beliefs
from driftbandit.policies.clock import Clock
from driftbandit.policies.discounted_kl_ucb import DiscountedKLUCB
from driftbandit.policies.discounted_thompson import DiscountedOptimisticThompsonSampling, DiscountedThompsonSampling
from driftbandit.policies.discounted_ucb import DiscountedUCB
from driftbandit.policies.drift_filter import DriftFilter
from driftbandit.policies.dynamic_thompson import DynamicThompsonSampling
from driftbandit.policies.epsilon_greedy import EpsilonGreedy
from driftbandit.policies.exp3 import Exp3
from driftbandit.policies.exp3_ix import Exp3IX
from driftbandit.policies.history import History, ago, kept
from driftbandit.policies.kl_ucb import KLUCB
from driftbandit.policies.moss import MOSS
from driftbandit.policies.policy import Policy
from driftbandit.policies.posterior import Posterior, Sampler
from driftbandit.policies.restarting_exp3 import RestartingExp3
from driftbandit.policies.rule import Rule
from driftbandit.policies.sliding_window_kl_ucb import SlidingWindowKLUCB
from driftbandit.policies.sliding_window_ucb import SlidingWindowUCB
from driftbandit.policies.softmax import Softmax
from driftbandit.policies.thompson import OptimisticThompsonSampling, ThompsonSampling
from driftbandit.policies.ucb1 import UCB1
from driftbandit.policies.ucb_tuned import UCBTuned
from driftbandit.policies.ucb_v import UCBV
from driftbandit.policies.uniform_random import UniformRandom

__all__ = [
    "KLUCB",
    "MOSS",
    "UCB1",
    "UCBV",
    "BayesUCB",
    "Beliefs",
    "Clock",
    "DiscountedKLUCB",
    "DiscountedOptimisticThompsonSampling",
    "DiscountedThompsonSampling",
    "DiscountedUCB",
    "DriftFilter",
    "DynamicThompsonSampling",
    "EpsilonGreedy",
    "Exp3",
    "Exp3IX",
    "History",
    "OptimisticThompsonSampling",
    "Policy",
    "Posterior",
    "RestartingExp3",
    "Rule",
    "Sampler",
    "SlidingWindowKLUCB",
    "SlidingWindowUCB",
    "Softmax",
    "ThompsonSampling",
    "UCBTuned",
    "UniformRandom",
    "ago",
    "kept",
]
