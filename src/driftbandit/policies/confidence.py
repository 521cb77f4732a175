"""Upper confidence bounds: the part that UCB1, D-UCB and SW-UCB share.

An arm has `a` = number of observations N (discounted, or in the window) and `b` = sum of their rewards. The index is
b/a plus √(shared/a), where `shared` grows with the logarithm of all observations; an arm without any comes first.
"""

from math import floor, inf, log, nan, sqrt

from driftbandit.policies.rule import Parameters


def index(p: Parameters, shared: float, a: float, b: float) -> float:
    """Mean reward plus padding."""
    return (b + sqrt(shared * a)) / a if a > 0.0 else inf


def interval(p: Parameters, shared: float, a: float, b: float) -> tuple[float, float, float]:
    """Mean reward, less and plus the padding."""
    mean = b / a if a > 0.0 else nan
    half = index(p, shared, a, b) - mean
    return mean, mean - half, mean + half


def observations(p: Parameters, a: float, b: float) -> float:
    """The number is kept."""
    return a


def padding(p: Parameters, total: float) -> float:
    """The square of the padding of an arm with one observation: scale²·ξ·ln n for p = (scale², ξ)."""
    return p[0] * p[1] * log(max(total, 1.0))


def observe(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """An observation more."""
    return a + 1.0, b + reward


def observe_in_window(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """An observation more, that `forget` can take back without a trace."""
    return a + 1.0, b + fixed_point(reward)


def forget(p: Parameters, a: float, b: float, reward: float) -> tuple[float, float]:
    """An observation less; an arm without any has a sum of exactly 0."""
    return a - 1.0, b - fixed_point(reward) if a > 1.5 else 0.0


def fixed_point(reward: float) -> float:
    """The nearest multiple of 2^−32: sums of these are exact up to 2^21, so what left a window leaves no rounding.

    Otherwise arms with equal rewards in the window would differ by what they earned before it, and never tie.
    """
    return floor(reward * 4294967296.0 + 0.5) * 2.3283064365386963e-10
