"""What a thread does within one step: choose an arm, look at the means, let them move.

The scores, tests, probabilities and walks are those of the processor. The loops around them are made for warps, whose
32 threads do the same thing at the same time or wait for each other. None of this uses the card's own vocabulary, so
that it runs as plain Python too. Arms and rows are unsigned: a signed index is looked at for being negative. A loop
over arms counts by itself: `range` would take more registers.
"""

from math import inf
from typing import Any

import numpy as np

from driftbandit.engine.cuda.layout import ONE, ZERO, ArmNumbers, Choice, Place, World
from driftbandit.engine.step.forms import mean_after, mean_at_start
from driftbandit.engine.step.one_run import by_weight, chance_by_weight, drawn_tie, largest, tied_place
from driftbandit.engine.step.parts import attempted, own_of, weigh
from driftbandit.engine.step.rule_functions import probability
from driftbandit.numerics.elementary import exp, real
from driftbandit.numerics.rng import CHOICE, draw, uniform

BIT = np.uint32(1)
NO_BITS = np.uint32(0)
FIRST, NEXT = np.uint32(0), np.uint32(1)
LOWEST = -inf

MOST_TIES = 32
"""Arms that a mask of ties has bits for; with more arms, a rare tie is found again by computing all scores again."""


def choose_by_score(parameters: Any, shared: Any, arms: ArmNumbers, scores: Any, place: Place) -> Choice:
    """The arm with the largest score.

    One loop over arms and attempts: a thread whose attempt is rejected falls behind by one turn, where a loop over
    attempts within a loop over arms would make its whole warp wait at every arm. Arms are counted in 32 bits: a card
    takes two instructions for 64.
    """
    count = np.uint32(arms.count)
    chosen = FIRST
    tied = NO_BITS
    best = real(LOWEST)
    arm = FIRST
    tries = ZERO
    while arm < count:
        value, stands = attempted(parameters, shared, own_of(arms, arm), place, np.uint64(arm), tries)
        tries += ONE
        if stands:
            tied = marked(tied, arm, value, best)
            chosen = arm if value > best else chosen
            best = max(value, best)
            arm = np.uint32(arm + NEXT)
            tries = ZERO
    return Choice(untied(np.uint64(chosen), tied, arms.count, place), real(1.0))


def marked(tied: Any, arm: Any, value: Any, best: Any) -> Any:
    """The mask of the arms that share the largest score, with one arm more."""
    bit = np.uint32(BIT << np.uint32(arm))
    kept = NO_BITS if value > best else tied
    return np.uint32(kept | bit) if value >= best else tied


def untied(chosen: Any, tied: Any, n_arms: Any, place: Place) -> Any:
    """The chosen arm, or one of those in the mask uniformly at random if there are several."""
    if np.uint32(tied >> np.uint32(chosen)) <= BIT:  # the chosen one is the first of them
        return chosen
    ties: Any = 0
    arm = chosen
    while arm < n_arms:
        ties += np.int64(np.uint32(tied >> np.uint32(arm)) & BIT)
        arm += ONE
    words = draw(*place, ZERO, CHOICE, ZERO)
    skip = int(uniform(words[0], words[1]) * real(ties))
    arm = chosen
    while arm < n_arms:
        if np.uint32(tied >> np.uint32(arm)) & BIT != NO_BITS:
            if skip == 0:
                chosen = arm
            skip -= 1
        arm += ONE
    return chosen


def choose_by_weight(parameters: Any, shared: Any, arms: ArmNumbers, scores: Any, place: Place) -> Choice:
    """An arm by its probability, which is returned too."""
    most = weigh(parameters, shared, own_of(arms, ZERO))
    arm = ONE
    while arm < arms.count:
        most = max(most, weigh(parameters, shared, own_of(arms, arm)))
        arm += ONE
    total = real(0.0)
    arm = ZERO
    while arm < arms.count:
        weight = exp(weigh(parameters, shared, own_of(arms, arm)) - most)
        scores[arm] = weight
        total += weight
        arm += ONE
    inverse = real(1.0) / total
    words = draw(*place, ZERO, CHOICE, ZERO)
    target = uniform(words[0], words[1])
    chosen = ZERO
    chance = real(0.0)
    below = real(0.0)
    arm = ZERO
    while arm < arms.count:
        here = probability(parameters, scores[arm] * inverse)
        reached = target >= below and here > 0.0
        chosen = arm if reached else chosen
        chance = here if reached else chance
        below += here
        arm += ONE
    return Choice(chosen, chance)


def choose_from_many(parameters: Any, shared: Any, arms: ArmNumbers, scores: Any, place: Place) -> Choice:
    """The arm with the largest score, of any number of arms."""
    count: Any = np.int64(arms.count)  # of an unsigned count, places and −1 would be real numbers
    best, chosen, ties = largest(parameters, shared, arms, arms, count, place)
    if ties > 1:
        chosen = tied_place(parameters, shared, arms, arms, count, place, best, drawn_tie(ties, place))
    return Choice(np.uint64(max(chosen, 0)), real(1.0))


def choose_from_many_by_weight(parameters: Any, shared: Any, arms: ArmNumbers, scores: Any, place: Place) -> Choice:
    """An arm by its probability, of any number of arms: weights are computed twice rather than kept."""
    count: Any = np.int64(arms.count)
    chosen, most, inverse = by_weight(parameters, shared, arms, count, place)
    return Choice(np.uint64(chosen), chance_by_weight(parameters, shared, arms, chosen, most, inverse))


def see_shared(world: World, row: Any, chosen: Any) -> tuple[Any, Any]:
    """The best mean and the chosen arm's, where all runs see the same; `best` is known for every row."""
    return world.best[row], world.table[row * world.n_arms + chosen]


def see_own(world: World, row: Any, chosen: Any) -> tuple[Any, Any]:
    """The best mean and the chosen arm's, where every run has its own."""
    best = world.mean[ZERO]
    arm = ONE
    while arm < world.n_arms:
        best = max(best, world.mean[arm])
        arm += ONE
    return best, world.mean[chosen]


def begin_nothing(world: World, place: Place) -> None:
    """All runs see the same means: none to keep."""


def begin_rested(world: World, place: Place) -> None:
    """Every arm at the first row of its own clock."""
    arm = ZERO
    while arm < world.n_arms:
        world.mean[arm] = world.table[arm]
        world.clock[arm] = ZERO
        arm += ONE


def begin_walks(world: World, place: Place) -> None:
    """Every arm where its walk starts."""
    seed, run, _ = place
    arm = ZERO
    while arm < world.n_arms:
        world.mean[arm] = mean_at_start(world.path, seed, run, arm)
        world.clock[arm] = ONE
        arm += ONE


def move_nothing(world: World, chosen: Any, place: Place) -> None:
    """The step itself moves the means."""


def move_rested(world: World, chosen: Any, place: Place) -> None:
    """The chosen arm's clock, kept as a row of the table, moves, and its mean with it."""
    row = following(world.clock[chosen], world.cycle)
    world.clock[chosen] = row
    world.mean[chosen] = world.table[row * world.n_arms + chosen]


def walk_restless(world: World, chosen: Any, place: Place) -> None:
    """Every arm walks on."""
    arm = ZERO
    while arm < world.n_arms:
        world.mean[arm] = mean_after(world.path, real(world.mean[arm]), *place, arm)
        arm += ONE


def walk_rested(world: World, chosen: Any, place: Place) -> None:
    """The chosen arm walks on."""
    seed, run, _ = place
    clock = world.clock[chosen]
    world.mean[chosen] = mean_after(world.path, real(world.mean[chosen]), seed, run, clock, chosen)
    world.clock[chosen] = clock + ONE


def following(row: Any, count: Any) -> Any:
    """The row after this one, of so many that repeat."""
    return ZERO if row + ONE == count else row + ONE
