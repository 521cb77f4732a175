"""Means that rise and fall like sine waves: the paper's slow and fast environments."""

import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.environments.environment import Environment, Means, arms
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sinusoidal(Environment):
    """Every arm is a sine wave between 0 and 1, shifted against the next.

        mean of arm k at t  =  1/2 + 1/2·sin(2πt/P + 2πk/K),   k = 0 … K − 1

    Parameters:
        period: (P) steps in one wave, at least 1. The paper's slow environment has 1000, its fast one 100.
        n_arms: (K) at least 2.
        rested, rewards, concentration, deviation: as for every environment.

    >>> Sinusoidal(period=100).means_at(np.array([25, 50])).round(3).tolist()
    [[1.0, 0.5, 0.0, 0.5], [0.5, 0.0, 0.5, 1.0]]
    """

    name: ClassVar[str] = "sinusoidal"

    period: float = real("[1, inf)")
    n_arms: int = arms()

    @property
    def cycle(self) -> int | None:
        return int(self.period) if self.period == int(self.period) else None

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        turns = np.fmod(clock[:, None] / self.period, 1.0) + np.arange(self.n_arms) / self.n_arms
        return np.clip(0.5 + 0.5 * np.sin(2.0 * np.pi * turns), 0.0, 1.0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Slow(Sinusoidal):
    """The paper's slowly varying environment: sine waves of 1000 steps.

    >>> print(Slow(n_arms=6))
    slow:n_arms=6
    """

    name: ClassVar[str] = "slow"

    period: Any = dataclasses.field(init=False, default=1000.0, repr=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fast(Sinusoidal):
    """The paper's fast varying environment: sine waves of 100 steps.

    >>> print(Fast())
    fast
    """

    name: ClassVar[str] = "fast"

    period: Any = dataclasses.field(init=False, default=100.0, repr=False)
