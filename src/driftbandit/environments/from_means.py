"""Means that are given: an array, or a CSV file with a column an arm."""

import csv
import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.checks import reject, shown
from driftbandit.environments.environment import Environment, Means
from driftbandit.errors import InvalidValue
from driftbandit.specification import parameter


def checked_means(name: str, value: Any) -> Means:
    """A table of means: one row a step, two or more columns, every value in [0, 1]."""
    allowed = "a table with a row a step, at least two columns (arms), and every value in [0, 1]"
    try:
        means = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise reject(name, allowed, value) from None
    if means.ndim != 2 or means.shape[0] < 1 or means.shape[1] < 2:
        raise InvalidValue(f"{name} must be {allowed}, got shape {means.shape}")
    wrong = np.argwhere(~((means >= 0.0) & (means <= 1.0)))
    if len(wrong):
        row, column = wrong[0]
        raise InvalidValue(f"{name} must be in [0, 1], got {means[row, column]} in row {row + 1}, column {column + 1}")
    return means


def read_means(path: str | Path) -> Means:
    """The means in a CSV file: a column an arm, a row a step; a first row of names is skipped."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), 1) if any(map(str.strip, row))]
    except (OSError, ValueError, csv.Error) as error:  # ValueError: not UTF-8, or no possible path
        reason = getattr(error, "strerror", None) or "not a CSV text file"
        raise InvalidValue(f"means must be a readable CSV file, got {shown(str(path))} ({reason})") from None
    if rows and not any(_is_number(cell) for cell in rows[0][1]):
        rows = rows[1:]
    if not rows:
        raise InvalidValue(f"means must have at least one row, got {shown(str(path))} with none")
    width = len(rows[0][1])
    for number, row in rows:
        if len(row) != width:
            raise InvalidValue(
                f"means must have {width} columns in every row, got {len(row)} in line {number} of {path}"
            )
        for column, cell in enumerate(row, 1):
            if not _is_number(cell) or not 0.0 <= float(cell) <= 1.0:
                raise InvalidValue(
                    f"means must be in [0, 1], got {shown(cell)} in line {number}, column {column} of {path}"
                )
    return checked_means("means", [[float(cell) for cell in row] for _, row in rows])


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _means(name: str, value: Any) -> "_Frozen":
    if isinstance(value, _Frozen):
        return value
    return _Frozen(read_means(value) if isinstance(value, str | Path) else checked_means(name, value))


class _Frozen:
    """A table that compares by its values, so that a specification that holds one still can."""

    def __init__(self, table: Means) -> None:
        table.flags.writeable = False
        self.table = table

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash(self.table.tobytes())

    def __repr__(self) -> str:
        return f"<{self.table.shape[0]} steps of {self.table.shape[1]} arms>"


@dataclasses.dataclass(frozen=True, kw_only=True)
class FromMeans(Environment):
    """The means of every arm at every step, as given; after the last row they stay.

    Parameters:
        means: an array with a row a step and a column an arm, or the path of a CSV file with the same; a first row of
            names is skipped. Every value in [0, 1].
        rested, rewards, concentration, deviation: as for every environment.

    >>> FromMeans(means=[[0.2, 0.8], [0.6, 0.4]]).means_at(np.array([1, 2, 3])).tolist()
    [[0.2, 0.8], [0.6, 0.4], [0.6, 0.4]]
    """

    name: ClassVar[str] = "from-means"

    means: Any = parameter(_means)
    n_arms: int = dataclasses.field(init=False, default=0, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "n_arms", int(self.means.table.shape[1]))

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"means": self.means.table.tolist()}

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        table: Means = self.means.table
        rows: Means = table[np.minimum(clock, len(table)) - 1]
        return rows
