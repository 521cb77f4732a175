"""One live decision-maker: select an arm, reward the decision whenever the reward comes, save, restore, merge."""

import importlib
import json
import os
import threading
import time as time_module
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.exact.choice import PLAIN
from driftbandit.files import read_json, written_whole
from driftbandit.online.decision import Decision, RewardStatus, Snapshot
from driftbandit.online.journal import Log, opened
from driftbandit.online.merge import check_alike, merged
from driftbandit.online.pending import MOST_REPLICAS, REPLICA_SHIFT
from driftbandit.online.state import Settings, State
from driftbandit.online.summary import ArmSummary, View, as_table, summarised
from driftbandit.policies import Policy

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

Arms = Iterable[str | int]
Path = str | os.PathLike[str]


class Bandit:
    """Live decisions with any policy of this package; safe to use from many threads.

    Parameters:
        arms: their names, each a text or a whole number.
        policy: any policy; where its rewards add up, they age from the moment of each *decision*
            (driftbandit.online.evidence), else they are learned as they come (driftbandit.online.present).
        step_seconds: how long one step of the policy lasts; None: a step is a decision.
        seed: of the random numbers, from 0 to 2^64 − 1; None: a random one, kept in the state.
        replica: the number of this process among those that share a seed, from 0 to 4095.
        clock: gives the time in seconds where none is passed in.
        minimum_probability: a floor under the probability of every arm that is eligible in a decision.
        wait: how long a decision waits for its reward, in seconds (steps, where a step is a decision); None: for ever.
        default_reward: what a decision gets whose wait is over; None: nothing.
        log: a path, to which every decision (with its probability) and reward is appended as a line of JSON, or a
            function that is called with each as a dictionary.

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
        policy: Policy,
        *,
        step_seconds: float | None = None,
        seed: int | None = None,
        replica: int = 0,
        clock: Callable[[], float] = time_module.time,
        minimum_probability: float = 0.0,
        wait: float | None = None,
        default_reward: float | None = None,
        log: Log = None,
    ) -> None:
        settings = Settings(
            policy=policy,
            step_seconds=step_seconds,
            seed=seed,  # type: ignore[arg-type]  # None: a random one
            replica=replica,
            minimum_probability=minimum_probability,
            wait=wait,
            default_reward=default_reward,
        )
        self._begin(State.new(arms, settings, clock), log)

    def _begin(self, state: State, log: Log) -> None:
        """Go on from a state, which belongs to this bandit from now on."""
        rule, settings = state.chooser.rule, state.settings
        if log is not None and not rule.knows_odds:
            raise checks.reject("log", "None, as this policy's odds are not known (Rule.posterior, Rule.pieces)", log)
        self._journal = opened(log)
        self._state = state
        self._arms, self._timing, self._pending = state.arms, state.timing, state.pending
        self._evidence, self._chooser = state.evidence, state.chooser
        self._floor = settings.minimum_probability
        self._waits = settings.wait is not None
        self._first_id = settings.replica << REPLICA_SHIFT
        self._weighted, self._lucky = rule.selection == "weighted", rule.luck
        self._tick = 1 if settings.step_seconds is None else 0
        self._lock = threading.RLock()
        self._saving = threading.Lock()

    # Decisions

    def select(self, time: float | None = None, arms: Arms | None = None) -> Decision:
        """Choose an arm, of all or of some `arms` only, at a time in seconds (by default, the clock's)."""
        with self._lock:
            evidence, timing, chooser = self._evidence, self._timing, self._chooser
            some = None if arms is None else self._arms.numbers(arms)
            now = timing.steps if self._tick and time is None else timing.moment(time)
            if self._waits:
                self._state.expire(now)
            order = evidence.order if some is None else evidence.order.some(some)
            awake, count = order.active, order.count
            arm, place, chance, _, number = evidence.choose(now, order)
            stamp = now + self._tick
            if self._tick:
                timing.steps = when = stamp
            else:
                when = timing.latest
            if evidence.ticking:
                stamp = evidence.tick(arm, stamp)
            used = 1.0
            told: float | Snapshot
            if chance >= 0.0:
                told = 1.0 if count == 1 else self._floor + (1.0 - count * self._floor) * chance
                if self._weighted:
                    used = told
                    if self._lucky:
                        chance = -1.0  # the probability that is told averages over luck
            if chance < 0.0:
                shapes = evidence.shapes
                seen = shapes.tobytes() if awake == len(shapes) else shapes[:awake].tobytes()
                around = PLAIN if chooser.plain else chooser.seen()
                told = (seen, place, count - awake, self._floor, chooser.current, around)
            id = self._first_id + number
            decision = Decision(id, self._arms.names[arm], when, told)
            self._pending.decisions[id] = (arm, stamp, now, used, count)
            if self._journal is not None:
                self._journal.decision(decision)
            return decision

    # Rewards

    def reward(self, id: int, value: float, time: float | None = None) -> RewardStatus:
        """The reward of a decision, whenever it comes; `time` (by default, now) matters to `wait` only."""
        value = self._state.checked(value)
        with self._lock:
            if self._waits:
                self._state.expire(self._timing.reading(time))
            return self._take(id, value)

    def rewards(
        self, batch: Iterable[tuple[int, float]] | Mapping[int, float], time: float | None = None
    ) -> list[RewardStatus]:
        """Many rewards at once, as pairs (id, reward); all are checked before the first is learned."""
        pairs = list(batch.items() if isinstance(batch, Mapping) else batch)
        for pair in pairs:
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise checks.reject("batch", "pairs (id, reward)", pair)
        checked = [(checks.whole("id", id, 0, 1 << 53), self._state.checked(value)) for id, value in pairs]
        with self._lock:
            if self._waits:
                self._state.expire(self._timing.reading(time))
            return [self._take(id, value) for id, value in checked]

    def _take(self, id: int, value: float) -> RewardStatus:
        status, decision = self._pending.close(id, self._chooser)
        if decision is not None:
            self._state.learn(id, decision, value)
        if self._journal is not None:
            self._journal.reward(id, value, status)
        return status

    # Arms

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that are there, in the order in which they were added."""
        return self._arms.all_names()

    @property
    def decisions(self) -> int:
        """How many decisions were made, those of merged replicas included."""
        return self._chooser.sequence + sum(made for made, _ in self._pending.taken.values())

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
            self._state.settings.check_floor(len(self._arms) + 1)
            self._evidence.include(self._arms.add(arm), self._timing.steps)

    def remove(self, arm: str | int) -> None:
        """Take an arm away; rewards that are still to come for it are answered with "removed"."""
        with self._lock:
            number = self._arms.remove(arm)
            self._evidence.exclude(number)
            self._pending.forget(number)

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
        title = f"{self._state.settings.policy} · {len(self)} arms · {self.decisions} decisions"
        return as_table(self._summary(), title, limit)

    def plot(self, limit: int = 8) -> "Figure":
        """A figure of the posteriors of the most probable arms."""
        figures = importlib.import_module("driftbandit.figures.posteriors")  # a layer above: only here, and late
        title = f"{self._state.settings.policy} after {self.decisions} decisions"
        figure: Figure = figures.posteriors(self._summary(), title, limit)
        return figure

    def _summary(self, time: float | None = None) -> list[ArmSummary]:
        with self._lock:
            view, names = self._view(time), self._arms.names.copy()
        return summarised(view, names)

    def _view(self, time: float | None, numbers: list[int] | None = None) -> View:
        """What the next decision at a time, among these arms, would meet."""
        now, state = self._timing.reading(time), self._state
        if state.settings.default_reward is not None and self._pending.overdue(now):
            state = State.read(self.state(), self._timing.clock)  # decisions expire in a copy
            state.expire(now)
        return state.view(now, numbers)

    def __rich__(self) -> "Table":
        return self.describe()

    def __repr__(self) -> str:
        settings = self._state.settings
        step = "a decision" if settings.step_seconds is None else f"{settings.step_seconds:g} s"
        counts = f"{len(self)} arms, {self.decisions} decisions, {self.pending} pending"
        return f"<Bandit {settings.policy}, {counts}, step {step}>"

    # Files and replicas

    def state(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        with self._lock:
            return self._state.written()

    @classmethod
    def from_state(
        cls,
        state: Any,
        *,
        replica: int | None = None,
        clock: Callable[[], float] = time_module.time,
        log: Log = None,
        source: str = "state",
    ) -> Self:
        """Go on where `state()` was taken. With another `replica`, ids and random numbers are new ones."""
        try:
            found = State.read(state, clock)
        except InvalidValue as error:
            raise InvalidValue(f"{source}: {error}") from None
        if replica is not None and checks.whole("replica", replica, 0, MOST_REPLICAS - 1) != found.settings.replica:
            check_alike([found])
            found = merged([found], replica)
        return cls._of(found, log)

    def save(self, path: Path) -> None:
        """Write the state to a file. A kill at any moment leaves the old file or the new one."""
        with self._saving:  # or an older state could replace a newer one
            text = json.dumps(self.state(), allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
            with written_whole(path) as part:
                part.write_bytes(text.encode())

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        replica: int | None = None,
        clock: Callable[[], float] = time_module.time,
        log: Log = None,
    ) -> Self:
        """Go on from a file; the arguments are those of `from_state`."""
        state = read_json(path, "a saved bandit")
        return cls.from_state(state, replica=replica, clock=clock, log=log, source=os.fspath(path))

    @classmethod
    def merge(cls, bandits: Iterable["Bandit"], *, replica: int | None = None, log: Log = None) -> Self:
        """One bandit that knows what all of these know, and takes the rewards of their pending decisions."""
        given = list(bandits)
        if not given:
            raise checks.reject("bandits", "one bandit at least", given)
        for bandit in given:
            if not isinstance(bandit, Bandit):
                raise checks.reject("bandits", "bandits", bandit)
        check_alike([bandit._state for bandit in given])
        copies = [State.read(bandit.state(), bandit._timing.clock) for bandit in given]
        return cls._of(merged(copies, replica), log)

    @classmethod
    def _of(cls, state: State, log: Log) -> Self:
        bandit = cls(state.arms.all_names(), clock=state.timing.clock, **state.settings.arguments())
        bandit._begin(state, log)
        return bandit
