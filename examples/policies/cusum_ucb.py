"""CUSUM-UCB: an upper confidence bound with one change detector an arm."""

import dataclasses
import math
from typing import ClassVar

import driftbandit as db
from driftbandit.specification import real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class CusumUCB(db.Policy):
    """With probability α any arm, else the arm with the largest

        mean_k + √(ξ·ln n / N_k),   n = Σ N_j;   arms without an observation come first.

    N_k and mean_k are those since the arm's own latest alarm. With u0 the mean of its first M rewards since then, each
    later reward r moves two sums, and an alarm (either of them at h or above) makes the arm forget everything:

        g⁺ ← max(0, g⁺ + r − u0 − ε),   g⁻ ← max(0, g⁻ + u0 − r − ε).

    Parameters:
        drift: (ε) the change of the mean that is tolerated, at least 0.
        threshold: (h) where the sums raise the alarm, above 0.
        warm_up: (M) how many rewards make the reference u0, at least 1.
        exploration: (α) the share of choices left to chance, in [0, 1].
        confidence: (ξ) the width of the bound, at least 0.

    Reference: Liu, Lee and Shroff (2018), A change-detection based framework for piecewise-stationary bandits.
    """

    name: ClassVar[str] = "example-cusum-ucb"
    drift: float = real("[0, inf)", 0.1)
    threshold: float = real("(0, inf)", 5.0)
    warm_up: int = whole(1, 20)
    exploration: float = real("[0, 1]", 0.05)
    confidence: float = real("[0, inf)", 0.5)

    def rule(self, n_arms):
        return db.Rule(
            selection="index",
            score=upper_bound,
            context=log_of_total,
            learn=observe,
            alarm=changed,
            explore=self.exploration,
            parameters=(self.drift, self.threshold, float(self.warm_up), self.confidence),
            initial=(0.0, 0.0, 0.0, 0.0, 0.0),
            observations=count,
            learning="by arm",
        )


# An arm's numbers: its observations, the sum of its rewards, that of the first M of them, g⁺ and g⁻.


def log_of_total(p, total):
    return math.log(total) if total > 1.0 else 0.0


def upper_bound(p, shared, n, earned, early, up, down):
    return earned / n + math.sqrt(p[3] * shared / n) if n > 0.0 else math.inf


def observe(p, n, earned, early, up, down, reward, probability):
    if n < p[2]:
        return n + 1.0, earned + reward, early + reward, 0.0, 0.0
    change = reward - early / p[2]
    return n + 1.0, earned + reward, early, max(0.0, up + change - p[0]), max(0.0, down - change - p[0])


def changed(p, n, earned, early, up, down):
    return max(up, down) >= p[1]


def count(p, n, earned, early, up, down):
    return n
