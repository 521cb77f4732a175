"""The policies, one a file."""

from driftbandit.policies.bandit_over_bandit import BanditOverBandit
from driftbandit.policies.bayes_ucb import BayesUCB
from driftbandit.policies.beliefs import Beliefs
from driftbandit.policies.change_point_thompson import ChangePointThompsonSampling
from driftbandit.policies.clock import Clock
from driftbandit.policies.cusum_ucb import CusumUCB
from driftbandit.policies.discounted_kl_ucb import DiscountedKLUCB
from driftbandit.policies.discounted_thompson import DiscountedOptimisticThompsonSampling, DiscountedThompsonSampling
from driftbandit.policies.discounted_ucb import DiscountedUCB
from driftbandit.policies.discounted_window_thompson import DiscountedWindowThompsonSampling
from driftbandit.policies.drift_filter import DriftFilter
from driftbandit.policies.dynamic_thompson import DynamicThompsonSampling
from driftbandit.policies.epsilon_greedy import EpsilonGreedy
from driftbandit.policies.exp3 import Exp3
from driftbandit.policies.exp3_ix import Exp3IX
from driftbandit.policies.exp3_s import Exp3S
from driftbandit.policies.exp3_six import Exp3SIX
from driftbandit.policies.gaussian_thompson import GaussianThompsonSampling
from driftbandit.policies.gittins import GittinsIndex
from driftbandit.policies.gittins_tables import gittins_index
from driftbandit.policies.glr_kl_ucb import GLRKLUCB
from driftbandit.policies.history import History, ago, kept
from driftbandit.policies.kalman_thompson import KalmanThompsonSampling
from driftbandit.policies.kl_ucb import KLUCB
from driftbandit.policies.monitored_ucb import MonitoredUCB
from driftbandit.policies.moss import MOSS
from driftbandit.policies.page_hinkley_ucb import PageHinkleyUCB
from driftbandit.policies.policy import Policy
from driftbandit.policies.posterior import Posterior, Sampler
from driftbandit.policies.predictive_sampling import PredictiveSampling
from driftbandit.policies.restarting_exp3 import RestartingExp3
from driftbandit.policies.rule import Rule
from driftbandit.policies.sliding_window_kl_ucb import SlidingWindowKLUCB
from driftbandit.policies.sliding_window_thompson import SlidingWindowThompsonSampling
from driftbandit.policies.sliding_window_ucb import SlidingWindowUCB
from driftbandit.policies.softmax import Softmax
from driftbandit.policies.thompson import OptimisticThompsonSampling, ThompsonSampling
from driftbandit.policies.ucb1 import UCB1
from driftbandit.policies.ucb_tuned import UCBTuned
from driftbandit.policies.ucb_v import UCBV
from driftbandit.policies.uniform_random import UniformRandom

__all__ = [
    "GLRKLUCB",
    "KLUCB",
    "MOSS",
    "UCB1",
    "UCBV",
    "BanditOverBandit",
    "BayesUCB",
    "Beliefs",
    "ChangePointThompsonSampling",
    "Clock",
    "CusumUCB",
    "DiscountedKLUCB",
    "DiscountedOptimisticThompsonSampling",
    "DiscountedThompsonSampling",
    "DiscountedUCB",
    "DiscountedWindowThompsonSampling",
    "DriftFilter",
    "DynamicThompsonSampling",
    "EpsilonGreedy",
    "Exp3",
    "Exp3IX",
    "Exp3S",
    "Exp3SIX",
    "GaussianThompsonSampling",
    "GittinsIndex",
    "History",
    "KalmanThompsonSampling",
    "MonitoredUCB",
    "OptimisticThompsonSampling",
    "PageHinkleyUCB",
    "Policy",
    "Posterior",
    "PredictiveSampling",
    "RestartingExp3",
    "Rule",
    "Sampler",
    "SlidingWindowKLUCB",
    "SlidingWindowThompsonSampling",
    "SlidingWindowUCB",
    "Softmax",
    "ThompsonSampling",
    "UCBTuned",
    "UniformRandom",
    "ago",
    "gittins_index",
    "kept",
]
