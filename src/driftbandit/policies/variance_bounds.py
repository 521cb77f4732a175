"""Confidence bounds that know how much rewards vary: the part that UCB-V and UCB-Tuned share.

An arm has `n` = number of observations, `earned` = sum of their rewards and `squares` = sum of the squares of these.
"""

from math import log, nan

from driftbandit.policies.rule import Parameters


def observe(
    p: Parameters, n: float, earned: float, squares: float, reward: float, probability: float
) -> tuple[float, float, float]:
    """An observation more."""
    return n + 1.0, earned + reward, squares + reward * reward


def observations(p: Parameters, n: float, earned: float, squares: float) -> float:
    """The number is kept."""
    return n


def logarithm(p: Parameters, total: float) -> float:
    """c·ln t for p = (c, …)."""
    return p[0] * log(max(total, 1.0))


def variance(n: float, earned: float, squares: float) -> float:
    """That of the rewards, never below 0."""
    mean = earned / n
    return max(squares / n - mean * mean, 0.0)


def around(n: float, earned: float, upper: float) -> tuple[float, float, float]:
    """Mean reward, less and plus what the upper bound adds to it."""
    mean = earned / n if n > 0.0 else nan
    return mean, mean - (upper - mean), upper if n > 0.0 else nan
