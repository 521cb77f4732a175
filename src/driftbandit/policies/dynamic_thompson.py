"""Dynamic Thompson sampling: a cap on how much evidence an arm can hold."""

import dataclasses
import math
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.policies import posterior
from driftbandit.policies.clock import Clock
from driftbandit.policies.policy import SAMPLING, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import real

FULL = 0.999999
"""The share of the threshold from which an arm is full: scaled back to C it holds C only up to rounding."""

FADED = 1e-300
"""What is left of α or β that shrank to nothing: after some thousand rewards of one kind it is below any number."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DynamicThompsonSampling(Policy):
    """Dynamic Thompson sampling: a posterior that holds C observations is scaled back to C with each further one.

        α + β < C:  α ← α + r,  β ← β + 1 − r
        otherwise:  α ← (α + r)·C/(C + 1),  β ← (β + 1 − r)·C/(C + 1)

    where α and β of an arm start at α0 and β0. Arms that are not chosen keep their posterior.

    Use it where arms move only when they are chosen. Where they move by themselves, an arm that was bad once is not
    tried again for long.

    Parameters:
        threshold: (C) observations that an arm can hold, from 1e-100 to 1e100.
        prior_successes: (α0) where α starts, from 1e-100 to 1e100.
        prior_failures: (β0) where β starts, from 1e-100 to 1e100.

    >>> DynamicThompsonSampling.tuned(change_interval=25).threshold
    25.0

    References:
        Gupta, Granmo and Agrawala (2011), Thompson sampling for dynamic multi-armed bandits.
    """

    name: ClassVar[str] = "dynamic-ts"
    family: ClassVar[str] = SAMPLING

    threshold: float = real("[1e-100, 1e100]")
    prior_successes: float = real("[1e-100, 1e100]", 1.0)
    prior_failures: float = real("[1e-100, 1e100]", 1.0)

    @classmethod
    def tuned(cls, change_interval: float, **parameters: Any) -> Self:
        """C is the number of steps between changes of the best arm; for a sinusoid, a quarter of its period."""
        return cls(threshold=checks.real("change_interval", change_interval, "[1e-100, 1e100]"), **parameters)

    def rule(self, n_arms: int) -> Rule:
        # C/(C + 1) shrinks the prior too, so it is part of the evidence, and nothing that counts is added to it
        rule = posterior.sampling_rule(FADED, FADED, optimistic=False)
        return dataclasses.replace(
            rule,
            learn=count_up_to,
            parameters=(FADED, FADED, self.threshold),
            initial=(self.prior_successes, self.prior_failures),
            # the sum of both does not depend on the rewards: so many decisions fill an arm, and then it fades with each
            clock=Clock(
                self.threshold / (self.threshold + 1.0),
                grace=max(0, math.ceil(FULL * self.threshold - self.prior_successes - self.prior_failures)),
                early=True,
            ),
        )


def count_up_to(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """A success or a failure more, scaled back where the arm holds the threshold already."""
    scale = 1.0 if a + b < FULL * p[2] else p[2] / (p[2] + 1.0)
    return (a + reward) * scale, (b + (1.0 - reward)) * scale
