"""Gittins indices of Beta-Bernoulli arms: what a known reward must be for stopping to be as good as playing on.

An arm with a Beta(a, b) posterior is played for rewards that count β times less at each step. Its index is the reward λ
such that it makes no difference whether one takes λ for ever, or plays the arm and may change to λ later:

    λ/(1 − β) = max over playing on,   V(a, b) = max(λ/(1 − β), m + β·(m·V(a+1, b) + (1 − m)·V(a, b+1))),   m = a/(a+b).

V is found from far ahead, where what is left to learn no longer counts and the arm is worth max(m, λ) for ever.
"""

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks

Reals = NDArray[np.float64]
LARGEST = 0.999
"""Of the future: the steps to look ahead are many more beyond."""
STEPS = 512
"""Between rewards at which a table is worked out."""
AT_ONCE = 16
"""Of those, so that what they need stays in a cache."""


def gittins_index(successes: float, failures: float, future: float) -> float:
    """The Gittins index of an arm with a Beta(successes, failures) posterior, right to six digits.

    Parameters:
        successes, failures: (a, b) of the posterior, from 1e-12 to 1e12: with a uniform prior, one more than were seen.
        future: (β) what the next step's reward is worth, compared with this step's, in (0, 0.999].

    >>> round(gittins_index(1, 1, 0.9), 4)
    0.7029

    References:
        Gittins (1979), Bandit processes and dynamic allocation indices.
    """
    a = checks.real("successes", successes, "[1e-12, 1e12]")
    b = checks.real("failures", failures, "[1e-12, 1e12]")
    beta = checks.real("future", future, f"(0, {LARGEST}]")
    from scipy import optimize  # late: takes a while to import

    depth = steps_ahead(beta, 1e-7)
    mean = a / (a + b)

    def more(reward: float) -> float:
        return float(gain(a, b, beta, np.array([reward]), depth, 0)[0][0, 0])

    return float(optimize.brentq(more, mean, 1.0)) if more(mean) > 0.0 > more(1.0) else mean  # else all is known


def steps_ahead(future: float, accuracy: float) -> int:
    """After how many steps what is still to learn, about .35/(n·√(ln 1/β)) of a reward, counts for nothing: β^n."""
    n, scale = 1, 0.35 / math.sqrt(-math.log(future))
    while future**n * scale / n > accuracy:
        n += max(1, n // 50)
    return n


def gain(a: float, b: float, future: float, rewards: Reals, depth: int, kept: int) -> list[Reals]:
    """After 0, 1, … `kept` rewards of the arm, what playing on is worth beyond a known reward for ever, times 1 − β.

    The results are `[successes since, known reward]`.
    """
    found: list[Reals] = []
    value: Any = None
    for n in range(depth + kept, -1, -1):
        m = (a + np.arange(n + 1.0)) / (a + b + n)
        more = m[:, None] - rewards
        if value is None:
            value = np.maximum(more, 0.0)  # times 1 − β, and beyond the known reward
            continue
        on = m[:, None] * value[1:]
        on += (1.0 - m)[:, None] * value[:-1]
        on *= future
        more *= 1.0 - future
        on += more
        if n <= kept:
            found.append(on)
        value = np.maximum(on, 0.0)
    return found[::-1]


@functools.cache
def index_table(a: float, b: float, future: float, size: int) -> NDArray[np.float32]:
    """Indices of Beta(a + s, b + f) for s + f up to `size`: `[s, f]`, within about 2e-4; beyond, nothing."""
    depth, rewards = steps_ahead(future, 1e-5), np.sin(np.linspace(0.0, math.pi / 2, STEPS + 1)) ** 2
    parts = [gain(a, b, future, part, depth, size) for part in np.array_split(rewards, STEPS // AT_ONCE)]
    table: NDArray[np.float32] = np.zeros((size + 1, size + 1), np.float32)
    for n in range(size + 1):
        worth = np.concatenate([part[n] for part in parts], axis=1)
        rows, last = np.arange(n + 1), ((worth > 0.0).sum(axis=1) - 1).clip(0, STEPS - 1)  # it falls as rewards grow
        here, there = worth[rows, last], worth[rows, last + 1]
        table[rows, n - rows] = rewards[last] + here / (here - there) * (rewards[last + 1] - rewards[last])
    return table
