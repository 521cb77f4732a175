"""Problems that others have published: means on a fixed schedule, and a horizon."""

import abc
import dataclasses
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.environments.environment import Environment, Means


class Problem(NamedTuple):
    """A schedule of means: as of `Piecewise`, and how many steps were played."""

    horizon: int
    change_points: tuple[int, ...]
    """The first step of every segment but the first; steps are counted from 1."""
    levels: tuple[tuple[float, ...], ...]
    """One row a segment, one column an arm."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Published(Environment):
    """The base of published problems: constant means between change points; the last ones stay."""

    n_arms: int = dataclasses.field(init=False, default=0, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "n_arms", len(self.schedule.levels[0]))

    @property
    @abc.abstractmethod
    def schedule(self) -> Problem:
        """What was published."""

    @property
    def usual_horizon(self) -> int:
        return self.schedule.horizon

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        segment = np.searchsorted(np.asarray(self.schedule.change_points, dtype=np.int64), clock, side="right")
        return np.asarray(self.schedule.levels, dtype=np.float64)[segment]
