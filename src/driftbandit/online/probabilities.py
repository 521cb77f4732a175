"""The probability with which each rule chooses each arm, in closed form or exact to rounding."""

import numpy as np

from driftbandit.online.family import Beta, beta_of
from driftbandit.online.table import Reals
from driftbandit.policies import Policy


def posterior_probabilities(
    evidence: Reals, asleep: int, beta: Beta, start: tuple[float, float] = (0.0, 0.0)
) -> tuple[Reals, float]:
    """Of each arm with evidence `[arm, (a, b)]`, and of each of the arms that are alike at the prior."""
    prior = np.array([beta.successes, beta.failures])
    if asleep:
        from driftbandit.online.grouped import grouped_probabilities  # late: imports SciPy

        kinds, kind_of, counts = np.unique(
            np.concatenate([evidence + prior, [prior + start]]), axis=0, return_inverse=True, return_counts=True
        )
        kind_of = kind_of.ravel()
        counts[kind_of[-1]] += asleep - 1
        each = grouped_probabilities(kinds, counts, beta.optimistic)[kind_of]
        return each[:-1], float(each[-1])
    if len(evidence) == 1:
        return np.ones(1), 0.0
    from driftbandit.exact import selection_probabilities

    return np.asarray(selection_probabilities(evidence + prior, optimistic=beta.optimistic)), 0.0


def next_probabilities(policy: Policy, evidence: Reals, asleep: int = 0) -> tuple[Reals, float]:
    """Of each arm with evidence `[arm, (a, b)]` under any policy, and of each dormant arm.

    >>> from driftbandit.policies import UCB1
    >>> next_probabilities(UCB1(), np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 0.0]]))[0]
    array([0.5, 0. , 0.5])
    """
    if asleep:
        rule = policy.rule(len(evidence) + asleep)
        beta = beta_of(rule)
        assert beta is not None
        return posterior_probabilities(evidence, asleep, beta, rule.initial)
    if len(evidence) == 1:
        return np.ones(1), 0.0
    return policy.selection_probabilities(evidence), 0.0
