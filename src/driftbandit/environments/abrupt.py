"""Means that jump once in a period: the paper's abruptly varying environment."""

import dataclasses
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.environments.environment import Environment, Means, arms
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Abrupt(Environment):
    """Every arm starts a period at 0, jumps to its level once, and stays there until the period ends.

    At position t mod P, arm k is 0 before position P·(k + 1)/(K + 1) and at its level from there on. Levels are spread
    evenly from 0.10 to 0.90; for four arms they are the paper's 0.10, 0.37, 0.63 and 0.90.

    Parameters:
        period: (P) steps in one period, at least 1; the paper's is 250.
        n_arms: (K) at least 2.
        rested, rewards, concentration, deviation: as for every environment.

    >>> Abrupt().means_at(np.array([49, 50, 249, 250])).tolist()
    [[0.0, 0.0, 0.0, 0.0], [0.1, 0.0, 0.0, 0.0], [0.1, 0.37, 0.63, 0.9], [0.0, 0.0, 0.0, 0.0]]
    """

    name: ClassVar[str] = "abrupt"

    period: float = real("[1, inf)", 250.0)
    n_arms: int = arms()

    @property
    def cycle(self) -> int | None:
        return int(self.period) if self.period == int(self.period) else None

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        levels = np.array([0.10, 0.37, 0.63, 0.90]) if self.n_arms == 4 else np.linspace(0.1, 0.9, self.n_arms)
        position = np.fmod(clock[:, None].astype(float), self.period)
        jump = self.period * np.arange(1, self.n_arms + 1) / (self.n_arms + 1)
        return np.where(position >= jump, levels, 0.0)
