"""The Gittins index: what an arm is worth if the future counts less and less."""

import dataclasses
import functools
import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.numerics.elementary import log
from driftbandit.policies.beliefs import Beliefs, Singles
from driftbandit.policies.gittins_tables import index_table
from driftbandit.policies.policy import BOUNDS, Policy
from driftbandit.policies.posterior import both, count
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import choice, real

LARGEST = 0.99
"""Of the future, for which there is a table: beyond, it would take minutes to make."""
MOST = 200
"""Observations in a table."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GittinsIndex(Policy):
    """The Gittins index: the known reward that is as good as an arm of which more can be learned.

        V(a, b) = max(λ/(1 − β), m + β·(m·V(a + 1, b) + (1 − m)·V(a, b + 1))),   m = a/(a + b),

    and the index of a Beta(a, b) arm is the λ with which both sides of the maximum are the same; `gittins_index` gives
    it. For arms that do not change, and rewards that count β times less at each step, no policy earns more. It stops to
    explore after some multiple of 1/(1 − β) steps, so over a long horizon it may stay with a wrong arm for ever: use it
    where the near future is what counts. With a discount arms are explored again, but nothing is proven of that.

    Parameters:
        future: (β) what the reward of the next step is worth, compared with this step's, in (0, 0.99999].
        method: "table": indices as they are (within 2e-4), worked out before the first choice, for a future of at most
            0.99 without a discount; up to 5/ln(1/β) observations of an arm, at most 200, beyond which what an index is
            above the mean shrinks as in the approximation. "approximation", or where there is no such table:

                m + s·ψ(1/((a + b + 1)·ln(1/β))),   m and s the mean and deviation of Beta(a, b),

            with Brezzi and Lai's ψ, which is poor for arms of which little is known.
        discount: (γ) what the evidence of every arm is multiplied by at each step, in (0, 1].
        prior_successes: successes that every arm starts with, from 1e-12 to 1e12.
        prior_failures: failures that every arm starts with, from 1e-12 to 1e12.

    Counts of the table are exact up to 2^24 successes or failures of an arm.

    >>> print(GittinsIndex(future=0.9))
    gittins:future=0.9

    References:
        Gittins (1979), Bandit processes and dynamic allocation indices.
        Brezzi and Lai (2002), Optimal learning and experimentation in bandit problems.
    """

    name: ClassVar[str] = "gittins"
    family: ClassVar[str] = BOUNDS

    future: float = real("(0, 0.99999]")
    method: str = choice("table", "approximation")
    discount: float = real("(0, 1]", 1.0)
    prior_successes: float = real("[1e-12, 1e12]", 1.0)
    prior_failures: float = real("[1e-12, 1e12]", 1.0)

    def rule(self, n_arms: int) -> Rule:
        p = (self.prior_successes, self.prior_failures, -math.log(self.future))
        if self.method == "table" and self.discount == 1.0 and self.future <= LARGEST:
            return Rule(
                selection="index",
                score=known_index,
                learn=as_it_is,
                parameters=(),
                initial=(1.0, 0.5),
                beliefs=_beliefs(self.future, p),
                binary=True,
                interval=known_interval,
                learning="sequential",
            )
        return Rule(
            selection="index",
            score=index,
            learn=count,
            parameters=p,
            decay=self.discount,
            binary=True,
            observations=both,
            interval=interval,
        )


def index(p: Parameters, shared: float, successes: float, failures: float) -> float:
    """Brezzi and Lai's approximation."""
    a, b = successes + p[0], failures + p[1]
    return a / (a + b) + surplus(a, b, p[2])


def surplus(a: float, b: float, rate: float) -> float:
    """What their index is above the mean; the future fades by this rate."""
    total = a + b
    x = 1.0 / ((total + 1.0) * rate)
    root = math.sqrt(x)
    far = max(x, 15.0)
    least = math.sqrt(2.0 * log(far) - log(log(far)) - 3.917318608708939)  # ln 16π
    bend = 0.63 - 0.26 / root if x <= 5.0 else 0.77 - 0.58 / root if x <= 15.0 else least
    bend = root * math.sqrt(0.5) if x <= 0.2 else 0.49 - 0.11 / root if x <= 1.0 else bend
    return math.sqrt(a * b / (total + 1.0)) / total * bend


def interval(p: Parameters, shared: float, successes: float, failures: float) -> tuple[float, float, float]:
    """The mean of the posterior, the index, and as far below."""
    a, b = successes + p[0], failures + p[1]
    mean, more = a / (a + b), surplus(a, b, p[2])
    return mean, mean - more, mean + more


class Known(NamedTuple):
    """Indices by successes and failures, up to so many of both together; the prior, and how fast the future fades."""

    most: int
    table: NDArray[np.float32]
    prior_successes: float
    prior_failures: float
    rate: float


def known_index(p: Parameters, shared: float, found: float, mean: float) -> float:
    """The index that was looked up."""
    return found


def known_interval(p: Parameters, shared: float, found: float, mean: float) -> tuple[float, float, float]:
    """The mean of the posterior, the index, and as far below."""
    return mean, 2.0 * mean - found, found


def as_it_is(p: Parameters, found: float, mean: float, reward: float, probability: float) -> tuple[float, float]:
    """An arm's numbers are looked up before each choice."""
    return found, mean


def judge(
    tables: Known, common: Singles, beliefs: Singles, arms: Any, pending: Any, luck: float, own: Any, room: Singles
) -> None:
    """The index of every arm, and its mean."""
    for i in range(arms.size):
        k = arms[i]
        s, f = np.float64(beliefs[k, 0]), np.float64(beliefs[k, 1])
        a, b = s + tables.prior_successes, f + tables.prior_failures
        mean = a / (a + b)
        own[k, 0] = np.float64(tables.table[int(s), int(f)]) if s + f <= tables.most else beyond(tables, s, f, mean)
        own[k, 1] = mean


def beyond(tables: Known, s: float, f: float, mean: float) -> float:
    """The index of an arm with more observations: that of one with as many as there are, of the same share."""
    most = np.float64(tables.most)
    share = s / (s + f) * most
    low = min(int(share), tables.most - 1)
    part, left = share - np.float64(low), tables.most - low
    found = (1.0 - part) * np.float64(tables.table[low, left]) + part * np.float64(tables.table[low + 1, left - 1])
    a, b = share + tables.prior_successes, most - share + tables.prior_failures
    less = surplus(s + tables.prior_successes, f + tables.prior_failures, tables.rate) / surplus(a, b, tables.rate)
    return mean + (found - a / (a + b)) * less


def learn(tables: Known, common: Singles, belief: Singles, reward: float, room: Singles) -> None:
    """One more success or failure."""
    belief[0] = np.float32(np.float64(belief[0]) + reward)
    belief[1] = np.float32(np.float64(belief[1]) + (1.0 - reward))


def stand_still(
    tables: Known, common: Singles, beliefs: Singles, arms: Any, steps: float, chosen: int, room: Singles
) -> None:
    """Time changes nothing."""


@functools.cache
def _beliefs(future: float, p: tuple[float, float, float]) -> Beliefs:
    most = min(MOST, math.ceil(5.0 / p[2]))
    nothing: Singles = np.zeros(2, np.float32)
    return Beliefs(
        initial=nothing,
        common=np.zeros(1, np.float32),
        tables=Known(most, index_table(p[0], p[1], future, most), *p),
        judge=judge,
        learn=learn,
        move=stand_still,
        least=0.0,
    )
