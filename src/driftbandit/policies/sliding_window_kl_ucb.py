"""SW-kl-UCB: kl-UCB on the last steps only."""

import dataclasses
from typing import Any, ClassVar, Self

from driftbandit.policies import confidence, divergence_bounds
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.policies.sliding_window_ucb import SlidingWindowUCB
from driftbandit.specification import choice, real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlidingWindowKLUCB(Policy):
    """Sliding-window kl-UCB (SW-kl-UCB): kl-UCB with counts and means over the last τ steps.

        max {q ≤ 1: N_k·kl(X_k, q) ≤ ln n + c·ln ln n},   n = min(t, τ)

    where t counts the observations made so far, and arms without any in the window come first.

    For 0/1 rewards whose means change now and then, with a window of about half the time between changes; it then earns
    more than SW-UCB. Every arm is tried again within a window, so many arms or rare changes cost more than they need.

    Rewards are from 0 to 1; in a simulation with others, a mean beyond counts as the nearer end.

    Parameters:
        window: (τ) how many steps an observation lasts, a whole number of at least 1.
        confidence: (c) the factor of ln ln n, from 0 to 1e100.
        logarithm: "evidence": n is as above; "time": n = t, as in some published experiments: bounds then grow wider
            for ever, and live rewards are learned in the order in which they come.

    >>> SlidingWindowKLUCB.tuned(horizon=10_000, change_points=2).window
    429

    References:
        Garivier and Moulines (2011), On upper-confidence bound policies for switching bandit problems.
        Garivier and Cappé (2011), The KL-UCB algorithm for bounded stochastic bandits and beyond.
    """

    name: ClassVar[str] = "sw-kl-ucb"
    family: ClassVar[str] = BOUNDS

    window: int = whole(1)
    confidence: float = real("[0, 1e100]", 0.0)
    logarithm: str = choice("evidence", "time")

    @classmethod
    def tuned(cls, horizon: int, change_points: float, **parameters: Any) -> Self:
        """τ = 2·√(T·ln T / Υ) for Υ change points in T steps, rounded: the window of SW-UCB."""
        window = SlidingWindowUCB.tuned(horizon=horizon, change_points=change_points).window
        return cls(window=window, **parameters)

    def rule(self, n_arms: int) -> Rule:
        return dataclasses.replace(
            divergence_bounds.bound_rule(self.confidence, self.logarithm),
            learn=confidence.observe_in_window,
            unlearn=confidence.forget,
            window=self.window,
        )
