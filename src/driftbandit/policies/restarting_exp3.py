"""REXP3: EXP3 that starts afresh."""

import dataclasses
import math
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.policies.exp3 import Exp3, exploration_for
from driftbandit.policies.policy import WEIGHTS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import optional_real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class RestartingExp3(Policy):
    """Restarting EXP3 (REXP3): EXP3 whose weights are all made equal every Δ steps.

    Use it where a bound for any drift of a known total is wanted; in practice nearly every other policy has less
    regret.

    Parameters:
        batch: (Δ) steps between restarts, a whole number of at least 1.
        exploration: (γ) the share of uniform choice, in (0, 1]; None: min(1, √(K·ln K / ((e − 1)·Δ))).

    >>> RestartingExp3.tuned(horizon=1000, variation=10, n_arms=4).batch
    39

    References:
        Besbes, Gur and Zeevi (2014), Stochastic multi-armed-bandit problem with non-stationary rewards.
    """

    name: ClassVar[str] = "rexp3"
    family: ClassVar[str] = WEIGHTS

    batch: int = whole(1)
    exploration: float | None = optional_real("(0, 1]")

    @classmethod
    def tuned(cls, horizon: int, variation: float, n_arms: int, **parameters: Any) -> Self:
        """Δ = ⌈(K·ln K)^{1/3}·(T/V)^{2/3}⌉ for a variation budget V over T steps."""
        steps = checks.whole("horizon", horizon)
        budget = checks.real("variation", variation, "[1e-100, 1e100]")
        arms = checks.whole("n_arms", n_arms, low=2)
        return cls(batch=math.ceil(math.cbrt(arms * math.log(arms)) * (steps / budget) ** (2 / 3)), **parameters)

    def rule(self, n_arms: int) -> Rule:
        exploration = exploration_for(self.batch, n_arms) if self.exploration is None else self.exploration
        return dataclasses.replace(Exp3(exploration=exploration).rule(n_arms), restart=self.batch)
