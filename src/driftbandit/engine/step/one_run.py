"""How one run chooses an arm, with the inner loop over arms: for a card with many arms, and for live use.

The same decisions as `cpu.choice` makes for a block, from the same random numbers and in the same order of arithmetic,
but without scratch space: what a rare tie needs again is computed again. The slot `own_of` reads the numbers at a place
of the list of arms, `arm_at` says which arm stands there (its random numbers depend on that), and `settled` gives its
score. `dice` is where random numbers come from: the seed, the run, the step.
"""

from math import inf
from typing import Any

import numpy as np

from driftbandit.engine.step.parts import arm_at, own_of, settled, shaped, weigh
from driftbandit.engine.step.rule_functions import accepted, attempt, probability, score
from driftbandit.numerics.elementary import exp, real
from driftbandit.numerics.rng import BOOST, CHOICE, SCORE, draw, uniform

ZERO = np.uint64(0)
ONE = np.uint64(1)
LOWEST = -inf

Dice = tuple[np.uint64, np.uint64, np.uint64]


def sampled_score(parameters: Any, shared: Any, own: Any, dice: Dice, arm: np.uint64) -> Any:
    """The random score of an arm: attempts until one stands."""
    seed, run, step = dice
    numbers = shaped(parameters, shared, own)
    tries = ZERO
    while True:
        words = draw(seed, run, step, arm, SCORE, tries)
        more = draw(seed, run, step, arm, BOOST, tries)
        value, sure = attempt(numbers, words, more)
        if sure or accepted(numbers, words):
            return value
        tries += ONE


def index_score(parameters: Any, shared: Any, own: Any, dice: Dice, arm: np.uint64) -> Any:
    """The score of an arm where it is not random."""
    return score(parameters, shared, *own)


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


def by_weight(parameters: Any, shared: Any, numbers: Any, count: int, dice: Dice) -> tuple[int, Any, Any]:
    """A place by its probability; what logarithms of weights are taken from, and what weights are multiplied by."""
    most = weigh(parameters, shared, own_of(numbers, 0))
    for i in range(1, count):
        most = max(most, weigh(parameters, shared, own_of(numbers, i)))
    total = real(0.0)
    for i in range(count):
        total += exp(weigh(parameters, shared, own_of(numbers, i)) - most)
    inverse = real(1.0) / total
    words = draw(*dice, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    place = 0
    below = real(0.0)
    for i in range(count):
        here = probability(parameters, exp(weigh(parameters, shared, own_of(numbers, i)) - most) * inverse)
        if target >= below and here > 0.0:
            place = i
        below += here
    return place, most, inverse


def chance_by_weight(parameters: Any, shared: Any, numbers: Any, place: int, most: Any, inverse: Any) -> Any:
    """The probability of a place, from what `by_weight` said."""
    return probability(parameters, exp(weigh(parameters, shared, own_of(numbers, place)) - most) * inverse)
