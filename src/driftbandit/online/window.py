"""Observations that count for a limited number of steps, in the order of their decisions.

Sums are kept as whole multiples of 2^−60, so adding and taking away leave no rounding behind: what is left is exactly
what a bandit that never saw the departed rewards would hold.
"""

import bisect
from typing import NamedTuple

UNIT = 1 << 60
Sums = tuple[int, int, int]


class Observation(NamedTuple):
    """One reward in the window."""

    stamp: float
    id: int
    arm: int
    a: float
    b: float
    writer: int
    """The replica that learned it."""


class Window:
    """The observations of the last `length` steps, and their sums by arm."""

    __slots__ = ("_first", "_rows", "length", "sums")

    def __init__(self, length: int) -> None:
        self.length = length
        self.sums: dict[int, Sums] = {}
        self._rows: list[Observation] = []
        self._first = 0

    def rows(self) -> list[Observation]:
        """What is in the window, oldest decision first."""
        return self._rows[self._first :]

    def insert(self, row: Observation) -> None:
        """A reward, however late: it takes the place of its decision."""
        if not self._rows or row >= self._rows[-1]:
            self._rows.append(row)
        else:
            bisect.insort(self._rows, row, lo=self._first)
        self._add(row, 1)

    def departing(self, now: float) -> list[Observation]:
        """Take out what is `length` steps old or more."""
        rows, first, end = self._rows, self._first, len(self._rows)
        until = first
        while until < end and now - rows[until].stamp >= self.length:
            self._add(rows[until], -1)
            until += 1
        gone = rows[first:until]
        if until > 64 and 2 * until > end:
            del rows[:until]
            until = 0
        self._first = until
        return gone

    def forget(self, arm: int) -> None:
        """Take out an arm that was removed."""
        self._rows = [row for row in self.rows() if row.arm != arm]
        self._first = 0
        self.sums.pop(arm, None)

    def totals(self, arm: int) -> tuple[float, float, float]:
        """Evidence a and b of an arm, and its number of observations."""
        a, b, count = self.sums.get(arm, (0, 0, 0))
        return a / UNIT, b / UNIT, float(count)

    def _add(self, row: Observation, sign: int) -> None:
        a, b, count = self.sums.get(row.arm, (0, 0, 0))
        self.sums[row.arm] = (
            a + sign * round(row.a * UNIT),
            b + sign * round(row.b * UNIT),
            count + sign,
        )
