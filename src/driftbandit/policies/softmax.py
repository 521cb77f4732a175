"""Softmax: choose by weights that grow exponentially with the mean reward."""

import dataclasses
from typing import ClassVar

from driftbandit.policies import confidence, exponential_weights, plain_means
from driftbandit.policies.plain_means import FADED
from driftbandit.policies.policy import BASELINES, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Softmax(Policy):
    """Softmax (Boltzmann exploration): choose an arm with a probability that grows with its mean reward.

        p_k ∝ exp(X_k / temperature),   X_k = Σ γ^s·r / Σ γ^s over the rewards r of arm k, s steps old

    An arm without rewards counts as one with the mean 1, the best there is, so that it is soon tried.

    Where smooth and exactly known odds matter more than regret: it never stops trying poor arms, and how many rewards a
    mean stands for is nothing to it. Arms that drift need a discount below 1.

    Parameters:
        temperature: the difference of means that makes one arm e times as likely as another, from 1e-100 to 1e100.
        discount: (γ) what evidence is multiplied by at each step, in (0, 1].

    >>> Softmax(temperature=0.5).selection_probabilities([(10, 2), (10, 7)]).round(3).tolist()
    [0.269, 0.731]

    References:
        Sutton and Barto (2018), Reinforcement Learning: An Introduction, chapter 2.
        Cesa-Bianchi, Gentile, Lugosi and Neu (2017), Boltzmann exploration done right.
    """

    name: ClassVar[str] = "softmax"
    family: ClassVar[str] = BASELINES

    temperature: float = real("[1e-100, 1e100]")
    discount: float = real("(0, 1]", 1.0)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="weighted",
            log_weight=heat,
            probability=exponential_weights.plain,
            learn=confidence.observe,
            parameters=(self.temperature,),
            decay=self.discount,
            observations=confidence.observations,
            interval=plain_means.interval,
        )


def heat(p: Parameters, shared: float, n: float, earned: float) -> float:
    """The mean, in temperatures."""
    return (earned / n if n > FADED else 1.0) / p[0]
