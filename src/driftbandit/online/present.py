"""Numbers that are kept as they are: for rules whose rewards do not add up, and are learned as they come.

Before a decision, all numbers age by the time since the last one, in steps and fractions of them; after t steps

    x  ←  d^t·x + c·(1 − d^t)/(1 − d)            with the decay d and the drift c of a number (c·t where d = 1)

and where a step is a decision, one step follows each decision. A reward is learned on the numbers that are there when
it comes, by the functions of the engine: a live bandit is a block of one run. The time of an
observation is that of the latest decision before its reward came.
"""

import collections
import copy
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.compiling.gears import Functions, Gears, geared
from driftbandit.engine.cpu import context, watch
from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.engine.cpu.shard import block_slots
from driftbandit.engine.step.parts import forgotten, heard, own_of, put_own, renewed, take
from driftbandit.engine.step.rule_slots import rule_slots
from driftbandit.entries import SUMMABLE, Entries
from driftbandit.errors import InvalidValue
from driftbandit.online.chooser import Chooser
from driftbandit.online.evidence import Evidence, empty_table
from driftbandit.online.pending import Waiting
from driftbandit.online.sleeping import Order, grown


class Kept(NamedTuple):
    """What the engine's functions look at beside the arms' numbers (as `engine.cpu.block.Memory`, with one run)."""

    common: Reals  # [number, 1]
    start: tuple[float, ...]
    own_window: int
    history: int
    past: Reals  # [arm, 1, place in the ring]
    past_count: NDArray[np.int64]  # [arm, 1]
    there: Integers  # the arms
    mean: Reals  # [1]: room for that of their first numbers


class News(NamedTuple):
    """One reward (as `engine.cpu.block.Desk`, with one run)."""

    chosen: NDArray[np.int64]
    reward: Reals
    probability: Reals


def take_in(p: Any, numbers: Reals, kept: Kept, news: News, arm: int, reward: float, chance: float) -> None:
    """Shared numbers take notice, the arm learns, and its last rewards move on."""
    news.chosen[0] = arm
    news.reward[0] = reward
    news.probability[0] = chance
    take(p, numbers, kept, news)


def leave(p: Any, numbers: Reals, arm: int, reward: float) -> None:
    """An observation leaves the window."""
    own = numbers[arm]
    put_own(own, 0, forgotten(p, own_of(own, 0), reward))


def hear(p: Any, numbers: Reals, kept: Kept, arm: int) -> Any:
    """Whether the arm raises the alarm."""
    return heard(p, numbers, kept, arm, 0)


def renew(p: Any, kept: Kept) -> None:
    """What an alarm does to shared numbers."""
    renewed(p, kept, 0)


class Present(Evidence):
    """Numbers by arm as they are now, and what else their rule looks at."""

    def __init__(self, chooser: Chooser, capacity: int, by_clock: bool) -> None:
        super().__init__(chooser, capacity, by_clock)
        self.clock = self.window = None
        self.fresh, self._latest_start = by_clock, math.inf
        self.ticking = not by_clock
        self._shared = chooser.common
        self.past: Reals = np.zeros((capacity, 1, self.rule.ring))
        self.past_count: NDArray[np.int64] = np.zeros((capacity, 1), np.int64)
        self.recent: collections.deque[tuple[float, int, float]] = collections.deque()
        """When, of which arm and what: the rewards in a window of steps, oldest first."""
        self._news = News(np.zeros(1, np.int64), np.zeros(1), np.zeros(1))
        self._gears: dict[Any, Gears] = {}
        self._bind()

    def _bind(self) -> None:
        """Views of the same arrays, laid out as the engine's functions expect."""
        rule = self.rule
        self._numbers = self.table[:, : self.size, None]
        self._kept = Kept(
            self._shared.reshape(-1, 1),
            tuple(map(float, rule.common)),
            rule.window if rule.window_of == "choices" else 0,
            rule.history,
            self.past,
            self.past_count,
            self.order.all,
            np.zeros(1),
        )

    def _run(self, function: Any, *arguments: Any) -> Any:
        gears = self._geared(function)
        return (gears.kernel or gears)(*arguments)

    def _geared(self, function: Any) -> Gears:
        if function not in self._gears:
            slots = rule_slots(self.rule, context, watch) | block_slots(self.rule)
            self._gears[function] = geared(function, **slots)
        return self._gears[function]

    def functions(self) -> Functions:
        """What decisions and rewards run, each with arguments of the right types."""
        yield from self.chooser.functions(self.table, self.shapes, self.order)
        p, numbers, kept = self.chooser.parameters(self.order.count), self._numbers, self._kept
        yield self._geared(take_in), (p, numbers, kept, self._news, 0, 1.0, 1.0)
        if self.rule.steps_window:
            yield self._geared(leave), (p, numbers, 0, 1.0)
        if self.rule.alarm is not None:
            yield self._geared(hear), (p, numbers, kept, 0)
            yield self._geared(renew), (p, kept)

    def grow(self, capacity: int) -> None:
        """Room for more arms."""
        super().grow(capacity)
        self.past, self.past_count = grown(self.past, capacity), grown(self.past_count, capacity)
        self._bind()

    def start_of_new(self, now: float) -> tuple[float, ...]:
        """What a new arm starts with."""
        return self.initial

    def _put_start(self, numbers: Any, start: Any) -> None:
        self.start_again([numbers])

    def exclude(self, number: int) -> None:
        """An arm that is no longer there."""
        super().exclude(number)
        self._forget([number])

    def advance(self, now: float) -> float:
        """All numbers age."""
        if self.restart and now // self.restart != self.epoch:
            self.epoch = int(now // self.restart)
            self._start_afresh()
        self.begin(now)
        self._age(now)
        self._depart()
        return 1.0

    def _age(self, now: float) -> None:
        steps = now - self.reference
        self.reference = now
        if steps <= 0.0:
            return
        table, size = self.table, self.size
        if self.fading:
            table[:, : size + 1] *= self.decays**steps
        if any(self.rule.drifts):
            drifts = [c * _sum_of_powers(d, steps) for c, d in zip(self.rule.drifts, self.rule.decays, strict=True)]
            table[:, :size] += drifts

    def _depart(self) -> None:
        """What has been in the window for its length leaves it."""
        length, recent = self.rule.steps_window, self.recent
        while recent and self.reference - recent[0][0] >= length:
            _, arm, reward = recent.popleft()
            self._run(leave, self.chooser.parameters(self.order.count), self._numbers, arm, reward)
            if self.discount == 1.0:
                self.table[arm, self.at.count] -= 1.0

    def tick(self, number: int, stamp: float) -> float:
        """Where a step is a decision, all numbers age with it."""
        self._age(stamp)
        return stamp

    def credit(self, decision: Waiting, reward: float, id: int) -> None:
        """The reward of a decision, which is learned now."""
        number, _, moment, chance, eligible = decision
        rule, parameters = self.rule, self.chooser.parameters(eligible)
        if self.restart and moment // self.restart != self.epoch:
            return
        if rule.blend is not None:
            self._kept = self._kept._replace(there=self.order.all)  # arms may have come and gone
        self._run(take_in, parameters, self._numbers, self._kept, self._news, number, reward, chance)
        self.table[number, self.at.count] += 1.0
        if rule.steps_window:
            self.recent.append((self.reference, number, reward))
            self._depart()
        if rule.alarm is not None and self._run(hear, parameters, self._numbers, self._kept, number):
            self.start_again([number] if rule.alarm_resets == "arm" else self.order.all.tolist())
            self._run(renew, parameters, self._kept)

    def shift(self, steps: float, now: float) -> None:
        """Time was set later by so many steps, and is `now`: everything is as old as it was."""
        super().shift(steps, now)
        self.recent = collections.deque((stamp + steps, arm, reward) for stamp, arm, reward in self.recent)

    def at_moment(self, now: float, order: Order) -> "Present":
        """The evidence as the next decision among these arms meets it; this is not changed."""
        other = self.copied()
        other.advance(now)
        return other

    def copied(self) -> "Present":
        """A copy that can be changed."""
        other = copy.copy(self)
        other.table, other.past_count = self.table.copy(), self.past_count.copy()
        other.recent, other._shared = self.recent.copy(), self._shared.copy()
        other._bind()
        return other

    def view(self, now: float) -> Reals:
        """The numbers of all arms, in order, and how many observations they stand for."""
        other = self.at_moment(now, self.order)
        seen: Reals = other.table[other.order.all, : self.size + 1]
        if self.rule.observations is not None:
            seen[:, -1] = [self.rule.observations(self.rule.parameters, *own[:-1]) for own in seen.tolist()]
        return seen

    def history(self, number: int) -> list[float]:
        """The last rewards of an arm that are kept, oldest first."""
        count, ring = self.past_count.item(number, 0), self.rule.ring
        return [self.past.item(number, 0, i % ring) for i in range(max(0, count - ring), count if ring else 0)]

    def common(self) -> tuple[float, ...]:
        """The shared numbers."""
        return tuple(self._shared.tolist())

    def start_again(self, numbers: list[int]) -> None:
        """Arms of which nothing is known any more."""
        self.table[numbers, : self.size] = self.initial
        self._forget(numbers)

    def _forget(self, numbers: list[int]) -> None:
        self.table[numbers, self.at.count] = 0.0
        self.past_count[numbers] = 0
        if self.recent:
            gone = set(numbers)
            self.recent = collections.deque(row for row in self.recent if row[1] not in gone)

    def _start_afresh(self) -> None:
        self.start_again(self.order.all.tolist())
        self._shared[:] = self.rule.common
        self.reference = float(self.epoch * self.restart)

    def _set_start(self, numbers: Any) -> None:
        self.start_again(numbers.tolist())

    def state(self) -> dict[str, Any]:
        """What a file says of evidence."""
        past = [(k, self.past_count.item(k, 0)) for k in self.order.all.tolist()]
        return {
            **super().state(),
            "window": [list(row) for row in self.recent],
            "common": list(self.common()),
            "histories": [[k, count, self.history(k)] for k, count in past if count],
        }

    def _read_at(self, numbers: Integers, now: float) -> Reals:
        return self.read(numbers, 1.0)

    def restore_more(self, entries: Entries, known: set[int]) -> None:
        """Take over what a file says beside the table."""
        at, rule = self.at, self.rule
        if np.any(self.table[:, at.other :] != empty_table(1, at)[:, at.other :]) or entries.items("parts"):
            raise InvalidValue("table must be of one replica for this policy")
        self._shared[:] = entries.reals("common", len(rule.common))
        for row in entries.rows("histories", 3):
            arm, count = row.member("histories", 0, known), row.whole("histories", 1, 0)
            rewards = row.items("histories", 2)
            if len(rewards) != min(count, rule.ring):
                raise checks.reject("histories", f"{min(count, rule.ring)} rewards of arm {arm}", rewards)
            self.past_count[arm] = count
            for place, value in enumerate(rewards, start=count - len(rewards)):
                self.past[arm, 0, place % rule.ring] = checks.real("histories", value, SUMMABLE)
        rows = entries.rows("window", 3)
        if rows and not rule.steps_window:
            raise InvalidValue("window must be empty for this policy")
        stamps = [row.real("window", 0) for row in rows]
        if stamps != sorted(stamps):
            raise InvalidValue("window must have the oldest reward first")
        for stamp, row in zip(stamps, rows, strict=True):
            self.recent.append((stamp, row.member("window", 1, known), row.real("window", 2)))


def _sum_of_powers(decay: float, steps: float) -> float:
    """1 + d + d² + … over so many steps, fractions counted."""
    if decay == 1.0 or steps == 1.0:
        return steps
    return -math.expm1(steps * math.log(decay)) / (1.0 - decay)
