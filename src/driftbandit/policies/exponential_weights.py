"""Exponential weights: the part that EXP3, REXP3 and EXP3-IX share.

An arm has the number `a` = the logarithm of its weight, and `b`, which is not used. Weights themselves would overflow
after some thousand steps of constant reward; their logarithms, from which only differences matter, do not.
"""

from driftbandit.policies.rule import Parameters


def mixed(p: Parameters, share: float) -> float:
    """(1 − γ)·share + γ/K for p = (γ, K)."""
    return (1.0 - p[0]) * share + p[0] / p[1]


def plain(p: Parameters, share: float) -> float:
    """The share itself."""
    return share


def reward_estimate(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """The weight grows by exp(γ·(r/p)/K) for p = (γ, K)."""
    return a + p[0] * reward / (probability * p[1]), b


def implicit_loss_estimate(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """The weight shrinks by exp(−η·(1 − r)/(p + γ)) for p = (η, γ)."""
    return a - p[0] * (1.0 - reward) / (probability + p[1]), b
