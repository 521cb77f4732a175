"""UCB-Tuned: UCB1 whose padding is cut where rewards vary little, for arms that do not drift."""

import dataclasses
from math import inf, sqrt
from typing import ClassVar

from driftbandit.policies import variance_bounds
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.policies.variance_bounds import variance
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class UCBTuned(Policy):
    """UCB-Tuned: choose the arm whose mean reward plus padding is largest.

        X_k + √(min(¼, V_k + √(2·E/N_k))·E / N_k),   E = c·ln t

    with the mean X_k and variance V_k of N_k observations of arm k, t observations of all arms so far, and arms without
    any first; no reward in [0, 1] has a variance above ¼.

    A good first confidence bound for arms that stay as they are, though no bound was proven for it. It forgets
    nothing, so it is not for arms that drift.

    Parameters:
        confidence: (c) how wide the padding is, from 1e-100 to 1e100.

    >>> print(UCBTuned(confidence=0.5))
    ucb-tuned:confidence=0.5

    References:
        Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem.
    """

    name: ClassVar[str] = "ucb-tuned"
    family: ClassVar[str] = BOUNDS

    confidence: float = real("[1e-100, 1e100]", 1.0)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=index,
            context=variance_bounds.logarithm,
            learn=variance_bounds.observe,
            parameters=(self.confidence,),
            initial=(0.0, 0.0, 0.0),
            observations=variance_bounds.observations,
            interval=interval,
        )


def index(p: Parameters, shared: float, n: float, earned: float, squares: float) -> float:
    """Mean reward plus padding."""
    often = n if n > 0.0 else 1.0
    most = variance(often, earned, squares) + sqrt(2.0 * shared / often)
    return earned / often + sqrt(min(most, 0.25) * shared / often) if n > 0.0 else inf


def interval(p: Parameters, shared: float, n: float, earned: float, squares: float) -> tuple[float, float, float]:
    """Mean reward, less and plus the padding."""
    return variance_bounds.around(n, earned, index(p, shared, n, earned, squares))
