"""Observations that count for a limited number of steps, in the order of their decisions.

Sums are kept as whole multiples of 2^−60, so adding and taking away leave no rounding behind: what is left is exactly
what a bandit that never saw the departed rewards would hold.
"""

import bisect
from typing import NamedTuple

UNIT = 1 << 60
PART = 2.0**-60


class Observation(NamedTuple):
    """One reward in the window."""

    stamp: float
    id: int
    arm: int
    amounts: tuple[float, ...]
    """What it added to the arm's numbers."""
    writer: int
    """The replica that learned it."""


class Window:
    """The observations of the last `length` steps, and their sums by arm."""

    def __init__(self, length: int, numbers: int) -> None:
        self.length = length
        self.sums: dict[int, list[int]] = {}
        """By arm: those of its numbers, and how many observations there are."""
        self._nothing = [0] * (numbers + 1)
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

    def shift(self, steps: float) -> None:
        """Time was set."""
        self._rows, self._first = [row._replace(stamp=row.stamp + steps) for row in self.rows()], 0

    def clear(self) -> None:
        """Take out everything."""
        self._rows, self._first, self.sums = [], 0, {}

    def totals(self, arm: int) -> list[float]:
        """The numbers of an arm, and its number of observations."""
        *sums, count = self.sums.get(arm, self._nothing)
        return [*[value * PART for value in sums], float(count)]

    def _add(self, row: Observation, sign: int) -> None:
        sums = self.sums.get(row.arm)
        if sums is None:
            sums = self.sums[row.arm] = self._nothing.copy()
        unit = sign * UNIT
        for place, amount in enumerate(row.amounts):
            sums[place] += round(amount * unit)
        sums[-1] += sign
