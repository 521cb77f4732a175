"""How one run chooses an arm, with the inner loop over arms: for a card with many arms, and for live use.

The same decisions as `cpu.choice` makes for a block, from the same random numbers and in the same order of arithmetic,
but without scratch space: scores are not stored, and a rare tie computes them again. The slot `own_of` reads the
numbers at a place of the list of arms, `arm_at` says which arm stands there (its random numbers depend on that), and
`attempted` makes its score. `dice` is where random numbers come from: the seed, the run, the step.
"""

from math import inf
from typing import Any

import numpy as np

from driftbandit.engine.step.parts import arm_at, attempted, own_of, shaped, weigh
from driftbandit.engine.step.rule_functions import accepted, attempt, probability, score
from driftbandit.numerics.elementary import exp, real
from driftbandit.numerics.rng import BOOST, CHOICE, MAX_ATTEMPT, SCORE, draw, uniform

ZERO = np.uint64(0)
ONE = np.uint64(1)
LAST = np.uint64(MAX_ATTEMPT - 1)
LOWEST = -inf

Dice = tuple[np.uint64, np.uint64, np.uint64]


def attempted_score(parameters: Any, shared: Any, own: Any, dice: Dice, arm: Any, tries: Any) -> tuple[Any, Any]:
    """One attempt at the random score of an arm, and whether it stands."""
    numbers = shaped(parameters, shared, own)
    words = draw(*dice, arm, SCORE, tries)
    more = draw(*dice, arm, BOOST, tries)
    value, sure = attempt(numbers, words, more)
    return value, sure or accepted(numbers, words)


def index_score(parameters: Any, shared: Any, own: Any, dice: Dice, arm: Any, tries: Any) -> tuple[Any, Any]:
    """The score of an arm where it is not random: it stands."""
    return score(parameters, shared, *own), True


def settled(parameters: Any, shared: Any, own: Any, dice: Dice, arm: Any) -> Any:
    """The score of an arm: attempts until one stands, or no random numbers are left (of no law, none ever stands)."""
    tries = ZERO
    while True:
        value, stands = attempted(parameters, shared, own, dice, arm, tries)
        if stands or exhausted(tries):
            return value
        tries += ONE


def exhausted(tries: Any) -> Any:
    """Whether no random numbers are left for another attempt."""
    return tries == LAST


def listed(arms: Any, place: Any) -> Any:
    """The arm at a place of a list."""
    return np.uint64(arms[place])


def counted(arms: Any, place: Any) -> Any:
    """The arm at a place, where arms stand in their own order."""
    return np.uint64(place)


def largest(parameters: Any, shared: Any, numbers: Any, arms: Any, count: int, dice: Dice) -> tuple[Any, int, int]:
    """The largest score of the first `count` arms of a list, the first place that has it, and how many have it."""
    best = real(LOWEST)
    place = -1
    ties = 0
    for i in range(count):
        value = settled(parameters, shared, own_of(numbers, i), dice, arm_at(arms, i))
        if value > best:
            best = value
            place = i
            ties = 1
        elif value == best:
            ties += 1
    return best, place, ties


def drawn_tie(ties: int, dice: Dice) -> int:
    """Which of so many arms with the same score is chosen, each alike."""
    words = draw(*dice, ZERO, CHOICE, ZERO)
    return int(uniform(words[0], words[1]) * real(ties))


def tied_place(
    parameters: Any, shared: Any, numbers: Any, arms: Any, count: int, dice: Dice, best: Any, skip: int
) -> int:
    """The place of an arm with the best score, after `skip` others that have it; −1 where there are no more."""
    for i in range(count):
        if settled(parameters, shared, own_of(numbers, i), dice, arm_at(arms, i)) == best:
            if skip == 0:
                return i
            skip -= 1
    return -1


def scale_of_weights(parameters: Any, shared: Any, numbers: Any, count: int) -> tuple[Any, Any]:
    """What is taken from logarithms of weights, and what weights are then multiplied by, so that their sum is 1."""
    most = weigh(parameters, shared, own_of(numbers, 0))
    for i in range(1, count):
        most = max(most, weigh(parameters, shared, own_of(numbers, i)))
    total = real(0.0)
    for i in range(count):
        total += exp(weigh(parameters, shared, own_of(numbers, i)) - most)
    return most, real(1.0) / total


def by_weight(parameters: Any, shared: Any, numbers: Any, count: int, dice: Dice) -> tuple[int, Any, Any]:
    """A place by its probability, and the scale of weights."""
    most, inverse = scale_of_weights(parameters, shared, numbers, count)
    words = draw(*dice, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    place = 0
    below = real(0.0)
    for i in range(count):
        here = chance_by_weight(parameters, shared, numbers, i, most, inverse)
        if target >= below and here > 0.0:
            place = i
        below += here
    return place, most, inverse


def chance_by_weight(parameters: Any, shared: Any, numbers: Any, place: Any, most: Any, inverse: Any) -> Any:
    """The probability of a place, from the scale of weights."""
    return probability(parameters, exp(weigh(parameters, shared, own_of(numbers, place)) - most) * inverse)
