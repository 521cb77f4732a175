"""Weights that are shared out at every step: the part that EXP3.S and EXP3-SIX have in common.

An arm has the number w, and its weight is κ·w + g: g is what every arm was given after the latest reward, and κ what it
kept. When the next reward comes, that weight becomes w for every arm, over the mean of all: the mean of w is then 1, so
that nothing overflows, whatever the number of steps and whichever arms come, go or are left out.
"""

from driftbandit.numerics import exp, log
from driftbandit.policies.rule import Parameters

LEAST = 1e-290
"""Instead of a weight that has vanished."""


def log_of_gainer(p: Parameters, shared: float, w: float) -> float:
    """EXP3.S, p = (γ, K, e·α): the logarithm of an arm's weight. What is given is a share of a mean that was 1."""
    return log(max(w + p[2], LEAST))


def blend_gainers(p: Parameters, common: tuple[()], mean: float, w: float) -> tuple[float]:
    """EXP3.S: the arm's weight, in units of the mean weight."""
    return ((w + p[2]) / (mean + p[2]),)


def gain(p: Parameters, w: float, reward: float, probability: float) -> tuple[float]:
    """EXP3.S: the chosen arm's weight grows by exp(γ·(r/p)/K)."""
    return (w * exp(p[0] * reward / (probability * p[1])),)


def gift(p: Parameters, total: float, mean: float) -> float:
    """EXP3-SIX, p = (η, K, α, 1 − α, γ): what every arm is given, a share of the mean weight after the latest loss."""
    return p[2] * mean


def log_of_loser(p: Parameters, given: float, w: float) -> float:
    """EXP3-SIX: the logarithm of an arm's weight."""
    return log(max(p[3] * w + given, LEAST))


def blend_losers(p: Parameters, common: tuple[float], mean: float, w: float) -> tuple[float]:
    """EXP3-SIX: the arm's weight, in units of the mean weight."""
    given = p[2] * common[0]
    return ((p[3] * w + given) / (p[3] * mean + given),)


def mean_after(
    p: Parameters, common: tuple[float], own: tuple[float], reward: float, probability: float
) -> tuple[float]:
    """EXP3-SIX: the mean weight, which was 1, after the chosen arm's loss."""
    return (max(1.0 - own[0] * (1.0 - shrinking(p, reward, probability)) / p[1], LEAST),)


def loss(p: Parameters, w: float, reward: float, probability: float) -> tuple[float]:
    """EXP3-SIX: the chosen arm's weight shrinks."""
    return (w * shrinking(p, reward, probability),)


def shrinking(p: Parameters, reward: float, probability: float) -> float:
    """The factor exp(−η·(1 − r)/(p + γ))."""
    return exp(-p[0] * (1.0 - reward) / (probability + p[4]))
