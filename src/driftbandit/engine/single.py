"""How one run chooses an arm, with the inner loop over arms: for a GPU thread and for live use.

The same decisions as `choosing` makes for a block, from the same random numbers and in the same order of arithmetic,
but without scratch space: what a rare tie needs again is computed again. The slot `settled` gives an arm's score.
"""

from typing import Any

import numpy as np

from driftbandit.elementary import exp
from driftbandit.engine.layout import Reals, accepted, probability, score, settled
from driftbandit.rng import BOOST, CHOICE, SCORE, draw, uniform

ZERO = np.uint64(0)
ONE = np.uint64(1)


def sampled_score(
    parameters: Any,
    shared: float,
    a: float,
    b: float,
    seed: np.uint64,
    run: np.uint64,
    step: np.uint64,
    arm: np.uint64,
) -> float:
    """The random score of an arm: attempts until one stands."""
    attempt = ZERO
    while True:
        words = draw(seed, run, step, arm, SCORE, attempt)
        more = draw(seed, run, step, arm, BOOST, attempt)
        value, sure = score(parameters, shared, a, b, words, more)
        if sure or accepted(parameters, a, b, words):
            return value  # type: ignore[no-any-return]  # a slot
        attempt += ONE


def index_score(
    parameters: Any,
    shared: float,
    a: float,
    b: float,
    seed: np.uint64,
    run: np.uint64,
    step: np.uint64,
    arm: np.uint64,
) -> float:
    """The score of an arm where it is not random."""
    return score(parameters, shared, a, b)  # type: ignore[no-any-return]  # a slot


def choose_one_by_score(
    parameters: Any, shared: float, a: Reals, b: Reals, seed: np.uint64, run: np.uint64, step: np.uint64
) -> tuple[int, float]:
    """The arm with the largest score; exact ties are broken uniformly at random."""
    best = settled(parameters, shared, a[0], b[0], seed, run, step, ZERO)
    chosen = 0
    ties = 0
    for k in range(1, a.shape[0]):
        value = settled(parameters, shared, a[k], b[k], seed, run, step, np.uint64(k))
        if value > best:
            best = value
            chosen = k
            ties = 0
        elif value == best:
            ties += 1
    if ties > 0:
        words = draw(seed, run, step, ZERO, CHOICE, ZERO)
        skip = int(uniform(words[0], words[1]) * (ties + 1))
        for k in range(a.shape[0]):
            if settled(parameters, shared, a[k], b[k], seed, run, step, np.uint64(k)) == best:
                if skip == 0:
                    chosen = k
                    break
                skip -= 1
    return chosen, 1.0


def choose_one_by_weight(
    parameters: Any, shared: float, a: Reals, b: Reals, seed: np.uint64, run: np.uint64, step: np.uint64
) -> tuple[int, float]:
    """An arm by its probability, which is returned too."""
    largest = a[0]
    for k in range(1, a.shape[0]):
        largest = max(largest, a[k])
    total = 0.0
    for k in range(a.shape[0]):
        total += exp(a[k] - largest)
    inverse = 1.0 / total
    words = draw(seed, run, step, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    chosen = 0
    chance = 0.0
    below = 0.0
    for k in range(a.shape[0]):
        here = probability(parameters, exp(a[k] - largest) * inverse)
        if target >= below and here > 0.0:
            chosen = k
            chance = here
        below += here
    return chosen, chance
