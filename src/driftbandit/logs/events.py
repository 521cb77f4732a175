"""The events of a log as rows of decisions and outcomes, chunk by chunk, each of them checked.

What a log must be, so that it can be evaluated, and what is said of events that are not so, is here.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from driftbandit import checks
from driftbandit.compiling.gears import geared_part
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.compiling.linking import link
from driftbandit.engine.cpu.block import Reals
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.logs import book as books
from driftbandit.logs import scanning
from driftbandit.logs.account import UNIT, UNKNOWN, Facts, Maker
from driftbandit.logs.book import Rows
from driftbandit.logs.chunk import Chunk, Sets
from driftbandit.logs.spans import Spans
from driftbandit.online.decision import RewardStatus
from driftbandit.online.journal import FORMAT, Event
from driftbandit.online.pending import LARGEST_ID, MOST_REPLICAS, NUMBER, REPLICA_SHIFT, ROOM, Lineage
from driftbandit.online.timing import SECONDS

SLOTS, REPLICAS, ARMS = 1 << 10, 4, 16
"""Room at first."""
NEVER = 1 << 62


class Reading:
    """One pass over the events of a log.

    Where a start says how long decisions wait for their rewards, those do not count that are younger when the log ends,
    rewarded or not: good rewards may come at once, and bad ones never. When they are too young is known from a pass
    before this one.
    """

    def __init__(
        self, names: Sequence[Any] | None, missing: float = math.nan, limits: Callable[[], Reals] | None = None
    ) -> None:
        self._missing = missing
        """What decisions count as that never got a reward."""
        self._limits_before = limits
        """The `limits` that a pass before this one has found."""
        self._limits = self._until = np.empty(0)
        """By replica, where they matter: the times from which on decisions are too young, and the first one of them."""
        self._finding = names is None
        """Whether nothing says which arms there are, and they are to be found."""
        self.facts = Facts()
        self._sets = Sets()
        self._book = books.new_book(REPLICAS, ARMS, SLOTS)
        self._rows = books.new_rows()
        self._full: list[Chunk] = []
        self._arms: dict[Any, int] = {}
        self._arms_of: list[dict[int, None]] = []
        """By replica: its arms, in the order in which they were added."""
        self._spans: list[Spans] = []
        """By replica: the numbers of its decisions."""
        self._words, self._listed = scanning.WordList(), scanning.WordList()
        """How arms, and lists of them, are written."""
        self._here: list[int] = []
        """The replicas of which the present file has a start, the latest at the end."""
        for name in names or ():
            self._arm(name)
        self._decided, self._ended = (link(each, INTERPRETED) for each in (books.decided, books.ended))
        self._stopped = np.zeros(1, np.int64)

    @property
    def arms(self) -> Iterable[Any]:
        """The names of the arms that are known."""
        return self._arms

    def begin_file(self) -> None:
        """What follows stands in a file of its own."""
        self._here = []

    def scan(self, letters: scanning.Text, at: int) -> tuple[int, int]:
        """Read lines that look as a bandit writes them; where the first one begins that does not, and how many were."""
        lines = 0
        while True:
            arguments = (letters, at, self._words.table, self._listed.table, self._book, self._rows, self._stopped)
            at, more = geared_part(scanning.scan).wait(*arguments)
            lines += more
            if self._stopped[0] != books.NO_ROOM:
                return at, lines
            self._make_room()

    def taken(self) -> Iterator[Chunk]:
        """The chunks that are full."""
        while self._full:
            yield self._full.pop(0)

    def _flush(self) -> None:
        filled = self._book.filled.item()
        columns: Any = (column[:filled].copy() for column in self._rows)
        rows = self._counted(Rows(*columns))
        chunk = Chunk(rows, len(self._book.arm), len(self._arms), len(self._spans), *self._sets.arrays())
        self.facts.count(chunk)
        self._full.append(chunk)
        self._book.filled[0] = 0
        self._sets, self._listed = Sets(), scanning.WordList()  # or a log with many masks would fill the memory
        self._book.alone[:] = -1
        for replica in range(len(self._spans)):
            self._regroup(replica)

    def _counted(self, rows: Rows) -> Rows:
        """Those of decisions that count."""
        if not len(self._limits):
            return rows
        decided, replica = ~rows.outcome, rows.replica
        young = decided & (rows.clock >= self._limits[replica])
        np.minimum.at(self._until, replica[young], rows.number[young])
        counts = rows.number < self._until[replica]
        self.facts.young += int((decided & ~counts).sum())
        columns: Any = (column[counts] for column in rows)
        return Rows(*columns)

    def limits(self) -> Reals:
        """By replica: when a decision was too young, by its clock, for its reward to have come for sure."""
        waits = (self._maker(replica).wait for replica in range(len(self._spans)))
        ends = zip(self._book.times.tolist(), self._book.set_by.tolist(), waits, strict=False)
        return np.array([math.inf if wait is None else time - set_by - wait for time, set_by, wait in ends])

    # Lines

    def take(self, event: Event, where: str) -> None:
        """What one line says."""
        kind = event["event"]
        if kind not in self._handlers:
            raise checks.reject(where, f"an event such as {', '.join(self._handlers)}", dict(event))
        self._make_room()
        try:
            self._handlers[kind](self, Entries(event, "event"), where)
        except InvalidValue as error:
            raise InvalidValue(f"{where}: {error}") from None

    def _start(self, event: Entries, where: str) -> None:
        checks.whole("format", event.get("format"), 1, FORMAT)
        replica = self._replica(event.whole("replica", MOST_REPLICAS - 1))
        names = event.items("arms")
        arms = dict.fromkeys(self._arm(name) for name in names)
        if not arms or len(arms) < len(names):
            raise checks.reject("arms", "a list of different names", names)
        self._arms_of[replica] = arms
        self._regroup(replica)
        span = Lineage.restored(event.rows("own", 3)).spans[-1]
        self._go_to(replica, span.start + span.made)
        self.facts.start(replica, maker := Maker.of(event))
        if maker.wait is not None and self._limits_before is not None and not len(self._limits):
            self._limits = self._limits_before()
            self._until = np.full(len(self._limits), NEVER)
        self._here = [*(one for one in self._here if one != replica), replica]

    def _decision(self, event: Entries, where: str) -> None:
        id, name = event.whole("id", LARGEST_ID), event.get("arm")
        replica = self._book.replica_of.item(id >> REPLICA_SHIFT)
        if replica < 0:
            if self.facts.makers:
                raise checks.reject("id", "a decision of a replica whose start is in the log", id)
            replica = self._replica(id >> REPLICA_SHIFT)
            self.facts.note("the log has no start: its arms are those that were chosen, and masks cannot be seen")
        if self._finding:
            for each in (name, *(event.items("among") if event.has("among") else ())):
                self._find(each)
        arm = self._known(name)
        among = -1
        if event.has("among"):
            listed = [self._known(other) for other in event.items("among")]
            if arm not in listed or len(set(listed)) < len(listed):
                raise checks.reject("among", f"different arms, {checks.shown(name)} among them", event.get("among"))
            among = self._sets.number(listed)
            self._listed.add(event.get("among"), among)
        probability, time = _probability(event), event.real("time", SECONDS)
        last, latest = self._book.last.item(replica), self._book.times.item(replica)
        if id & NUMBER != last + 1:
            self._skip_to(replica, id)
        if time < latest:
            raise checks.reject("time", f"at least {latest!r} in this replica (two logs of one replica?)", time)
        if among < 0 and not self._book.there[replica, arm]:
            raise checks.reject("arm", "one that is there", name)
        if probability >= books.CERTAIN and self._book.alone[arm] < 0:
            self._book.alone[arm] = self._sets.number([arm])
        self._put(self._decided, id, arm, among, probability, time)

    def _reward(self, event: Entries, where: str) -> None:
        id, status = event.whole("id", LARGEST_ID), checks.one_of("status", event.get("status"), RewardStatus)
        if status not in (RewardStatus.ACCEPTED, RewardStatus.REMOVED):
            return
        if self._put(self._ended, id, event.real("reward", UNIT)) == books.NOT_WAITING:
            if self._was_made(id):
                raise checks.reject("id", "a decision that waits for its reward (it had one)", id)
            self.facts.orphan(where)

    def _expired(self, event: Entries, where: str) -> None:
        reward = event.real("reward", UNIT) if event.has("reward") else self._missing
        id = event.whole("id", LARGEST_ID)
        if self._put(self._ended, id, reward) == books.NOT_WAITING and not self._was_made(id):
            self.facts.orphan(where)

    def _added(self, event: Entries, where: str) -> None:
        replica, name = self._only_replica("arm"), event.get("arm")
        self._arms_of[replica][self._arm(name)] = None
        self._regroup(replica)

    def _removed(self, event: Entries, where: str) -> None:
        replica, arm = self._only_replica("arm"), self._known(event.get("arm"))
        self._arms_of[replica].pop(arm, None)
        if not self._arms_of[replica]:
            raise checks.reject("arm", "one of several", event.get("arm"))
        self._regroup(replica)

    def _time(self, event: Entries, where: str) -> None:
        replica, time = self._only_replica("time"), event.real("time", SECONDS)
        if np.isfinite(latest := self._book.times.item(replica)):
            self._book.set_by[replica] += time - latest
        self._book.times[replica] = time

    _handlers: ClassVar[dict[str, Callable[["Reading", Entries, str], None]]] = {
        "start": _start,
        "decision": _decision,
        "reward": _reward,
        "expired": _expired,
        "added": _added,
        "removed": _removed,
        "time": _time,
    }

    # What lines say it of

    def _only_replica(self, name: str) -> int:
        """The replica that a line is of which does not say so: the one whose start the file has."""
        if len(self._here) != 1:
            several = "several replicas are" if self._here else "no start is"
            raise InvalidValue(
                f"{name} must be of one replica, got a line that does not say which ({several} in the file)"
            )
        return self._here[0]

    def _maker(self, replica: int) -> Maker:
        """How it was set up last."""
        return self.facts.makers.get(replica, [UNKNOWN])[-1]

    def _replica(self, number: int) -> int:
        """The place of a replica, also of a new one."""
        book = self._book
        place = book.replica_of.item(number)
        if place < 0:
            place = len(self._spans)
            if place == len(book.last):
                self._book = book = books.grown(book, replicas=2 * place)
            book.replica_of[number] = place
            self._spans.append(Spans())
            self._arms_of.append(dict.fromkeys(self._arms.values()))
            self._regroup(place)
        return place

    def _regroup(self, replica: int) -> None:
        """Its arms have changed."""
        arms = list(self._arms_of[replica])
        self._book.there[replica] = False
        self._book.there[replica, arms] = True
        self._book.whole[replica] = self._sets.number(arms)

    def _arm(self, name: Any) -> int:
        """The number of an arm, also of a new one."""
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise checks.reject("arm", "a text or a whole number", name)
        number = self._arms.get(name)
        if number is None:
            number = self._arms[name] = len(self._arms)
            if number == len(self._book.alone):
                self._book = books.grown(self._book, arms=2 * number)
            self._words.add(name, number)
        return number

    def _known(self, name: Any) -> int:
        number = self._arms.get(name) if isinstance(name, str | int) else None
        if number is None:
            listed = ", ".join(map(str, list(self._arms)[:10])) + (", …" if len(self._arms) > 10 else "")
            raise checks.reject("arm", f"one of {listed}", name)
        return number

    def _find(self, name: Any) -> None:
        """An arm of a log that does not say which there are."""
        if not isinstance(name, str | int) or name not in self._arms:
            self._arm(name)
            for replica in range(len(self._spans)):
                self._arms_of[replica] = dict.fromkeys(self._arms.values())
                self._regroup(replica)

    def _was_made(self, id: int) -> bool:
        """Whether the log has the decision."""
        replica, number = self._book.replica_of.item(id >> REPLICA_SHIFT), id & NUMBER
        return replica >= 0 and self._spans[replica].has(number, self._book.last.item(replica))

    def _go_to(self, replica: int, last: int) -> None:
        """The next decision has the number after this one."""
        if last != self._book.last[replica]:
            self._spans[replica].begin(last + 1, self._book.last.item(replica))
            self._book.last[replica] = last

    def _skip_to(self, replica: int, id: int) -> None:
        """The next decision is not the one after the last."""
        number, last = id & NUMBER, self._book.last.item(replica)
        if self._was_made(id) or number == 0:
            raise checks.reject("id", "a new one (two logs of one replica?)", id)
        if last < number < last + ROOM:
            self.facts.gap(number - last - 1)
        self._go_to(replica, number - 1)

    # Rows

    def _put(self, function: Callable[..., int], *arguments: Any) -> int:
        """Put down a decision, or an outcome, for which there is room."""
        return function(self._book, self._rows, *arguments)

    def _make_room(self) -> None:
        """For a row more, and for another decision that waits. Sets have other numbers then."""
        if self._book.filled[0] == len(self._rows.arm):
            self._flush()
        if self._book.left[0] == 0:
            self._book = books.grown(self._book, slots=2 * len(self._book.arm))

    def finish(self) -> Iterator[Chunk]:
        """The last chunks: decisions whose reward never came have outcomes that are not known."""
        book = self._book
        waiting = np.sort(book.keys[book.keys != 0])
        for id in waiting.tolist():
            slot = book.slots[link(books.place_of, INTERPRETED)(book.keys, id)]
            default = self._maker(book.replica.item(slot)).default_reward
            self._make_room()
            self._put(self._ended, id, self._missing if default is None else default)
            yield from self.taken()
        self._flush()
        self.facts.names = tuple(self._arms)
        self.facts.certain = self._book.certain.item()
        yield from self.taken()


def _probability(event: Entries) -> float:
    """Above 0, and at most 1 but for what an integral is rounded by."""
    given = event.get("probability")
    rounded = isinstance(given, float) and books.CERTAIN < given <= books.MOST_CERTAIN
    return float(given) if rounded else checks.real("probability", given, "(0, 1]")
