"""Means that wander: a reflected random walk, another path in every run."""

import dataclasses
from math import floor
from typing import ClassVar

from driftbandit.environments.environment import Environment, arms
from driftbandit.environments.path import Path
from driftbandit.numerics.rng import Words, uniform
from driftbandit.numerics.sampling import normal_pair
from driftbandit.specification import optional_real, real

ANYWHERE = -1.0
"""Among the parameters of a path: no start is given."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Brownian(Environment):
    """Every arm is a random walk with normal movements, reflected at 0 and 1; every run has its own path.

        mean at t + 1  =  reflect(mean at t + σ·N(0, 1))

    Parameters:
        volatility: (σ) standard deviation of one movement, in (0, 1].
        start: the mean of every arm at the first step, in [0, 1]; None: uniform, another for every arm and run.
        n_arms: (K) at least 2.
        rested, rewards, concentration, deviation: as for every environment.

    >>> print(Brownian(volatility=0.05, start=0.5))
    brownian:volatility=0.05,start=0.5
    """

    name: ClassVar[str] = "brownian"

    volatility: float = real("(0, 1]", 0.02)
    start: float | None = optional_real("[0, 1]")
    n_arms: int = arms()

    def path(self) -> Path:
        start = ANYWHERE if self.start is None else self.start
        return Path(parameters=(self.volatility, start), first=start_walk, following=walk_on)


def start_walk(p: tuple[float, ...], arm: int, words: Words, together: Words) -> float:
    """Where an arm's walk starts: as given, or uniform."""
    return p[1] if p[1] >= 0.0 else uniform(words[0], words[1])


def walk_on(p: tuple[float, ...], mean: float, clock: int, arm: int, words: Words, together: Words) -> float:
    """Where the walk is one step of the clock later: the straight line folded into [0, 1]."""
    normal, _, _ = normal_pair(words[0], words[1])
    there = mean + p[0] * normal
    folded = there - 2.0 * floor(0.5 * there)
    return 2.0 - folded if folded > 1.0 else folded
