"""What all arms of a run are compared by, and the share of choices that is left to chance.

Forms of the slots `share`, `shared_of`, `context_of`, `total_of`, `turn` and `explore_of`: most rules share one number
between all runs of a block and explore by their scores alone, and pay for nothing else.
"""

from typing import Any

import numpy as np

from driftbandit.engine.cpu.block import Desk, Evidence, Memory, Place
from driftbandit.engine.step.forms import any_arm
from driftbandit.engine.step.parts import common_of, context_of, explore_of, own_of, total_of
from driftbandit.engine.step.rule_functions import context, judge, observations, probability
from driftbandit.numerics.rng import LUCK, draw, uniform

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
    return (desk.shared,)  # an array by itself can only be returned by what counts references


def judge_all(parameters: Any, total: float, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> Any:
    """Nothing is shared, but before they are compared all arms' numbers follow from what is believed of them."""
    seed, first_run, step = place
    mind = memory.mind
    for r in range(desk.chosen.size):
        words = draw(seed, first_run + np.uint64(r), step, ZERO, LUCK, ZERO)
        luck = uniform(words[0], words[1])
        own = evidence[:, :, r]
        judge(mind.tables, mind.common[r], mind.beliefs[r], mind.arms, mind.pending, luck, own, mind.room)
    return 0.0


def shared_in_block(shared: Any, r: int) -> Any:
    """What the arms of a run share: one number for the block."""
    return shared


def shared_by_run(shared: Any, r: int) -> Any:
    """What the arms of a run share: a number of its own."""
    return shared[0][r]


def total_as_counted(parameters: Any, total: float, evidence: Evidence, r: int) -> float:
    """As many observations as every run has."""
    return total


def total_of_arms(parameters: Any, total: float, evidence: Evidence, r: int) -> float:
    """The observations that a run's arms stand for."""
    result = 0.0
    for k in range(evidence.shape[0]):
        result += observations(parameters, *own_of(evidence[k], r))
    return result


def no_turn(parameters: Any, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """Every choice stands."""


def turn_to_any(parameters: Any, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """In a share of choices any arm is taken."""
    for r in range(desk.chosen.size):
        turned(parameters, place, evidence, memory, desk, r)


def turn_to_any_by_weight(parameters: Any, place: Place, evidence: Evidence, memory: Memory, desk: Desk) -> None:
    """In a share of choices any arm is taken, and the probability of the choice says so."""
    for r in range(desk.chosen.size):
        taken, e = turned(parameters, place, evidence, memory, desk, r)
        if taken:
            desk.probability[r] = probability(parameters, desk.scores[desk.chosen[r], r] * desk.total[r])
        desk.probability[r] = (1.0 - e) * desk.probability[r] + e / evidence.shape[0]


def turned(parameters: Any, place: Place, evidence: Evidence, memory: Memory, desk: Desk, r: int) -> tuple[bool, Any]:
    """Whether one run takes any arm, and in which share of choices it does."""
    seed, first_run, step = place
    e = explore_of(parameters, memory.explore, step, common_of(memory.common, r))
    arm = any_arm(e, evidence.shape[0], seed, first_run + np.uint64(r), step)
    if arm >= 0:
        desk.chosen[r] = arm
    return arm >= 0, e
