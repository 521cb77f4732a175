"""A table of means: a row a step, a column an arm, with the names of both where a file tells them."""

import csv
import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.checks import reject, shown
from driftbandit.environments.environment import Means
from driftbandit.errors import InvalidValue
from driftbandit.files import read_whole

SEPARATORS = ": columns are separated by commas, and numbers have a point"
INDEX = ": if that is an index, write the file without it, as with to_csv(path, index=False)"


class MeansTable:
    """Means that cannot be written to, and compare by their values, so that a specification that holds them still can.

    Names make no difference.
    """

    def __init__(self, means: Means, arms: tuple[str, ...] = (), steps: tuple[str, ...] = (), source: str = "") -> None:
        means.flags.writeable = False
        self.values = means
        self.arms = arms or tuple(f"arm {number}" for number in range(1, means.shape[1] + 1))
        self.steps = steps
        """The names of the rows, such as dates; nothing where there are none."""
        self.source = source
        """The name of the file that it was read from."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeansTable) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.values.tobytes())

    def __repr__(self) -> str:
        steps, arms = self.values.shape
        return f"<{self.source}{': ' if self.source else ''}{steps} steps of {arms} arms>"

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, first: int, last: int) -> "MeansTable":
        """A part of it, from one row to another, both counted from 1 and included."""
        part = slice(first - 1, last)
        source = f"{self.source}{', ' if self.source else ''}rows {first} to {last}"
        return MeansTable(self.values[part].copy(), self.arms, self.steps[part], source)


def table_of(name: str, value: Any) -> MeansTable:
    """The table that an array holds, or the CSV file at a path."""
    if isinstance(value, MeansTable):
        return value
    return read_table(name, value) if isinstance(value, str | Path) else MeansTable(checked_means(name, value))


def checked_means(name: str, value: Any) -> Means:
    """An array of means: one row a step, two or more columns, every value in [0, 1]."""
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


def read_table(name: str, path: str | Path) -> MeansTable:
    """The table in a CSV file: a column an arm, a row a step.

    Leading columns in which no row has a number are names of the steps; a first row without numbers beyond them is
    names of the arms.
    """
    content, where = read_whole(name, path, "CSV file"), shown(os.fspath(path))
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        rows = [(number, row) for number, row in enumerate(lines, 1) if any(map(str.strip, row))]
    except (UnicodeDecodeError, csv.Error) as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeDecodeError) else error
        raise InvalidValue(f"{name} must be a readable CSV file, got {where} ({reason})") from None
    named = _named(rows)
    arms: tuple[str, ...] = ()
    if rows and _is_header(name, rows[0][1][named:], where):
        arms = tuple(map(_line, rows[0][1][named:]))
        rows = rows[1:]
    elif rows and not all(map(_is_name, rows[0][1][:named])):
        named = 0
    if not rows:
        raise InvalidValue(f"{name} must have at least one row, got {where} with none")
    width = len(rows[0][1])
    indexed = len(rows) > 2 and all(row[named : named + 1] == [str(place)] for place, (_, row) in enumerate(rows))
    for number, row in rows:
        if len(row) != width:
            raise InvalidValue(
                f"{name} must have {width} columns in every row, got {len(row)} in line {number} of {where}"
            )
        for column, cell in enumerate(row[named:], named + 1):
            if not _is_number(cell) or not 0.0 <= float(cell) <= 1.0:
                hint = SEPARATORS if ";" in cell or "\t" in cell else INDEX if indexed and column == named + 1 else ""
                raise InvalidValue(
                    f"{name} must be in [0, 1], got {shown(cell)} in line {number}, column {column} of {where}{hint}"
                )
    means = checked_means(name, [[float(cell) for cell in row[named:]] for _, row in rows])
    steps = tuple(_line(" ".join(row[:named])) for _, row in rows) if named else ()
    told = arms if len(arms) == means.shape[1] and all(arms) else ()
    return MeansTable(means, told, steps, shown(Path(path).name)[1:-1])


def _named(rows: list[tuple[int, list[str]]]) -> int:
    """How many leading columns are names of the steps; none where no column would be left for means."""
    body = [row for _, row in rows[1:] or rows]
    width = min(map(len, body), default=0)
    named = next((place for place in range(width) if not all(_is_name(row[place]) for row in body)), width)
    return named if named < width else 0


def _is_header(name: str, row: list[str], where: str) -> bool:
    """Whether the first row of a file is names. Pandas calls columns without any 0, 1, 2 and so on."""
    counted = [str(place) for place in range(len(row))]
    if len(row) > 1 and not row[0].strip() and all(map(str.strip, row[1:])):
        raise InvalidValue(
            f"{name} must have a name for every column or for none, got '' for the first of {where}{INDEX}"
        )
    if row == counted[:2] == ["0", "1"]:
        raise InvalidValue(
            f"{name} must not begin with the line 0,1, which may be names or means, got it in {where}: "
            "write means as 0.0,1.0 and names as words, or none"
        )
    if not any(map(_is_number, row)):
        if len(row) == 1 and (";" in row[0] or "\t" in row[0]):
            raise InvalidValue(
                f"{name} must be a CSV file, got {shown(row[0])} in the first line of {where}{SEPARATORS}"
            )
        return True
    return len(row) > 2 and row == counted


def _line(text: str) -> str:
    """A name on one line."""
    return " ".join(text.split())


def _is_name(cell: str) -> bool:
    """Whether a cell can name a step: no number, of whatever notation, and no columns that something else separates."""
    return bool(cell.strip()) and ";" not in cell and "\t" not in cell and not _is_number(cell.replace(",", "."))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
