"""Discounted Thompson sampling and its optimistic form: the policies of Raj and Kalyani (2017)."""

import dataclasses
import math
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.policies import posterior
from driftbandit.policies.clock import Clock
from driftbandit.policies.policy import SAMPLING, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import choice, real


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiscountedThompsonSampling(Policy):
    """Discounted Thompson sampling (dTS), the paper's Algorithm 1: old evidence fades, so idle arms are tried again.

        θ_k ~ Beta(S_k + α0, F_k + β0),   arm I = argmax θ_k,
        S_k ← γ·S_k + [k = I]·r,   F_k ← γ·F_k + [k = I]·(1 − r)   for every arm k.

    Use it where arms drift at a pace that can be guessed and odds of its own are wanted. Where nothing drifts it
    goes on exploring; where the pace is unknown, `DriftFilter` does better.

    Parameters:
        discount: (γ) what evidence is multiplied by at each step, in (0, 1]; 1 is Thompson sampling.
        prior_successes: (α0) successes that never fade, from 1e-100 to 1e100.
        prior_failures: (β0) failures that never fade, from 1e-100 to 1e100.
        discounted_arms: "all" as in Algorithm 1, or "played": only the chosen arm's evidence fades, which is what the
            published figures show.

    >>> DiscountedThompsonSampling.tuned(half_life=10).discount
    0.9330329915368074

    References:
        Raj and Kalyani (2017), Taming Non-stationary Bandits: A Bayesian Approach, Algorithm 1.
    """

    name: ClassVar[str] = "dts"
    family: ClassVar[str] = SAMPLING
    optimistic: ClassVar[bool] = False

    discount: float = real("(0, 1]")
    prior_successes: float = real("[1e-100, 1e100]", 1.0)
    prior_failures: float = real("[1e-100, 1e100]", 1.0)
    discounted_arms: str = choice("all", "played")

    @classmethod
    def tuned(cls, half_life: float, **parameters: Any) -> Self:
        """The discount under which evidence counts half after `half_life` steps: γ = 2^(−1/half_life)."""
        return cls(discount=math.exp2(-1.0 / checks.real("half_life", half_life, "[0.001, 1e100]")), **parameters)

    def rule(self, n_arms: int) -> Rule:
        rule = posterior.sampling_rule(self.prior_successes, self.prior_failures, self.optimistic)
        if self.discounted_arms == "all":
            return dataclasses.replace(rule, decay=self.discount)
        parameters = (*rule.parameters, self.discount)
        return dataclasses.replace(rule, learn=fade_and_count, parameters=parameters, clock=Clock(self.discount))


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiscountedOptimisticThompsonSampling(DiscountedThompsonSampling):
    """Discounted optimistic Thompson sampling (dOTS): dTS whose samples never count for less than the posterior mean.

        θ_k = max(sample from Beta(S_k + α0, F_k + β0), (S_k + α0) / (S_k + α0 + F_k + β0))

    Use it rather than dTS unless samples must be plain: it had less regret nearly everywhere.

    Parameters: as for `DiscountedThompsonSampling`.

    >>> print(DiscountedOptimisticThompsonSampling(discount=0.9))
    dots:discount=0.9

    References:
        Raj and Kalyani (2017), Taming Non-stationary Bandits: A Bayesian Approach, "Being Optimistic".
    """

    name: ClassVar[str] = "dots"
    family: ClassVar[str] = SAMPLING
    optimistic: ClassVar[bool] = True


def fade_and_count(p: Parameters, a: float, b: float, reward: float, probability: float) -> tuple[float, float]:
    """The chosen arm's evidence fades, and a success or a failure is added."""
    return p[2] * a + reward, p[2] * b + (1.0 - reward)
