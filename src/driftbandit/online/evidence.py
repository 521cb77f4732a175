"""The evidence of a live bandit where rewards add up: what each arm has earned, aged to any moment.

The formula does not depend on the order of rewards. A reward is worth what it was worth at the moment of its
*decision*, faded by what happened since:

    evidence of an arm now  =  Σ  increment_i · γ^(s − σ_i),      increment_i = learn(0, …, reward_i, probability_i)

where σ_i, the *stamp*, was read from a clock when decision i was made and s is what that clock shows now. A sum has no
order, and nothing in a term depends on when the reward came. Rules differ only in the clock:

    decay                  one clock for all arms: steps, and a γ for each number
    clock (a `Clock`)      one clock per arm: its own decisions, the first `grace` left out

Dynamic Thompson sampling adds rewards up to C observations, then shrinks by C/(C + 1) at each decision of the arm, the
new reward included. Starting from α0 + β0 the threshold is reached after j* = ⌈C − α0 − β0⌉ decisions whatever the
rewards are, so with n decisions of the arm s = max(0, n − j*), and decision n is stamped max(0, n − 1 − j*).

Terms are kept relative to a reference: increment·γ^(reference − σ) is stored, and γ^(s − reference) applied when
it is read. The reference moves up before numbers grow out of hand. Time is in steps.

Evidence is kept as three sums (what this replica learned, what arms started with, and what other replicas had learned
when they were merged in) that age alike; a choice sees their total. Rules whose rewards do not add up learn them as
they come (driftbandit.online.present).
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.compiling.gears import Functions, geared_part
from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.exact.choice import What
from driftbandit.online.choice_kernels import Choice, Columns, columns_of
from driftbandit.online.chooser import Chooser, can_score, shared_by, told_total
from driftbandit.online.pending import LARGEST_ID, MOST_REPLICAS, Waiting
from driftbandit.online.sleeping import Order, grown, may_sleep
from driftbandit.online.window import Observation, Window

START = -1
"""In `parts`, the key of the numbers that arms started with."""
SMALLEST_WEIGHT = 1e-60
"""Below this the reference moves up; stored numbers are then below 1e60 times the evidence."""
LARGEST_SCALE = 1e100
"""A term that would be stored as more times itself moves the reference up too: by decisions, it is a step ahead."""


class Evidence:
    """Evidence by arm number, and the order in which arms are looked at."""

    def __init__(self, chooser: Chooser, capacity: int, by_clock: bool) -> None:
        self.chooser = chooser
        self.rule = rule = chooser.rule
        self.clock = rule.clock
        self.size = len(rule.initial)
        self.at = columns_of(self.size)
        self.mine, self.others = slice(self.at.count + 1), slice(self.at.other, self.at.other_count + 1)
        """Columns: the numbers that this replica learned and their count, and those taken over."""
        self.initial = tuple(map(float, rule.initial))
        self.discount = float(rule.one_decay)
        self.decays: Reals = np.array([*rule.decays, rule.one_decay], np.float64)
        """Of each number, and of their count."""
        self.mixed = len(set(rule.decays)) > 1
        self.fading = self.mixed or self.discount < 1.0
        self.fresh = by_clock and self.fading
        """True until the first decision: nothing fades before it."""
        self._latest_start = math.inf if any(self.initial) else 0.0
        """The reference is the first decision, or, where that fades nothing, this, if it comes before."""
        self._reach = math.log(LARGEST_SCALE) / -math.log(self.decays.min()) if self.fading else math.inf
        self.ticking = self.clock is not None
        """Whether a decision itself moves a clock."""
        self.restart = rule.restart
        self.window = Window(rule.window, self.size) if rule.window else None
        self.table = empty_table(capacity, self.at)
        self.order = Order(capacity, may_sleep(rule))
        self.shapes: Reals = np.empty((capacity, self.size))
        self.parts: dict[int, Reals] = {}
        """What was taken over, by replica: `[arm, (*numbers, observations, decisions)]`."""
        self.reference = 0.0
        self.epoch = 0
        self._learners: dict[int, Callable[[float, float], tuple[float, ...]]] = {}
        """What a reward adds, by the number of eligible arms."""
        self._simply = not (self.fresh or self.mixed)
        self._credit: Any = None

    # Arms

    def include_first(self, count: int) -> None:
        """The arms with which a bandit starts: numbers 0 to `count` − 1."""
        self.order.fill(np.arange(count))
        self._set_start(self.order.all)

    def include(self, number: int, now: float, start: tuple[float, ...] | None = None) -> None:
        """A new arm, which starts with these numbers, or as `start_of_new` says."""
        start = self.start_of_new(now) if start is None else start
        if number >= len(self.table):
            self.grow(max(2 * len(self.table), number + 1))
        self.table[number] = 0.0
        self.table[number, self.at.weight] = 1.0
        if any(start):
            self._put_start(number, np.asarray(start) / self.factors(now)[:-1])
        self.order.add(number)
        if start != self.initial:
            self.order.wake(number)

    def start_of_new(self, now: float) -> tuple[float, ...]:
        """What a new arm starts with: as any arm did, or, where its first number is its weight, level with the best."""
        by_number = self.rule.selection == "weighted" and self.rule.log_weight is None
        if not by_number or not self.order.active:
            return self.initial
        seen, rule = self.view(now), self.rule
        shared = rule.shared(self.total_of(seen), ())
        best = max(seen[:, :-1].tolist(), key=lambda own: rule.weigh(shared, tuple(own)))
        return tuple(best)

    def grow(self, capacity: int) -> None:
        """Room for more arms."""
        more = empty_table(capacity, self.at)
        more[: len(self.table)] = self.table
        self.table = more
        self.order.grow(capacity)
        self.shapes = np.empty((capacity, self.size))
        self.parts = {key: grown(part, capacity) for key, part in self.parts.items()}

    def exclude(self, number: int) -> None:
        """An arm that is no longer there."""
        self.order.remove(number)
        self.table[number] = 0.0
        for part in self.parts.values():
            part[number] = 0.0
        if self.window is not None:
            self.window.forget(number)

    def part(self, key: int) -> Reals:
        """What was taken over under this key."""
        if key not in self.parts:
            self.parts[key] = np.zeros((len(self.table), self.size + 2))
        return self.parts[key]

    # Decisions

    def choose(self, now: float, order: Order) -> Choice:
        """The decision of a moment among these arms, as `choice_kernels` describes it."""
        weight = self.advance(now)
        best = 0.0
        if order.active < order.count:
            shared = 0.0
            if not self.chooser.plain:
                seen = self.read(order.awake, weight * np.append(self.chooser.weights, 1.0))
                shared = self.chooser.rule_for(order.count).shared(self.total_of(seen), ())
            best = self.chooser.best_asleep(shared, order)
        return self.chooser.choose(self.table, self.shapes, order, weight, best)

    def advance(self, now: float) -> float:
        """Move to a later moment; what stored evidence is to be multiplied by."""
        if self.window is not None:
            for row in self.window.departing(now):
                self.table[row.arm, self.mine] = self.window.totals(row.arm)
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
            self.reference = min(now, self._latest_start)
            self.fresh, self._simply = False, not self.mixed

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
        rows = self.order.awake
        self.table[rows, self.mine] *= factors
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
            table[number, self.mine] *= weight
            table[number, self.others] *= weight
            for part in self.parts.values():
                part[number, :-1] *= weight
            table[number, at.reference] = shown
            weight = 1.0
        table[number, at.weight] = weight
        if weight != 1.0 and any(self.initial):
            self.order.wake(number)  # what it started with fades, so it is no longer like a new arm
        return clock.stamp(decisions)

    def wait_for(self, number: int, decisions: int = 1) -> None:
        """A decision for an arm, or several, have no reward yet."""

    def give_up(self, number: int) -> None:
        """A decision for an arm will have no reward any more."""

    def waits(self, number: int) -> int:
        """How many decisions for an arm have no reward yet, where that matters to what is believed."""
        return 0

    def count_decision(self, arm: int, by: int) -> None:
        """One decision for an arm more, or one less."""
        self.table[arm, self.at.decisions] += by
        self.chooser.number += by

    def shift(self, steps: float, now: float) -> None:
        """Time was set later by so many steps, and is `now`: everything is as old as it was."""
        self.reference += steps
        if self.window is not None:
            self.window.shift(steps)
        if self.restart:
            self.epoch = int(now // self.restart)

    def latest_stamp(self, number: int, now: float) -> float:
        """What no decision of an arm was stamped after until now."""
        if self.clock is None:
            return now
        return self.clock.shown(
            self.table.item(number, self.at.decisions) + self.table.item(number, self.at.other_decisions)
        )

    # Rewards

    def credit(self, decision: Waiting, reward: float, id: int) -> None:
        """The reward of a decision, whenever it came."""
        number, stamp, moment, chance, eligible = decision
        if self.restart and moment // self.restart != self.epoch:
            return
        amounts = (self._learners.get(eligible) or self._learner(eligible))(reward, chance)
        scale = 1.0
        if stamp - self.reference > self._reach:
            self._settle(self.decays ** (stamp - self.reference), stamp)
        if self.mixed:
            amounts = tuple((np.array(amounts) * self.decays[:-1] ** (self.reference - stamp)).tolist())
        elif self.fading:
            scale = self.discount ** (self.reference - stamp)
        elif self.clock is not None:
            scale = self.clock.discount ** (self.table.item(number, self.at.reference) - stamp)
        elif self.window is not None:
            self.remember(Observation(stamp, id, number, amounts, self.chooser.replica))
            self.order.wake(number)
            return
        (self._credit or self._in_gear())(self.table, number, amounts, scale)
        order = self.order
        if order.active < order.count:
            order.wake(number)

    def _in_gear(self) -> Any:
        """What adds a reward while that may not be compiled yet."""
        gears = geared_part(credit)
        self._credit = gears.kernel
        return self._credit or gears

    def functions(self) -> Functions:
        """What decisions and rewards run, each with arguments of the right types."""
        yield from self.chooser.functions(self.table, self.shapes, self.order)
        if self.window is None:
            yield geared_part(credit), (self.table, 0, self.initial, 1.0)

    def remember(self, row: Observation) -> None:
        """An observation in the window."""
        assert self.window is not None
        self.window.insert(row)
        self.table[row.arm, self.mine] = self.window.totals(row.arm)

    def _learner(self, eligible: int) -> Callable[[float, float], tuple[float, ...]]:
        zeros = (0.0,) * self.size
        self._learners[eligible] = functools.partial(self.rule.learn, self.chooser.parameters(eligible), *zeros)
        return self._learners[eligible]

    # Looking

    def at_moment(self, now: float, order: Order) -> "Evidence":
        """The evidence as the next decision among these arms meets it; this is not changed."""
        return self

    def view(self, now: float) -> Reals:
        """Evidence `[place, (*numbers, observations)]` of the arms awake at a moment; nothing is changed."""
        numbers = self.order.awake
        if self.restart and now // self.restart != self.epoch:
            faded = self.decays ** (0.0 if self.fresh else now % self.restart)
            return np.tile(np.array([*self.initial, 0.0]) * faded, (len(numbers), 1))
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
        seen = (rows[:, self.mine] + rows[:, self.others]) * (rows[:, self.at.weight, None] * factors)
        return np.asarray(seen)

    def total_of(self, seen: Reals) -> float:
        """How many observations arms with this evidence have, as `context` counts them."""
        if told_total(self.rule):
            assert self.rule.observations is not None
            return float(sum(self.rule.observations(self.rule.parameters, *own[:-1]) for own in seen.tolist()))
        return min(float(seen[:, -1].sum()), self.rule.steps_window or math.inf)

    def decisions_of(self, numbers: Any) -> list[int]:
        """How often arms were chosen, by all replicas."""
        at = self.at
        return [int(k) for k in self.table[numbers, at.decisions] + self.table[numbers, at.other_decisions]]

    def judged_again(self, numbers: list[int]) -> None:
        """A decision among these arms is read from a log: only some beliefs keep what it drew."""

    def believed(self, numbers: Any) -> What | None:
        """What odds are a mixture over, of some arms: only where the rule has such beliefs."""
        return None

    def common(self) -> tuple[float, ...]:
        """The shared numbers."""
        return ()

    # Starting

    def _start_afresh(self) -> None:
        self.table[:, self.mine] = 0.0
        self.table[:, self.others] = 0.0
        for part in self.parts.values():
            part[:, :-1] = 0.0
        if self.window is not None:
            self.window.clear()
        if self.fading:
            self.reference = float(self.epoch * self.restart)
        self._set_start(self.order.all)

    def _set_start(self, numbers: Integers) -> None:
        if any(self.initial):
            self._put_start(numbers, self.initial)

    def _put_start(self, numbers: Any, start: Any) -> None:
        self.part(START)[numbers, : self.size] = start
        self.table[numbers, self.at.other : self.at.other + self.size] = start

    # Files

    def state(self) -> dict[str, Any]:
        """What a file says of evidence: rows by arm number, for arms that have some."""
        window = [] if self.window is None else self.window.rows()
        return {
            "reference": self.reference,
            "epoch": self.epoch,
            **self.order.state(),
            "table": self._rows(self.table, empty_table(1, self.at)),
            "window": [[row.stamp, row.id, row.arm, *row.amounts, row.writer] for row in window],
            "parts": [[key, self._rows(part, 0.0)] for key, part in self.parts.items()],
        }

    def _rows(self, table: Reals, empty: Any) -> list[list[Any]]:
        used = self.order.all
        filled = used[np.any(table[used] != empty, axis=1)]
        return [[k, *table[k].tolist()] for k in filled.tolist()]

    def restore(self, entries: Entries, known: set[int], now: float) -> None:
        """Take over what a file says at a moment; `known` are the numbers of the arms."""
        self.reference = entries.real("reference")
        if self.fading and self.decays.min() ** max(0.0, self.reference - now) < SMALLEST_WEIGHT:
            raise checks.reject("reference", f"at most {now!r}, the time of the latest decision", self.reference)
        epoch = entries.real("epoch")
        self.epoch = int(epoch)
        if self.epoch != epoch:
            raise checks.reject("epoch", "a whole number", epoch)
        self.order.restore(entries, known)
        listed = []
        for row in entries.rows("table", self.at.width + 1):
            number, values = row.member("table", 0, known), row.reals("table", self.at.width)
            self._check_clock(values)
            self.table[number] = values
            listed.append(number)
        self.restore_more(entries, known)
        # rows that a file leaves out are empty; that is evidence unless arms start with some
        self._check(np.union1d(listed, self.order.awake) if any(self.initial) else listed, now)

    def _check_clock(self, values: list[float]) -> None:
        """That counts of an arm are such, and its own clock stands where its decisions put it."""
        at, clock = self.at, self.clock
        decisions, weight, reference = values[at.decisions] + values[at.other_decisions], *values[at.weight :]
        if not min(values[k] for k in (at.count, at.decisions, at.other_count, at.other_decisions)) >= 0.0:
            raise checks.reject("table", "rows with counts of at least 0", values)
        if not 0.0 <= reference <= (0.0 if clock is None else clock.shown(decisions)):
            raise checks.reject("table", "rows with a clock that their decisions have reached", values)
        if not (weight == 1.0 if clock is None else 0.0 < weight <= 1.0):
            raise checks.reject("table", "rows with a weight in (0, 1]", values)

    def _check(self, numbers: Any, now: float) -> None:
        """That the rule can score arms that have what was read."""
        rule, seen = self.chooser.rule_for(self.order.count), self._read_at(np.asarray(numbers, np.int64), now)
        rows = seen[:, :-1].tolist()
        try:
            shared = shared_by(rule, self.total_of(seen), self.common())
        except (ArithmeticError, ValueError):
            raise checks.reject("table", "evidence of which the policy can make a context", rows) from None
        for own in rows:
            if not all(can_score(rule, each, own) for each in shared):
                raise checks.reject("table", "evidence by which the policy can score an arm", own)

    def _read_at(self, numbers: Integers, now: float) -> Reals:
        """What the rule sees of some arms."""
        return self.read(numbers, self.factors(now))

    def restore_more(self, entries: Entries, known: set[int]) -> None:
        """Take over what a file says beside the table."""
        for item in entries.rows("parts", 2):
            part = self.part(item.whole("parts", 0, START, MOST_REPLICAS - 1))
            for row in item.rows("parts", 1, self.size + 3):
                part[row.member("parts", 0, known)] = row.reals("parts", self.size + 2)
        rows = entries.rows("window", self.size + 4)
        if rows and self.window is None:
            raise InvalidValue("window must be empty for this policy")
        if self.window is not None:
            self.table[:, self.mine] = 0.0  # what the window holds, and nothing else
        for row in rows:
            amounts = tuple(row.real("window", 3 + j) for j in range(self.size))
            id, writer = row.whole("window", 1, 1, LARGEST_ID), row.whole("window", 3 + self.size, 0, MOST_REPLICAS - 1)
            self.remember(Observation(row.real("window", 0), id, row.member("window", 2, known), amounts, writer))


def empty_table(capacity: int, columns: Columns) -> Reals:
    """Rows without evidence."""
    table = np.zeros((capacity, columns.width))
    table[:, columns.weight] = 1.0
    return table


def credit(table: Reals, arm: int, amounts: tuple[float, ...], scale: float) -> None:
    """Add one observation to an arm, counted `scale` times."""
    for j in range(len(amounts)):
        table[arm, j] += amounts[j] * scale
    table[arm, len(amounts)] += scale
