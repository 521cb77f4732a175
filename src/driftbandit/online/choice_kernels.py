"""The choice of a live decision, compiled: the rule's scores or probabilities over the arms that are there now.

The loops over arms are those of `driftbandit.engine.step.one_run`; what is added is that arms come and go, that some
are asleep (`sleeping`), and that a floor may be kept under every probability. Selections have one signature:

    choose(table, order, shapes, settings, weight, active, count, best)
        → (arm, place of the arm among those awake or −1, probability before the floor or −1, arms awake now, number)

The numbers that were used are left in `shapes`, and how many observations there are in `settings`. `best` is the best
score of those asleep. A probability of −1 was not computed: it is worked out when asked for. Handing over an argument
costs as much as a draw, so what rarely changes is one array, `settings`, in which the number of the decision is counted
up.
"""

import dataclasses
from typing import Any

import numpy as np

from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.engine.step.forms import any_arm
from driftbandit.engine.step.one_run import by_weight, chance_by_weight, drawn_tie, largest, settled, tied_place
from driftbandit.engine.step.parts import common_of, context_of, explore_of, own_of, turn
from driftbandit.engine.step.rule_functions import context, observations
from driftbandit.numerics.rng import CHOICE, LUCK, draw, uniform
from driftbandit.online.sleeping import fallen_asleep, least, one_asleep, other_at, size, weight_at, with_sleepers
from driftbandit.policies.rule import Parameters

ZERO = np.uint64(0)
HALF_WORD = np.uint64(32)
FORCED = np.uint64(1)
"""The attempt number of the draw that keeps the floor."""
# Places in `settings`, after which come the numbers of a new arm, the weights of numbers, how many observations all
# arms together can have, shared numbers and parameters
SEED_HIGH, SEED_LOW, REPLICA, SEQUENCE, FLOOR, SHARE, STEP, TOTAL, SLEEPY, FIRST = range(10)

# Forms of parts of a choice
chance_of = spread = fade = counted = shared_now = OPEN
# How `settings` are read
parameters_of = start_of = OPEN
weights_at: Any = OPEN

Dice = tuple[np.uint64, np.uint64, np.uint64]
Choice = tuple[int, int, float, int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Columns:
    """Which column of `table` is what, where an arm has N numbers.

    Columns 0 to N − 1 are the numbers that this replica learned itself. What it took over (the start, and what other
    replicas learned) has as many columns from `other` on. After either come how many observations they are.
    """

    count: int
    decisions: int
    other: int
    other_count: int
    other_decisions: int
    weight: int
    """γ^(clock − reference) of an arm with a clock of its own, else 1."""
    reference: int
    width: int


def columns_of(numbers: int) -> Columns:
    """The columns of a table for arms with so many numbers.

    >>> columns_of(2)
    Columns(count=2, decisions=3, other=4, other_count=6, other_decisions=7, weight=8, reference=9, width=10)
    """
    other = numbers + 2
    return Columns(numbers, numbers + 1, other, other + numbers, other + numbers + 1, *range(2 * other, 2 * other + 3))


def later(best: float, own: float, ties: int) -> float:
    """The probability of a random score is worked out when it is asked for."""
    return -1.0


def even_split(best: float, own: float, ties: int) -> float:
    """The arms with the largest index share the choice."""
    return 1.0 / ties if own == best else 0.0


def as_chosen(chance: float, share: float, count: int) -> float:
    """Without exploration, the probability as it is."""
    return chance


def with_share(chance: float, share: float, count: int) -> float:
    """A share of choices is any arm's."""
    return (1.0 - share) * chance + share / count


def one_weight(settings: Reals, weight: float, j: int) -> float:
    """All numbers fade alike."""
    return weight


def own_weight(settings: Reals, weight: float, j: int) -> Any:
    """Each number fades in its own way."""
    return weight * settings[weights_at + j]


def kept_count(p: Parameters, table: Reals, shapes: Reals, k: int, i: int, weight: float) -> Any:
    """Observations of an arm, faded as its numbers are."""
    return (table[k, size] + table[k, other_at + size]) * weight


def told_count(p: Parameters, table: Reals, shapes: Reals, k: int, i: int, weight: float) -> Any:
    """Observations that an arm's numbers stand for."""
    return observations(p, *own_of(shapes, i))


def plainly(p: Parameters, total: float, settings: Reals, dice: Dice) -> Any:
    """What arms share follows from the number of observations."""
    return context(p, total)


def with_more(p: Parameters, total: float, settings: Reals, dice: Dice) -> Any:
    """What arms share follows from that, from shared numbers and from luck."""
    words = draw(*dice, ZERO, LUCK, ZERO)
    return context_of(p, total, common_of(settings), uniform(words[0], words[1]))


def no_turn(p: Parameters, settings: Reals, place: int, count: int, dice: Dice) -> tuple[int, bool, float]:
    """Every choice stands."""
    return place, False, 0.0


def turn_to_any(p: Parameters, settings: Reals, place: int, count: int, dice: Dice) -> tuple[int, bool, float]:
    """In a share of choices any arm is taken; its place, whether that was so, and the share."""
    share = explore_of(p, settings[SHARE], settings[STEP], common_of(settings))
    other = any_arm(share, count, *dice)
    return (other, True, share) if other >= 0 else (place, False, share)


def next_dice(settings: Reals) -> Dice:
    """Where the random numbers of the next decision come from: seed, replica and number."""
    seed = (np.uint64(settings[SEED_HIGH]) << HALF_WORD) | np.uint64(settings[SEED_LOW])
    return seed, np.uint64(settings[REPLICA]), np.uint64(settings[SEQUENCE] + 1.0)


def counted_up(table: Reals, settings: Reals, arm: int) -> int:
    """The number of the decision, which is made: one more for the arm, and for all."""
    table[arm, size + 1] += 1.0
    settings[SEQUENCE] += 1.0
    return int(settings[SEQUENCE])


def read(
    p: Parameters, table: Reals, order: Integers, shapes: Reals, settings: Reals, weight: float, active: int
) -> Any:
    """The numbers of the arms awake as they count now; the number of observations is returned."""
    total = 0.0
    for i in range(active):
        k = order[0, i]
        w = weight * table[k, weight_at]
        for j in range(size):
            shapes[i, j] = (table[k, j] + table[k, other_at + j]) * fade(settings, w, j)
        total += counted(p, table, shapes, k, i, w)
    settings[TOTAL] = min(total, settings[weights_at + size])
    return settings[TOTAL]


def choose_by_score(
    table: Reals, order: Integers, shapes: Reals, settings: Reals, weight: float, active: int, count: int, best: float
) -> Choice:
    """The arm with the largest score; exact ties are broken uniformly at random."""
    p = parameters_of(settings)
    dice = next_dice(settings)
    shared = shared_now(p, read(p, table, order, shapes, settings, weight, active), settings, dice)
    start = start_of(settings)
    highest, place, ties = largest(p, shared, shapes, order[0], active, dice)
    if active < count:
        highest, ties, only_asleep = with_sleepers(highest, ties, best, least(p, shared, start), count - active)
        place = -1 if only_asleep else place
    if ties > 1:
        place = tied_place(p, shared, shapes, order[0], active, dice, highest, drawn_tie(ties, dice))
    if place < 0:  # an arm that is asleep; without any, no score is above −∞
        place = one_asleep(active, count, *dice) if active < count else 0
    place, turned, share = turn(p, settings, place, count, dice)
    place, forced = above_floor(place, count, settings[FLOOR], dice)
    arm = order[0, place]
    own = highest
    if (turned or forced) and place < active:
        own = settled(p, shared, own_of(shapes, place), dice, np.uint64(arm))
    chance = spread(chance_of(highest, own, ties), share, count)
    place = place if place < active else -1
    if settings[SLEEPY] != 0.0:
        active = fallen_asleep(p, shared, start, table, order, shapes, active)
    return int(arm), int(place), float(chance), int(active), counted_up(table, settings, arm)


def choose_by_weight(
    table: Reals, order: Integers, shapes: Reals, settings: Reals, weight: float, active: int, count: int, best: float
) -> Choice:
    """An arm by its probability."""
    p = parameters_of(settings)
    dice = next_dice(settings)
    shared = shared_now(p, read(p, table, order, shapes, settings, weight, active), settings, dice)
    place, heaviest, inverse = by_weight(p, shared, shapes, active, dice)
    place, _, share = turn(p, settings, place, count, dice)
    place, _ = above_floor(place, count, settings[FLOOR], dice)
    arm = order[0, place]
    own = chance_by_weight(p, shared, shapes, place, heaviest, inverse)
    chance = spread(own, share, count)
    return int(arm), int(place), float(chance), int(active), counted_up(table, settings, arm)


def above_floor(place: int, count: int, floor: float, dice: Dice) -> tuple[int, bool]:
    """With probability floor·count any place, each alike, instead of the one that was chosen."""
    if floor > 0.0:
        words = draw(*dice, ZERO, CHOICE, FORCED)
        u = uniform(words[0], words[1])
        if u < floor * count:
            return min(int(u / floor), count - 1), True
    return place, False
