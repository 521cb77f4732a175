"""Thompson sampling on a sliding window."""

import dataclasses
from typing import ClassVar

import driftbandit as db
from driftbandit.specification import real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlidingWindowThompsonSampling(db.Policy):
    """Choose the arm with the largest sample of Beta(α0 + S, β0 + F), where S and F are its successes and failures in
    the last τ steps, whichever arms were chosen in them. A fractional reward first becomes a success or a failure.

    Parameters:
        window: (τ) how many steps an observation lasts, at least 1.
        prior_successes: (α0) above 0.
        prior_failures: (β0) above 0.

    Reference: Trovò, Paladino, Restelli and Gatti (2020), Sliding-window Thompson sampling for non-stationary settings.
    """

    name: ClassVar[str] = "example-sw-ts"
    window: int = whole(1)
    prior_successes: float = real("(0, inf)", 1.0)
    prior_failures: float = real("(0, inf)", 1.0)

    def rule(self, n_arms):
        small = min(self.prior_successes, self.prior_failures) < 1.0
        return db.Rule(
            selection="sampled",
            posterior=db.Posterior("beta", small=small),
            learn=count,
            unlearn=take_back,
            window=self.window,
            parameters=(self.prior_successes, self.prior_failures),
            binary=True,
        )


def count(p, successes, failures, reward, probability):
    return successes + reward, failures + 1.0 - reward


def take_back(p, successes, failures, reward):
    return successes - reward, failures - (1.0 - reward)
