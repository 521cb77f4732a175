"""Means that stay."""

import dataclasses
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.checks import reject
from driftbandit.environments.environment import Environment, Means, arms
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stationary(Environment):
    """Nothing drifts: the first arm is the best, and all others are equally far below it. For any other means that stay
    use `Piecewise` with one row.

    Parameters:
        best: the mean of the first arm, in [0, 1].
        gap: (Δ) how far below it the others are, in [0, 1] and at most `best`.
        n_arms: (K) at least 2.
        rested, rewards, concentration, deviation: as for every environment.

    >>> Stationary(best=0.75, gap=0.25, n_arms=3).means_at(np.array([7])).tolist()
    [[0.75, 0.5, 0.5]]
    """

    name: ClassVar[str] = "stationary"

    best: float = real("[0, 1]", 0.6)
    gap: float = real("[0, 1]", 0.1)
    n_arms: int = arms()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gap > self.best:
            raise reject("gap", f"at most best, which is {self.best}", self.gap)

    @property
    def cycle(self) -> int:
        return 1

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        means = np.full((len(clock), self.n_arms), self.best - self.gap)
        means[:, 0] = self.best
        return means
