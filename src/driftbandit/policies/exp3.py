"""EXP3: exponential weights with uniform exploration."""

import dataclasses
import math
from typing import ClassVar, Self

from driftbandit import checks
from driftbandit.policies import exponential_weights
from driftbandit.policies.policy import WEIGHTS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exp3(Policy):
    """EXP3: choose by weights that grow with the estimated reward, mixed with uniform exploration.

        p_k = (1 − γ)·w_k/Σw + γ/K,   chosen arm: w ← w·exp(γ·(r/p)/K)

    Use it where rewards may be chosen against you and the best arm stays the best. Where rewards are random it has
    several times the regret of policies that estimate means.

    Parameters:
        exploration: (γ) the share of uniform choice, in (0, 1].

    >>> round(Exp3.tuned(horizon=25, n_arms=4).exploration, 4)
    0.3593

    References:
        Auer, Cesa-Bianchi, Freund and Schapire (2002), The nonstochastic multiarmed bandit problem.
    """

    name: ClassVar[str] = "exp3"
    family: ClassVar[str] = WEIGHTS

    exploration: float = real("(0, 1]")

    @classmethod
    def tuned(cls, horizon: int, n_arms: int) -> Self:
        """γ = min(1, √(K·ln K / ((e − 1)·T)))."""
        return cls(exploration=exploration_for(checks.whole("horizon", horizon), checks.whole("n_arms", n_arms, low=2)))

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="weighted",
            probability=exponential_weights.mixed,
            learn=exponential_weights.reward_estimate,
            parameters=(self.exploration, float(n_arms)),
        )


def exploration_for(steps: int, n_arms: int) -> float:
    """The exploration that suits EXP3 over a number of steps."""
    return min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1.0) * steps)))
