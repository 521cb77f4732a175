"""UCB1: the classic confidence bound, for arms that do not drift."""

import dataclasses
from typing import ClassVar

from driftbandit.policies import confidence
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class UCB1(Policy):
    """UCB1: choose the arm whose mean reward plus padding is largest.

        X_k + √(c·ln n / N_k)

    with N_k observations of arm k so far, n of all arms, and arms without any first.

    Use it as a baseline where nothing drifts; kl-UCB and UCB-Tuned have less regret there.

    Parameters:
        confidence: (c) how wide the padding is, from 1e-100 to 1e100.

    >>> print(UCB1())
    ucb1

    References:
        Auer, Cesa-Bianchi and Fischer (2002), Finite-time analysis of the multiarmed bandit problem.
    """

    name: ClassVar[str] = "ucb1"
    family: ClassVar[str] = BOUNDS

    confidence: float = real("[1e-100, 1e100]", 2.0)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=confidence.index,
            context=confidence.padding,
            learn=confidence.observe,
            parameters=(1.0, self.confidence),
            observations=confidence.observations,
            interval=confidence.interval,
        )
