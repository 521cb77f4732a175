"""ε-greedy, with means that may be discounted."""

import dataclasses
import math
from typing import ClassVar

import driftbandit as db
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(db.Policy):
    """With probability ε any arm, else the arm with the best mean reward; arms without an observation come first.

    With a discount γ below 1, a reward that is t steps old counts γᵗ in the mean. An arm whose observations count less
    than 1e-200 in all is an arm without any.

    Parameters:
        exploration: (ε) the share of choices left to chance, in [0, 1].
        discount: (γ) what evidence is multiplied by at each step, in (0, 1].
    """

    name: ClassVar[str] = "example-epsilon-greedy"
    exploration: float = real("[0, 1]")
    discount: float = real("(0, 1]", 1.0)

    def rule(self, n_arms):
        return db.Rule(
            selection="index",
            score=mean,
            learn=observe,
            explore=self.exploration,
            parameters=(),
            decay=self.discount,
        )


def mean(p, shared, n, earned):  # n: observations, earned: the sum of their rewards
    return earned / n if n > 1e-200 else math.inf


def observe(p, n, earned, reward, probability):
    return n + 1.0, earned + reward
