"""EXP3.S: exponential weights that share."""

import dataclasses
import math
from typing import ClassVar, Self

from driftbandit import checks
from driftbandit.policies import exponential_weights, shared_weights
from driftbandit.policies.policy import WEIGHTS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exp3S(Policy):
    """EXP3.S: EXP3 whose arms get a share of all weight at every step, so that none falls too far behind to return.

        p_k = (1 − γ)·w_k/W + γ/K,   W = Σ w_j
        chosen arm: w ← w·exp(γ·(r/p)/K),   then every arm: w ← w + (e·α/K)·W with the W of before

    Use it where rewards may be chosen against you, and switch now and then. Where they are random, even with abrupt
    changes, policies that estimate means have a fraction of its regret.

    Parameters:
        exploration: (γ) the share of uniform choice, in (0, 1].
        sharing: (α) the share of weight that goes round at each step, in [0, 1]; 0 is EXP3, but
            for weights that differ by more than e^600.

    >>> round(Exp3S.tuned(horizon=10000, n_arms=3, change_points=3).exploration, 5)
    0.07664

    References:
        Auer, Cesa-Bianchi, Freund and Schapire (2002), The nonstochastic multiarmed bandit problem.
    """

    name: ClassVar[str] = "exp3-s"
    family: ClassVar[str] = WEIGHTS

    exploration: float = real("(0, 1]")
    sharing: float = real("[0, 1]")

    @classmethod
    def tuned(cls, horizon: int, n_arms: int, change_points: float | None = None) -> Self:
        """α = 1/T and γ = min(1, √(K·(Υ·ln(K·T) + e) / ((e − 1)·T))); with Υ unknown γ = min(1, √(K·ln(K·T)/T))."""
        steps = checks.whole("horizon", horizon)
        arms = checks.whole("n_arms", n_arms, low=2)
        if change_points is None:
            squared = arms * math.log(arms * steps) / steps
        else:
            changes = checks.real("change_points", change_points, f"[0, {steps}]")
            squared = arms * (changes * math.log(arms * steps) + math.e) / ((math.e - 1.0) * steps)
        return cls(exploration=min(1.0, math.sqrt(squared)), sharing=1.0 / steps)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="weighted",
            log_weight=shared_weights.log_of_gainer,
            probability=exponential_weights.mixed,
            blend=shared_weights.blend_gainers,
            learn=shared_weights.gain,
            parameters=(self.exploration, float(n_arms), math.e * self.sharing),
            initial=(1.0,),
            learning="sequential",
        )
