"""EXP3-SIX: exponential weights that share, with implicit exploration."""

import dataclasses
import math
from typing import ClassVar, Self

from driftbandit import checks
from driftbandit.policies import exponential_weights, shared_weights
from driftbandit.policies.policy import WEIGHTS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import optional_real, real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exp3SIX(Policy):
    """EXP3-SIX: EXP3-IX with a fixed share, which follows the best arm through a number of switches.

        p_k = w_k/Σ w_j,   v_k = w_k·exp(−η·ℓ_k),   ℓ of the chosen arm: (1 − r)/(p + γ), of the others 0
        w_k ← (1 − α)·v_k + (α/K)·Σ v_j

    Use it instead of EXP3.S where exploration at random costs too much. Where rewards are random, policies that
    estimate means have a fraction of its regret.

    Parameters:
        learning_rate: (η) how fast weights move, from 1e-100 to 1e100.
        sharing: (α) the share of weight that goes round at each step, in [0, 1]; 0 is EXP3-IX,
            but for weights that differ by more than e^600.
        implicit_exploration: (γ) what is added to the probability, from 0 to 1e100; None: η/2.

    >>> policy = Exp3SIX.tuned(horizon=10000, n_arms=3, change_points=2)
    >>> round(policy.learning_rate, 4), round(policy.sharing, 6)
    (0.0452, 0.0002)

    References:
        Neu (2015), Explore no more: improved high-probability regret bounds for non-stochastic bandits.
    """

    name: ClassVar[str] = "exp3-six"
    family: ClassVar[str] = WEIGHTS

    learning_rate: float = real("[1e-100, 1e100]")
    sharing: float = real("[0, 1]")
    implicit_exploration: float | None = optional_real("[0, 1e100]")

    @classmethod
    def tuned(cls, horizon: int, n_arms: int, change_points: float) -> Self:
        """α = Υ/(T − 1), η = √(2·(Υ + 1)·ln(e·K·T/(Υ + 1)) / (K·T)) and γ = η/2 for Υ changes in T steps."""
        steps = checks.whole("horizon", horizon, low=2)
        arms = checks.whole("n_arms", n_arms, low=2)
        changes = checks.real("change_points", change_points, f"[0, {steps - 1}]")
        pieces = changes + 1.0
        rate = math.sqrt(2.0 * pieces * math.log(math.e * arms * steps / pieces) / (arms * steps))
        return cls(learning_rate=rate, sharing=changes / (steps - 1.0))

    def rule(self, n_arms: int) -> Rule:
        implicit = self.learning_rate / 2.0 if self.implicit_exploration is None else self.implicit_exploration
        return Rule(
            selection="weighted",
            log_weight=shared_weights.log_of_loser,
            probability=exponential_weights.plain,
            context=shared_weights.gift,
            blend=shared_weights.blend_losers,
            notice=shared_weights.mean_after,
            learn=shared_weights.loss,
            parameters=(self.learning_rate, float(n_arms), self.sharing, 1.0 - self.sharing, implicit),
            initial=(1.0,),
            common=(1.0,),
            learning="sequential",
        )
