"""Decisions, by id: which were made, and which still wait for their reward.

An id is the replica's number and the number of its decision. A replica counts its decisions up from 0; whoever goes on
from a saved state counts on from another place, drawn at random (a new *span*), and so does a forked process. So two
bandits that went on from one state have neither ids nor random numbers in common, and a late reward of a decision that
was lost in a crash is unknown rather than somebody else's.

Without a wait time, a decision leaves the list when its reward comes. With one, it stays, marked as answered, until the
wait is over; any older id counts as expired. So the answer to every id is known, and memory holds no more than the wait
asks for.
"""

import itertools
import numbers
import secrets
from typing import Any, NamedTuple

from driftbandit import checks
from driftbandit.entries import Entries, Row
from driftbandit.errors import InvalidValue
from driftbandit.numerics.rng import MAX_ARM
from driftbandit.online.chooser import Chooser
from driftbandit.online.decision import Decision, RewardStatus

REPLICA_SHIFT = 40
NUMBER = (1 << REPLICA_SHIFT) - 1
GIVEN_REPLICAS = 1 << 12
"""Numbers that a user may give to a replica; those above are for merges that were given none."""
MOST_REPLICAS = 1 << 13
"""So ids stay below 2^53, which every JSON reader holds exactly."""
LARGEST_ID = (MOST_REPLICAS << REPLICA_SHIFT) - 1
ROOM = 1 << 20
"""Numbers that a new span has at least, before it would run into another."""
ANSWERED, REMOVED = -1, -2
"""In place of an arm number, in a decision that needs no reward any more."""


Waiting = tuple[int, float, float, float, int]
"""A decision: the number of its arm (or why no reward is needed any more), what the clock of the arm's evidence showed,
when that was, in steps, the probability that the rule learns from, and among how many arms it was made."""


def checked_id(id: Any) -> int:
    """The id of a decision, which may be given itself."""
    if isinstance(id, Decision):
        return id.id
    if not isinstance(id, numbers.Real) or isinstance(id, bool):
        raise checks.reject("id", "the id of a decision", id)
    return checks.whole("id", id, 0, 1 << 53)


class Span(NamedTuple):
    """Decisions that were numbered one after the other."""

    start: int
    """The number before the first one."""
    made: int = 0
    """How many there are."""
    learned: int = 0
    """Rewards, of any decisions, that were learned meanwhile."""


class Lineage(NamedTuple):
    """How far a replica has come, in all its lives: which decisions it made, and how many rewards it learned."""

    spans: tuple[Span, ...] = (Span(0),)

    @property
    def made(self) -> int:
        """How many decisions there are."""
        return sum(span.made for span in self.spans)

    @property
    def learned(self) -> int:
        """How many rewards there are."""
        return sum(span.learned for span in self.spans)

    @property
    def idle(self) -> bool:
        """Whether nothing has happened yet."""
        return not (self.made or self.learned)

    def has(self, number: int) -> bool:
        """Whether a decision was made under this number."""
        return any(span.start < number <= span.start + span.made for span in self.spans)

    def goes_on_from(self, other: "Lineage") -> bool:
        """Whether the other is an earlier stage of this one, or the same."""
        last = len(other.spans) - 1
        if self.spans[:last] != other.spans[:last] or last >= len(self.spans):
            return False
        mine, its = self.spans[last], other.spans[last]
        return mine.start == its.start and mine.made >= its.made and mine.learned >= its.learned

    def elsewhere(self) -> int:
        """Where a new span may begin, at random."""
        while True:
            start = secrets.randbelow(NUMBER - ROOM)
            if all(start + ROOM <= span.start or start >= span.start + span.made for span in self.spans):
                return start

    def state(self) -> list[list[int]]:
        """What a file says of it."""
        return [list(span) for span in self.spans]

    @classmethod
    def restored(cls, rows: list[Row]) -> "Lineage":
        """What a file says."""
        spans = []
        for row in rows:
            start = row.whole("start of a span", 0, 0, NUMBER)
            made = row.whole("decisions of a span", 1, 0, NUMBER - start)
            spans.append(Span(start, made, row.whole("rewards of a span", 2, 0, 1 << 52)))
        if not spans:
            raise checks.reject("spans", "a list of one span at least", spans)
        return cls(tuple(spans))


class Pending:
    """The decisions of a bandit, in the order in which they were made."""

    def __init__(self, wait: float | None, chooser: Chooser) -> None:
        self._wait = wait
        self._chooser = chooser
        self._earlier: tuple[Span, ...] = ()
        self._start = 0
        self.last = NUMBER
        """The largest number of the present span."""
        self.learned = 0
        """Rewards that this replica learned in that span."""
        self.decisions: dict[int, Waiting] = {}
        self.taken: dict[int, Lineage] = {}
        """How far the replicas had come that were merged in."""

    # This replica's own numbers

    @property
    def own(self) -> Lineage:
        """How far this replica has come."""
        return Lineage((*self._earlier, Span(self._start, self._chooser.number - self._start, self.learned)))

    def go_on_at(self, start: int) -> None:
        """The next decision has the number after this one."""
        own = self.own
        self.take_over(Lineage((() if own.idle else own.spans) + (Span(start),)))

    def take_over(self, own: Lineage) -> None:
        """Be where a replica was."""
        *earlier, now = own.spans
        self._earlier, self._start, self.learned = tuple(earlier), now.start, now.learned
        self.last = min([NUMBER, *(span.start for span in earlier if span.start > now.start)])
        self._chooser.go_on_at(now.start + now.made, own.made)

    # Rewards

    def look(self, id: int) -> tuple[RewardStatus, Waiting | None]:
        """The reward of a decision has come: what it is answered with, and the decision if it waits for it."""
        decision = self.decisions.get(id)
        if decision is None:
            return self._absent(id), None
        arm = decision[0]
        if arm == ANSWERED:
            return RewardStatus.REPEATED, None
        return (RewardStatus.REMOVED if arm == REMOVED else RewardStatus.ACCEPTED), decision

    def close(self, id: int, decision: Waiting) -> None:
        """A decision that was waiting needs no reward any more."""
        if self._wait is None:
            del self.decisions[id]
        else:
            self.decisions[id] = (ANSWERED, *decision[1:])

    def _absent(self, id: int) -> RewardStatus:
        writer = checks.whole("id", id, 0, 1 << 53) >> REPLICA_SHIFT
        known = self.own if writer == self._chooser.replica else self.taken.get(writer)
        if known is None or not known.has(id & NUMBER):
            return RewardStatus.UNKNOWN
        return RewardStatus.REPEATED if self._wait is None else RewardStatus.EXPIRED

    def overdue(self, now: float) -> bool:
        """Whether some decision has waited too long."""
        return bool(self.decisions) and self._over(next(iter(self.decisions.values())), now)

    def _over(self, decision: Waiting, now: float) -> bool:
        _, _, moment, _, _ = decision
        return self._wait is not None and now - moment > self._wait

    def due(self, now: float) -> list[tuple[int, Waiting]]:
        """What has waited too long, answered or not, oldest first."""
        due = itertools.takewhile(lambda item: self._over(item[1], now), self.decisions.items())
        return list(due)

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
            "own": self.own.state(),
            "replicas": [[key, lineage.state()] for key, lineage in self.taken.items()],
            "decisions": [[id, *decision] for id, decision in self.decisions.items()],
        }

    def restore(self, entries: Entries, known: set[int]) -> None:
        """Take over what a file says; `known` are the numbers of the arms."""
        self.take_over(Lineage.restored(entries.rows("own", 3)))
        for row in entries.rows("replicas", 2):
            self.taken[row.whole("replica", 0, 0, MOST_REPLICAS - 1)] = Lineage.restored(row.rows("replicas", 1, 3))
        for row in entries.rows("decisions", 6):
            arm = row.whole("arm of a decision", 1, REMOVED)
            if arm not in (ANSWERED, REMOVED) and arm not in known:
                raise InvalidValue(f"decisions must refer to arms that are there, got number {arm}")
            self.decisions[row.whole("id of a decision", 0, 1, LARGEST_ID)] = (
                arm,
                row.real("stamp of a decision", 2),
                row.real("moment of a decision", 3),
                row.real("probability of a decision", 4, "[1e-100, 1]"),
                row.whole("eligible arms of a decision", 5, 1, MAX_ARM),
            )
