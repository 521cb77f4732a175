"""Environments as a user would write them: a function of the clock, and two kinds of random paths."""

import dataclasses
from math import floor
from typing import ClassVar

import numpy as np

import driftbandit as db
from driftbandit.numerics.rng import uniform
from driftbandit.numerics.sampling import normal_pair
from driftbandit.specification import real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tide(db.Environment):
    """Two arms that take turns."""

    name: ClassVar[str] = "own-tide"
    period: int = whole(2, 10)
    n_arms: int = 2

    @property
    def cycle(self):
        return self.period

    def means_at(self, clock):
        high = clock % self.period < self.period / 2
        return np.where(high[:, None], [0.8, 0.3], [0.1, 0.6])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Jumping(db.Environment):
    """A random walk, reflected, that now and then jumps anywhere."""

    name: ClassVar[str] = "own-jumping"
    volatility: float = real("(0, 1]", 0.02)
    hazard: float = real("[0, 1]", 0.1)
    n_arms: int = whole(2, 3)

    def path(self):
        return db.Path(parameters=(self.volatility, self.hazard), first=anywhere, following=walk_or_jump)


def anywhere(p, arm, words, together):
    return uniform(words[0], words[1])


def walk_or_jump(p, mean, clock, arm, words, together):
    if uniform(together[0], together[1]) < p[1]:
        return uniform(words[2], words[3])
    there = mean + p[0] * normal_pair(words[0], words[1])[0]
    folded = there - 2.0 * floor(0.5 * there)
    return min(folded, 2.0 - folded)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Relay(db.Environment):
    """No parameters and whole numbers: one arm at 1 and the others at 0, by the arm, the clock and common luck."""

    name: ClassVar[str] = "own-relay"
    n_arms: int = whole(2, 3)

    def path(self):
        return db.Path(parameters=(), first=first_runner, following=next_runner)


def first_runner(p, arm, words, together):
    return 1 if arm == 0 else 0


def next_runner(p, mean, clock, arm, words, together):
    if clock % 3 == 0:
        return 1 if arm == int(uniform(together[0], together[1]) * 2) else 0
    return mean
