"""A log on its way into a store: the numbers of its decisions, which grow there, and moments that keep its order."""

import math

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.logs.spans import Spans
from driftbandit.online.pending import NUMBER, REPLICA_SHIFT
from driftbandit.service.rows import first_id, number_of


class Renumbered:
    """Ids of a log, as a store has them: in each slot they grow with time.

    A bandit that went on from a saved state counts on from a place that is drawn at random. Where that is below what
    was there, its decisions go on after the latest one; so an old id is never that of another decision.
    """

    def __init__(self) -> None:
        self.last: dict[int, int] = {}
        """By slot, the latest number that was given here."""
        self.changed = 0
        """How many decisions have another id here."""
        self._spans: dict[int, Spans] = {}
        self._latest: dict[int, int] = {}
        """By slot, the latest number in the log."""

    def id(self, id: int) -> int:
        """The id of a new decision."""
        slot, number = id >> REPLICA_SHIFT, number_of(id)
        spans, latest = self._spans.setdefault(slot, Spans()), self._latest.get(slot, 0)
        if number == 0 or spans.has(number, latest):
            raise checks.reject("id", "a new one", id)
        if number != latest + 1:
            spans.begin(number, latest)
        self._latest[slot] = number
        last = self.last.get(slot, 0)
        given = max(number, last + 1)
        if given > NUMBER:
            raise InvalidValue(f"there are no more numbers for decisions of replica {slot}")
        self.last[slot] = given
        self.changed += given != number
        return first_id(slot, given)


class Moments:
    """When things happened, in seconds, such that the order of time in a store is that of the log.

    At one moment decisions come before rewards there, and slots in their order; what comes later in the log is a trifle
    later. A decision may be before the event before it only if another replica, with a time of its own, made it.
    """

    def __init__(self) -> None:
        self._time = -math.inf
        self._key = (-math.inf, 0, 0)

    def of(self, time: float, kind: int, slot: int) -> float:
        """Of the next decision (kind 0) or reward (1)."""
        key = (time, kind, slot)
        if time >= self._time and key < self._key:
            key = (math.nextafter(self._key[0], math.inf), kind, slot)
        self._time, self._key = time, key
        return key[0]
