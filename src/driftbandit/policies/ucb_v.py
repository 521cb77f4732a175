"""UCB-V: confidence bounds by the variance of rewards, for arms that do not drift."""

import dataclasses
from math import inf, sqrt
from typing import ClassVar

from driftbandit.policies import variance_bounds
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.policies.variance_bounds import variance
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class UCBV(Policy):
    """UCB-V: choose the arm whose mean reward plus padding is largest, with less padding where rewards vary little.

        X_k + √(2·V_k·E / N_k) + 3·B·E / N_k,   E = ζ·ln t

    with the mean X_k and variance V_k of N_k observations of arm k, t observations of all arms so far, and arms without
    any first.

    For many rewards of small variance, such as rare successes or fractions, in long games: the last term makes it slow
    to begin. It forgets nothing, so it is not for arms that drift.

    Parameters:
        confidence: (ζ) how wide the padding is, from 1e-100 to 1e100.
        bound: (B) the largest possible reward, from 1e-100 to 1e100.

    >>> print(UCBV())
    ucb-v

    References:
        Audibert, Munos and Szepesvári (2009), Exploration–exploitation tradeoff using variance estimates in multi-armed
        bandits.
    """

    name: ClassVar[str] = "ucb-v"
    family: ClassVar[str] = BOUNDS

    confidence: float = real("[1e-100, 1e100]", 1.0)
    bound: float = real("[1e-100, 1e100]", 1.0)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=index,
            context=variance_bounds.logarithm,
            learn=variance_bounds.observe,
            parameters=(self.confidence, 3.0 * self.bound),
            initial=(0.0, 0.0, 0.0),
            largest_reward=self.bound,
            observations=variance_bounds.observations,
            interval=interval,
        )


def index(p: Parameters, shared: float, n: float, earned: float, squares: float) -> float:
    """Mean reward plus padding."""
    often = n if n > 0.0 else 1.0
    spread = sqrt(2.0 * variance(often, earned, squares) * shared / often)
    return earned / often + spread + p[1] * shared / often if n > 0.0 else inf


def interval(p: Parameters, shared: float, n: float, earned: float, squares: float) -> tuple[float, float, float]:
    """Mean reward, less and plus the padding."""
    return variance_bounds.around(n, earned, index(p, shared, n, earned, squares))
