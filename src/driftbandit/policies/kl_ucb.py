"""kl-UCB: confidence bounds as tight as those of 0/1 rewards can be, for arms that do not drift."""

import dataclasses
from typing import ClassVar

from driftbandit.policies import divergence_bounds
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.rule import Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class KLUCB(Policy):
    """kl-UCB: choose the arm with the largest mean that its rewards do not yet speak against.

        max {q ≤ 1: N_k·kl(X_k, q) ≤ ln t + c·ln ln t},   kl(p, q) = p·ln(p/q) + (1 − p)·ln((1 − p)/(1 − q))

    with the mean X_k of N_k observations of arm k, t observations of all arms so far (ln t counts as 1 where it is less
    inside the second logarithm), and arms without any first.

    The choice among confidence bounds where arms stay as they are, and the nearer means are to 0 or 1 the more so. It
    forgets nothing: after a change it follows late, so take `SlidingWindowKLUCB` or `DiscountedKLUCB` where arms drift.

    Rewards are from 0 to 1; in a simulation with others, a mean beyond counts as the nearer end.

    Parameters:
        confidence: (c) the factor of ln ln t, from 0 to 1e100: 0 does best in practice, 3 is what proofs need.

    >>> print(KLUCB(confidence=3))
    kl-ucb:confidence=3.0

    References:
        Garivier and Cappé (2011), The KL-UCB algorithm for bounded stochastic bandits and beyond.
        Cappé, Garivier, Maillard, Munos and Stoltz (2013), Kullback–Leibler upper confidence bounds for optimal
        sequential allocation.
    """

    name: ClassVar[str] = "kl-ucb"
    family: ClassVar[str] = BOUNDS

    confidence: float = real("[0, 1e100]", 0.0)

    def rule(self, n_arms: int) -> Rule:
        return divergence_bounds.bound_rule(self.confidence)
