"""D-kl-UCB: kl-UCB on discounted counts."""

import dataclasses
from typing import Any, ClassVar, Self

from driftbandit.policies import divergence_bounds
from driftbandit.policies.discounted_ucb import DiscountedUCB
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import choice, real


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiscountedKLUCB(Policy):
    """Discounted kl-UCB (D-kl-UCB): kl-UCB with counts and means in which an observation s steps old counts γ^s.

        max {q ≤ 1: N_k·kl(X_k, q) ≤ ln n + c·ln ln n},   n = Σ N_k

    For 0/1 rewards whose means change slowly or at unknown times. A discount that is too small has it try poor arms
    most of the time: 1/(1 − γ) should be many times the number of arms.

    Rewards are from 0 to 1; in a simulation with others, a mean beyond counts as the nearer end.

    Parameters:
        discount: (γ) what evidence is multiplied by at each step, in (0, 1]; 1 is kl-UCB.
        confidence: (c) the factor of ln ln n, from 0 to 1e100.
        logarithm: "evidence": n is as above; "time": n counts all observations ever made, as in some published
            experiments: bounds then grow wider for ever, and live rewards are learned in the order in which they come.

    >>> round(DiscountedKLUCB.tuned(horizon=10_000, change_points=2).discount, 6)
    0.996464

    References:
        Garivier and Moulines (2011), On upper-confidence bound policies for switching bandit problems.
        Garivier and Cappé (2011), The KL-UCB algorithm for bounded stochastic bandits and beyond.
    """

    name: ClassVar[str] = "d-kl-ucb"
    family: ClassVar[str] = BOUNDS

    discount: float = real("(0, 1]")
    confidence: float = real("[0, 1e100]", 0.0)
    logarithm: str = choice("evidence", "time")

    @classmethod
    def tuned(cls, horizon: int, change_points: float, **parameters: Any) -> Self:
        """γ = 1 − √(Υ/T)/4 for Υ change points in T steps: the discount of D-UCB."""
        discount = DiscountedUCB.tuned(horizon=horizon, change_points=change_points).discount
        return cls(discount=discount, **parameters)

    def rule(self, n_arms: int) -> Rule:
        rule = divergence_bounds.bound_rule(self.confidence, self.logarithm)
        return dataclasses.replace(rule, decay=self.discount)
