"""The probability with which each rule chooses each arm, in closed form or exact to rounding."""

from typing import Any

import numpy as np

from driftbandit.checks import reject
from driftbandit.online.family import Beta, beta_of
from driftbandit.online.grouped import grouped_probabilities
from driftbandit.online.table import Reals
from driftbandit.policies import Rule


def posterior_probabilities(
    evidence: Reals, asleep: int, beta: Beta, start: tuple[float, float] = (0.0, 0.0)
) -> tuple[Reals, float]:
    """Of each arm with evidence `[arm, (a, b)]`, and of each of the arms that are alike at the prior."""
    prior = np.array([beta.successes, beta.failures])
    if asleep:
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


def rule_probabilities(rule: Rule, evidence: Reals, total: float, asleep: int = 0) -> tuple[Reals, float]:
    """Of each arm with evidence `[arm, (a, b)]` under any rule, and of each dormant arm.

    >>> from driftbandit.policies import UCB1, Exp3
    >>> rule_probabilities(UCB1().rule(3), np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 0.0]]), 2.0)[0]
    array([0.5, 0. , 0.5])
    >>> rule_probabilities(Exp3(exploration=0.5).rule(2), np.array([[0.0, 0.0], [0.0, 0.0]]), 0.0)[0]
    array([0.5, 0.5])
    """
    beta = beta_of(rule)
    if beta is not None:
        return posterior_probabilities(evidence, asleep, beta, rule.initial)
    if len(evidence) == 1:
        return np.ones(1), 0.0
    if rule.selection == "weighted":
        assert rule.probability is not None
        share = np.exp(evidence[:, 0] - evidence[:, 0].max())
        share /= share.sum()
        return np.array([rule.probability(rule.parameters, one) for one in share.tolist()]), 0.0
    if rule.selection == "index":
        assert rule.score is not None
        shared = rule.context(rule.parameters, total)
        scores = np.array([_number(rule.score(rule.parameters, shared, a, b)) for a, b in evidence.tolist()])
        best = scores == scores.max()
        return best / best.sum(), 0.0
    raise reject("policy", "one whose scores are known (Beta posteriors, indices or weights)", rule.score)


def _number(value: Any) -> float:
    return float(value)
