"""D-UCB: confidence bounds on discounted counts."""

import dataclasses
import math
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.policies import confidence
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiscountedUCB(Policy):
    """Discounted UCB (D-UCB): counts and means in which an observation s steps old counts γ^s.

        X_k + 2B·√(ξ·ln n / N_k),   n = Σ N_k

    Use it where arms drift at a pace that can be fitted, and a decision may cost only nanoseconds; the discount of
    its formula explores too much. Where odds of its own are wanted, use dOTS.

    Parameters:
        discount: (γ) what evidence is multiplied by at each step, in (0, 1].
        confidence: (ξ) how wide the padding is, from 1e-100 to 1e100.
        bound: (B) the largest possible reward, from 1e-100 to 1e100.

    >>> round(DiscountedUCB.tuned(horizon=500, change_points=20).discount, 4)
    0.95

    References:
        Garivier and Moulines (2011), On upper-confidence bound policies for switching bandit problems.
    """

    name: ClassVar[str] = "d-ucb"
    family: ClassVar[str] = BOUNDS

    discount: float = real("(0, 1]")
    confidence: float = real("[1e-100, 1e100]", 0.5)
    bound: float = real("[1e-100, 1e100]", 1.0)

    @classmethod
    def tuned(cls, horizon: int, change_points: float, bound: float = 1.0, **parameters: Any) -> Self:
        """γ = 1 − (4B)⁻¹·√(Υ/T) for Υ change points in T steps."""
        steps = checks.whole("horizon", horizon)
        changes = checks.real("change_points", change_points, f"[1e-100, {steps}]")
        limit = checks.real("bound", bound, "(0.25, 1e100]")
        return cls(discount=1.0 - math.sqrt(changes / steps) / (4.0 * limit), bound=limit, **parameters)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=confidence.index,
            context=confidence.padding,
            learn=confidence.observe,
            parameters=(4.0 * self.bound * self.bound, self.confidence),
            decay=self.discount,
            largest_reward=self.bound,
            observations=confidence.observations,
            interval=confidence.interval,
        )
