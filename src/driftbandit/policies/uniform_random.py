"""Uniform choice: what every policy should beat."""

import dataclasses
import math
from typing import ClassVar

from driftbandit.policies import exponential_weights
from driftbandit.policies.policy import BASELINES, Policy
from driftbandit.policies.rule import Parameters, Rule


@dataclasses.dataclass(frozen=True, kw_only=True)
class UniformRandom(Policy):
    """Choose every arm with the same probability, whatever the rewards.

    Use it as a baseline, and for logs from which anything can be evaluated later; not to earn.

    >>> print(UniformRandom())
    uniform
    """

    name: ClassVar[str] = "uniform"
    family: ClassVar[str] = BASELINES

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="weighted",
            probability=exponential_weights.plain,
            learn=ignore,
            parameters=(0.0,),
            least_reward=-math.inf,
            largest_reward=math.inf,
        )


def ignore(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """Nothing is learned."""
    return a, b
