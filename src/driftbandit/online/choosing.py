"""The choice of a live decision: the rule's scores or probabilities over the arms that are there now.

Scores, random numbers and the breaking of ties are those of `driftbandit.engine.single`; what is added is that arms
come and go, that some are dormant, and that a floor may be kept under every probability. Selections have one signature:

    choose(table, order, shapes, settings, weight, active, count, best, rest)
        → (arm, place of the arm among the active ones or −1, probability before the floor or −1, active arms now)

The evidence that was used is left in `shapes`. `best` is the best score of the dormant arms, `rest` whether arms may be
sent to sleep. A probability of −1 takes work and is left for later. Handing over an argument costs as much as a draw,
so what rarely changes is one array, `settings`, in which the number of the decision is counted up.
"""

from math import inf

import numpy as np

from driftbandit.elementary import exp, log
from driftbandit.engine.layout import _open, context, probability, settled
from driftbandit.online.table import (
    OTHER_A,
    OTHER_B,
    OTHER_COUNT,
    OWN_A,
    OWN_B,
    OWN_COUNT,
    OWN_DECISIONS,
    WEIGHT,
    Integers,
    Reals,
    swap,
)
from driftbandit.rng import CHOICE, draw, uniform

ZERO = np.uint64(0)
HALF_WORD = np.uint64(32)
# Attempt numbers of the choices that belong to one decision
FORCED = np.uint64(1)
ASLEEP = np.uint64(2)
# Places in `settings`
SEED_HIGH, SEED_LOW, REPLICA, SEQUENCE, FLOOR, START_A, START_B, PARAMETERS = 0, 1, 2, 3, 4, 5, 6, 7

least = at_prior = chance_of = _open

Parameters = tuple[float, ...]
Choice = tuple[int, int, float, int]


def no_mean(p: Parameters, a: float, b: float) -> float:
    """Samples count as they are."""
    return -inf


def mean_odds(p: Parameters, a: float, b: float) -> float:
    """What an optimistic sample counts for at least."""
    return (a + p[0]) / (b + p[1])


def mean_log_odds(p: Parameters, a: float, b: float) -> float:
    """What an optimistic sample counts for at least, as log odds."""
    return log((a + p[0]) / (b + p[1]))


def same_shapes(p: Parameters, a: float, b: float, start_a: float, start_b: float) -> bool:
    """Whether a posterior is exactly the one an arm starts with."""
    return a + p[0] == start_a + p[0] and b + p[1] == start_b + p[1]


def never(p: Parameters, a: float, b: float, start_a: float, start_b: float) -> bool:
    """Arms are told apart whatever their evidence."""
    return False


def later(best: float, own: float, ties: int) -> float:
    """The probability of a random score is worked out when it is asked for."""
    return -1.0


def even_split(best: float, own: float, ties: int) -> float:
    """The arms with the largest index share the choice."""
    return 1.0 / ties if own == best else 0.0


def next_place(settings: Reals) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Where the random numbers of the next decision come from: seed, replica and number."""
    seed = (np.uint64(settings[SEED_HIGH]) << HALF_WORD) | np.uint64(settings[SEED_LOW])
    settings[SEQUENCE] += 1.0
    return seed, np.uint64(settings[REPLICA]), np.uint64(settings[SEQUENCE])


def read(table: Reals, order: Integers, shapes: Reals, weight: float, active: int) -> float:
    """The evidence of the active arms as it counts now; the number of observations is returned."""
    total = 0.0
    for i in range(active):
        k = order[0, i]
        w = weight * table[k, WEIGHT]
        shapes[i, 0] = (table[k, OWN_A] + table[k, OTHER_A]) * w
        shapes[i, 1] = (table[k, OWN_B] + table[k, OTHER_B]) * w
        total += (table[k, OWN_COUNT] + table[k, OTHER_COUNT]) * w
    return total


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
    parameters = settings[PARAMETERS:]
    seed, run, step = next_place(settings)
    shared = context(parameters, read(table, order, shapes, weight, active))
    best = -inf
    ties = 0
    place = -1
    for i in range(active):
        value = settled(parameters, shared, shapes[i, 0], shapes[i, 1], seed, run, step, np.uint64(order[0, i]))
        if value > best:
            best = value
            place = i
            ties = 1
        elif value == best:
            ties += 1
    asleep = count - active
    if asleep > 0:
        mean = least(parameters, settings[START_A], settings[START_B])
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
            if settled(parameters, shared, shapes[i, 0], shapes[i, 1], seed, run, step, np.uint64(order[0, i])) == best:
                if skip == 0:
                    place = i
                    break
                skip -= 1
    place = place if place >= 0 else one_asleep(active, count, seed, run, step)
    place, forced = above_floor(place, count, settings[FLOOR], seed, run, step)
    arm = order[0, place]
    own = best
    if forced and place < active:
        own = settled(parameters, shared, shapes[place, 0], shapes[place, 1], seed, run, step, np.uint64(arm))
    chance = chance_of(best, own, ties)
    table[arm, OWN_DECISIONS] += 1.0
    place = place if place < active else -1
    if rest:
        active = send_to_sleep(table, order, shapes, settings, active)
    return arm, place, chance, active


def send_to_sleep(table: Reals, order: Integers, shapes: Reals, settings: Reals, active: int) -> int:
    """Arms whose evidence no longer tells them from a new arm become dormant; the number of active arms left."""
    parameters, start_a, start_b = settings[PARAMETERS:], settings[START_A], settings[START_B]
    ever = start_a == 0.0 and start_b == 0.0
    for i in range(active - 1, -1, -1):
        k = order[0, i]
        if at_prior(parameters, shapes[i, 0], shapes[i, 1], start_a, start_b) and (ever or table[k, WEIGHT] == 1.0):
            table[k, OWN_A] = table[k, OWN_B] = table[k, OWN_COUNT] = table[k, OTHER_COUNT] = 0.0
            table[k, OTHER_A] = start_a
            table[k, OTHER_B] = start_b
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
    parameters = settings[PARAMETERS:]
    seed, run, step = next_place(settings)
    read(table, order, shapes, weight, active)
    largest = shapes[0, 0]
    for i in range(1, active):
        largest = max(largest, shapes[i, 0])
    total = 0.0
    for i in range(active):
        total += exp(shapes[i, 0] - largest)
    inverse = 1.0 / total
    words = draw(seed, run, step, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    place = 0
    below = 0.0
    for i in range(active):
        here = probability(parameters, exp(shapes[i, 0] - largest) * inverse)
        if target >= below and here > 0.0:
            place = i
        below += here
    place, _ = above_floor(place, count, settings[FLOOR], seed, run, step)
    arm = order[0, place]
    table[arm, OWN_DECISIONS] += 1.0
    return arm, place, probability(parameters, exp(shapes[place, 0] - largest) * inverse), active
