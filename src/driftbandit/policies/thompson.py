"""Thompson sampling and its optimistic form, for arms that do not drift."""

import dataclasses
from typing import ClassVar

from driftbandit.policies import posterior
from driftbandit.policies.policy import SAMPLING, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class ThompsonSampling(Policy):
    r"""Thompson sampling (TS): choose the arm whose posterior sample is largest.

        θ_k ~ Beta(S_k + α0, F_k + β0),   arm = argmax θ_k,   then S or F of that arm grows by 1.

    Use it where nothing drifts; where something does, it settles on an arm and stays, so give it a discount or a
    window.

    Parameters:
        prior_successes: (α0) successes that every arm starts with, from 1e-100 to 1e100.
        prior_failures: (β0) failures that every arm starts with, from 1e-100 to 1e100.

    >>> print(ThompsonSampling())
    ts

    References:
        Thompson (1933), On the likelihood that one unknown probability exceeds another.
        Chapelle and Li (2011), An empirical evaluation of Thompson sampling.
    """

    name: ClassVar[str] = "ts"
    family: ClassVar[str] = SAMPLING
    optimistic: ClassVar[bool] = False

    prior_successes: float = real("[1e-100, 1e100]", 1.0)
    prior_failures: float = real("[1e-100, 1e100]", 1.0)

    def rule(self, n_arms: int) -> Rule:
        return posterior.sampling_rule(self.prior_successes, self.prior_failures, self.optimistic)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OptimisticThompsonSampling(ThompsonSampling):
    """Optimistic Thompson sampling (OTS): a sample never counts for less than its arm's posterior mean.

        θ_k = max(sample from Beta(S_k + α0, F_k + β0), (S_k + α0) / (S_k + α0 + F_k + β0))

    Use it as TS, where a little less exploration is welcome; not where arms drift.

    Parameters: as for `ThompsonSampling`.

    >>> print(OptimisticThompsonSampling(prior_failures=2))
    ots:prior_failures=2.0

    References:
        May, Korda, Lee and Leslie (2012), Optimistic Bayesian sampling in contextual-bandit problems.
    """

    name: ClassVar[str] = "ots"
    family: ClassVar[str] = SAMPLING
    optimistic: ClassVar[bool] = True
