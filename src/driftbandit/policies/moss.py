"""MOSS: confidence bounds that vanish for arms tried more than their share, for arms that do not drift."""

import dataclasses
from math import inf, nan, sqrt
from typing import ClassVar

from driftbandit.numerics import log
from driftbandit.policies import confidence
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import optional_whole, real


@dataclasses.dataclass(frozen=True, kw_only=True)
class MOSS(Policy):
    """MOSS, minimax optimal strategy in the stochastic case, for any horizon or for a given one.

        X_k + √((1 + α)/2 · max(0, ln(t / (K·N_k))) / N_k),   with a horizon T: X_k + √(max(0, ln(T / (K·N_k))) / N_k)

    with the mean X_k of N_k observations of arm k of K, t observations of all arms so far, and arms without any first.

    For arms that stay as they are, where the worst case matters; an arm with N_k above t/K is judged by its mean alone.
    It forgets nothing, so it is not for arms that drift.

    Parameters:
        confidence: (α) how wide the padding is, from 1e-100 to 1e100; not used with a horizon.
        horizon: (T) the number of steps to be played, a whole number of at least 1; None: any.

    >>> print(MOSS(horizon=1000))
    moss:horizon=1000

    References:
        Audibert and Bubeck (2009), Minimax policies for adversarial and stochastic bandits.
        Degenne and Perchet (2016), Anytime optimal algorithms in stochastic multi-armed bandits.
    """

    name: ClassVar[str] = "moss"
    family: ClassVar[str] = BOUNDS

    confidence: float = real("[1e-100, 1e100]", 1.35)
    horizon: int | None = optional_whole(1)

    def rule(self, n_arms: int) -> Rule:
        factor = 0.5 * (1.0 + self.confidence) if self.horizon is None else 1.0
        return Rule(
            selection="index",
            score=index,
            context=share,
            learn=confidence.observe,
            parameters=(factor, float(n_arms), float(self.horizon or 0)),
            observations=confidence.observations,
            interval=interval,
        )


def share(p: Parameters, total: float) -> float:
    """How many observations an arm would have if all had as many: of those so far, or at the end."""
    return (p[2] if p[2] > 0.0 else max(total, 1.0)) / p[1]


def index(p: Parameters, shared: float, a: float, b: float) -> float:
    """Mean reward plus padding."""
    return (b + sqrt(p[0] * max(log(shared / a), 0.0) * a)) / a if a > 0.0 else inf


def interval(p: Parameters, shared: float, a: float, b: float) -> tuple[float, float, float]:
    """Mean reward, less and plus the padding."""
    mean = b / a if a > 0.0 else nan
    half = index(p, shared, a, b) - mean
    return mean, mean - half, mean + half
