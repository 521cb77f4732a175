"""Constant means between change points that are drawn at random, as are the changes."""

import dataclasses
import functools
from typing import ClassVar

import numpy as np

from driftbandit.checks import reject
from driftbandit.environments.environment import Environment, arms
from driftbandit.environments.published import Problem, Published
from driftbandit.numerics.rng import START, TOGETHER, WALK, draw, uniform
from driftbandit.specification import whole

SMALLEST, LARGEST = 0.05, 0.3
"""Changes of a mean."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RandomPiecewise(Published):
    """A random piecewise problem: at each change point every arm changes with probability ½, by .05 to .3 up or down.

    Means start uniformly in [0, 1]; a change that would leave [0, 1] goes the other way. Every number names one problem
    with change points and means of its own, which all runs play: compare policies on many of them.

    Parameters:
        number: which problem, a whole number of at least 0.
        changes: (Υ) how many change points, at least 0.
        apart: the least number of steps from one change point to the next, and from both ends, at least 1.
        length: how many steps it is made for, more than apart·(changes + 1); afterwards nothing changes.
        n_arms: (K) at least 2.
        rested, rewards, concentration, deviation: as for every environment.

    >>> RandomPiecewise(number=3, changes=2).schedule.change_points
    (5770, 15514)

    References:
        Besson, Kaufmann, Maillard and Seznec (2022), Efficient change-point detection for tackling piecewise-stationary
        bandits: the problems that are drawn at random, with 5 arms, 6 change points and 20000 steps.
    """

    name: ClassVar[str] = "random-piecewise"

    number: int = whole(0, 1, (1 << 32) - 1)
    changes: int = whole(0, 6, 10000)
    apart: int = whole(1, 1000)
    length: int = whole(2, 20000)
    n_arms: int = arms(5)

    def __post_init__(self) -> None:
        Environment.__post_init__(self)
        if self.length <= self.apart * (self.changes + 1):
            raise reject("length", f"more than apart·(changes + 1) = {self.apart * (self.changes + 1)}", self.length)

    @property
    def schedule(self) -> Problem:
        return drawn(self.number, self.changes, self.apart, self.length, self.n_arms)


@functools.lru_cache(maxsize=64)
def drawn(number: int, changes: int, apart: int, length: int, n_arms: int) -> Problem:
    """The problem of a number."""
    room = length - apart * (changes + 1)
    places = sorted(int(_chance(number, i, 0, TOGETHER)[0] * room) for i in range(1, changes + 1))
    points = tuple(place + apart * i + 1 for i, place in enumerate(places, start=1))
    rows = [[_chance(number, 0, k, START)[0] for k in range(n_arms)]]
    for i in range(1, changes + 1):
        rows.append([_changed(number, i, k, mean) for k, mean in enumerate(rows[-1])])
    return Problem(length, points, tuple(map(tuple, rows)))


def _changed(number: int, i: int, arm: int, mean: float) -> float:
    luck, size = _chance(number, i, arm, WALK)
    if luck >= 0.5:
        return mean
    change = SMALLEST + (LARGEST - SMALLEST) * size
    up = luck < 0.25
    if not 0.0 <= mean + (change if up else -change) <= 1.0:
        up = not up
    return mean + change if up else mean - change


def _chance(number: int, i: int, arm: int, purpose: np.uint64) -> tuple[float, float]:
    """Two random numbers in [0, 1)."""
    with np.errstate(over="ignore"):
        words = draw(np.uint64(number), np.uint64(0), np.uint64(i), np.uint64(arm), purpose, np.uint64(0))
        return float(uniform(words[0], words[1])), float(uniform(words[2], words[3]))
