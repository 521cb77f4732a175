"""One live decision-maker: select an arm, reward the decision whenever the reward comes, save, recover, merge."""

import importlib
import json
import os
import threading
import time as time_module
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.exact.choice import functions_of_odds
from driftbandit.files import read_json, written_whole
from driftbandit.notebook import MOST_ROWS, card
from driftbandit.online.decision import Decision, RewardStatus
from driftbandit.online.journal import Event, Log, checked_path, in_order, is_log, opened
from driftbandit.online.merge import check_alike, merged
from driftbandit.online.pending import GIVEN_REPLICAS, REPLICA_SHIFT, checked_id
from driftbandit.online.state import Settings, State, replayed
from driftbandit.online.summary import HEADINGS, ArmSummary, View, as_table, summarised
from driftbandit.policies import Policy

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

Arms = Iterable[str | int]
Place = str | os.PathLike[str]

MOST_AT_ONCE = 100_000
"""Decisions of one moment."""
_process = object()
"""Another one in every process, forked ones too."""


class Guard:
    """The locks of a bandit, which a fork waits for, so that the new process finds every bandit whole."""

    live: ClassVar["weakref.WeakSet[Guard]"] = weakref.WeakSet()
    registering: ClassVar = threading.Lock()
    held: ClassVar = threading.local()

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.saving = threading.RLock()  # a signal's handler may save while its thread does
        with self.registering:
            self.live.add(self)

    @classmethod
    def before_fork(cls) -> None:
        """Wait for what other threads are doing."""
        cls.registering.acquire()
        cls.held.guards = sorted(cls.live, key=id)  # in one order in all threads
        for guard in cls.held.guards:
            guard.lock.acquire()

    @classmethod
    def after_fork(cls) -> None:
        """Let go."""
        for guard in cls.held.guards:
            guard.lock.release()
        cls.held.guards = []
        cls.registering.release()

    @classmethod
    def in_child(cls) -> None:
        """The same in the new process, where nobody saves."""
        global _process
        _process = object()
        for guard in cls.held.guards:
            guard.saving = threading.RLock()
        cls.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=Guard.before_fork, after_in_parent=Guard.after_fork, after_in_child=Guard.in_child)


class Bandit:
    """Live decisions with any policy of this package; safe to use from many threads.

    Parameters:
        arms: their names, each a text or a whole number.
        policy: any policy, or its text such as "dots:discount=0.99"; where its rewards add up, they age from the moment
            of each *decision* (driftbandit.online.evidence), else they are learned as they come
            (driftbandit.online.present).
        step_seconds: how long one step of the policy lasts; None: a step is a decision.
        seed: of the random numbers, from 0 to 2^64 − 1: the same decisions and ids again; None: a random one.
        replica: the number of this process among those whose states are merged, from 0 to 4095.
        clock: gives the time in seconds where none is passed in.
        minimum_probability: a floor under the probability of every arm that is eligible in a decision.
        wait: how long a decision waits for its reward, in seconds (steps, where a step is a decision); None: for ever.
        default_reward: what a decision gets whose wait is over; None: nothing.
        log: a path, to which everything that happens is appended as a line of JSON before it counts
            (driftbandit.online.journal; a new file, as `recover` goes on with one that is there), or a function that is
            called with each event as a dictionary.
        durable: whether a line must be on the disk, not only with the system, before it counts.

    >>> from driftbandit.policies import DiscountedThompsonSampling
    >>> bandit = Bandit(["red", "green"], DiscountedThompsonSampling(discount=0.99), seed=7)
    >>> decision = bandit.select()
    >>> round(decision.probability, 12)
    0.5
    >>> str(bandit.reward(decision.id, 1.0)), str(bandit.reward(decision.id, 1.0))
    ('accepted', 'repeated')
    """

    def __init__(
        self,
        arms: Arms,
        policy: Policy | str,
        *,
        step_seconds: float | None = None,
        seed: int | None = None,
        replica: int = 0,
        clock: Callable[[], float] = time_module.time,
        minimum_probability: float = 0.0,
        wait: float | None = None,
        default_reward: float | None = None,
        log: Log = None,
        durable: bool = False,
    ) -> None:
        if default_reward is not None and wait is None:
            raise checks.reject("default_reward", "None where decisions wait for ever (no wait)", default_reward)
        settings = Settings(
            policy=Policy.of(policy, "policy", "a policy"),
            step_seconds=step_seconds,
            seed=seed,  # type: ignore[arg-type]  # None: a random one
            replica=checks.whole("replica", replica, 0, GIVEN_REPLICAS - 1),
            minimum_probability=minimum_probability,
            wait=wait,
            default_reward=default_reward,
        )
        self._begin(State.new(arms, settings, clock), log, durable, seed is not None)

    def _begin(self, state: State, log: Log, durable: bool, continued: bool) -> None:
        """Go on from a state, which belongs to this bandit from now on."""
        rule, settings = state.chooser.rule, state.settings
        if log is not None and not rule.knows_odds:
            raise checks.reject("log", "None, as this policy's odds are not known (Rule.posterior, Rule.pieces)", log)
        self._journal = opened(log, state.opening, state.position, durable)
        self._state = state
        self._arms, self._timing, self._pending = state.arms, state.timing, state.pending
        self._evidence, self._chooser = state.evidence, state.chooser
        self._waits = settings.wait is not None
        self._first_id = settings.replica << REPLICA_SHIFT
        self._tells_used = rule.selection == "weighted" and rule.luck
        self._by_decisions = settings.step_seconds is None
        self._process = _process if checks.flag("continued", continued) else None
        self._guard = Guard()
        self._lock = self._guard.lock

    def _make_sure(self) -> None:
        """That no other bandit, in whatever process, has the ids and random numbers of this one."""
        if self._process is not _process or self._chooser.number >= self._pending.last:
            self._pending.go_on_at(self._pending.own.elsewhere())
            self._process = _process

    def _write(self, events: list[Event]) -> None:
        """Log what is about to happen; what the log raises leaves everything as it was."""
        if self._journal is not None:
            self._journal.write(events)

    # Decisions

    def select(self, time: float | None = None, arms: Arms | None = None) -> Decision:
        """Choose an arm, of all or of some `arms` only, at a time in seconds (by default, the clock's)."""
        with self._lock:
            if self._process is not _process:
                self._make_sure()
            evidence, timing = self._evidence, self._timing
            some = None if arms is None else self._arms.numbers(arms)
            now = timing.steps if self._by_decisions and time is None else timing.moment(time)
            if self._waits:
                self._expire(now)
            order = evidence.order if some is None else evidence.order.some(some)
            arm, number, used, told = self._state.chosen(now, order)
            id = self._first_id + number
            decision = Decision(id, self._arms.names[arm], now + 1 if self._by_decisions else timing.latest, told)
            if self._journal is not None:
                evidence.count_decision(arm, -1)  # it is not made before its line is there
                self._journal.write([self._said(decision, used, some)])
                evidence.count_decision(arm, 1)
            self._state.record(id, arm, now, used, order.count)
            if number >= self._pending.last:
                self._make_sure()
            return decision

    def select_many(
        self, count: int, *, time: float | None = None, arms: Arms | None = None, replace: bool = True
    ) -> list[Decision]:
        """So many decisions of one moment, each with its exact probability, as where a page shows several items.

        They are those of as many calls of `select` at this time, one after the other: where a step is a decision, each
        is a step; each is a line of the log, and those that were written before a write fails stand. Without
        replacement each is made among the arms that none before it chose, and its probability is that among those.

        Parameters:
            count: how many; without replacement at most as many as there are arms to choose from.
            time, arms: as in `select`.
            replace: whether an arm may be chosen more than once.

        >>> from driftbandit.policies import ThompsonSampling
        >>> shown = Bandit(["red", "green", "blue"], ThompsonSampling(), seed=7).select_many(3, replace=False)
        >>> sorted(decision.arm for decision in shown), [round(decision.probability, 6) for decision in shown]
        (['blue', 'green', 'red'], [0.333333, 0.5, 1.0])
        """
        number = checks.whole("count", count, 1, MOST_AT_ONCE)
        again = checks.flag("replace", replace)
        with self._lock:
            numbers = None if arms is None else self._arms.numbers(arms)
            if again:
                left = None if numbers is None else [self._arms.names[each] for each in numbers]
            else:
                left = [self._arms.names[each] for each in (self._arms.all_numbers() if numbers is None else numbers)]
                if number > len(left):
                    raise checks.reject("count", f"at most {len(left)}, as no arm is chosen twice", count)
            made = [self.select(time, None if numbers is None else left)]
            now = None if self._by_decisions else self._timing.latest
            for _ in range(number - 1):
                if not again and left is not None:
                    left.remove(made[-1].arm)
                made.append(self.select(now, left))
            return made

    def _said(self, decision: Decision, used: float, some: list[int] | None) -> Event:
        """What the log says of a decision."""
        event = {"event": "decision", "id": decision.id, "arm": decision.arm, "probability": decision.probability}
        event["time"] = decision.time
        if some is not None:
            event["among"] = [self._arms.names[number] for number in some]
        if self._tells_used:
            event["used"] = used
        return event

    def _expire(self, now: float) -> None:
        """Decisions whose wait is over."""
        if self._pending.overdue(now):
            due, default = self._pending.due(now), self._state.settings.default_reward
            events = [{"event": "expired", "id": id} for id, decision in due if decision[0] >= 0]
            if default is not None:
                events = [event | {"reward": default} for event in events]
            if events:
                self._write(events)
            self._state.expire(due)

    # Rewards

    def reward(self, id: int | Decision, value: float, time: float | None = None) -> RewardStatus:
        """The reward of a decision, whenever it comes; `time` (by default, now) matters to `wait` only."""
        value = self._state.checked(value)
        number = id if type(id) is int else checked_id(id)
        with self._lock:
            if self._process is not _process:
                self._make_sure()
            if self._waits:
                self._expire(self._timing.reading(time))
            status, decision = self._pending.look(number)
            if self._journal is not None:
                self._journal.write([_rewarded(number, value, status)])
            if decision is not None:
                self._state.take(number, status, decision, value)
            return status

    def rewards(
        self, batch: Iterable[tuple[int | Decision, float]] | Mapping[int, float], time: float | None = None
    ) -> list[RewardStatus]:
        """Many rewards at once, as pairs (id, reward): all are checked, and logged, before the first is learned."""
        if not isinstance(batch, Iterable) or isinstance(batch, str | bytes):
            raise checks.reject("batch", "pairs (id, reward)", batch)
        given = list(batch.items() if isinstance(batch, Mapping) else batch)
        for pair in given:
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise checks.reject("batch", "pairs (id, reward)", pair)
        pairs = [(checked_id(id), self._state.checked(value)) for id, value in given]
        with self._lock:
            self._make_sure()
            if self._waits:
                self._expire(self._timing.reading(time))
            answers, waiting = [], {}
            for id, value in pairs:
                status, decision = self._pending.look(id)
                if id in waiting:
                    status = RewardStatus.REPEATED
                elif decision is not None:
                    waiting[id] = (status, decision, value)
                answers.append(status)
            if pairs:
                self._write([_rewarded(*pair, status) for pair, status in zip(pairs, answers, strict=True)])
            for id, (status, decision, value) in waiting.items():
                self._state.take(id, status, decision, value)
            return answers

    # Arms

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that are there, in the order in which they were added."""
        return self._arms.all_names()

    @property
    def decisions(self) -> int:
        """How many decisions were made, those of merged replicas included."""
        with self._lock:
            return self._chooser.made + sum(lineage.made for lineage in self._pending.taken.values())

    @property
    def pending(self) -> int:
        """How many decisions still wait for their reward."""
        with self._lock:
            return self._pending.open(self._timing.reading(None))

    def add(self, arm: str | int) -> None:
        """A new arm, which every policy explores.

        Under weights that add up it starts with the weight of the best arm. From the start of all others it would
        almost never be chosen once weights have grown, and almost always once they have shrunk.
        """
        with self._lock:
            self._change("added", self._state.addable(arm), self._state.add)

    def remove(self, arm: str | int) -> None:
        """Take an arm away; rewards that are still to come for it are answered with "removed"."""
        with self._lock:
            self._change("removed", self._arms.removable(arm), self._state.remove)

    def _change(self, event: str, arm: Any, apply: Callable[[Any], None]) -> None:
        self._make_sure()
        self._write([{"event": event, "arm": arm, "time": self._timing.shown}])
        apply(arm)

    # Time

    def set_time(self, time: float) -> None:
        """It is this time now, in seconds: for a clock that was wrong.

        A bandit's time never goes back by itself: while its clock shows less, time stands still. This sets it;
        evidence, and decisions that wait, are then as old as they were just before.
        """
        with self._lock:
            self._make_sure()
            seconds = self._timing.settable(time)
            self._write([{"event": "time", "time": seconds}])
            self._state.set_time(seconds)

    # Speed

    def warm_up(self) -> None:
        """Compile everything that this bandit runs now, and come back when that is done.

        Without it the first decisions are interpreted, with the same results, while a thread compiles.
        """
        with self._lock:
            needed = [*self._evidence.functions(), *functions_of_odds(self._chooser.rule)]
        for gears, arguments in needed:
            gears.compiled(*arguments)

    def __len__(self) -> int:
        return len(self._arms)

    # Looking: nothing changes

    def evidence(self, time: float | None = None) -> dict[Any, tuple[float, ...]]:
        """What each arm has earned, faded to a time: the rule's numbers, and the number of observations."""
        with self._lock:
            view = self._view(time)
            known = dict(zip(view.awake, map(tuple, view.seen.tolist()), strict=True))
            nothing = (*self._evidence.initial, 0.0)
            names = self._arms.names
            return {names[number]: known.get(number, nothing) for number in self._arms.all_numbers()}

    def probabilities(self, time: float | None = None, arms: Arms | None = None) -> dict[Any, float]:
        """The exact probability that the next decision, at this time, chooses each arm."""
        with self._lock:
            numbers = self._arms.all_numbers() if arms is None else self._arms.numbers(arms)
            view = self._view(time, numbers)
            names = self._arms.names.copy()
        awake, asleep = view.probabilities()
        known = dict(zip(view.awake, awake.tolist(), strict=True))
        return {names[number]: known.get(number, asleep) for number in numbers}

    def describe(self, limit: int = 20) -> "Table":
        """A table of the arms: posterior mean and 95% interval, effective sample size, probability."""
        arms, decisions = _counted(len(self), "arm"), _counted(self.decisions, "decision")
        title = f"{self._state.settings.policy} · {arms} · {decisions}"
        return as_table(self._summary(), title, limit)

    def plot(self, limit: int = 8) -> "Figure":
        """A figure of the posteriors of the most probable arms."""
        figures = importlib.import_module("driftbandit.figures.posteriors")  # a layer above: only here, and late
        title = f"{self._state.settings.policy} after {_counted(self.decisions, 'decision')}"
        figure: Figure = figures.posteriors(self._summary(), title, limit)
        return figure

    def _summary(self, time: float | None = None) -> list[ArmSummary]:
        with self._lock:
            view, names = self._view(time), self._arms.names.copy()
        return summarised(view, names)

    def _view(self, time: float | None, numbers: list[int] | None = None) -> View:
        """What the next decision at a time, among these arms, would meet."""
        now, state = self._timing.reading(time), self._state
        counts = state.settings.default_reward is not None or state.chooser.rule.beliefs is not None
        if counts and self._pending.overdue(now):
            state = State.read(self.state(), self._timing.clock)  # decisions expire in a copy
            state.expire(state.pending.due(now))
        return state.view(now, numbers)

    def __rich__(self) -> "Table":
        return self.describe()

    def _repr_html_(self) -> str:
        rows = self._summary()
        alike = [row for row in rows if row.arm is None]
        shown = [row for row in rows if row.arm is not None][: MOST_ROWS - len(alike)] + alike
        hidden = len(rows) - len(shown)
        about = f"the {len(shown) - len(alike)} most probable arms with evidence, of {len(self)}" if hidden else ""
        columns = zip(*(row.cells() for row in shown), strict=True)
        return card(repr(self)[1:-1], about, dict(zip(HEADINGS, map(list, columns), strict=True)))

    def __repr__(self) -> str:
        settings = self._state.settings
        step = "a decision" if settings.step_seconds is None else f"{settings.step_seconds:g} s"
        counts = f"{_counted(len(self), 'arm')}, {_counted(self.decisions, 'decision')}, {self.pending} pending"
        return f"<Bandit {settings.policy}, {counts}, step {step}>"

    # Files and replicas

    def state(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        with self._lock:
            if self._journal is not None:
                self._state.position = self._journal.position
            return self._state.written()

    @classmethod
    def from_state(
        cls,
        state: Any,
        *,
        replica: int | None = None,
        continued: bool = False,
        clock: Callable[[], float] = time_module.time,
        log: Log = None,
        durable: bool = False,
        source: str = "state",
    ) -> Self:
        """Go on where `state()` was taken.

        Ids and random numbers are new ones, so that whoever else goes on from the same state, or did before a crash,
        has no decision in common with this bandit.

        Parameters:
            replica: another number, for a bandit whose state is to be merged with that of the one that was saved.
            continued: take the ids and random numbers that the saved bandit would have taken next, to the bit; for
                tests and replays. Of all bandits that go on from a state, only one may.
            clock, log, durable: as in `Bandit`.
            source: what an error calls the state.
        """
        found = cls._read(state, clock, source)
        if replica is not None and checks.whole("replica", replica, 0, GIVEN_REPLICAS - 1) != found.settings.replica:
            check_alike([found])
            found = merged([found], replica)
        return cls._of(found, log, durable, continued)

    def save(self, path: Place) -> None:
        """Write the state to a file. A kill at any moment leaves the old file or the new one."""
        with self._guard.saving:  # or an older state could replace a newer one
            text = json.dumps(self.state(), allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
            with written_whole(path) as part:
                if is_log(path) or (self._journal is not None and self._journal.goes_to(path)):
                    raise checks.reject("path", "another file than a log", path)
                part.write_bytes(text.encode())

    @classmethod
    def load(
        cls,
        path: Place,
        *,
        replica: int | None = None,
        continued: bool = False,
        clock: Callable[[], float] = time_module.time,
        log: Log = None,
        durable: bool = False,
    ) -> Self:
        """Go on from a file; the arguments are those of `from_state`."""
        state, source = read_json(path, "a saved bandit"), os.fspath(path)
        return cls.from_state(
            state, replica=replica, continued=continued, clock=clock, log=log, durable=durable, source=source
        )

    @classmethod
    def recover(
        cls,
        state: Any,
        log: Place | Iterable[Place],
        *,
        clock: Callable[[], float] = time_module.time,
        durable: bool = False,
    ) -> Self:
        """Go on after a crash: from a saved state, and everything that the log says happened since.

        Parameters:
            state: a file, of which there may be none yet (the log then tells all), or what `state()` returned.
            log: the file that `log` named; where it was renamed since, all of its files. They say themselves in which
                order they come, and the bandit goes on in the newest one.
            clock, durable: as in `Bandit`.

        Raises:
            MissingFile: there is neither a saved state nor a log yet.
        """
        files = [log] if isinstance(log, str | os.PathLike) else list(log) if isinstance(log, Iterable) else []
        if not files or not all(isinstance(file, str | os.PathLike) for file in files):
            raise checks.reject("log", "a path, or a list of paths", files if isinstance(log, Iterable) else log)
        source = os.fspath(state) if isinstance(state, str | os.PathLike) else "state"
        if isinstance(state, str | os.PathLike):
            state = read_json(state, "a saved bandit") if os.path.exists(state) else None
        found = None if state is None else cls._read(state, clock, source)
        ordered = in_order(Path(checked_path(file)) for file in files)
        return cls._of(replayed(found, ordered, clock), ordered[-1], durable, False)

    @classmethod
    def merge(
        cls, bandits: Iterable["Bandit"], *, replica: int | None = None, log: Log = None, durable: bool = False
    ) -> Self:
        """One bandit that knows what all of these know, and takes the rewards of their pending decisions.

        Without a number of its own (`replica`) it gets one above all that can be given.
        """
        if not isinstance(bandits, Iterable):
            raise checks.reject("bandits", "a list of bandits", bandits)
        given = list(bandits)
        if not given:
            raise checks.reject("bandits", "one bandit at least", given)
        for bandit in given:
            if not isinstance(bandit, Bandit):
                raise checks.reject("bandits", "bandits", bandit)
        if replica is not None:
            checks.whole("replica", replica, 0, GIVEN_REPLICAS - 1)
        copies = [State.read(bandit.state(), bandit._timing.clock) for bandit in given]
        check_alike(copies)
        return cls._of(merged(copies, replica), log, durable, False)

    @classmethod
    def _read(cls, state: Any, clock: Callable[[], float], source: str) -> State:
        try:
            return State.read(state, clock)
        except InvalidValue as error:
            raise InvalidValue(f"{source}: {error}") from None

    @classmethod
    def _of(cls, state: State, log: Log, durable: bool, continued: bool) -> Self:
        arguments = state.settings.arguments() | {"replica": 0}  # what `_begin` takes from the state, as all else
        bandit = cls(state.arms.all_names(), clock=state.timing.clock, **arguments)
        bandit._begin(state, log, durable, continued)
        return bandit

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Bandit cannot be pickled or copied: take its state() and give it to Bandit.from_state")


def _rewarded(id: int, value: float, status: RewardStatus) -> Event:
    return {"event": "reward", "id": id, "reward": value, "status": str(status)}


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
