"""Means that are drawn anew now and then: change points at random, others in every run."""

import dataclasses
from typing import ClassVar

from driftbandit.checks import reject
from driftbandit.environments.environment import Environment, arms
from driftbandit.environments.path import Path
from driftbandit.numerics.rng import Words, uniform
from driftbandit.specification import flag, real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Switching(Environment):
    """Every arm keeps its mean until it switches to a new one, drawn uniformly; every run has its own change points.

        mean at t + 1  =  Uniform(low, high) with probability h, else the mean at t

    Parameters:
        hazard: (h) the probability of a switch at one step, in [0, 1]; 1/h steps lie between switches on average.
        together: whether all arms switch at once, each to a mean of its own; else each arm switches by itself.
        low: the lowest mean, in [0, 1].
        high: the highest mean, in [0, 1] and not below `low`.
        n_arms: (K) at least 2.
        rested, rewards, concentration, deviation: as for every environment.

    >>> print(Switching(hazard=0.005, together=True))
    switching:hazard=0.005,together=true

    References:
        Mellor and Shapiro (2013), Thompson sampling in switching environments with Bayesian online change detection:
        global switching is `together`, per-arm switching is not.
    """

    name: ClassVar[str] = "switching"

    hazard: float = real("[0, 1]", 0.01)
    together: bool = flag(False)
    low: float = real("[0, 1]", 0.0)
    high: float = real("[0, 1]", 1.0)
    n_arms: int = arms()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise reject("low", f"at most high, which is {self.high}", self.low)

    def path(self) -> Path:
        following = switch_together if self.together else switch_alone
        return Path(parameters=(self.hazard, self.low, self.high), first=fresh, following=following)


def fresh(p: tuple[float, ...], arm: int, words: Words, together: Words) -> float:
    """A new mean: uniform between the lowest and the highest."""
    return min(p[1] + (p[2] - p[1]) * uniform(words[2], words[3]), p[2])


def switch_alone(p: tuple[float, ...], mean: float, clock: int, arm: int, words: Words, together: Words) -> float:
    """A new mean with the probability of a switch."""
    return fresh(p, arm, words, together) if uniform(words[0], words[1]) < p[0] else mean


def switch_together(p: tuple[float, ...], mean: float, clock: int, arm: int, words: Words, together: Words) -> float:
    """A new mean whenever all arms switch."""
    return fresh(p, arm, words, together) if uniform(together[0], together[1]) < p[0] else mean
