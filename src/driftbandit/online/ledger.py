"""The evidence of a live bandit: what each arm has earned, aged to any moment (driftbandit.online.aging).

Time is in steps. Evidence is held in three kinds: what this replica learned, what it started with, and what other
replicas had learned when they were merged in; each kind ages alike, and only their sum decides.
"""

import math

import numpy as np

from driftbandit.online import family
from driftbandit.online.aging import SMALLEST_WEIGHT, Aging
from driftbandit.online.table import (
    OTHER_A,
    OTHER_B,
    OTHER_COUNT,
    OTHER_DECISIONS,
    OWN_A,
    OWN_COUNT,
    OWN_DECISIONS,
    REFERENCE,
    WEIGHT,
    Integers,
    Reals,
    empty_table,
    grown,
    swap,
)
from driftbandit.online.window import Observation, Window
from driftbandit.policies import Rule

START = -1
"""The key of what arms started with, among the parts taken over."""
EVIDENCE = slice(OWN_A, OWN_COUNT + 1)
OTHERS = slice(OTHER_A, OTHER_COUNT + 1)


class Ledger:
    """Evidence by arm number, and the order in which arms are looked at."""

    __slots__ = (
        "_credit",
        "active",
        "aging",
        "count",
        "epoch",
        "fading",
        "initial",
        "may_sleep",
        "order",
        "parts",
        "reference",
        "restart",
        "shapes",
        "sleepy",
        "table",
        "window",
    )

    def __init__(self, rule: Rule, aging: Aging, capacity: int) -> None:
        self.aging = aging
        self.fading = aging.discount < 1.0 and not aging.per_arm
        self.initial = (float(rule.initial[0]), float(rule.initial[1]))
        self.restart = rule.restart
        self.window = Window(rule.window) if rule.window else None
        self.may_sleep = family.may_sleep(rule, aging.per_arm)
        self.table = empty_table(capacity)
        self.order: Integers = np.zeros((2, capacity), np.int64)
        self.shapes: Reals = np.empty((capacity, 2))
        self.parts: dict[int, Reals] = {}
        """What was taken over, by replica: `[arm, (a, b, observations, decisions)]`."""
        self.active = 0
        self.count = 0
        self.sleepy = False
        """Whether arms at their prior are drawn as a group."""
        self.reference = 0.0
        self.epoch = 0
        self._credit = family.crediting()

    def include_first(self, count: int) -> None:
        """The arms with which a bandit starts: numbers 0 to `count` − 1."""
        self.order[:, :count] = np.arange(count)
        self.recount(count)
        self.active = 0 if self.sleepy else count
        self._set_start(self.order[0, :count])

    def include(self, number: int, start: tuple[float, float]) -> None:
        """A new arm, with evidence that it starts with (as it counts now)."""
        if number >= len(self.table):
            capacity = max(2 * len(self.table), number + 1)
            more = empty_table(capacity)
            more[: len(self.table)] = self.table
            self.table = more
            self.order = grown(self.order, capacity, axis=1)  # type: ignore[assignment]
            self.shapes = np.empty((capacity, 2))
            self.parts = {key: grown(part, capacity) for key, part in self.parts.items()}  # type: ignore[misc]
        self.table[number] = 0.0
        self.table[number, WEIGHT] = 1.0
        if any(start):
            self.part(START)[number, :2] = start
            self.table[number, OTHER_A : OTHER_B + 1] = start
        self.order[0, self.count] = number
        self.order[1, number] = self.count
        self.recount(self.count + 1)
        if not self.sleepy or start != self.initial:
            self.wake(number)

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
            self.parts[key] = np.zeros((len(self.table), 4))
        return self.parts[key]

    def advance(self, now: float) -> float:
        """Move to a later moment; what stored evidence is to be multiplied by."""
        if self.window is not None:
            for row in self.window.departing(now):
                self.table[row.arm, EVIDENCE] = self.window.totals(row.arm)
        if self.restart and now // self.restart != self.epoch:
            self._start_afresh()
            self.epoch = int(now // self.restart)
        if not self.fading:
            return 1.0
        weight = float(self.aging.discount ** (now - self.reference))
        if weight < SMALLEST_WEIGHT:
            rows = self.order[0, : self.active]
            self.table[rows, EVIDENCE] *= weight
            self.table[rows, OTHERS] *= weight
            for part in self.parts.values():
                part[:, :3] *= weight
            self.reference = now
            return 1.0
        return weight

    def tick(self, number: int) -> float:
        """Advance the clock of an arm that was just chosen; the stamp of the decision."""
        table, aging = self.table, self.aging
        decisions = table.item(number, OWN_DECISIONS) + table.item(number, OTHER_DECISIONS)
        clock = aging.arm_clock(decisions)
        weight = aging.discount ** (clock - table.item(number, REFERENCE))
        if weight < SMALLEST_WEIGHT:
            table[number, EVIDENCE] *= weight
            table[number, OTHERS] *= weight
            for part in self.parts.values():
                part[number, :3] *= weight
            table[number, REFERENCE] = clock
            weight = 1.0
        table[number, WEIGHT] = weight
        if weight != 1.0 and any(self.initial):
            self.wake(number)  # what it started with fades, so it is no longer like a new arm
        return aging.arm_stamp(decisions)

    def credit(self, number: int, stamp: float, moment: float, a: float, b: float, id: int, writer: int) -> None:
        """Evidence of a decision made at `moment`, whenever the reward came."""
        scale = 1.0
        if self.fading:
            scale = self.aging.discount ** (self.reference - stamp)
        elif self.aging.per_arm:
            scale = self.aging.discount ** (self.table.item(number, REFERENCE) - stamp)
        elif self.window is not None:
            self.window.insert(Observation(stamp, id, number, a, b, writer))
            self.table[number, EVIDENCE] = self.window.totals(number)
            self.wake(number)
            return
        elif self.restart and moment // self.restart != self.epoch:
            return
        self._credit(self.table, number, a, b, scale)
        if self.active < self.count:
            self.wake(number)

    def view(self, now: float) -> Reals:
        """Evidence `[place, (a, b, observations)]` of the active arms, in order, at a moment; nothing is changed."""
        rows = self.table[self.order[0, : self.active]]
        weight = rows[:, WEIGHT]
        if self.fading:
            weight = weight * self.aging.discount ** max(0.0, now - self.reference)
        if self.restart and now // self.restart != self.epoch:
            return np.tile([*self.initial, 0.0], (self.active, 1))
        seen = (rows[:, EVIDENCE] + rows[:, OTHERS]) * weight[:, None]
        if self.window is not None:
            ahead = Window(self.window.length)
            for row in self.window.rows():
                if now - row.stamp < self.window.length:
                    ahead.insert(row)
            seen = np.array([ahead.totals(k) for k in self.order[0, : self.active].tolist()]).reshape(-1, 3)
        return np.asarray(seen)

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
        self.table[:, EVIDENCE] = 0.0
        self.table[:, OTHERS] = 0.0
        for part in self.parts.values():
            part[:, :3] = 0.0
        self._set_start(self.order[0, : self.count])

    def _set_start(self, numbers: Integers) -> None:
        if any(self.initial):
            self.part(START)[numbers, :2] = self.initial
            self.table[numbers, OTHER_A : OTHER_B + 1] = self.initial

    def log_weight_of_best(self, now: float) -> float:
        """The largest evidence a of any arm."""
        return float(np.max(self.view(now)[:, 0], initial=-math.inf))
