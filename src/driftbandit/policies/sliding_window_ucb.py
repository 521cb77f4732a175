"""SW-UCB: confidence bounds on the last steps only."""

import dataclasses
import math
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.policies import confidence
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlidingWindowUCB(Policy):
    """Sliding-window UCB (SW-UCB): counts and means over the last τ steps.

        X_k + B·√(ξ·ln min(t, τ) / N_k)

    where t counts the observations made so far, and arms without any in the window come first.

    Use it as D-UCB: where arms drift at a pace that can be fitted, and better with ξ = ½ or less.

    Parameters:
        window: (τ) how many steps an observation lasts, a whole number of at least 1.
        confidence: (ξ) how wide the padding is, from 1e-100 to 1e100.
        bound: (B) the largest possible reward, from 1e-100 to 1e100.

    >>> SlidingWindowUCB.tuned(horizon=2500, change_points=10).window
    88

    References:
        Garivier and Moulines (2011), On upper-confidence bound policies for switching bandit problems.
    """

    name: ClassVar[str] = "sw-ucb"
    family: ClassVar[str] = BOUNDS

    window: int = whole(1)
    confidence: float = real("[1e-100, 1e100]", 0.5)
    bound: float = real("[1e-100, 1e100]", 1.0)

    @classmethod
    def tuned(cls, horizon: int, change_points: float, bound: float = 1.0, **parameters: Any) -> Self:
        """τ = 2B·√(T·ln T / Υ) for Υ change points in T steps, rounded to the nearest whole number."""
        steps = checks.whole("horizon", horizon, low=2)
        changes = checks.real("change_points", change_points, f"[1e-100, {steps}]")
        limit = checks.real("bound", bound, "[1e-100, 1e100]")
        window = 2.0 * limit * math.sqrt(steps * math.log(steps) / changes)
        return cls(window=max(1, round(window)), bound=limit, **parameters)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=confidence.index,
            context=confidence.padding,
            learn=confidence.observe_in_window,
            unlearn=confidence.forget,
            parameters=(self.bound * self.bound, self.confidence),
            window=self.window,
            largest_reward=self.bound,
            observations=confidence.observations,
            interval=confidence.interval,
        )
