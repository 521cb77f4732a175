"""What a log says as columns, piece by piece, and the sets of arms that its decisions were made among."""

import collections
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftbandit.engine.cpu.block import Integers
from driftbandit.logs.book import Rows


class Chunk(NamedTuple):
    """Some rows of a log, in its order. Arms and replicas are numbers from 0 on."""

    rows: Rows
    slots: int
    """All slots are below this; and so are all arms, and all replicas, below these."""
    arms: int
    replicas: int
    starts: Integers
    """Where each set of arms begins in `members`, and where the last one ends; sets are those of this chunk."""
    members: Integers

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows.arm)

    def chosen(self, rows: Any) -> "Chunk":
        """Some of the rows."""
        columns: Any = (column[rows] for column in self.rows)
        return self._replace(rows=Rows(*columns))


class Sets:
    """Sets of arms, each with a number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}
        self._starts = [0]
        self._members: list[int] = []

    def number(self, arms: Sequence[int]) -> int:
        """The number of a set, in this order."""
        key = tuple(arms)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._numbers)
            self._members += key
            self._starts.append(len(self._members))
        return found

    def arrays(self) -> tuple[Integers, Integers]:
        """Where each begins among all members, and these."""
        return np.array(self._starts), np.array(self._members, np.int64)


def last_decisions(chunks: Iterable[Chunk], most: int) -> list[Chunk]:
    """The latest so many decisions of a log with their outcomes, by replica, numbered anew."""
    held: collections.deque[Chunk] = collections.deque()
    decisions = 0
    for chunk in chunks:
        held.append(chunk)
        decisions += _decisions(chunk)
        while decisions - _decisions(held[0]) >= most:
            decisions -= _decisions(held.popleft())
    whole = joined(list(held))
    made = np.flatnonzero(~whole.rows.outcome)
    whole = whole.chosen(slice(made[max(0, len(made) - most)], None))
    parts = []
    for replica in np.unique(whole.rows.replica).tolist():
        own = whole.chosen(whole.rows.replica == replica)
        first = own.rows.number[~own.rows.outcome].min(initial=1 << 62)
        own = own.chosen(own.rows.number >= first)  # no outcome of a decision that was left out
        if own.size:
            parts.append(own._replace(rows=own.rows._replace(number=own.rows.number - first)))
    return parts


def joined(chunks: Sequence[Chunk]) -> Chunk:
    """Chunks as one; sets are numbered anew."""
    sets = np.cumsum([0, *(len(chunk.starts) - 1 for chunk in chunks)])
    before = np.cumsum([0, *(len(chunk.members) for chunk in chunks)])
    eligible = [np.where(chunk.rows.eligible < 0, -1, chunk.rows.eligible + first)
                for chunk, first in zip(chunks, sets[:-1], strict=True)]  # fmt: skip
    starts = [chunk.starts[:-1] + first for chunk, first in zip(chunks, before[:-1], strict=True)]
    columns: Any = (np.concatenate(column) for column in zip(*(chunk.rows for chunk in chunks), strict=True))
    return chunks[-1]._replace(
        rows=Rows(*columns)._replace(eligible=np.concatenate(eligible)),
        slots=max(chunk.slots for chunk in chunks),
        starts=np.concatenate([*starts, before[-1:]]),
        members=np.concatenate([chunk.members for chunk in chunks]),
    )


def _decisions(chunk: Chunk) -> int:
    return int((~chunk.rows.outcome).sum())
