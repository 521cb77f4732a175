"""The probability that any policy chooses each arm next, from the evidence it has."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit.checks import reject
from driftbandit.errors import InvalidValue
from driftbandit.exact.selection import selection_probabilities
from driftbandit.policies import Policy, Rule

Reals = NDArray[np.float64]


def choice_probabilities(policy: Policy, evidence: Any) -> Reals:
    """The probability of each arm, `(…, arms)`, from evidence `(…, arms, 2)`: the two numbers of a rule for every arm.

    Policies that sample posteriors: by integration. Policies that choose by weights: their own formula. Policies that
    choose the largest index: 1, or an even share of a tie, else 0.
    """
    allowed = "finite numbers of shape (…, arms, 2), at least two arms"
    try:
        state = np.asarray(evidence, dtype=np.float64)
    except (TypeError, ValueError):
        raise reject("evidence", allowed, evidence) from None
    if state.ndim < 2 or state.shape[-1] != 2 or state.shape[-2] < 2 or not np.all(np.isfinite(state)):
        raise reject("evidence", allowed, evidence)
    rule = policy.rule(state.shape[-2])
    a, b = state[..., 0], state[..., 1]
    if rule.selection == "weighted":
        return _by_weight(rule, a)
    if rule.selection == "index":
        return _by_index(rule, a, b)
    if rule.posterior is None:
        raise InvalidValue(f"policy must say what its scores are samples of (Rule.posterior), got {policy.name}")
    shapes = np.stack([a + rule.parameters[0], b + rule.parameters[1]], axis=-1)
    if not np.all(shapes > 0.0):
        raise reject("evidence", "such that both shapes of every posterior are above 0", evidence)
    return selection_probabilities(shapes, optimistic=rule.posterior == "optimistic beta")


def _by_weight(rule: Rule, log_weights: Reals) -> Reals:
    weights = np.exp(log_weights - log_weights.max(axis=-1, keepdims=True))
    shares = weights / weights.sum(axis=-1, keepdims=True)
    assert rule.probability is not None
    probability = np.vectorize(rule.probability, excluded={0}, otypes=[np.float64])
    return np.asarray(probability(rule.parameters, shares))


def _by_index(rule: Rule, a: Reals, b: Reals) -> Reals:
    assert rule.score is not None
    context = np.vectorize(rule.context, excluded={0}, otypes=[np.float64])
    score = np.vectorize(rule.score, excluded={0}, otypes=[np.float64])
    shared = context(rule.parameters, a.sum(axis=-1, keepdims=True))
    scores = score(rule.parameters, shared, a, b)
    best = scores == scores.max(axis=-1, keepdims=True)
    return np.asarray(best / best.sum(axis=-1, keepdims=True))
