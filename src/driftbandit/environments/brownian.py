"""Means that wander: a reflected random walk, another path in every run."""

import dataclasses
from math import floor
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.environments.environment import Environment, Means, arms
from driftbandit.errors import InvalidValue
from driftbandit.rng import START, WALK, draw, uniform
from driftbandit.sampling import normal_pair
from driftbandit.specification import optional_real, real

FIRST_ATTEMPT = np.uint64(0)
NO_STEP = np.uint64(0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Brownian(Environment):
    """Every arm is a random walk with normal movements, reflected at 0 and 1; every run has its own path.

        mean at t + 1  =  reflect(mean at t + σ·N(0, 1))

    Parameters:
        volatility: (σ) standard deviation of one movement, in (0, 1].
        start: the mean of every arm at the first step, in [0, 1]; None: uniform, another for every arm and run.
        n_arms: (K) at least 2.
        rested, rewards, concentration: as for every environment.

    >>> print(Brownian(volatility=0.05, start=0.5))
    brownian:volatility=0.05,start=0.5
    """

    name: ClassVar[str] = "brownian"

    volatility: float = real("(0, 1]", 0.02)
    start: float | None = optional_real("[0, 1]")
    n_arms: int = arms()

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        raise InvalidValue("brownian has no means before it runs: every run has its own path")


def first_mean(start: float, seed: np.uint64, run: np.uint64, arm: np.uint64) -> float:
    """Where an arm's walk starts; a negative `start` asks for a uniform one."""
    words = draw(seed, run, NO_STEP, arm, START, FIRST_ATTEMPT)
    return start if start >= 0.0 else uniform(words[0], words[1])


def next_mean(
    mean: float, volatility: float, seed: np.uint64, run: np.uint64, clock: np.uint64, arm: np.uint64
) -> float:
    """Where the walk is one step of the clock later: the straight line folded into [0, 1]."""
    words = draw(seed, run, clock, arm, WALK, FIRST_ATTEMPT)
    normal, _, _ = normal_pair(words[0], words[1])
    there = mean + volatility * normal
    folded = there - 2.0 * floor(0.5 * there)
    return 2.0 - folded if folded > 1.0 else folded
