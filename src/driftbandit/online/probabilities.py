"""The probability with which each rule chooses each arm, in closed form or exact to rounding."""

from typing import Any

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
    common, total, step = around
    if rule.posterior is None or rule.posterior.law == "normal" or rule.luck:
        from driftbandit.exact.choice import rule_probabilities

        return rule_probabilities(rule, evidence, np.array(common), np.array(total), step, name), 0.0
    shared, shape, p = rule.shared(total, common), rule.posterior.shape, rule.parameters
    shapes = np.array([shape(p, shared, *own) for own in evidence.tolist()], np.float64).reshape(-1, 2)
    optimistic, each = rule.posterior.law == "optimistic beta", 0.0
    if asleep:
        chances, each = _with_dormant(shapes, shape(p, shared, *rule.initial), asleep, optimistic)
    else:
        from driftbandit.exact import selection_probabilities

        chances = selection_probabilities(shapes, optimistic=optimistic)
    share = rule.explored(step, common)
    if share != 0.0:
        any_arm = share / (len(evidence) + asleep)
        return (1.0 - share) * chances + any_arm, (1.0 - share) * each + any_arm
    return chances, each


def _with_dormant(shapes: Reals, new: Any, asleep: int, optimistic: bool) -> tuple[Reals, float]:
    """A kind of posterior is integrated once, however many arms have it."""
    from driftbandit.exact.alike import grouped_probabilities  # late: imports SciPy

    kinds, kind_of, counts = np.unique(np.concatenate([shapes, [new]]), axis=0, return_inverse=True, return_counts=True)
    kind_of = kind_of.ravel()
    counts[kind_of[-1]] += asleep - 1
    each = grouped_probabilities(kinds, counts, optimistic)[kind_of]
    return each[:-1], float(each[-1])


def representative(rule: Rule, total: float, common: tuple[float, ...]) -> float:
    """What arms share; where that depends on luck, as it is most often."""
    luck, longest, start = 0.5, 0.0, 0.0
    for end in () if rule.pieces is None else rule.pieces(rule.parameters, total, *common):
        if end - start > longest:
            luck, longest = 0.5 * (start + min(end, 1.0)), end - start
        start = end
    return rule.shared(total, common, luck)
