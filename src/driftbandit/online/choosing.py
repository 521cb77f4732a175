"""The choice of a live decision: the rule's scores or probabilities over the arms that are there now.

Scores, random numbers and the breaking of ties are those of `driftbandit.engine.step.one_run`; what is added is that
arms come and go, that some are dormant, and that a floor may be kept under every probability. Selections have
one signature:

    choose(table, order, shapes, settings, weight, active, count, best, rest)
        → (arm, place of the arm among the active ones or −1, probability before the floor or −1, active arms now)

The numbers that were used are left in `shapes`, and that of all observations in `settings`. `best` is the best score
of the dormant arms, `rest` whether arms may be sent to sleep. A probability of −1 takes work and is left for later.
Handing over an argument costs as much as a draw, so what rarely changes is one array, `settings`, in which the number
of the decision is counted up.
"""

from math import inf
from typing import Any

import numpy as np

from driftbandit.compiling.slot import OPEN
from driftbandit.engine.step.forms import any_arm
from driftbandit.engine.step.slots import (
    common_of,
    context,
    context_of,
    explore_of,
    observations,
    own_of,
    probability,
    settled,
    shape,
    turn,
    weigh,
)
from driftbandit.numerics.elementary import exp, log
from driftbandit.numerics.rng import CHOICE, LUCK, draw, uniform
from driftbandit.online.table import Integers, Reals, swap

ZERO = np.uint64(0)
HALF_WORD = np.uint64(32)
# Attempt numbers of the choices that belong to one decision
FORCED = np.uint64(1)
ASLEEP = np.uint64(2)
# Places in `settings`, after which come the numbers of a new arm, the weights of numbers, shared numbers and parameters
SEED_HIGH, SEED_LOW, REPLICA, SEQUENCE, FLOOR, SHARE, STEP, TOTAL, FIRST = 0, 1, 2, 3, 4, 5, 6, 7, 8
NEGLIGIBLE = 1e-12
"""Evidence that may be forgotten where no score shows it."""

# Forms of parts of a choice
least = at_prior = chance_of = spread = fade = counted = shared_now = OPEN
# How `settings` are read
parameters_of = start_of = OPEN
size: Any = OPEN
"""How many numbers an arm has."""
count_at: Any = OPEN
other_at: Any = OPEN
other_count_at: Any = OPEN
weight_at: Any = OPEN
weights_at: Any = OPEN
most: Any = OPEN
"""Observations that all arms together can have."""

Parameters = tuple[float, ...]
Choice = tuple[int, int, float, int]


def no_mean(p: Parameters, shared: float, start: Parameters) -> float:
    """Samples count as they are."""
    return -inf


def mean_odds(p: Parameters, shared: float, start: Parameters) -> float:
    """What an optimistic sample of a new arm counts for at least."""
    numbers = shape(p, shared, *start)
    return numbers[0] / numbers[1]  # type: ignore[no-any-return]  # a slot


def mean_log_odds(p: Parameters, shared: float, start: Parameters) -> float:
    """What an optimistic sample of a new arm counts for at least, as log odds."""
    numbers = shape(p, shared, *start)
    return log(numbers[0] / numbers[1])


def same_shapes(p: Parameters, shared: float, own: Parameters, start: Parameters) -> bool:
    """Whether a posterior is exactly the one an arm starts with, and nothing is left that could ever tell."""
    mine, new = shape(p, shared, *own), shape(p, shared, *start)
    same = mine[0] == new[0] and mine[1] == new[1]
    for j in range(size):
        same = same and abs(own[j] - start[j]) < NEGLIGIBLE
    return same  # type: ignore[no-any-return]  # a slot


def never(p: Parameters, shared: float, own: Parameters, start: Parameters) -> bool:
    """Arms are told apart whatever their evidence."""
    return False


def later(best: float, own: float, ties: int) -> float:
    """The probability of a random score is worked out when it is asked for."""
    return -1.0


def even_split(best: float, own: float, ties: int) -> float:
    """The arms with the largest index share the choice."""
    return 1.0 / ties if own == best else 0.0


def as_chosen(chance: float, share: float, count: int) -> float:
    """Nothing is left to chance, or the probability is left for later."""
    return chance


def with_share(chance: float, share: float, count: int) -> float:
    """A share of choices is any arm's."""
    return (1.0 - share) * chance + share / count


def one_weight(settings: Reals, weight: float, j: int) -> float:
    """All numbers fade alike."""
    return weight


def own_weight(settings: Reals, weight: float, j: int) -> float:
    """Each number fades in its own way."""
    return weight * settings[weights_at + j]  # type: ignore[no-any-return]  # a slot


def kept_count(p: Parameters, table: Reals, shapes: Reals, k: int, i: int, weight: float) -> float:
    """Observations of an arm, faded as its numbers are."""
    return (table[k, count_at] + table[k, other_count_at]) * weight  # type: ignore[no-any-return]  # a slot


def told_count(p: Parameters, table: Reals, shapes: Reals, k: int, i: int, weight: float) -> float:
    """Observations that an arm's numbers stand for."""
    return observations(p, *own_of(shapes, i))  # type: ignore[no-any-return]  # a slot


def plainly(p: Parameters, total: float, settings: Reals, seed: np.uint64, run: np.uint64, step: np.uint64) -> Any:
    """What arms share follows from the number of observations."""
    return context(p, total)


def with_more(p: Parameters, total: float, settings: Reals, seed: np.uint64, run: np.uint64, step: np.uint64) -> Any:
    """What arms share follows from that, from shared numbers and from luck."""
    words = draw(seed, run, step, ZERO, LUCK, ZERO)
    return context_of(p, total, common_of(settings), uniform(words[0], words[1]))


def no_turn(
    p: Parameters, settings: Reals, place: int, count: int, seed: np.uint64, run: np.uint64, step: np.uint64
) -> tuple[int, bool, float]:
    """Every choice stands."""
    return place, False, 0.0


def turn_to_any(
    p: Parameters, settings: Reals, place: int, count: int, seed: np.uint64, run: np.uint64, step: np.uint64
) -> tuple[int, bool, float]:
    """In a share of choices any arm is taken; its place, whether that was so, and the share."""
    share = explore_of(p, settings[SHARE], settings[STEP], common_of(settings))
    other = any_arm(share, count, seed, run, step)
    return (other, True, share) if other >= 0 else (place, False, share)


def next_place(settings: Reals) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Where the random numbers of the next decision come from: seed, replica and number."""
    seed = (np.uint64(settings[SEED_HIGH]) << HALF_WORD) | np.uint64(settings[SEED_LOW])
    settings[SEQUENCE] += 1.0
    return seed, np.uint64(settings[REPLICA]), np.uint64(settings[SEQUENCE])


def read(
    p: Parameters, table: Reals, order: Integers, shapes: Reals, settings: Reals, weight: float, active: int
) -> float:
    """The numbers of the active arms as they count now; the number of observations is returned."""
    total = 0.0
    for i in range(active):
        k = order[0, i]
        w = weight * table[k, weight_at]
        for j in range(size):
            shapes[i, j] = (table[k, j] + table[k, other_at + j]) * fade(settings, w, j)
        total += counted(p, table, shapes, k, i, w)
    settings[TOTAL] = min(total, most)
    return settings[TOTAL]  # type: ignore[no-any-return]  # an array's element


def by_score(
    table: Reals,
    order: Integers,
    shapes: Reals,
    settings: Reals,
    weight: float,
    active: int,
    count: int,
    best_asleep: float,
    rest: bool,
) -> Choice:
    """The arm with the largest score; exact ties are broken uniformly at random."""
    parameters = parameters_of(settings)
    seed, run, step = next_place(settings)
    total = read(parameters, table, order, shapes, settings, weight, active)
    shared = shared_now(parameters, total, settings, seed, run, step)
    best = -inf
    ties = 0
    place = -1
    for i in range(active):
        value = settled(parameters, shared, own_of(shapes, i), seed, run, step, np.uint64(order[0, i]))
        if value > best:
            best = value
            place = i
            ties = 1
        elif value == best:
            ties += 1
    asleep = count - active
    if asleep > 0:
        mean = least(parameters, shared, start_of(settings))
        value = max(best_asleep, mean)
        alike = asleep if best_asleep <= mean else 1
        if value > best:
            best = value
            place = -1
            ties = 1  # which of those alike it is, is drawn below
        elif value == best:
            ties += alike
    if ties > 1:
        words = draw(seed, run, step, ZERO, CHOICE, ZERO)
        skip = int(uniform(words[0], words[1]) * ties)
        place = -1
        for i in range(active):
            if settled(parameters, shared, own_of(shapes, i), seed, run, step, np.uint64(order[0, i])) == best:
                if skip == 0:
                    place = i
                    break
                skip -= 1
    if place < 0:  # a dormant arm; without any, no score is above −∞
        place = one_asleep(active, count, seed, run, step) if asleep > 0 else 0
    place, turned, share = turn(parameters, settings, place, count, seed, run, step)
    place, forced = above_floor(place, count, settings[FLOOR], seed, run, step)
    arm = order[0, place]
    own = best
    if (turned or forced) and place < active:
        own = settled(parameters, shared, own_of(shapes, place), seed, run, step, np.uint64(arm))
    chance = spread(chance_of(best, own, ties), share, count)
    table[arm, count_at + 1] += 1.0
    place = place if place < active else -1
    if rest:
        active = send_to_sleep(parameters, shared, table, order, shapes, settings, active)
    return arm, place, chance, active


def send_to_sleep(
    p: Parameters, shared: float, table: Reals, order: Integers, shapes: Reals, settings: Reals, active: int
) -> int:
    """Arms whose evidence no longer tells them from a new arm become dormant; the number of active arms left."""
    start = start_of(settings)
    ever = True
    for j in range(size):
        ever = ever and start[j] == 0.0
    for i in range(active - 1, -1, -1):
        k = order[0, i]
        if at_prior(p, shared, own_of(shapes, i), start) and (ever or table[k, weight_at] == 1.0):
            for j in range(size):
                table[k, j] = 0.0
                table[k, other_at + j] = start[j]
            table[k, count_at] = table[k, other_count_at] = 0.0
            active -= 1
            swap(order, i, active)
    return active


def one_asleep(active: int, count: int, seed: np.uint64, run: np.uint64, step: np.uint64) -> int:
    """The place of a dormant arm, each with the same probability."""
    words = draw(seed, run, step, ZERO, CHOICE, ASLEEP)
    return active + int(uniform(words[0], words[1]) * (count - active))


def above_floor(
    place: int, count: int, floor: float, seed: np.uint64, run: np.uint64, step: np.uint64
) -> tuple[int, bool]:
    """With probability floor·count any place, each alike, instead of the one that was chosen."""
    if floor > 0.0:
        words = draw(seed, run, step, ZERO, CHOICE, FORCED)
        u = uniform(words[0], words[1])
        if u < floor * count:
            return min(int(u / floor), count - 1), True
    return place, False


def by_weight(
    table: Reals,
    order: Integers,
    shapes: Reals,
    settings: Reals,
    weight: float,
    active: int,
    count: int,
    best_asleep: float,
    rest: bool,
) -> Choice:
    """An arm by its probability."""
    parameters = parameters_of(settings)
    seed, run, step = next_place(settings)
    total = read(parameters, table, order, shapes, settings, weight, active)
    shared = shared_now(parameters, total, settings, seed, run, step)
    largest = weigh(parameters, shared, own_of(shapes, 0))
    for i in range(1, active):
        largest = max(largest, weigh(parameters, shared, own_of(shapes, i)))
    weights = 0.0
    for i in range(active):
        weights += exp(weigh(parameters, shared, own_of(shapes, i)) - largest)
    inverse = 1.0 / weights
    words = draw(seed, run, step, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    place = 0
    below = 0.0
    for i in range(active):
        here = probability(parameters, exp(weigh(parameters, shared, own_of(shapes, i)) - largest) * inverse)
        if target >= below and here > 0.0:
            place = i
        below += here
    place, _, share = turn(parameters, settings, place, count, seed, run, step)
    place, _ = above_floor(place, count, settings[FLOOR], seed, run, step)
    arm = order[0, place]
    table[arm, count_at + 1] += 1.0
    own = probability(parameters, exp(weigh(parameters, shared, own_of(shapes, place)) - largest) * inverse)
    return arm, place, spread(own, share, count), active
