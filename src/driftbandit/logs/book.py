"""What is known while a log is read: how far each replica has come, and which decisions wait for their outcome.

Lines are read in two ways, compiled where they look as a bandit writes them (`scanning`) and in Python where not
(`events`). Both put down what they read by the functions here, which refuse what they cannot, and change nothing then.

A decision is kept under a *slot* until its outcome comes; slots are used again, so whoever goes through the rows holds
no more than there are decisions waiting. Which slot a decision has is looked up by its id in a table with open
addressing.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.compiling.gears import geared_part
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.compiling.linking import link
from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.online.pending import LARGEST_ID, MOST_REPLICAS, NUMBER, REPLICA_SHIFT
from driftbandit.online.timing import SECONDS

MIX, WORD = 0x9E3779B97F4A7C15, 0xFFFFFFFFFFFFFFFF
CERTAIN, MOST_CERTAIN = 1.0, 1.000001
"""Probabilities that were integrated round."""
EARLIEST, LATEST = (float(end) for end in SECONDS[1:-1].split(","))
ROWS = 1 << 16
"""In a chunk."""
MANY = 1 << 14
"""Slots beyond which the compiler is waited for to move them."""
# Why something could not be put down
DONE = 0
NO_REPLICA = 10
ELSEWHERE = 20
BACK = 30
IMPOSSIBLE = 40
NOT_THERE = 50
NEW_SET = 60
NO_ROOM = 70
NOT_WAITING = 80


class Rows(NamedTuple):
    """Decisions and outcomes, in the order of the log."""

    outcome: NDArray[np.bool_]
    """Whether a row is the outcome of a decision, or a decision."""
    slot: Integers
    """Where a decision is kept until its outcome."""
    number: Integers
    """Of the decision among those of its replica, from 0."""
    arm: Integers
    value: Reals
    """The probability of a decision, the reward of an outcome; NaN where none came."""
    time: Reals
    """Of the decision."""
    clock: Reals
    """The same as its replica's clock would show it, had nobody ever set that: evidence is as old as this says."""
    replica: Integers
    eligible: Integers
    """Of a decision: among which set of arms it was made."""


class Book(NamedTuple):
    """What is known of replicas and of waiting decisions."""

    filled: Integers
    """One number: how many rows are filled."""
    left: Integers
    """Likewise: how many slots are free."""
    certain: Integers
    """Likewise: how many decisions were made among several arms with a probability of 1."""
    replica_of: Integers
    """By the number that ids begin with; −1 where there is none."""
    last: Integers
    """By replica: the number of its latest decision, as ids have it."""
    made: Integers
    times: Reals
    set_by: Reals
    """By how much its clock has been set."""
    whole: Integers
    """The set of all its arms."""
    there: NDArray[np.bool_]
    """`[replica, arm]`: whether that has it now."""
    alone: Integers
    """By arm: the set of that arm alone, or −1 where it has no number yet."""
    keys: Integers
    """Ids, by place in the table; 0 where there is none."""
    slots: Integers
    free: Integers
    """The slots that are free, those that were freed last at the end."""
    arm: Integers
    """By slot, as are the next four."""
    number: Integers
    replica: Integers
    time: Reals
    clock: Reals


def new_rows() -> Rows:
    """Room for a chunk."""
    wholes = [np.zeros(ROWS, np.int64) for _ in range(5)]
    slot, number, arm, replica, eligible = wholes
    value, time, clock = np.zeros((3, ROWS))
    return Rows(np.zeros(ROWS, np.bool_), slot, number, arm, value, time, clock, replica, eligible)


def new_book(replicas: int, arms: int, slots: int) -> Book:
    """Nothing is known yet."""
    filled, left, certain = np.array([[0], [slots], [0]])
    replica_of, alone = np.full(MOST_REPLICAS, -1), np.full(arms, -1)
    last, made, whole = np.zeros((3, replicas), np.int64)
    times, there = np.full(replicas, -np.inf), np.zeros((replicas, arms), np.bool_)
    keys, places = np.zeros((2, 4 * slots), np.int64)
    arm, number, replica = np.zeros((3, slots), np.int64)
    return Book(
        filled, left, certain, replica_of, last, made, times, np.zeros(replicas), whole, there, alone, keys, places,
        np.arange(slots), arm, number, replica, *np.zeros((2, slots)),
    )  # fmt: skip


def grown(book: Book, replicas: int = 0, arms: int = 0, slots: int = 0) -> Book:
    """The same with more room: for so many replicas, arms and waiting decisions, if these are more."""
    larger = new_book(max(replicas, len(book.last)), max(arms, len(book.alone)), max(slots, len(book.arm)))
    for name, old, new in zip(book._fields, book, larger, strict=True):
        if name not in ("keys", "slots", "free"):
            new[tuple(slice(size) for size in old.shape)] = old
    more = len(larger.arm) - len(book.arm)
    free = book.left[0]
    larger.free[:free] = book.free[:free]
    larger.free[free : free + more] = np.arange(len(book.arm), len(larger.arm))
    larger.left[0] += more
    (geared_part(put_all).wait if more > MANY else link(put_all, INTERPRETED))(larger, book)
    return larger


def home(id: int, size: int) -> Any:
    """Where an id stands in the table unless others stand there; its size is a power of two."""
    return ((np.uint64(id) * np.uint64(MIX) & np.uint64(WORD)) >> np.uint64(24)) & np.uint64(size - 1)


def place_of(keys: Integers, id: int) -> Any:
    """Where an id stands, or where it would."""
    at = np.int64(home(id, keys.size))
    while keys[at] != 0 and keys[at] != id:
        at = (at + 1) & (keys.size - 1)
    return at


def put(book: Book, id: int, slot: int) -> None:
    """A decision waits."""
    at = place_of(book.keys, id)
    book.keys[at] = id
    book.slots[at] = slot


def put_all(book: Book, other: Book) -> None:
    """All decisions that wait in another book wait."""
    for at in range(other.keys.size):
        if other.keys[at] != 0:
            put(book, other.keys[at], other.slots[at])


def remove(book: Book, at: int) -> None:
    """What stands at a place in the table waits no longer; what was pushed on by it moves back."""
    keys, last = book.keys, book.keys.size - 1
    hole = at
    at = (at + 1) & last
    while keys[at] != 0:
        if (at - np.int64(home(keys[at], keys.size))) & last >= (at - hole) & last:
            keys[hole] = keys[at]
            book.slots[hole] = book.slots[at]
            hole = at
        at = (at + 1) & last
    keys[hole] = 0


def decided(book: Book, rows: Rows, id: int, arm: int, among: int, probability: float, time: float) -> int:
    """A decision was made among a set of arms, or (−1) among all that its replica has."""
    replica = book.replica_of[id >> REPLICA_SHIFT] if id <= LARGEST_ID else -1
    if replica < 0:
        return NO_REPLICA
    if (id & NUMBER) != book.last[replica] + 1:
        return ELSEWHERE
    if not max(book.times[replica], EARLIEST) <= time <= LATEST:
        return BACK
    if not 0.0 < probability <= MOST_CERTAIN:
        return IMPOSSIBLE
    if among < 0:
        if not book.there[replica, arm]:
            return NOT_THERE
        among = book.whole[replica]
    had_others = False
    if probability >= CERTAIN:
        had_others = among != book.alone[arm]
        probability, among = CERTAIN, book.alone[arm]
        if among < 0:
            return NEW_SET
    if book.left[0] == 0 or book.filled[0] == rows.arm.size:
        return NO_ROOM
    book.certain[0] += had_others
    book.left[0] -= 1
    slot = book.free[book.left[0]]
    put(book, id, slot)
    number = book.made[replica]
    book.last[replica] += 1
    book.made[replica] += 1
    book.times[replica] = time
    book.arm[slot] = arm
    book.number[slot] = number
    book.replica[slot] = replica
    book.time[slot] = time
    book.clock[slot] = time - book.set_by[replica]
    row = book.filled[0]
    book.filled[0] += 1
    rows.outcome[row] = False
    rows.slot[row] = slot
    rows.number[row] = number
    rows.arm[row] = arm
    rows.value[row] = probability
    rows.time[row] = time
    rows.clock[row] = book.clock[slot]
    rows.replica[row] = replica
    rows.eligible[row] = among
    return DONE


def ended(book: Book, rows: Rows, id: int, reward: float) -> int:
    """A decision has its outcome."""
    at = place_of(book.keys, id)
    if book.keys[at] == 0:
        return NOT_WAITING
    if book.filled[0] == rows.arm.size:
        return NO_ROOM
    slot = book.slots[at]
    remove(book, at)
    book.free[book.left[0]] = slot
    book.left[0] += 1
    row = book.filled[0]
    book.filled[0] += 1
    rows.outcome[row] = True
    rows.slot[row] = slot
    rows.number[row] = book.number[slot]
    rows.arm[row] = book.arm[slot]
    rows.value[row] = reward
    rows.time[row] = book.time[slot]
    rows.clock[row] = book.clock[slot]
    rows.replica[row] = book.replica[slot]
    rows.eligible[row] = -1
    return DONE
