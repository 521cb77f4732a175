"""Beliefs of a live bandit: arrays of every arm, for rules whose numbers follow from them (`policies.beliefs`).

Before a decision, time passes for all arms (`move`, by the clock or by a step a decision), and the arms that can be
chosen are judged: from there on a decision is like any other. A reward is learned by the arm's array as it is when it
comes. Until then its choice counts as pending, so that a policy can take into account what it will soon know.
"""

import base64
import binascii
from typing import Any

import numpy as np

from driftbandit.compiling.gears import Functions, geared
from driftbandit.engine.cpu.block import Integers, Reals, Singles
from driftbandit.engine.cpu.context import draw_luck
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.exact.choice import What
from driftbandit.numerics.rng import LUCK, draw, uniform
from driftbandit.online.choice_kernels import Choice
from driftbandit.online.chooser import Chooser
from driftbandit.online.pending import Waiting
from driftbandit.online.present import Present
from driftbandit.online.sleeping import ZERO, Order, grown

MOST_INTERPRETED = 32
"""Arms that are judged and moved while that is not compiled; for more, the compiler is waited for."""
SHORTEST = 0.05
"""Of a step that time passes by: of less, single precision would keep nothing, or too much."""
LARGEST = 1e30
"""Of what a file may say of a belief: products of such are still numbers."""


def luck_of(seed: np.uint64, replica: int, sequence: int) -> float:
    """The random number that all arms of a decision share."""
    words = draw(seed, np.uint64(replica), np.uint64(sequence), ZERO, LUCK, ZERO)
    return uniform(words[0], words[1])


class Believed(Present):
    """Arrays by arm number, and the one that all arms share."""

    def __init__(self, chooser: Chooser, capacity: int, by_clock: bool) -> None:
        super().__init__(chooser, capacity, by_clock)
        assert self.rule.beliefs is not None
        self.model = self.rule.beliefs
        self.ticking = True
        self.beliefs: Singles = np.tile(self.model.initial, (capacity, 1))
        self.shared: Singles = self.model.common.copy()
        self.waiting = np.zeros(capacity, np.int64)
        """By arm, how many of its choices have no reward yet."""
        self.chosen = -1
        """The arm of the latest decision, until time passes."""
        self._luck: Reals = np.zeros(capacity)
        self._room: Singles = np.empty(self.model.room, np.float32)

    def _apply(self, function: Any, *arguments: Any) -> Any:
        gears = self._gears.get(function) or self._gears.setdefault(function, geared(function))
        return (gears.kernel or (gears if self.order.count <= MOST_INTERPRETED else gears.wait))(*arguments)

    def functions(self) -> Functions:
        """What decisions and rewards run, each with arguments of the right types."""
        yield from self.chooser.functions(self.table, self.shapes, self.order)
        model, constants, arms = self.model, (self.model.tables, self.shared), self.order.awake
        luck = self._luck if model.own_luck else 0.5
        yield geared(model.judge), (*constants, self.beliefs, arms, self.waiting, luck, self.own(), self._room)
        yield geared(model.learn), (*constants, self.beliefs[0], 1.0, self._room)
        yield geared(model.move), (*constants, self.beliefs, arms, 1.0, 0, self._room)
        if model.own_luck:
            yield geared(draw_luck), (np.uint64(0), np.uint64(0), np.uint64(1), arms, self._luck)
        elif model.lucky:
            yield geared(luck_of), (np.uint64(0), 0, 1)
        if model.odds is not None:
            yield geared(model.odds), (*constants, self.beliefs, arms, self.own(), np.empty((2, len(self.table))))

    def own(self) -> Reals:
        return self.table[:, : self.size]

    # Decisions

    def choose(self, now: float, order: Order) -> Choice:
        """The decision of a moment among these arms."""
        self.advance(now)
        self.judge(order)
        return self.chooser.choose(self.table, self.shapes, order, 1.0, 0.0)

    def judge(self, order: Order) -> None:
        """The numbers of these arms, from what is believed of them."""
        chooser, arms = self.chooser, order.awake
        model = chooser.rule_for(order.count).beliefs or self.model
        luck: float | Reals = 0.5
        if model.own_luck:
            seed, replica, number = chooser.seed, chooser.replica, chooser.number + 1
            luck = self._luck
            self._apply(draw_luck, np.uint64(seed), np.uint64(replica), np.uint64(number), arms, luck)
        elif model.lucky:
            luck = self._apply(luck_of, np.uint64(chooser.seed), chooser.replica, chooser.number + 1)
        constants = (model.tables, self.shared, self.beliefs, arms)
        self._apply(model.judge, *constants, self.waiting, luck, self.own(), self._room)
        if model.odds is not None:
            self._apply(model.odds, *constants, self.own(), np.empty((2, len(self.table))))

    def _age(self, now: float) -> None:
        steps = now - self.reference
        if steps >= SHORTEST:  # else it is waited for more of it
            self.reference = now
            self._move(self.order.all, steps)

    def _move(self, arms: Integers, steps: float) -> None:
        constants = (self.model.tables, self.shared, self.beliefs, arms)
        self._apply(self.model.move, *constants, steps, self.chosen, self._room)
        self.chosen = -1

    def tick(self, number: int, stamp: float) -> float:
        """A decision for an arm: its reward is waited for."""
        if self.chosen >= 0:  # no time has passed since the decision before
            self._move(np.array([self.chosen]), 0.0)
        self.chosen = number
        self.wait_for(number)
        return stamp

    def wait_for(self, number: int, decisions: int = 1) -> None:
        """A decision for an arm, or several, have no reward yet."""
        self.waiting[number] += decisions

    def give_up(self, number: int) -> None:
        """A decision for an arm will have no reward any more."""
        self.waiting[number] -= 1

    def waits(self, number: int) -> int:
        """How many decisions for an arm have no reward yet."""
        return self.waiting.item(number)

    def credit(self, decision: Waiting, reward: float, id: int) -> None:
        """The reward of a decision, which is learned now."""
        number = decision[0]
        self.give_up(number)
        self.learn(number, reward)
        self.table[number, self.at.count] += 1.0

    def learn(self, number: int, reward: float) -> None:
        """What is believed of an arm, after a reward."""
        self._apply(self.model.learn, self.model.tables, self.shared, self.beliefs[number], reward, self._room)

    # Arms

    def include(self, number: int, now: float, start: tuple[float, ...] | None = None) -> None:
        """A new arm, of which nothing is known."""
        super().include(number, now, start)
        self.start_again([number])

    def grow(self, capacity: int) -> None:
        """Room for more arms."""
        super().grow(capacity)
        self.beliefs, self.waiting = grown(self.beliefs, capacity), grown(self.waiting, capacity)
        self._luck = grown(self._luck, capacity)

    def start_again(self, numbers: list[int]) -> None:
        """Arms of which nothing is known any more."""
        super().start_again(numbers)
        self.beliefs[numbers] = self.model.initial
        self.waiting[numbers] = 0

    def exclude(self, number: int) -> None:
        """An arm that is no longer there."""
        super().exclude(number)
        self.waiting[number] = 0
        if self.chosen == number:
            self.chosen = -1

    # Looking

    def at_moment(self, now: float, order: Order) -> "Present":
        """The evidence as the next decision among these arms meets it; this is not changed."""
        other = self.copied()
        other.advance(now)
        other.judge(order)
        return other

    def copied(self) -> "Believed":
        """A copy that can be changed."""
        other = super().copied()
        assert isinstance(other, Believed)
        other.beliefs, other.shared = self.beliefs.copy(), self.shared.copy()
        return other

    def view(self, now: float) -> Reals:
        """The numbers of all arms, in order, and how many observations they stand for: as they were judged."""
        return self.table[self.order.awake, : self.size + 1]

    def judged_again(self, numbers: list[int]) -> None:
        """A decision among these arms is read from a log."""
        if self.model.keeps:
            self.judge(self.order.some(numbers))

    def believed(self, numbers: Any) -> What | None:
        """What odds are a mixture over, where they are one: the shared array, and those of some arms."""
        return (self.shared.copy(), self.beliefs[numbers]) if self.rule.mixed else None

    # Files

    def state(self) -> dict[str, Any]:
        """What a file says of evidence: arrays in base 64, four bytes a number, the lowest first."""
        bare = self.copied()
        bare.table[:, : self.size] = self.initial  # judged anew before each decision, as is what beliefs begin with
        bare.beliefs[:, : self.model.scratch] = self.model.initial[: self.model.scratch]
        changed = [k for k in self.order.all.tolist() if np.any(bare.beliefs[k] != self.model.initial)]
        return {
            **super(Believed, bare).state(),
            "beliefs": [[k, _text(bare.beliefs[k])] for k in changed],
            "shared": _text(self.shared),
            "chosen": self.chosen,
        }

    def restore_more(self, entries: Entries, known: set[int]) -> None:
        """Take over what a file says beside the table."""
        super().restore_more(entries, known)
        for row in entries.rows("beliefs", 2):
            self.beliefs[row.member("beliefs", 0, known)] = self._decoded("beliefs", row.value(1), self.model.initial)
        self.shared[:] = self._decoded("shared", entries.get("shared"), self.shared)
        chosen = entries.get("chosen")
        if type(chosen) is not int or (chosen != -1 and chosen not in known):
            raise InvalidValue(f"chosen must refer to an arm that is there, or be -1, got {chosen!r}")
        self.chosen = chosen
        self._check_pieces()
        tried = self.copied()
        for reward in (0.0, 1.0):
            for number in self.order.all.tolist():
                tried.learn(number, reward)
            tried.chosen, tried.reference = -1, self.reference - 1.0
            tried.advance(self.reference)
            tried.judge(self.order)
        if not np.all(np.isfinite(tried.own()[self.order.all])):
            raise InvalidValue("beliefs must be such that the policy can judge the arms, and learn")

    def _check_pieces(self) -> None:
        """That luck has something to pick from."""
        there = self.believed(self.order.all)
        if there is not None and self.model.pieces is not None:
            with np.errstate(all="ignore"):
                weights, _ = self.model.pieces(self.model.tables, *there)
            if not np.all(np.sum(weights, axis=1, dtype=np.float64) > 0.0):  # nor where a sum is no number
                raise InvalidValue("beliefs must have weights of which one is above 0, for luck to pick from")

    def _decoded(self, name: str, text: Any, like: Singles) -> Singles:
        """As many numbers as there are in an array, of those that the beliefs may have, from text."""
        try:
            numbers = np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
        except (TypeError, ValueError, binascii.Error):
            raise InvalidValue(f"{name} must be numbers in base 64") from None
        if numbers.size != like.size:
            raise InvalidValue(f"{name} must be {like.size} numbers, got {numbers.size}")
        least = max(self.model.least, -LARGEST)
        if not np.all((numbers >= least) & (numbers <= LARGEST)):
            raise InvalidValue(f"{name} must be numbers from {least:g} to {LARGEST:g}")
        return numbers


def _text(numbers: Singles) -> str:
    return base64.b64encode(numbers.astype("<f4").tobytes()).decode("ascii")
