"""One live decision-maker: select an arm, reward the decision whenever the reward comes, save, restore, merge."""

import math
import secrets
import sys
import threading
import time as time_module
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.compiling.linking import look_again
from driftbandit.online.aging import check_learning
from driftbandit.online.chooser import Chooser
from driftbandit.online.decision import Decision, Snapshot
from driftbandit.online.journal import Log, opened
from driftbandit.online.ledger import Ledger
from driftbandit.online.looking import Looking
from driftbandit.online.present import Present
from driftbandit.online.roster import Roster
from driftbandit.online.status import RewardStatus
from driftbandit.online.stored import Stored
from driftbandit.online.timing import Timing
from driftbandit.online.waiting import MOST_REPLICAS, NUMBER, REPLICA_SHIFT, Entry, Waiting
from driftbandit.policies import Policy
from driftbandit.policies.validation import tried

Arms = Iterable[str | int]


class Bandit(Stored, Looking):
    """Live decisions with any policy of this package; safe to use from many threads.

    Parameters:
        arms: their names, each a text or a whole number.
        policy: any policy; where its rewards add up, they age from the moment of each *decision*
            (driftbandit.online.aging), else they are learned as they come (driftbandit.online.present).
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
        if not isinstance(policy, Policy):
            raise checks.reject("policy", "a policy", policy)
        self._policy = policy
        self._roster = Roster(arms)
        self._timing = Timing(step_seconds, clock)
        self._seed = secrets.randbits(64) if seed is None else checks.whole("seed", seed, 0, 2**64 - 1)
        self._replica = checks.whole("replica", replica, 0, MOST_REPLICAS - 1)
        self._floor = checks.real("minimum_probability", minimum_probability, "[0, 1]")
        self._wait = None if wait is None else checks.real("wait", wait, "[0, inf)")

        n_arms = len(self._roster)
        self._check_floor(n_arms)
        look_again()
        rule = tried(policy, max(2, n_arms))
        check_learning(policy, rule)
        self._least = max(float(rule.least_reward), -sys.float_info.max)
        self._largest = min(float(rule.largest_reward), sys.float_info.max)
        self._interval = _interval(float(rule.least_reward), float(rule.largest_reward))
        self._default = None if default_reward is None else self._checked(default_reward, "default_reward")
        if log is not None and not rule.knows_odds:
            raise checks.reject("log", "None, as this policy's odds are not known (Rule.posterior, Rule.pieces)", log)
        self._journal = opened(log)
        self._weighted = rule.selection == "weighted"
        self._lucky = rule.luck
        self._tick = 1 if self._timing.step_seconds is None else 0
        self._chooser = Chooser(policy, n_arms, self._seed, self._replica, self._floor)
        self._ledger = self._new_ledger(n_arms)
        self._ledger.include_first(n_arms)
        self._waiting = Waiting(
            None if self._wait is None else self._wait / (self._timing.step_seconds or 1.0) + self._tick
        )
        self._taken: dict[int, tuple[int, int]] = {}
        """Of the replicas merged in: decisions made, and rewards learned."""
        self._learned = 0
        self._lock = threading.RLock()
        self._saving = threading.Lock()

    # Decisions

    def select(self, time: float | None = None, arms: Arms | None = None) -> Decision:
        """Choose an arm, of all or of some `arms` only, at a time in seconds (by default, the clock's)."""
        with self._lock:
            ledger, timing = self._ledger, self._timing
            mask = None if arms is None else self._roster.numbers(arms)
            now = timing.steps if self._tick and time is None else timing.moment(time)
            if self._wait is not None:
                self._expire(now)
            weight = ledger.advance(now)
            if mask is None:
                order, active, count, sleepy = ledger.order, ledger.active, ledger.count, ledger.sleepy
            else:
                order, active = ledger.masked(mask)
                count, sleepy = len(mask), False
            chooser = self._chooser
            stamp = now + self._tick
            if chooser.by_step:
                chooser.at_step(chooser.sequence + 1.0)
            arm, place, chance, left = chooser.choose(ledger, order, weight, active, count, sleepy)
            if sleepy:
                ledger.active = left
            id = (self._replica << REPLICA_SHIFT) + chooser.sequence
            if self._tick:
                timing.steps = when = stamp
            else:
                when = timing.latest
            if ledger.ticking:
                stamp = ledger.tick(arm, stamp)
            used = 1.0
            told: float | Snapshot
            if chance >= 0.0:
                told = 1.0 if count == 1 else self._floor + (1.0 - count * self._floor) * chance
                if self._weighted:
                    used = told
                    if self._lucky:
                        chance = -1.0  # what luck decided is no part of the probability that is told
            if chance < 0.0:
                shapes = ledger.shapes
                evidence = shapes.tobytes() if active == len(shapes) else shapes[:active].tobytes()
                more = None if chooser.plain else chooser.seen()
                told = (evidence, place, count - active, self._floor, chooser.current, more)
            decision = Decision(id, self._roster.names[arm], when, told)
            self._waiting.entries[id] = (arm, stamp, now, used, count)
            if self._journal is not None:
                self._journal.decision(decision)
            return decision

    # Rewards

    def reward(self, id: int, value: float, time: float | None = None) -> RewardStatus:
        """The reward of a decision, whenever it comes; `time` (by default, now) matters to `wait` only."""
        value = self._checked(value)
        with self._lock:
            if self._wait is not None:
                self._expire(self._timing.reading(time))
            return self._take(id, value)

    def rewards(
        self, batch: Iterable[tuple[int, float]] | Mapping[int, float], time: float | None = None
    ) -> list[RewardStatus]:
        """Many rewards at once, as pairs (id, reward); all are checked before the first is learned."""
        pairs = list(batch.items() if isinstance(batch, Mapping) else batch)
        for pair in pairs:
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise checks.reject("batch", "pairs (id, reward)", pair)
        checked = [(checks.whole("id", id, 0, 1 << 53), self._checked(value)) for id, value in pairs]
        with self._lock:
            if self._wait is not None:
                self._expire(self._timing.reading(time))
            return [self._take(id, value) for id, value in checked]

    def _take(self, id: int, value: float) -> RewardStatus:
        waiting = self._waiting
        waiting.issued[self._replica] = self._chooser.sequence
        status, entry = waiting.close(id)
        if entry is not None:
            self._learn(id, entry, value)
        if self._journal is not None:
            self._journal.reward(id, value, status)
        return status

    def _learn(self, id: int, entry: Entry, value: float) -> None:
        arm, stamp, moment, chance, count = entry
        chooser = self._chooser
        if chooser.rule.binary and value != 0.0 and value != 1.0:
            value = float(chooser.trial(id >> REPLICA_SHIFT, id & NUMBER) < value)
        self._ledger.credit(arm, stamp, moment, value, chance, count, id, self._replica)
        self._learned += 1

    def _expire(self, now: float) -> None:
        for id, entry in self._waiting.expired(now):
            if self._default is not None:
                self._learn(id, entry, self._default)

    # Arms

    @property
    def arms(self) -> tuple[Any, ...]:
        """The arms that are there, in the order in which they were added."""
        return self._roster.all_names()

    @property
    def decisions(self) -> int:
        """How many decisions were made, those of merged replicas included."""
        return self._chooser.sequence + sum(made for made, _ in self._taken.values())

    @property
    def pending(self) -> int:
        """How many decisions still wait for their reward."""
        with self._lock:
            return self._waiting.open(self._timing.reading(None))

    def add(self, arm: str | int) -> None:
        """A new arm, which every policy explores.

        Under weights that add up it starts with the weight of the best arm: with that of a fresh start it would
        hardly be chosen once weights have grown, or, where they shrink, hardly any other would.
        """
        with self._lock:
            self._check_floor(len(self._roster) + 1)
            number = self._roster.add(arm)
            now = self._timing.steps
            self._ledger.include(number, self._ledger.start_of_new(now), now)

    def remove(self, arm: str | int) -> None:
        """Take an arm away; rewards that are still to come for it are answered with "removed"."""
        with self._lock:
            number = self._roster.remove(arm)
            self._ledger.exclude(number)
            self._waiting.forget(number)

    def __len__(self) -> int:
        return len(self._roster)

    # Inner workings

    def _new_ledger(self, capacity: int) -> Ledger:
        kind = Ledger if self._chooser.rule.learning == "additive" else Present
        return kind(self._chooser, capacity, by_clock=not self._tick)

    def _checked(self, value: Any, name: str = "reward") -> float:
        if type(value) is float and self._least <= value <= self._largest:
            return value
        if isinstance(value, bool | np.bool_):
            value = float(value)
        return checks.real(name, value, self._interval)

    def _check_floor(self, count: int) -> None:
        if self._floor * count > 1.0 + 1e-12:
            raise checks.reject("minimum_probability", f"at most 1/{count} for {count} arms", self._floor)


def _interval(low: float, high: float) -> str:
    """The rewards that a rule can learn from, as text."""
    ends = [f"{end:g}" if float(f"{end:g}") == end else repr(end) for end in (low, high)]
    return f"{'[' if math.isfinite(low) else '('}{ends[0]}, {ends[1]}{']' if math.isfinite(high) else ')'}"
