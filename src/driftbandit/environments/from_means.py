"""Means that are given: an array, or a CSV file with a column an arm."""

import csv
import dataclasses
import io
import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.checks import reject, shown
from driftbandit.environments.environment import Environment, Means
from driftbandit.errors import InvalidValue
from driftbandit.files import read_whole
from driftbandit.specification import parameter

SEPARATORS = ": columns are separated by commas, and numbers have a point"
INDEX = ": if that is an index, write the file without it, as with to_csv(path, index=False)"


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
    content, where = read_whole("means", path, "CSV file"), shown(os.fspath(path))
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        rows = [(number, row) for number, row in enumerate(lines, 1) if any(map(str.strip, row))]
    except (UnicodeDecodeError, csv.Error) as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
        raise InvalidValue(f"means must be a readable CSV file, got {where} ({reason})") from None
    if rows and _is_header(rows[0][1], where):
        rows = rows[1:]
    if not rows:
        raise InvalidValue(f"means must have at least one row, got {where} with none")
    width = len(rows[0][1])
    indexed = len(rows) > 2 and all(row[0] == str(place) for place, (_, row) in enumerate(rows))
    for number, row in rows:
        if len(row) != width:
            raise InvalidValue(
                f"means must have {width} columns in every row, got {len(row)} in line {number} of {where}"
            )
        for column, cell in enumerate(row, 1):
            if not _is_number(cell) or not 0.0 <= float(cell) <= 1.0:
                hint = SEPARATORS if ";" in cell or "\t" in cell else INDEX if indexed and column == 1 else ""
                raise InvalidValue(
                    f"means must be in [0, 1], got {shown(cell)} in line {number}, column {column} of {where}{hint}"
                )
    return checked_means("means", [[float(cell) for cell in row] for _, row in rows])


def _is_header(row: list[str], where: str) -> bool:
    """Whether the first row of a file is names. Pandas calls columns without any 0, 1, 2 and so on."""
    counted = [str(place) for place in range(len(row))]
    if len(row) > 1 and not row[0].strip() and all(map(str.strip, row[1:])):
        raise InvalidValue(
            f"means must have a name for every column or for none, got '' for the first of {where}{INDEX}"
        )
    if row == counted[:2] == ["0", "1"]:
        raise InvalidValue(
            f"means must not begin with the line 0,1, which may be names or means, got it in {where}: "
            "write means as 0.0,1.0 and names as words, or none"
        )
    if not any(map(_is_number, row)):
        if len(row) == 1 and (";" in row[0] or "\t" in row[0]):
            raise InvalidValue(
                f"means must be a CSV file, got {shown(row[0])} in the first line of {where}{SEPARATORS}"
            )
        return True
    return len(row) > 2 and row == counted


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _means(name: str, value: Any) -> "_Frozen":
    if isinstance(value, _Frozen):
        return value
    if isinstance(value, str | Path):
        return _Frozen(read_means(value), shown(Path(value).name)[1:-1])
    return _Frozen(checked_means(name, value))


class _Frozen:
    """A table that compares by its values, so that a specification that holds one still can."""

    def __init__(self, table: Means, source: str = "") -> None:
        table.flags.writeable = False
        self.table = table
        self.source = source
        """The name of the file that it was read from."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:
        return hash(self.table.tobytes())

    def __repr__(self) -> str:
        steps, arms = self.table.shape
        return f"<{self.source}{': ' if self.source else ''}{steps} steps of {arms} arms>"


@dataclasses.dataclass(frozen=True, kw_only=True)
class FromMeans(Environment):
    """The means of every arm at every step, as given; after the last row they stay.

    Parameters:
        means: an array with a row a step and a column an arm, or the path of a CSV file with the same, in UTF-8 and
            without an index. A first row of names is skipped, also one of 0, 1, 2 …; a file that begins with 0,1 is
            refused, as that may be names or means. Every value in [0, 1].
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

    @property
    def usual_horizon(self) -> int:
        return len(self.means.table)

    def parameters(self) -> dict[str, Any]:
        return super().parameters() | {"means": self.means.table.tolist()}

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        table: Means = self.means.table
        rows: Means = table[np.minimum(clock, len(table)) - 1]
        return rows
