"""Weights that are shared out at every step: the part that EXP3.S and EXP3-SIX have in common.

An arm has the number w, and all arms share the numbers m and g: the arm's weight is κ·w + g, where g is what every arm
was given after the latest reward and κ, p[3], what it kept. When the next reward comes, weights become w for every arm,
over m: their mean is then 1 again, and nothing ever overflows. The mean that is believed is held to the one that the
probability of the choice tells, so that no error of rounding grows and arms may come and go.
"""

from driftbandit.numerics import exp, log
from driftbandit.policies.rule import Parameters

Common = tuple[float, float]

LEAST = 1e-290
"""Instead of a weight that has vanished."""


def gift(p: Parameters, total: float, mean: float, given: float) -> float:
    """What every arm was given."""
    return given


def log_weight(p: Parameters, given: float, w: float) -> float:
    """The logarithm of an arm's weight."""
    return log(max(p[3] * w + given, LEAST))


def blend(p: Parameters, common: Common, w: float) -> tuple[float]:
    """The arm's weight, in units of the mean weight."""
    return ((p[3] * w + common[1]) / common[0],)


def told_mean(w: float, share: float, n_arms: float) -> float:
    """The mean weight that a share of all weights says; about 1, but where the reward was late."""
    return min(max(w / (n_arms * share), 0.5), 2.0) if share > 1e-9 else 1.0


def notice_gain(p: Parameters, common: Common, own: tuple[float], reward: float, probability: float) -> Common:
    """EXP3.S, p = (γ, K, e·α, 1): mean and gift after the chosen arm's gain."""
    share = (probability - p[0] / p[1]) / max(1.0 - p[0], 1e-9)
    before = told_mean(own[0], share, p[1])
    given = p[2] * before
    return before + own[0] * (growth(p, reward, probability) - 1.0) / p[1] + given, given


def gain(p: Parameters, w: float, reward: float, probability: float) -> tuple[float]:
    """EXP3.S: the chosen arm's weight grows."""
    return (w * growth(p, reward, probability),)


def growth(p: Parameters, reward: float, probability: float) -> float:
    """The factor exp(γ·(r/p)/K)."""
    return exp(p[0] * reward / (probability * p[1]))


def notice_loss(p: Parameters, common: Common, own: tuple[float], reward: float, probability: float) -> Common:
    """EXP3-SIX, p = (η, K, α, 1 − α, γ): mean and gift after the chosen arm's loss."""
    before = told_mean(own[0], probability, p[1])
    after = max(before - own[0] * (1.0 - shrinking(p, reward, probability)) / p[1], LEAST)
    return after, p[2] * after


def loss(p: Parameters, w: float, reward: float, probability: float) -> tuple[float]:
    """EXP3-SIX: the chosen arm's weight shrinks."""
    return (w * shrinking(p, reward, probability),)


def shrinking(p: Parameters, reward: float, probability: float) -> float:
    """The factor exp(−η·(1 − r)/(p + γ))."""
    return exp(-p[0] * (1.0 - reward) / (probability + p[4]))
