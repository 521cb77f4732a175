"""Watching an arm's rewards for a change of their mean: the part that CUSUM-UCB and PHT-UCB share.

Rewards since the arm last started are compared with a reference, and two sums are kept of how far they lie above and
below it, less a tolerated drift. An arm has `n` observations, the sum `earned` of their rewards, the `reference`, and
the sums `up` and `down`. Parameters are p = (1, ξ, ε, h, the rewards that make the reference, the observations below
which an arm comes first).
"""

import math
from typing import Any

from driftbandit import checks
from driftbandit.numerics import kl_reach, log
from driftbandit.policies.confidence import index, padding
from driftbandit.policies.confidence import interval as bounds
from driftbandit.policies.divergence_bounds import interval as kl_bounds
from driftbandit.policies.rule import Function, Parameters, Rule

Own = tuple[float, float, float, float, float]


def watching_rule(
    learn: Function, kind: str, exploration: float, parameters: Parameters, *, width: float, least: int = 1
) -> Rule:
    """Choose by upper confidence bounds on what came since each arm's own alarm; drift and threshold are parameters."""
    kl = kind == "kl"
    return Rule(
        selection="index",
        score=kl_index if kl else index_of_mean,
        context=level if kl else padding,
        learn=learn,
        alarm=changed,
        explore=exploration,
        parameters=(1.0, width, *parameters, float(least)),
        initial=(0.0,) * 5,
        observations=observations,
        interval=kl_interval if kl else interval,
        learning="by arm",
    )


def tuned(horizon: Any, change_points: Any) -> tuple[float, float]:
    """Threshold and exploration for Υ change points in T steps: h = ln(T/Υ), α = √(Υ/T·ln(T/Υ))."""
    steps = checks.whole("horizon", horizon, low=2)
    changes = checks.real("change_points", change_points, f"[1e-100, {steps})")
    threshold = math.log(steps / changes)
    return threshold, math.sqrt(changes / steps * threshold)


def index_of_mean(
    p: Parameters, shared: float, n: float, earned: float, reference: float, up: float, down: float
) -> float:
    """Mean reward plus padding."""
    return index(p, shared, n, earned) if n >= p[5] else math.inf


def interval(
    p: Parameters, shared: float, n: float, earned: float, reference: float, up: float, down: float
) -> tuple[float, float, float]:
    """Mean reward, less and plus the padding."""
    return bounds(p, shared, n, earned)


def level(p: Parameters, total: float) -> float:
    """How far the mean of an arm with one observation may be off: 2ξ·ln n."""
    return 2.0 * p[1] * log(max(total, 1.0))


def kl_index(p: Parameters, shared: float, n: float, earned: float, reference: float, up: float, down: float) -> float:
    """The largest mean that is not too far off, by how near it is to 1."""
    return kl_reach(earned / n, shared / n) if n >= p[5] else math.inf


def kl_interval(
    p: Parameters, shared: float, n: float, earned: float, reference: float, up: float, down: float
) -> tuple[float, float, float]:
    """Mean reward, the smallest mean that is not too far off, and the largest."""
    return kl_bounds(p, shared, n, earned)


def moved(p: Parameters, n: float, earned: float, reference: float, up: float, down: float, reward: float) -> Own:
    """The numbers of an arm with the sums moved by how far a reward lies from the reference."""
    change = reward - reference
    return n, earned, reference, max(0.0, up + change - p[2]), max(0.0, down - change - p[2])


def changed(p: Parameters, n: float, earned: float, reference: float, up: float, down: float) -> bool:
    """Whether one of the sums is at the threshold."""
    return max(up, down) >= p[3]


def observations(p: Parameters, n: float, earned: float, reference: float, up: float, down: float) -> float:
    """The number is kept."""
    return n
