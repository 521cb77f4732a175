"""How one run chooses an arm, with the inner loop over arms: for a GPU thread and for live use.

The same decisions as `cpu.choice` makes for a block, from the same random numbers and in the same order of arithmetic,
but without scratch space: what a rare tie needs again is computed again. The slot `own_of` reads an arm's numbers, and
`settled` gives its score.
"""

from typing import Any

import numpy as np

from driftbandit.engine.step.slots import accepted, attempt, own_of, probability, score, settled, shaped, weigh
from driftbandit.numerics.elementary import exp
from driftbandit.numerics.rng import BOOST, CHOICE, SCORE, draw, uniform

ZERO = np.uint64(0)
ONE = np.uint64(1)


def sampled_score(
    parameters: Any, shared: float, own: Any, seed: np.uint64, run: np.uint64, step: np.uint64, arm: np.uint64
) -> float:
    """The random score of an arm: attempts until one stands."""
    numbers = shaped(parameters, shared, own)
    tries = ZERO
    while True:
        words = draw(seed, run, step, arm, SCORE, tries)
        more = draw(seed, run, step, arm, BOOST, tries)
        value, sure = attempt(numbers, words, more)
        if sure or accepted(numbers, words):
            return value  # type: ignore[no-any-return]  # a slot
        tries += ONE


def index_score(
    parameters: Any, shared: float, own: Any, seed: np.uint64, run: np.uint64, step: np.uint64, arm: np.uint64
) -> float:
    """The score of an arm where it is not random."""
    return score(parameters, shared, *own)  # type: ignore[no-any-return]  # a slot


def choose_one_by_score(
    parameters: Any, shared: float, n_arms: int, numbers: Any, seed: np.uint64, run: np.uint64, step: np.uint64
) -> tuple[int, float]:
    """The arm with the largest score; exact ties are broken uniformly at random."""
    best = settled(parameters, shared, own_of(numbers, 0), seed, run, step, ZERO)
    chosen = 0
    ties = 0
    for k in range(1, n_arms):
        value = settled(parameters, shared, own_of(numbers, k), seed, run, step, np.uint64(k))
        if value > best:
            best = value
            chosen = k
            ties = 0
        elif value == best:
            ties += 1
    if ties > 0:
        words = draw(seed, run, step, ZERO, CHOICE, ZERO)
        skip = int(uniform(words[0], words[1]) * (ties + 1))
        for k in range(n_arms):
            if settled(parameters, shared, own_of(numbers, k), seed, run, step, np.uint64(k)) == best:
                if skip == 0:
                    chosen = k
                    break
                skip -= 1
    return chosen, 1.0


def choose_one_by_weight(
    parameters: Any, shared: float, n_arms: int, numbers: Any, seed: np.uint64, run: np.uint64, step: np.uint64
) -> tuple[int, float]:
    """An arm by its probability, which is returned too."""
    largest = weigh(parameters, shared, own_of(numbers, 0))
    for k in range(1, n_arms):
        largest = max(largest, weigh(parameters, shared, own_of(numbers, k)))
    total = 0.0
    for k in range(n_arms):
        total += exp(weigh(parameters, shared, own_of(numbers, k)) - largest)
    inverse = 1.0 / total
    words = draw(seed, run, step, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    chosen = 0
    chance = 0.0
    below = 0.0
    for k in range(n_arms):
        here = probability(parameters, exp(weigh(parameters, shared, own_of(numbers, k)) - largest) * inverse)
        if target >= below and here > 0.0:
            chosen = k
            chance = here
        below += here
    return chosen, chance
