"""EXP3-IX: exponential weights with implicit exploration."""

import dataclasses
import math
from typing import ClassVar, Self

from driftbandit import checks
from driftbandit.policies import exponential_weights
from driftbandit.policies.policy import WEIGHTS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import optional_real, real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Exp3IX(Policy):
    """EXP3-IX: exploration hidden in a loss estimate that is biased low.

        p_k ∝ exp(−η·Σ estimates),   estimate of the chosen arm: (1 − r)/(p + γ)

    Use it rather than EXP3 where a bad run must be unlikely. Where rewards are random, policies that estimate means
    have less regret.

    Parameters:
        learning_rate: (η) how fast weights move, from 1e-100 to 1e100.
        implicit_exploration: (γ) what is added to the probability, from 0 to 1e100; None: η/2.

    >>> round(Exp3IX.tuned(horizon=1000, n_arms=4).learning_rate, 4)
    0.0263

    References:
        Neu (2015), Explore no more: improved high-probability regret bounds for non-stochastic bandits.
    """

    name: ClassVar[str] = "exp3-ix"
    family: ClassVar[str] = WEIGHTS

    learning_rate: float = real("[1e-100, 1e100]")
    implicit_exploration: float | None = optional_real("[0, 1e100]")

    @classmethod
    def tuned(cls, horizon: int, n_arms: int) -> Self:
        """η = √(2·ln K / (K·T)) and γ = η/2."""
        steps = checks.whole("horizon", horizon)
        arms = checks.whole("n_arms", n_arms, low=2)
        return cls(learning_rate=math.sqrt(2.0 * math.log(arms) / (arms * steps)))

    def rule(self, n_arms: int) -> Rule:
        implicit = self.learning_rate / 2.0 if self.implicit_exploration is None else self.implicit_exploration
        return Rule(
            selection="weighted",
            probability=exponential_weights.plain,
            learn=exponential_weights.implicit_loss_estimate,
            parameters=(self.learning_rate, implicit),
        )
