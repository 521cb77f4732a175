"""The Kalman filter of an arm whose mean is an autoregression: what its policies share.

An arm has the filtered `mean` m and `variance` v of its mean reward θ, which moves at every step, chosen or not:

    θ' = γ·θ + (1 − γ)·level + W,  W ~ N(0, δ²);      reward = θ' + Z,  Z ~ N(0, σ²).

So an arm that nobody looks at is less and less certain; no more than at the start, though: v counts for at most the
variance that arms start with. p = (γ, γ², (1 − γ)·level, δ², σ², variance at the start, …).
"""

import math

from driftbandit.policies.posterior import Posterior
from driftbandit.policies.rule import Function, Parameters, Rule


def filter_rule(
    persistence: float, level: float, movement: float, noise: float, spread: float, shape: Function, more: Parameters
) -> Rule:
    """Choose by normal samples of this shape, and filter: `more` are further parameters for the shape."""
    decay = (persistence, persistence * persistence)
    drift = ((1.0 - persistence) * level, movement * movement)
    return Rule(
        selection="sampled",
        posterior=Posterior("normal", shape=shape),
        learn=update,
        parameters=(*decay, *drift, noise * noise, spread * spread, *more),
        initial=(level, spread * spread),
        decay=decay,
        drift=drift,
        least_reward=-math.inf,
        largest_reward=math.inf,
        learning="by arm",
        observations=observations,
        interval=interval,
    )


def prediction(p: Parameters, mean: float, variance: float) -> tuple[float, float]:
    """Mean and variance of the coming θ'."""
    return p[0] * mean + p[2], min(p[1] * variance + p[3], p[5])


def update(p: Parameters, mean: float, variance: float, reward: float, probability: float) -> tuple[float, float]:
    """A reward is taken in; both numbers are predictions already."""
    known = min(variance, p[5])
    gain = known / (known + p[4])
    return mean + gain * (reward - mean), known * (p[4] / (known + p[4]))


def observations(p: Parameters, mean: float, variance: float) -> float:
    """How many rewards would make an arm as certain as it is."""
    return p[4] / max(variance, 1e-300) - p[4] / p[5] if variance < p[5] else 0.0


def interval(p: Parameters, shared: float, mean: float, variance: float) -> tuple[float, float, float]:
    """The coming mean, and 1.96 deviations about it."""
    coming, uncertain = prediction(p, mean, variance)
    half = 1.96 * math.sqrt(uncertain)
    return coming, coming - half, coming + half
