"""Mean rewards, discounted or not: the part that ε-greedy and softmax share.

An arm has `n` = number of observations and `earned` = sum of their rewards, both faded.
"""

from math import nan

from driftbandit.policies.rule import Parameters

FADED = 1e-200
"""An arm whose observations count no more than this is one without any: far below, quotients lose their digits."""


def interval(p: Parameters, shared: float, n: float, earned: float) -> tuple[float, float, float]:
    """The mean, and no ends: neither policy says how sure it is."""
    return without_ends(earned / max(n, FADED), n > FADED)


def without_ends(mean: float, known: bool) -> tuple[float, float, float]:
    """A mean where there is one."""
    return mean if known else nan, nan, nan
