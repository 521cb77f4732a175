"""The evidence of a live bandit: what each arm has earned, aged to any moment (driftbandit.online.aging).

Time is in steps. Evidence is held in three kinds: what this replica learned, what it started with, and what other
replicas had learned when they were merged in; each kind ages alike, and only their sum decides.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from driftbandit.online import family
from driftbandit.online.aging import SMALLEST_WEIGHT
from driftbandit.online.chooser import Chooser
from driftbandit.online.table import Integers, Reals, columns_of, empty_table, grown, swap
from driftbandit.online.window import Observation, Window

START = -1
"""The key of what arms started with, among the parts taken over."""


class Ledger:
    """Evidence by arm number, and the order in which arms are looked at."""

    __slots__ = (
        "_credit",
        "_learners",
        "_simply",
        "active",
        "at",
        "chooser",
        "clock",
        "count",
        "decays",
        "discount",
        "epoch",
        "evidence",
        "fading",
        "fresh",
        "initial",
        "may_sleep",
        "mixed",
        "order",
        "others",
        "parts",
        "reference",
        "restart",
        "rule",
        "shapes",
        "size",
        "sleepy",
        "table",
        "ticking",
        "window",
    )

    def __init__(self, chooser: Chooser, capacity: int, by_clock: bool) -> None:
        self.chooser = chooser
        self.rule = rule = chooser.rule
        self.clock = rule.clock
        self.size = len(rule.initial)
        self.at = columns_of(self.size)
        self.evidence, self.others = slice(self.at.count + 1), slice(self.at.other, self.at.other_count + 1)
        self.initial = tuple(map(float, rule.initial))
        self.discount = float(rule.one_decay)
        self.decays: Reals = np.array([*rule.decays, rule.one_decay], np.float64)
        """Of each number, and of their count."""
        self.mixed = len(set(rule.decays)) > 1
        self.fading = self.mixed or self.discount < 1.0
        self.fresh = by_clock and self.fading and any(self.initial)
        """Whether the first decision is still to come, before which nothing fades."""
        self.ticking = self.clock is not None
        """Whether a decision itself moves a clock."""
        self.restart = rule.restart
        self.window = Window(rule.window, self.size) if rule.window else None
        self.may_sleep = family.may_sleep(rule)
        self.table = empty_table(capacity, self.at)
        self.order: Integers = np.zeros((2, capacity), np.int64)
        self.shapes: Reals = np.empty((capacity, self.size))
        self.parts: dict[int, Reals] = {}
        """What was taken over, by replica: `[arm, (*numbers, observations, decisions)]`."""
        self.active = 0
        self.count = 0
        self.sleepy = False
        """Whether arms at their prior are drawn as a group."""
        self.reference = 0.0
        self.epoch = 0
        self._learners: dict[int, Callable[[float, float], tuple[float, ...]]] = {}
        """What a reward adds, by the number of eligible arms."""
        self._simply = not (self.fresh or self.mixed)
        self._credit = family.crediting()

    def include_first(self, count: int) -> None:
        """The arms with which a bandit starts: numbers 0 to `count` − 1."""
        self.order[:, :count] = np.arange(count)
        self.recount(count)
        self.active = 0 if self.sleepy else count
        self._set_start(self.order[0, :count])

    def include(self, number: int, start: tuple[float, ...], now: float) -> None:
        """A new arm, with evidence that it starts with (as it counts at this moment)."""
        if number >= len(self.table):
            self._grow(max(2 * len(self.table), number + 1))
        self.table[number] = 0.0
        self.table[number, self.at.weight] = 1.0
        if any(start):
            self._put_start(number, np.asarray(start) / self.factors(now)[:-1])
        self.order[0, self.count] = number
        self.order[1, number] = self.count
        self.recount(self.count + 1)
        if not self.sleepy or start != self.initial:
            self.wake(number)

    def _grow(self, capacity: int) -> None:
        more = empty_table(capacity, self.at)
        more[: len(self.table)] = self.table
        self.table = more
        self.order = grown(self.order, capacity, axis=1)
        self.shapes = np.empty((capacity, self.size))
        self.parts = {key: grown(part, capacity) for key, part in self.parts.items()}

    def exclude(self, number: int) -> None:
        """An arm that is no longer there."""
        if self.order[1, number] < self.active:
            self.active -= 1
            swap(self.order, self.order[1, number], self.active)
        self.recount(self.count - 1)
        swap(self.order, self.order[1, number], self.count)
        self.table[number] = 0.0
        for part in self.parts.values():
            part[number] = 0.0
        if self.window is not None:
            self.window.forget(number)
        if not self.sleepy:
            self.active = self.count

    def recount(self, count: int) -> None:
        """Whether arms at their prior are drawn as a group depends on how many arms there are."""
        self.count = count
        self.sleepy = self.may_sleep and count > family.FEW_ARMS

    def part(self, key: int) -> Reals:
        """What was taken over under this key."""
        if key not in self.parts:
            self.parts[key] = np.zeros((len(self.table), self.size + 2))
        return self.parts[key]

    def advance(self, now: float) -> float:
        """Move to a later moment; what stored evidence is to be multiplied by."""
        if self.window is not None:
            for row in self.window.departing(now):
                self.table[row.arm, self.evidence] = self.window.totals(row.arm)
        if self.restart and now // self.restart != self.epoch:
            self.epoch = int(now // self.restart)
            self._start_afresh()
        if not self.fading:
            return 1.0
        if not self._simply:
            if self.fresh:
                self.begin(now)
            if self.mixed:
                return self._advance_each(now)
        weight = float(self.discount ** (now - self.reference))
        if weight < SMALLEST_WEIGHT:
            self._settle(weight, now)
            return 1.0
        return weight

    def begin(self, now: float) -> None:
        """The first decision: from now on, what arms started with fades."""
        if self.fresh:
            self.reference, self.fresh, self._simply = now, False, not self.mixed

    def _advance_each(self, now: float) -> float:
        """The same where numbers fade differently: what each is multiplied by is left with the chooser."""
        factors = self.factors(now)
        if factors.min() < SMALLEST_WEIGHT:
            self._settle(factors, now)
            factors = np.ones(self.size + 1)
        self.chooser.weights[:] = factors[:-1]
        return 1.0

    def _settle(self, factors: Any, now: float) -> None:
        """Stored evidence becomes what it is worth now."""
        rows = self.order[0, : self.active]
        self.table[rows, self.evidence] *= factors
        self.table[rows, self.others] *= factors
        for part in self.parts.values():
            part[:, :-1] *= factors
        self.reference = now

    def factors(self, now: float) -> Reals:
        """What stored numbers, and their count, are to be multiplied by."""
        return self.decays ** (0.0 if self.fresh else max(0.0, now - self.reference))

    def tick(self, number: int, stamp: float) -> float:
        """Advance the clock of an arm that was just chosen; the stamp of the decision."""
        table, clock, at = self.table, self.clock, self.at
        assert clock is not None
        decisions = table.item(number, at.decisions) + table.item(number, at.other_decisions)
        shown = clock.shown(decisions)
        weight = clock.discount ** (shown - table.item(number, at.reference))
        if weight < SMALLEST_WEIGHT:
            table[number, self.evidence] *= weight
            table[number, self.others] *= weight
            for part in self.parts.values():
                part[number, :-1] *= weight
            table[number, at.reference] = shown
            weight = 1.0
        table[number, at.weight] = weight
        if weight != 1.0 and any(self.initial):
            self.wake(number)  # what it started with fades, so it is no longer like a new arm
        return clock.stamp(decisions)

    def credit(
        self,
        number: int,
        stamp: float,
        moment: float,
        reward: float,
        chance: float,
        eligible: int,
        id: int,
        writer: int,
    ) -> None:
        """The reward of a decision made at `moment`, whenever it came."""
        if self.restart and moment // self.restart != self.epoch:
            return
        amounts = (self._learners.get(eligible) or self._learner(eligible))(reward, chance)
        scale = 1.0
        if self.mixed:
            amounts = tuple((np.array(amounts) * self.decays[:-1] ** (self.reference - stamp)).tolist())
        elif self.fading:
            scale = self.discount ** (self.reference - stamp)
        elif self.clock is not None:
            scale = self.clock.discount ** (self.table.item(number, self.at.reference) - stamp)
        elif self.window is not None:
            self.window.insert(Observation(stamp, id, number, amounts, writer))
            self.table[number, self.evidence] = self.window.totals(number)
            self.wake(number)
            return
        self._credit(self.table, number, amounts, scale)
        if self.active < self.count:
            self.wake(number)

    def _learner(self, eligible: int) -> Callable[[float, float], tuple[float, ...]]:
        zeros = (0.0,) * self.size
        learner = self._learners[eligible] = functools.partial(
            self.rule.learn, self.chooser.parameters(eligible), *zeros
        )
        return learner

    def at_moment(self, now: float) -> "Ledger":
        """The ledger as the next decision meets it; it is not changed."""
        return self

    def view(self, now: float) -> Reals:
        """Evidence `[place, (*numbers, observations)]` of the active arms at a moment; nothing is changed."""
        if self.restart and now // self.restart != self.epoch:
            faded = self.decays ** (0.0 if self.fresh else now % self.restart)
            return np.tile(np.array([*self.initial, 0.0]) * faded, (self.active, 1))
        numbers = self.order[0, : self.active]
        seen = self.read(numbers, self.factors(now))
        if self.window is not None:
            ahead = Window(self.window.length, self.size)
            for row in self.window.rows():
                if now - row.stamp < self.window.length:
                    ahead.insert(row)
            own = np.array([ahead.totals(k) for k in numbers.tolist()]).reshape(-1, self.size + 1)
            seen = own + self.table[numbers, self.others]
        return seen

    def read(self, numbers: Integers, factors: Any) -> Reals:
        """Evidence of some arms, stored numbers multiplied by these factors."""
        rows = self.table[numbers]
        seen = (rows[:, self.evidence] + rows[:, self.others]) * (rows[:, self.at.weight, None] * factors)
        return np.asarray(seen)

    def total_of(self, seen: Reals) -> float:
        """How many observations arms with this evidence have, as `context` counts them."""
        if family.told_total(self.rule):
            assert self.rule.observations is not None
            return float(sum(self.rule.observations(self.rule.parameters, *own[:-1]) for own in seen.tolist()))
        return min(float(seen[:, -1].sum()), self.rule.steps_window or math.inf)

    def common(self) -> tuple[float, ...]:
        """The shared numbers."""
        return ()

    def masked(self, numbers: list[int]) -> tuple[Integers, int]:
        """An order of some arms only, and how many of them are active."""
        awake = [k for k in numbers if self.order[1, k] < self.active]
        asleep = [k for k in numbers if self.order[1, k] >= self.active]
        return np.array([awake + asleep], np.int64), len(awake)

    def wake(self, number: int) -> None:
        """An arm that is looked at on its own from now on."""
        if self.order[1, number] >= self.active:
            swap(self.order, self.order[1, number], self.active)
            self.active += 1

    def _start_afresh(self) -> None:
        self.table[:, self.evidence] = 0.0
        self.table[:, self.others] = 0.0
        for part in self.parts.values():
            part[:, :-1] = 0.0
        if self.window is not None:
            self.window.clear()
        if self.fading:
            self.reference = float(self.epoch * self.restart)
        self._set_start(self.order[0, : self.count])

    def _set_start(self, numbers: Integers) -> None:
        if any(self.initial):
            self._put_start(numbers, self.initial)

    def _put_start(self, numbers: Any, start: Any) -> None:
        self.part(START)[numbers, : self.size] = start
        self.table[numbers, self.at.other : self.at.other + self.size] = start

    def start_of_new(self, now: float) -> tuple[float, ...]:
        """What a new arm starts with: as any arm did, or, where arms are chosen by weight, level with the best."""
        if self.rule.selection != "weighted" or not self.active:
            return self.initial
        seen, rule = self.view(now), self.rule
        shared = rule.shared(self.total_of(seen), ())
        best = max(seen[:, :-1].tolist(), key=lambda own: rule.weigh(shared, tuple(own)))
        return tuple(best)
