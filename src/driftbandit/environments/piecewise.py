"""Means that are constant between change points, on any schedule."""

import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.checks import reject, shown
from driftbandit.environments.environment import Environment, Means
from driftbandit.environments.means_table import checked_means
from driftbandit.errors import InvalidValue
from driftbandit.specification import parameter


def _levels(name: str, value: Any) -> tuple[tuple[float, ...], ...]:
    if isinstance(value, str):  # the text form: arms separated by a space, segments by a semicolon
        try:
            value = [[float(cell) for cell in row.split()] for row in value.split(";")]
        except ValueError:
            raise reject(name, 'numbers such as "0.1 0.9; 0.9 0.1"', value) from None
    return tuple(tuple(row) for row in checked_means(name, value).tolist())


def _change_points(name: str, value: Any) -> tuple[int, ...]:
    allowed = "increasing whole numbers of at least 2"
    try:
        points = np.asarray([float(cell) for cell in value.split()] if isinstance(value, str) else value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise reject(name, allowed, value) from None
    points = np.atleast_1d(points) if points.size else points.reshape(0)
    usable = points.ndim == 1 and np.all(np.isfinite(points)) and np.all(points == np.floor(points))
    if not usable or np.any(points < 2) or np.any(points >= 2**40) or np.any(np.diff(points) <= 0):
        raise reject(name, allowed, value)
    return tuple(int(point) for point in points)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Piecewise(Environment):
    """The means of segment i hold from change point i − 1 up to, not including, change point i; the last one stays.

    Parameters:
        levels: one row a segment, one column an arm, every value in [0, 1].
        change_points: the first step of every segment but the first, increasing; one fewer than there are rows.
        rested, rewards, concentration, deviation: as for every environment.

    On the command line: `piecewise:levels=0.1 0.9; 0.9 0.1,change_points=500`.

    >>> Piecewise(levels=[[0.1, 0.9], [0.8, 0.2]], change_points=[3]).means_at(np.array([2, 3])).tolist()
    [[0.1, 0.9], [0.8, 0.2]]
    """

    name: ClassVar[str] = "piecewise"

    levels: Any = parameter(_levels, allowed="a row of means a segment, as in 0.1 0.9; 0.9 0.1")
    change_points: Any = parameter(_change_points, (), allowed="whole numbers that rise, as in 500 800")
    n_arms: int = dataclasses.field(init=False, default=0, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "n_arms", len(self.levels[0]))
        if len(self.change_points) != len(self.levels) - 1:
            raise InvalidValue(
                f"change_points must be one fewer than the {len(self.levels)} rows of levels, "
                f"got {shown(list(self.change_points))}"
            )

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        segment = np.searchsorted(np.asarray(self.change_points, dtype=np.int64), clock, side="right")
        return np.asarray(self.levels, dtype=np.float64)[segment]
