"""What all arms of a run are compared by, and the share of choices that is left to chance.

Forms of the slots `share`, `shared_of`, `context_of`, `total_of`, `turn` and `explore_of`: most rules share one number
between all runs of a block and explore by their scores alone, and pay for nothing else.
"""

from typing import Any

import numpy as np

from driftbandit.elementary import real
from driftbandit.engine.layout import (
    Desk,
    Evidence,
    Memory,
    Place,
    common_of,
    context,
    context_of,
    explore,
    explore_of,
    log_weight,
    observations,
    own_of,
    probability,
    shape,
    total_of,
    unlearn,
)
from driftbandit.rng import EXPLORE, LUCK, draw, uniform

ZERO = np.uint64(0)


def share_by_total(parameters: Any, total: float, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> Any:
    """One number for all runs."""
    return context(parameters, total)


def share_by_run(parameters: Any, total: float, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> Any:
    """A number for each run."""
    seed, first_run, step = place
    for r in range(desk.shared.size):
        words = draw(seed, first_run + np.uint64(r), step, ZERO, LUCK, ZERO)
        desk.shared[r] = context_of(
            parameters,
            total_of(parameters, total, evidence, r),
            common_of(memory.common, r),
            uniform(words[0], words[1]),
        )
    return desk.shared


def shared_in_block(shared: Any, r: int) -> Any:
    """What the arms of a run share."""
    return shared


def shared_by_run(shared: Any, r: int) -> Any:
    """What the arms of a run share."""
    return shared[r]


def context_without_luck(parameters: Any, total: float, common: Any, luck: float) -> Any:
    """From the number of observations and the shared numbers."""
    return context(parameters, total, *common)


def context_with_luck(parameters: Any, total: float, common: Any, luck: float) -> Any:
    """From those and a random number."""
    return context(parameters, total, *common, luck)


def total_as_counted(parameters: Any, total: float, evidence: Evidence, r: int) -> float:
    """As many observations as every run has."""
    return total


def total_of_arms(parameters: Any, total: float, evidence: Evidence, r: int) -> float:
    """The observations that a run's arms stand for."""
    result = 0.0
    for k in range(evidence.shape[0]):
        result += observations(parameters, *own_of(evidence[k], r))
    return result


def any_arm(share: Any, count: Any, seed: Any, run: Any, step: Any) -> Any:
    """Any of so many arms, each alike, in this share of choices; −1 in all others."""
    words = draw(seed, run, step, ZERO, EXPLORE, ZERO)
    u = uniform(words[0], words[1])
    return min(int(u / share * real(count)), count - 1) if u < share else -1


def no_turn(parameters: Any, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """Every choice stands."""


def turn_to_any(parameters: Any, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """In a share of choices any arm is taken."""
    seed, first_run, step = place
    n_arms = evidence.shape[0]
    for r in range(desk.chosen.size):
        e = explore_of(parameters, memory.explore, step, common_of(memory.common, r))
        arm = any_arm(e, n_arms, seed, first_run + np.uint64(r), step)
        if arm >= 0:
            desk.chosen[r] = arm


def turn_to_any_by_weight(parameters: Any, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """In a share of choices any arm is taken, and the probability of the choice says so."""
    seed, first_run, step = place
    n_arms = evidence.shape[0]
    for r in range(desk.chosen.size):
        e = explore_of(parameters, memory.explore, step, common_of(memory.common, r))
        arm = any_arm(e, n_arms, seed, first_run + np.uint64(r), step)
        if arm >= 0:
            desk.chosen[r] = arm
            desk.probability[r] = probability(parameters, desk.scores[desk.chosen[r], r] * desk.total[r])
        desk.probability[r] = (1.0 - e) * desk.probability[r] + e / n_arms


def shaped_as_it_is(parameters: Any, shared: Any, own: Any) -> Any:
    """A score depends on the arm's numbers."""
    return own


def shaped_by_rule(parameters: Any, shared: Any, own: Any) -> Any:
    """A score depends on what the rule makes of the arm's numbers."""
    return shape(parameters, shared, *own)


def weigh_by_first_number(parameters: Any, shared: Any, own: Any) -> Any:
    """An arm's first number is the logarithm of its weight."""
    return own[0]


def weigh_by_rule(parameters: Any, shared: Any, own: Any) -> Any:
    """The rule says what the logarithm of an arm's weight is."""
    return log_weight(parameters, shared, *own)


def nothing_forgotten(parameters: Any, own: Any, reward: Any) -> Any:
    """Nothing leaves a window."""
    return own


def forgotten_by_rule(parameters: Any, own: Any, reward: Any) -> Any:
    """The arm's numbers without an observation that left the window."""
    return unlearn(parameters, *own, reward)


def fixed_share(parameters: Any, fixed: float, step: Any, common: Any) -> float:
    """The same share at every step."""
    return fixed


def share_at_step(parameters: Any, fixed: float, step: Any, common: Any) -> Any:
    """A share that the rule works out."""
    return min(max(explore(parameters, real(step), *common), real(0.0)), real(1.0))
