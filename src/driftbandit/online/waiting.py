"""Decisions that wait for their reward, by id.

An id is the replica's number and the number of its decision. Without a wait time, a decision that was made and waits
no longer has its reward. With one, those that have it are kept, marked, until their wait is over; what is older is
expired, whatever became of it. So the answer to any id is known, and memory holds no more than the wait asks for.
"""

from collections.abc import Iterator
from typing import Any

from driftbandit import checks
from driftbandit.online.status import RewardStatus

REPLICA_SHIFT = 40
NUMBER = (1 << REPLICA_SHIFT) - 1
MOST_REPLICAS = 1 << 12
"""Ids stay below 2^52, which every JSON reader holds exactly."""
LARGEST_ID = (MOST_REPLICAS << REPLICA_SHIFT) - 1
ANSWERED, REMOVED = -1, -2
"""In place of an arm number, in a decision that needs no reward any more."""

Entry = tuple[int, float, float, float, int]
"""Arm number, stamp, moment, probability and number of eligible arms of a decision."""


class Waiting:
    """The decisions of a bandit, in the order in which they were made."""

    __slots__ = ("_wait", "entries", "issued")

    def __init__(self, wait: float | None) -> None:
        self._wait = wait
        self.entries: dict[int, Entry] = {}
        self.issued: dict[int, int] = {}
        """How many decisions each replica has made."""

    def close(self, id: Any) -> tuple[RewardStatus, Entry | None]:
        """The reward of a decision has come: what it is answered with, and what is to be learned."""
        try:
            entry = self.entries.get(id)
        except TypeError:
            raise checks.reject("id", "the id of a decision", id) from None
        if entry is None:
            return self._absent(id), None
        if entry[0] == ANSWERED:
            return RewardStatus.REPEATED, None
        if self._wait is None:
            del self.entries[id]
        else:
            self.entries[id] = (ANSWERED, *entry[1:])
        return (RewardStatus.REMOVED, None) if entry[0] == REMOVED else (RewardStatus.ACCEPTED, entry)

    def _absent(self, id: Any) -> RewardStatus:
        number = checks.whole("id", id, 0, 1 << 53)
        if not 1 <= number & NUMBER <= self.issued.get(number >> REPLICA_SHIFT, 0):
            return RewardStatus.UNKNOWN
        return RewardStatus.REPEATED if self._wait is None else RewardStatus.EXPIRED

    def overdue(self, now: float) -> bool:
        """Whether some decision has waited too long."""
        return bool(self.entries) and self._over(next(iter(self.entries.values())), now)

    def _over(self, entry: Entry, now: float) -> bool:
        return self._wait is not None and now - entry[2] > self._wait

    def expired(self, now: float) -> Iterator[tuple[int, Entry]]:
        """Take out what has waited too long; those that never got a reward are returned."""
        while self.overdue(now):
            id = next(iter(self.entries))
            entry = self.entries.pop(id)
            if entry[0] >= 0:
                yield id, entry

    def forget(self, arm: int) -> None:
        """An arm was removed: its rewards are of no use."""
        for id, entry in self.entries.items():
            if entry[0] == arm:
                self.entries[id] = (REMOVED, *entry[1:])

    def open(self, now: float) -> int:
        """How many decisions still wait."""
        return sum(1 for entry in self.entries.values() if entry[0] >= 0 and not self._over(entry, now))
