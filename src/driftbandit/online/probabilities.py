"""The probability with which each rule chooses each arm, in closed form or exact to rounding."""

import numpy as np

from driftbandit.online.table import Reals
from driftbandit.policies import Rule

Surroundings = tuple[tuple[float, ...], float, float]
"""What odds depend on beside the arms' own numbers: shared numbers, the number of all observations, and the step."""
PLAIN: Surroundings = ((), 0.0, 1.0)


def next_probabilities(
    rule: Rule, evidence: Reals, asleep: int = 0, around: Surroundings = PLAIN, name: str = "the policy"
) -> tuple[Reals, float]:
    """Of each arm with these numbers `[arm, number]`, and of each of the dormant arms, which are alike.

    >>> from driftbandit.policies import UCB1
    >>> around = ((), 2.0, 1.0)
    >>> next_probabilities(UCB1().rule(3), np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 0.0]]), around=around)[0]
    array([0.5, 0. , 0.5])
    """
    if len(evidence) + asleep == 1:
        return np.ones(len(evidence)), 1.0
    if asleep:
        return _with_dormant(rule, evidence, asleep, around)
    from driftbandit.exact.choice import rule_probabilities

    common, total, step = around
    return rule_probabilities(rule, evidence, np.array(common), np.array(total), step, name), 0.0


def _with_dormant(rule: Rule, evidence: Reals, asleep: int, around: Surroundings) -> tuple[Reals, float]:
    """Where a kind of posterior is integrated once, however many arms have it."""
    from driftbandit.online.grouped import grouped_probabilities  # late: imports SciPy

    assert rule.posterior is not None
    common, total, step = around
    shared = rule.shared(total, common)
    arms = [*evidence.tolist(), rule.initial]
    shapes = np.array([rule.posterior.shape(rule.parameters, shared, *own) for own in arms], np.float64)
    kinds, kind_of, counts = np.unique(shapes, axis=0, return_inverse=True, return_counts=True)
    kind_of = kind_of.ravel()
    counts[kind_of[-1]] += asleep - 1
    each = grouped_probabilities(kinds, counts, rule.posterior.law == "optimistic beta")[kind_of]
    share = rule.explore(rule.parameters, step, *common) if callable(rule.explore) else rule.explore
    each = (1.0 - share) * each + share / (len(evidence) + asleep)
    return each[:-1], float(each[-1])


def representative(rule: Rule, total: float, common: tuple[float, ...]) -> float:
    """What arms share; where that depends on luck, as it is most often."""
    luck, longest, start = 0.5, 0.0, 0.0
    for end in () if rule.pieces is None else rule.pieces(rule.parameters, total, *common):
        if end - start > longest:
            luck, longest = 0.5 * (start + min(end, 1.0)), end - start
        start = end
    return rule.shared(total, common, luck)
