"""What a thread does within one step: choose an arm, look at the means, let them move.

The scores, tests, probabilities and walks are those of the processor. The loops around them are made for warps, whose
32 threads do the same thing at the same time or wait for each other. None of this uses the card's own vocabulary, so
that it runs as plain Python too.
"""

from typing import Any

import numpy as np

from driftbandit.elementary import exp, real
from driftbandit.engine.layout import accepted, probability, score
from driftbandit.engine.single import choose_one_by_score, choose_one_by_weight
from driftbandit.environments.brownian import first_mean, next_mean
from driftbandit.rng import BOOST, CHOICE, SCORE, draw, uniform

ZERO = np.uint64(0)
ONE = np.uint64(1)

MOST_TIES = 64
"""Arms that a mask of ties has bits for; with more arms, a rare tie is found again by computing all scores again."""


def choose_by_sample(
    parameters: Any, shared: Any, n_arms: int, a: Any, b: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[int, Any]:
    """The arm with the largest random score.

    One loop over arms and attempts: a thread whose attempt is rejected falls behind by one turn, where a loop over
    attempts within a loop over arms would make its whole warp wait at every arm.
    """
    chosen = 0
    tied = ZERO
    arm = 0
    attempt = ZERO
    best = real(0.0)
    while arm < n_arms:
        own_a = a[arm]
        own_b = b[arm]
        words = draw(seed, run, step, np.uint64(arm), SCORE, attempt)
        more = draw(seed, run, step, np.uint64(arm), BOOST, attempt)
        value, sure = score(parameters, shared, own_a, own_b, words, more)
        attempt += ONE
        if sure or accepted(parameters, own_a, own_b, words):
            bit = ONE << np.uint64(arm)
            if arm == 0 or value > best:
                best = value
                chosen = arm
                tied = bit
            elif value == best:
                tied |= bit
            arm += 1
            attempt = ZERO
    return untied(chosen, tied, n_arms, seed, run, step), real(1.0)


def choose_by_index(
    parameters: Any, shared: Any, n_arms: int, a: Any, b: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[int, Any]:
    """The arm with the largest score, where scores are not random."""
    best = score(parameters, shared, a[0], b[0])
    chosen = 0
    tied = ONE
    for arm in range(1, n_arms):
        value = score(parameters, shared, a[arm], b[arm])
        bit = ONE << np.uint64(arm)
        if value > best:
            best = value
            chosen = arm
            tied = bit
        elif value == best:
            tied |= bit
    return untied(chosen, tied, n_arms, seed, run, step), real(1.0)


def untied(chosen: int, tied: Any, n_arms: int, seed: Any, run: Any, step: Any) -> int:
    """The chosen arm, or one of those in the mask uniformly at random if there are several."""
    if tied & (tied - ONE) == ZERO:
        return chosen
    ties = 0
    for arm in range(n_arms):
        ties += np.int64((tied >> np.uint64(arm)) & ONE)
    words = draw(seed, run, step, ZERO, CHOICE, ZERO)
    skip = int(uniform(words[0], words[1]) * real(ties))
    for arm in range(n_arms):
        if (tied >> np.uint64(arm)) & ONE != ZERO:
            if skip == 0:
                return arm
            skip -= 1
    return chosen


def choose_by_weight(
    parameters: Any, shared: Any, n_arms: int, a: Any, b: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[int, Any]:
    """An arm by its probability, which is returned too."""
    largest = a[0]
    for arm in range(1, n_arms):
        largest = max(largest, a[arm])
    total = real(0.0)
    for arm in range(n_arms):
        weight = exp(a[arm] - largest)
        scores[arm] = weight
        total += weight
    inverse = 1.0 / total
    words = draw(seed, run, step, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    chosen = 0
    chance = real(0.0)
    below = real(0.0)
    for arm in range(n_arms):
        here = probability(parameters, scores[arm] * inverse)
        if target >= below and here > 0.0:
            chosen = arm
            chance = here
        below += here
    return chosen, chance


def choose_from_many(
    parameters: Any, shared: Any, n_arms: int, a: Any, b: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[int, Any]:
    """The arm with the largest score, of any number of arms."""
    return choose_one_by_score(parameters, shared, a, b, seed, run, step)


def choose_from_many_by_weight(
    parameters: Any, shared: Any, n_arms: int, a: Any, b: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[int, Any]:
    """An arm by its probability, of any number of arms: weights are computed twice rather than kept."""
    return choose_one_by_weight(parameters, shared, a, b, seed, run, step)


def see_shared(table: Any, best: Any, row: int, n_arms: int, mean: Any, chosen: int) -> tuple[Any, Any]:
    """The best mean and the chosen arm's, where all runs see the same; `best` is known for every row."""
    return best[row], table[row * n_arms + chosen]


def see_own(table: Any, best: Any, row: int, n_arms: int, mean: Any, chosen: int) -> tuple[Any, Any]:
    """The best mean and the chosen arm's, where every run has its own."""
    largest = mean[0]
    for arm in range(1, n_arms):
        largest = max(largest, mean[arm])
    return largest, mean[chosen]


def begin_nothing(table: Any, start: Any, n_arms: int, mean: Any, clock: Any, seed: Any, run: Any) -> None:
    """All runs see the same means: none to keep."""


def begin_rested(table: Any, start: Any, n_arms: int, mean: Any, clock: Any, seed: Any, run: Any) -> None:
    """Every arm at the first row of its own clock."""
    for arm in range(n_arms):
        mean[arm] = table[arm]
        clock[arm] = 0


def begin_walks(table: Any, start: Any, n_arms: int, mean: Any, clock: Any, seed: Any, run: Any) -> None:
    """Every arm where its walk starts."""
    for arm in range(n_arms):
        mean[arm] = first_mean(start, seed, run, np.uint64(arm))
        clock[arm] = 1


def move_nothing(
    table: Any, cycle: int, volatility: Any, n_arms: int, mean: Any, clock: Any, chosen: int,
    seed: Any, run: Any, step: Any,
) -> None:  # fmt: skip
    """The step itself moves the means."""


def move_rested(
    table: Any, cycle: int, volatility: Any, n_arms: int, mean: Any, clock: Any, chosen: int,
    seed: Any, run: Any, step: Any,
) -> None:  # fmt: skip
    """The chosen arm's clock, kept as a row of the table, moves, and its mean with it."""
    row = clock[chosen] + 1
    if row == cycle:
        row = 0
    clock[chosen] = row
    mean[chosen] = table[row * n_arms + chosen]


def walk_restless(
    table: Any, cycle: int, volatility: Any, n_arms: int, mean: Any, clock: Any, chosen: int,
    seed: Any, run: Any, step: Any,
) -> None:  # fmt: skip
    """Every arm walks on."""
    for arm in range(n_arms):
        mean[arm] = next_mean(real(mean[arm]), volatility, seed, run, step, np.uint64(arm))


def walk_rested(
    table: Any, cycle: int, volatility: Any, n_arms: int, mean: Any, clock: Any, chosen: int,
    seed: Any, run: Any, step: Any,
) -> None:  # fmt: skip
    """The chosen arm walks on."""
    mean[chosen] = next_mean(real(mean[chosen]), volatility, seed, run, np.uint64(clock[chosen]), np.uint64(chosen))
    clock[chosen] += 1
