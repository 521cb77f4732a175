"""Bayes-UCB: an upper quantile of each arm's posterior instead of a sample."""

import dataclasses
from typing import ClassVar

from driftbandit.checks import reject
from driftbandit.numerics import beta_upper
from driftbandit.policies import posterior
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import optional_whole, real

TAIL = 0.025
"""Of either side, for intervals."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class BayesUCB(Policy):
    """Bayes-UCB: choose the arm with the largest quantile of its posterior, at a level that rises with time.

        the number that Beta(S_k + α0, F_k + β0) exceeds with probability 1/t

    with S_k successes and F_k failures of arm k, and t − 1 observations of all arms so far. A fractional reward is
    first turned into a success or a failure. Evidence may fade as in dTS, or last for a window: t − 1 is then what is
    left of all observations.

    As good as Thompson sampling where arms stay as they are, and without its luck, so decisions can be explained; each
    costs some ten times as much. Where arms drift, give it a discount or a window.

    Parameters:
        prior_successes: (α0) successes that never fade, from 1e-100 to 1e100; below 1e-6 and above 1e9 as these.
        prior_failures: (β0) failures that never fade, in the same range.
        discount: (γ) what evidence is multiplied by at each step, in (0, 1].
        window: (τ) how many steps an observation lasts, a whole number of at least 1; None: for ever. Not together with
            a discount.

    >>> print(BayesUCB(window=100))
    bayes-ucb:window=100

    References:
        Kaufmann, Cappé and Garivier (2012), On Bayesian upper confidence bounds for bandit problems.
    """

    name: ClassVar[str] = "bayes-ucb"
    family: ClassVar[str] = BOUNDS

    prior_successes: float = real("[1e-100, 1e100]", 1.0)
    prior_failures: float = real("[1e-100, 1e100]", 1.0)
    discount: float = real("(0, 1]", 1.0)
    window: int | None = optional_whole(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window is not None and self.discount < 1.0:
            raise reject("window", f"None with a discount, which is {self.discount}", self.window)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=quantile,
            context=tail,
            learn=posterior.count,
            unlearn=uncount,
            parameters=(self.prior_successes, self.prior_failures),
            binary=True,
            decay=self.discount,
            window=self.window or 0,
            observations=posterior.both,
            interval=interval,
        )


def tail(p: Parameters, total: float) -> float:
    """1/t."""
    return 1.0 / (1.0 + total)


def quantile(p: Parameters, shared: float, a: float, b: float) -> float:
    """What the arm's mean exceeds with probability `shared`."""
    return beta_upper(a + p[0], b + p[1], shared)


def interval(p: Parameters, shared: float, a: float, b: float) -> tuple[float, float, float]:
    """The posterior mean, and the 95% interval about it."""
    successes, failures = a + p[0], b + p[1]
    low, high = (beta_upper(successes, failures, tail) for tail in (1.0 - TAIL, TAIL))
    return successes / (successes + failures), float(low), float(high)


def uncount(p: Parameters, a: float, b: float, reward: float) -> tuple[float, float]:
    """A success or a failure less."""
    return a - reward, b - (1.0 - reward)
