"""One live decision-maker: select an arm, reward the decision whenever the reward comes, save, restore, merge."""

import math
import os
import secrets
import threading
import time as time_module
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from driftbandit import checks
from driftbandit.online import family
from driftbandit.online.aging import aging_of
from driftbandit.online.decision import Decision, Snapshot
from driftbandit.online.journal import Journal, opened
from driftbandit.online.ledger import Ledger
from driftbandit.online.probabilities import rule_probabilities
from driftbandit.online.roster import Roster
from driftbandit.online.status import RewardStatus
from driftbandit.policies import Policy

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

REPLICA_SHIFT = 40
SEQUENCE = (1 << REPLICA_SHIFT) - 1
MOST_REPLICAS = 1 << 12
"""Ids stay below 2^52, which every JSON reader holds exactly."""
ANSWERED, REMOVED = -1, -2
"""In place of an arm number, in a pending decision that needs no reward any more."""

Pending = tuple[int, float, float, float, int]
"""Arm number, stamp, moment, probability and number of eligible arms of a decision."""


class Bandit:
    """Live decisions with any policy of this package.

    Parameters:
        arms: their names, each a text or a whole number.
        policy: any policy; its evidence ages from the moment of each *decision* (driftbandit.online.aging).
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
    >>> decision.probability
    0.5
    >>> str(bandit.reward(decision.id, 1.0)), str(bandit.reward(decision.id, 1.0))
    ('accepted', 'repeated')
    """

    def __init__(
        self,
        arms: Iterable[str | int],
        policy: Policy,
        *,
        step_seconds: float | None = None,
        seed: int | None = None,
        replica: int = 0,
        clock: Callable[[], float] = time_module.time,
        minimum_probability: float = 0.0,
        wait: float | None = None,
        default_reward: float | None = None,
        log: str | os.PathLike[str] | Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        if not isinstance(policy, Policy):
            raise checks.reject("policy", "a policy", policy)
        self._policy = policy
        self._roster = Roster(arms)
        self._step_seconds = None if step_seconds is None else checks.real("step_seconds", step_seconds, "(0, inf)")
        self._seed = np.uint64(secrets.randbits(64) if seed is None else checks.whole("seed", seed, 0, 2**64 - 1))
        self._replica = checks.whole("replica", replica, 0, MOST_REPLICAS - 1)
        if not callable(clock):
            raise checks.reject("clock", "a function that returns seconds", clock)
        self._clock = clock
        self._floor = checks.real("minimum_probability", minimum_probability, "[0, 1]")
        self._wait = None if wait is None else checks.real("wait", wait, "[0, inf)")
        self._largest = float(getattr(policy, "bound", 1.0))
        self._default = None if default_reward is None else self._checked(default_reward, "default_reward")
        self._journal: Journal | None = opened(log)

        rule = policy.rule(max(2, len(self._roster)))
        self._rule = rule
        self._parameters: dict[int, tuple[float, ...]] = {}
        self._ledger = Ledger(rule, aging_of(policy, rule), len(self._roster))
        self._ledger.include_first(len(self._roster))
        self._check_floor()
        self._weighted = rule.selection == "weighted"
        self._beta = family.beta_of(rule)
        self._choose: Any = None
        self._pending: dict[int, Pending] = {}
        self._issued: dict[int, tuple[int, int]] = {}
        """Of the replicas merged in: decisions made, and rewards learned."""
        self._sequence = 0
        self._learned = 0
        self._latest = -math.inf
        self._steps: float = 0
        self._lock = threading.RLock()
        self._saving = threading.Lock()

    # Decisions

    def select(self, time: float | None = None, arms: Iterable[str | int] | None = None) -> Decision:
        """Choose an arm, of all or of some `arms` only, at a time (by default, the clock's)."""
        with self._lock:
            now, seconds = self._moment(time)
            if self._wait is not None:
                self._expire(now)
            ledger = self._ledger
            weight = ledger.advance(now)
            if arms is None:
                order, active, count = ledger.order, ledger.active, ledger.count
                sleepy = ledger.sleepy
            else:
                order, active = ledger.masked(self._roster.numbers(arms))
                count = order.shape[1]
                sleepy = False
            sequence = self._sequence + 1
            if active < count:
                beta = self._beta
                assert beta is not None
                luck = family.sleeping_luck()(self._seed, self._replica, sequence)
                best = family.best_asleep(luck, count - active, beta, ledger.initial)
            else:
                best = 0.0
            choose = self._choose or self._compiled()
            arm, place, chance, left = choose(
                ledger.table,
                order,
                ledger.shapes,
                self._parameters.get(count) or self._parameters_for(count),
                ledger.initial,
                self._seed,
                self._replica,
                sequence,
                weight,
                active,
                count,
                self._floor,
                best,
                sleepy,
            )
            if sleepy:
                ledger.active = left
            self._sequence = sequence
            self._latest = seconds
            if self._step_seconds is None:
                stamp = self._steps = now + 1
                when: float = stamp
            else:
                stamp = self._steps = now
                when = seconds
            if ledger.aging.per_arm:
                stamp = ledger.tick(arm)
            id = (self._replica << REPLICA_SHIFT) + sequence
            used = 1.0
            if chance < 0.0:
                shapes = ledger.shapes
                evidence = shapes.tobytes() if active == len(shapes) else shapes[:active].tobytes()
                decision = Decision(
                    id,
                    self._roster.names[arm],
                    when,
                    Snapshot(evidence, place, count - active, self._floor, self._beta, ledger.initial),
                )
            else:
                chance = 1.0 if count == 1 else self._floor + (1.0 - count * self._floor) * chance
                used = chance if self._weighted else 1.0
                decision = Decision(id, self._roster.names[arm], when, chance)
            self._pending[id] = (arm, stamp, now, used, count)
            if self._journal is not None:
                self._journal.decision(decision)
            return decision

    def probabilities(self, time: float | None = None, arms: Iterable[str | int] | None = None) -> dict[Any, float]:
        """The exact probability that the next decision, at this time, chooses each arm."""
        with self._lock:
            now = self._reading_time(time)
            ledger = self._ledger
            numbers = self._roster.all_numbers() if arms is None else self._roster.numbers(arms)
            wanted = set(numbers)
            places = [i for i, k in enumerate(ledger.order[0, : ledger.active].tolist()) if k in wanted]
            order = ledger.order[0, places].tolist()
            seen = ledger.view(now)[places]
            asleep = len(numbers) - len(places)
            rule = self._policy.rule(max(2, len(numbers)))
        awake, each = rule_probabilities(rule, seen[:, :2], float(seen[:, 2].sum()), asleep)
        count = len(numbers)
        floored = {k: float(self._floor + (1.0 - count * self._floor) * p) for k, p in zip(order, awake, strict=True)}
        other = self._floor + (1.0 - count * self._floor) * each
        return {self._roster.names[k]: floored.get(k, other) for k in numbers}

    # Rewards

    def reward(self, id: int, value: float, time: float | None = None) -> RewardStatus:
        """The reward of a decision, in [0, 1], whenever it comes; `time` (by default, now) matters to `wait` only."""
        value = self._checked(value)
        with self._lock:
            if self._wait is not None:
                self._expire(self._reading_time(time))
            return self._take(id, value)

    def rewards(self, batch: Iterable[tuple[int, float]] | Mapping[int, float]) -> list[RewardStatus]:
        """Many rewards at once, as pairs (id, reward); all are checked before the first is learned."""
        pairs = list(batch.items() if isinstance(batch, Mapping) else batch)
        for pair in pairs:
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise checks.reject("batch", "pairs (id, reward)", pair)
        checked = [(checks.whole("id", id, 0, 2**53), self._checked(value)) for id, value in pairs]
        with self._lock:
            if self._wait is not None:
                self._expire(self._reading_time(None))
            return [self._take(id, value) for id, value in checked]

    def _take(self, id: int, value: float) -> RewardStatus:
        try:
            entry = self._pending.get(id)
        except TypeError:
            raise checks.reject("id", "the id of a decision", id) from None
        if entry is None:
            status = self._absent(id)
        elif entry[0] == ANSWERED:
            status = RewardStatus.REPEATED
        else:
            status = RewardStatus.REMOVED if entry[0] == REMOVED else RewardStatus.ACCEPTED
            if self._wait is None:
                del self._pending[id]
            else:
                self._pending[id] = (ANSWERED, *entry[1:])
            if status is RewardStatus.ACCEPTED:
                self._learn(id, entry, value)
        if self._journal is not None:
            self._journal.reward(id, value, status)
        return status

    def _learn(self, id: int, entry: Pending, value: float) -> None:
        arm, stamp, moment, chance, count = entry
        rule = self._rule
        if rule.binary and 0.0 < value < 1.0:
            # keyed by the decision, so that the outcome does not depend on when or where the reward comes
            value = float(family.trials()(self._seed, id >> REPLICA_SHIFT, id & SEQUENCE) < value)
        parameters = self._parameters.get(count) or self._parameters_for(count)
        a, b = rule.learn(parameters, 0.0, 0.0, value, chance)
        self._ledger.credit(arm, stamp, moment, a, b, id, self._replica)
        self._learned += 1

    def _absent(self, id: int) -> RewardStatus:
        number = checks.whole("id", id, 0, 2**53)
        replica, sequence = number >> REPLICA_SHIFT, number & SEQUENCE
        issued = self._sequence if replica == self._replica else self._issued.get(replica, (0, 0))[0]
        if not 1 <= sequence <= issued:
            return RewardStatus.UNKNOWN
        return RewardStatus.REPEATED if self._wait is None else RewardStatus.EXPIRED

    def _expire(self, now: float) -> None:
        """Close the decisions whose wait is over; they stand in the order in which they were made."""
        assert self._wait is not None
        wait = self._wait / (self._step_seconds or 1.0)
        tick = 1 if self._step_seconds is None else 0
        pending = self._pending
        while pending:
            id = next(iter(pending))
            entry = pending[id]
            if now - (entry[2] + tick) <= wait:
                return
            del pending[id]
            if entry[0] >= 0 and self._default is not None:
                self._learn(id, entry, self._default)

    # Arms

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that are there, in the order in which they were added."""
        return self._roster.all_names()

    @property
    def pending(self) -> int:
        """How many decisions still wait for their reward."""
        with self._lock:
            return sum(1 for entry in self._pending.values() if entry[0] >= 0)

    def add(self, arm: str | int) -> None:
        """A new arm, which every policy explores.

        Under exponential weights it starts with the weight of the best arm: with the weight of a fresh start it would
        hardly be chosen after some thousand rewards, or, where weights shrink, hardly anything else would.
        """
        with self._lock:
            number = self._roster.add(arm)
            try:
                self._check_floor()
            except ValueError:
                self._roster.remove(arm)
                raise
            start = self._ledger.initial
            if self._weighted:
                start = (self._ledger.log_weight_of_best(self._steps), start[1])
            self._ledger.include(number, start)

    def remove(self, arm: str | int) -> None:
        """Take an arm away; rewards that are still to come for it are answered with "removed"."""
        with self._lock:
            number = self._roster.remove(arm)
            self._ledger.exclude(number)
            for id, entry in self._pending.items():
                if entry[0] == number:
                    self._pending[id] = (REMOVED, *entry[1:])

    # State

    def state(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        from driftbandit.online.state import written

        with self._lock:
            return written(self)

    @classmethod
    def from_state(cls, state: Mapping[str, Any], **options: Any) -> "Bandit":
        """A bandit that goes on where `state()` was taken; `options` as for `load`."""
        from driftbandit.online.state import read

        return read(cls, state, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file. A kill at any moment leaves the old file or the new one."""
        from driftbandit.online.files import write_json

        with self._saving:  # or an older state could replace a newer one
            write_json(path, self.state())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        replica: int | None = None,
        clock: Callable[[], float] = time_module.time,
        log: Any = None,
    ) -> "Bandit":
        """Go on from a file. With another `replica`, ids and random numbers are new and the evidence is taken over."""
        from driftbandit.online.files import read_json

        return cls.from_state(read_json(path), replica=replica, clock=clock, log=log, source=os.fspath(path))

    @classmethod
    def merge(cls, bandits: Iterable["Bandit"], *, replica: int | None = None, log: Any = None) -> "Bandit":
        """One bandit that knows what all of these know, and answers for their pending decisions."""
        from driftbandit.online.merging import merged

        return merged(cls, list(bandits), replica, log)

    # Looking

    def describe(self, limit: int = 20) -> "Table":
        """A table of the arms: posterior mean and 95% interval, effective sample size, probability."""
        from driftbandit.online.summary import as_table

        return as_table(self, limit)

    def plot(self, limit: int = 8) -> "Figure":
        """A figure of the posteriors of the most probable arms."""
        from driftbandit.online.picture import drawn

        return drawn(self, limit)

    def __rich__(self) -> "Table":
        return self.describe()

    def __len__(self) -> int:
        return len(self._roster)

    def __repr__(self) -> str:
        step = "a decision" if self._step_seconds is None else f"{self._step_seconds:g} s"
        return f"<Bandit {self._policy}, {len(self)} arms, {self._sequence} decisions, {self._learned} rewards, step {step}>"

    # Inner workings

    def _moment(self, time: float | None) -> tuple[float, float]:
        """The time of a decision, in steps and in seconds."""
        if self._step_seconds is None:
            if time is not None:
                raise checks.reject("time", "None where a step is a decision", time)
            return self._steps, self._latest
        if time is None:
            seconds = max(checks.real("clock", self._clock()), self._latest)  # clocks are set back at times
        else:
            seconds = checks.real("time", time)
            if seconds < self._latest:
                raise checks.reject("time", f"at least {self._latest!r}, when the latest decision was made", time)
        return seconds / self._step_seconds, seconds

    def _reading_time(self, time: float | None) -> float:
        """The time at which the state is looked at, in steps; never before the latest decision."""
        if self._step_seconds is None:
            if time is not None:
                raise checks.reject("time", "None where a step is a decision", time)
            return self._steps
        seconds = checks.real("time", self._clock() if time is None else time)
        return max(seconds, self._latest) / self._step_seconds

    def _checked(self, value: Any, name: str = "reward") -> float:
        if type(value) is float and 0.0 <= value <= self._largest:
            return value
        if isinstance(value, bool | np.bool_):
            return float(value)
        return checks.real(name, value, f"[0, {self._largest:g}]")

    def _check_floor(self) -> None:
        count = len(self._roster)
        if self._floor * count > 1.0 + 1e-12:
            raise checks.reject("minimum_probability", f"at most 1/{count} for {count} arms", self._floor)

    def _parameters_for(self, count: int) -> tuple[float, ...]:
        found: tuple[float, ...] = self._policy.rule(max(2, count)).parameters
        self._parameters[count] = found
        return found

    def _compiled(self) -> Any:
        self._choose = family.chooser(self._rule, self._ledger.may_sleep)
        return self._choose
