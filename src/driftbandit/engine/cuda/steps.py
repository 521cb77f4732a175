"""What a thread does within one step: choose an arm, look at the means, let them move.

The scores, tests, probabilities and walks are those of the processor. The loops around them are made for warps, whose
32 threads do the same thing at the same time or wait for each other. None of this uses the card's own vocabulary, so
that it runs as plain Python too. Arms and rows are unsigned: a signed index is looked at for being negative.
"""

from math import inf
from typing import Any

import numpy as np

from driftbandit.engine.step.one_run import by_weight, chance_by_weight, drawn_tie, largest, tied_place
from driftbandit.engine.step.slots import accepted, attempt, own_of, probability, score, shaped, weigh
from driftbandit.engine.step.walk import mean_after, mean_at_start
from driftbandit.numerics.elementary import exp, real
from driftbandit.numerics.rng import BOOST, CHOICE, SCORE, draw, uniform

ZERO = np.uint64(0)
ONE = np.uint64(1)
BIT = np.uint32(1)
NO_BITS = np.uint32(0)
LOWEST = -inf

MOST_TIES = 32
"""Arms that a mask of ties has bits for; with more arms, a rare tie is found again by computing all scores again."""


def choose_by_sample(
    parameters: Any, shared: Any, n_arms: Any, arms: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[Any, Any]:
    """The arm with the largest random score.

    One loop over arms and attempts: a thread whose attempt is rejected falls behind by one turn, where a loop over
    attempts within a loop over arms would make its whole warp wait at every arm.
    """
    chosen = ZERO
    tied = NO_BITS
    best = real(LOWEST)
    arm = ZERO
    tries = ZERO
    while arm < n_arms:
        numbers = shaped(parameters, shared, own_of(arms, arm))
        words = draw(seed, run, step, arm, SCORE, tries)
        more = draw(seed, run, step, arm, BOOST, tries)
        value, sure = attempt(numbers, words, more)
        tries += ONE
        if sure or accepted(numbers, words):
            tied = marked(tied, arm, value, best)
            chosen = arm if value > best else chosen
            best = max(value, best)
            arm += ONE
            tries = ZERO
    return untied(chosen, tied, n_arms, seed, run, step), real(1.0)


def choose_by_index(
    parameters: Any, shared: Any, n_arms: Any, arms: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[Any, Any]:
    """The arm with the largest score, where scores are not random."""
    chosen = ZERO
    tied = NO_BITS
    best = real(LOWEST)
    arm = ZERO
    while arm < n_arms:
        value = score(parameters, shared, *own_of(arms, arm))
        tied = marked(tied, arm, value, best)
        chosen = arm if value > best else chosen
        best = max(value, best)
        arm += ONE
    return untied(chosen, tied, n_arms, seed, run, step), real(1.0)


def marked(tied: Any, arm: Any, value: Any, best: Any) -> Any:
    """The mask of the arms that share the largest score, with one arm more."""
    bit = np.uint32(BIT << np.uint32(arm))
    kept = NO_BITS if value > best else tied
    return np.uint32(kept | bit) if value >= best else tied


def untied(chosen: Any, tied: Any, n_arms: Any, seed: Any, run: Any, step: Any) -> Any:
    """The chosen arm, or one of those in the mask uniformly at random if there are several."""
    if np.uint32(tied >> np.uint32(chosen)) <= BIT:  # the chosen one is the first of them
        return chosen
    ties: Any = 0
    arm = chosen
    while arm < n_arms:
        ties += np.int64(np.uint32(tied >> np.uint32(arm)) & BIT)
        arm += ONE
    words = draw(seed, run, step, ZERO, CHOICE, ZERO)
    skip = int(uniform(words[0], words[1]) * real(ties))
    arm = chosen
    while arm < n_arms:
        if np.uint32(tied >> np.uint32(arm)) & BIT != NO_BITS:
            if skip == 0:
                chosen = arm
            skip -= 1
        arm += ONE
    return chosen


def choose_by_weight(
    parameters: Any, shared: Any, n_arms: Any, arms: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[Any, Any]:
    """An arm by its probability, which is returned too."""
    largest = weigh(parameters, shared, own_of(arms, ZERO))
    arm = ONE
    while arm < n_arms:
        largest = max(largest, weigh(parameters, shared, own_of(arms, arm)))
        arm += ONE
    total = real(0.0)
    arm = ZERO
    while arm < n_arms:
        weight = exp(weigh(parameters, shared, own_of(arms, arm)) - largest)
        scores[arm] = weight
        total += weight
        arm += ONE
    inverse = real(1.0) / total
    words = draw(seed, run, step, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    chosen = ZERO
    chance = real(0.0)
    below = real(0.0)
    arm = ZERO
    while arm < n_arms:
        here = probability(parameters, scores[arm] * inverse)
        reached = target >= below and here > 0.0
        chosen = arm if reached else chosen
        chance = here if reached else chance
        below += here
        arm += ONE
    return chosen, chance


def choose_from_many(
    parameters: Any, shared: Any, n_arms: Any, arms: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[Any, Any]:
    """The arm with the largest score, of any number of arms."""
    count, dice = int(n_arms), (seed, run, step)
    best, chosen, ties = largest(parameters, shared, arms, arms, count, dice)
    if ties > 1:
        chosen = tied_place(parameters, shared, arms, arms, count, dice, best, drawn_tie(ties, dice))
    return np.uint64(max(chosen, 0)), real(1.0)


def choose_from_many_by_weight(
    parameters: Any, shared: Any, n_arms: Any, arms: Any, scores: Any, seed: Any, run: Any, step: Any
) -> tuple[Any, Any]:
    """An arm by its probability, of any number of arms: weights are computed twice rather than kept."""
    chosen, most, inverse = by_weight(parameters, shared, arms, int(n_arms), (seed, run, step))
    return np.uint64(chosen), chance_by_weight(parameters, shared, arms, chosen, most, inverse)


def see_shared(table: Any, best: Any, row: Any, n_arms: Any, mean: Any, chosen: Any) -> tuple[Any, Any]:
    """The best mean and the chosen arm's, where all runs see the same; `best` is known for every row."""
    return best[row], table[row * n_arms + chosen]


def see_own(table: Any, best: Any, row: Any, n_arms: Any, mean: Any, chosen: Any) -> tuple[Any, Any]:
    """The best mean and the chosen arm's, where every run has its own."""
    largest = mean[ZERO]
    arm = ONE
    while arm < n_arms:
        largest = max(largest, mean[arm])
        arm += ONE
    return largest, mean[chosen]


def begin_nothing(table: Any, path: Any, n_arms: Any, mean: Any, clock: Any, seed: Any, run: Any) -> None:
    """All runs see the same means: none to keep."""


def begin_rested(table: Any, path: Any, n_arms: Any, mean: Any, clock: Any, seed: Any, run: Any) -> None:
    """Every arm at the first row of its own clock."""
    arm = ZERO
    while arm < n_arms:
        mean[arm] = table[arm]
        clock[arm] = ZERO
        arm += ONE


def begin_walks(table: Any, path: Any, n_arms: Any, mean: Any, clock: Any, seed: Any, run: Any) -> None:
    """Every arm where its walk starts."""
    arm = ZERO
    while arm < n_arms:
        mean[arm] = mean_at_start(path, seed, run, arm)
        clock[arm] = ONE
        arm += ONE


def move_nothing(
    table: Any, cycle: Any, path: Any, n_arms: Any, mean: Any, clock: Any, chosen: Any,
    seed: Any, run: Any, step: Any,
) -> None:  # fmt: skip
    """The step itself moves the means."""


def move_rested(
    table: Any, cycle: Any, path: Any, n_arms: Any, mean: Any, clock: Any, chosen: Any,
    seed: Any, run: Any, step: Any,
) -> None:  # fmt: skip
    """The chosen arm's clock, kept as a row of the table, moves, and its mean with it."""
    row = clock[chosen] + ONE
    row = ZERO if row == cycle else row
    clock[chosen] = row
    mean[chosen] = table[row * n_arms + chosen]


def walk_restless(
    table: Any, cycle: Any, path: Any, n_arms: Any, mean: Any, clock: Any, chosen: Any,
    seed: Any, run: Any, step: Any,
) -> None:  # fmt: skip
    """Every arm walks on."""
    arm = ZERO
    while arm < n_arms:
        mean[arm] = mean_after(path, real(mean[arm]), seed, run, step, arm)
        arm += ONE


def walk_rested(
    table: Any, cycle: Any, path: Any, n_arms: Any, mean: Any, clock: Any, chosen: Any,
    seed: Any, run: Any, step: Any,
) -> None:  # fmt: skip
    """The chosen arm walks on."""
    mean[chosen] = mean_after(path, real(mean[chosen]), seed, run, clock[chosen], chosen)
    clock[chosen] += ONE
