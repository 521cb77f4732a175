"""Decisions that wait for their reward, by id.

An id is the replica's number and the number of its decision. Without a wait time, a decision leaves the list when its
reward comes. With one, it stays, marked as answered, until the wait is over; any older id counts as expired. So the
answer to every id is known, and memory holds no more than the wait asks for.
"""

from collections.abc import Iterator
from typing import Any

from driftbandit import checks
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.online.chooser import Chooser
from driftbandit.online.decision import RewardStatus

REPLICA_SHIFT = 40
NUMBER = (1 << REPLICA_SHIFT) - 1
MOST_REPLICAS = 1 << 12
"""So ids stay below 2^52, which every JSON reader holds exactly."""
LARGEST_ID = (MOST_REPLICAS << REPLICA_SHIFT) - 1
ANSWERED, REMOVED = -1, -2
"""In place of an arm number, in a decision that needs no reward any more."""


Waiting = tuple[int, float, float, float, int]
"""A decision: the number of its arm (or why no reward is needed any more), what the clock of the arm's evidence showed,
when that was, in steps, the probability that the rule learns from, and among how many arms it was made."""


class Pending:
    """The decisions of a bandit, in the order in which they were made."""

    def __init__(self, wait: float | None) -> None:
        self._wait = wait
        self.decisions: dict[int, Waiting] = {}
        self.learned = 0
        """Rewards that this replica learned."""
        self.taken: dict[int, tuple[int, int]] = {}
        """Of the replicas merged in: decisions made, and rewards learned."""

    def close(self, id: Any, chooser: Chooser) -> tuple[RewardStatus, Waiting | None]:
        """The reward of a decision has come: what it is answered with, and what is to be learned."""
        try:
            decision = self.decisions.get(id)
        except TypeError:
            raise checks.reject("id", "the id of a decision", id) from None
        if decision is None:
            return self._absent(id, chooser), None
        arm = decision[0]
        if arm == ANSWERED:
            return RewardStatus.REPEATED, None
        if self._wait is None:
            del self.decisions[id]
        else:
            self.decisions[id] = (ANSWERED, *decision[1:])
        return (RewardStatus.REMOVED, None) if arm == REMOVED else (RewardStatus.ACCEPTED, decision)

    def _absent(self, id: Any, chooser: Chooser) -> RewardStatus:
        number = checks.whole("id", id, 0, 1 << 53)
        writer = number >> REPLICA_SHIFT
        made = chooser.sequence if writer == chooser.replica else self.taken.get(writer, (0, 0))[0]
        if not 1 <= number & NUMBER <= made:
            return RewardStatus.UNKNOWN
        return RewardStatus.REPEATED if self._wait is None else RewardStatus.EXPIRED

    def overdue(self, now: float) -> bool:
        """Whether some decision has waited too long."""
        return bool(self.decisions) and self._over(next(iter(self.decisions.values())), now)

    def _over(self, decision: Waiting, now: float) -> bool:
        _, _, moment, _, _ = decision
        return self._wait is not None and now - moment > self._wait

    def expired(self, now: float) -> Iterator[tuple[int, Waiting]]:
        """Take out what has waited too long; those that never got a reward are returned."""
        while self.overdue(now):
            id = next(iter(self.decisions))
            decision = self.decisions.pop(id)
            if decision[0] >= 0:
                yield id, decision

    def forget(self, arm: int) -> None:
        """An arm was removed: its rewards are of no use."""
        for id, decision in self.decisions.items():
            if decision[0] == arm:
                self.decisions[id] = (REMOVED, *decision[1:])

    def open(self, now: float) -> int:
        """How many decisions still wait."""
        return sum(decision[0] >= 0 and not self._over(decision, now) for decision in self.decisions.values())

    def state(self) -> dict[str, Any]:
        """What a file says of decisions and rewards."""
        return {
            "learned": self.learned,
            "replicas": [[key, *counts] for key, counts in self.taken.items()],
            "decisions": [[id, *decision] for id, decision in self.decisions.items()],
        }

    def restore(self, entries: Entries, known: set[int]) -> None:
        """Take over what a file says; `known` are the numbers of the arms."""
        self.learned = entries.whole("learned", 1 << 53)
        for row in entries.rows("replicas", 3):
            key = row.whole("replica", 0, 0, MOST_REPLICAS - 1)
            self.taken[key] = (row.whole("replica", 1, 0, NUMBER), row.whole("replica", 2, 0))
        for row in entries.rows("decisions", 6):
            arm = row.whole("arm of a decision", 1, REMOVED)
            if arm not in (ANSWERED, REMOVED) and arm not in known:
                raise InvalidValue(f"decisions must refer to arms that are there, got number {arm}")
            self.decisions[row.whole("id of a decision", 0, 1, LARGEST_ID)] = (
                arm,
                row.real("stamp of a decision", 2),
                row.real("moment of a decision", 3),
                row.real("probability of a decision", 4, "(0, 1]"),
                row.whole("eligible arms of a decision", 5, 1),
            )
