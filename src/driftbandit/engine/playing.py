"""The run loop: a block of runs plays some steps.

Everything is a plain loop over numbers: NumPy's own functions would take longer to compile than all the rest.
"""

from typing import Any

import numpy as np

from driftbandit.engine.layout import (
    Desk,
    Evidence,
    Memory,
    Place,
    Record,
    World,
    choose,
    context,
    learn,
    observe,
    unlearn,
)
from driftbandit.rng import TRIAL, draw, uniform

ZERO = np.uint64(0)


def play(
    parameters: Any,
    seed: np.uint64,
    first_run: np.uint64,
    first_step: int,
    last_step: int,
    total: float,
    evidence: Evidence,
    memory: Memory,
    world: World,
    desk: Desk,
    record: Record,
) -> float:
    """Steps `first_step` to `last_step` of a block; `total` is the number of observations so far, and is returned."""
    point = 0
    while point < record.steps.size and record.steps[point] < first_step:
        point += 1
    for t in range(first_step, last_step + 1):
        place = (seed, first_run, np.uint64(t))
        choose(parameters, context(parameters, total), place, evidence, desk)
        observe(place, world, desk, record)
        take_in(parameters, place, t, evidence, memory, world.fractional, desk)
        total = total * memory.decay + 1.0
        if memory.window > 0:
            total = min(total, float(memory.window))
        if memory.restart > 0 and t % memory.restart == 0:
            total = 0.0
        bin_of_step = (t - 1) // record.bin_width
        for r in range(desk.chosen.size):
            record.choices[bin_of_step, desk.chosen[r]] += 1
        if point < record.steps.size and record.steps[point] == t:
            for r in range(desk.chosen.size):
                record.regret_at[r, point] = record.regret[r]
                record.expected_at[r, point] = record.expected[r]
                record.reward_at[r, point] = record.reward[r]
            point += 1
    return total


def take_in(
    parameters: Any, place: Place, t: int, evidence: Evidence, memory: Memory, fractional: bool, desk: Desk
) -> None:
    """All evidence fades, the chosen arm learns, and what is too old is forgotten."""
    seed, first_run, step = place
    a, b = evidence
    chosen, reward, chance = desk.chosen, desk.reward, desk.probability
    n_arms, n = a.shape
    if memory.decay != 1.0:
        for k in range(n_arms):
            for r in range(n):
                a[k, r] *= memory.decay
                b[k, r] *= memory.decay
    if memory.binary and fractional:
        for r in range(n):
            words = draw(seed, first_run + np.uint64(r), step, ZERO, TRIAL, ZERO)
            reward[r] = 1.0 if uniform(words[0], words[1]) < reward[r] else 0.0
    for r in range(n):
        k = chosen[r]
        a[k, r], b[k, r] = learn(parameters, a[k, r], b[k, r], reward[r], chance[r])
    if memory.window > 0 and memory.arms.shape[0] > 0:
        row = (t - 1) % memory.window
        for r in range(n):
            if t > memory.window:
                k = memory.arms[row, r]
                a[k, r], b[k, r] = unlearn(parameters, a[k, r], b[k, r], memory.rewards[row, r])
            memory.arms[row, r] = chosen[r]
            memory.rewards[row, r] = reward[r]
    if memory.restart > 0 and t % memory.restart == 0:
        for k in range(n_arms):
            for r in range(n):
                a[k, r] = memory.initial[0]
                b[k, r] = memory.initial[1]
