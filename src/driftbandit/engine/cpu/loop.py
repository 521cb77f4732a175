"""The run loop: a block of runs plays some steps.

Everything is a plain loop over numbers: NumPy's own functions would take longer to compile than all the rest.
"""

from typing import Any

import numpy as np

from driftbandit.engine.cpu.block import Desk, Evidence, Memory, Place, Tally, World
from driftbandit.engine.step.parts import (
    choose,
    forgotten,
    hear,
    observe,
    own_of,
    put_common,
    put_own,
    share,
    take,
    turn,
)
from driftbandit.numerics.rng import TRIAL, draw, uniform

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
    record: Tally,
) -> float:
    """Steps `first_step` to `last_step` of a block; `total` is the number of observations so far, and is returned."""
    point = 0
    while point < record.steps.size and record.steps[point] < first_step:
        point += 1
    for t in range(first_step, last_step + 1):
        place = (seed, first_run, np.uint64(t))
        shared = share(parameters, total, place, evidence, memory, desk)
        choose(parameters, shared, place, evidence, desk)
        turn(parameters, place, evidence, memory, desk)
        observe(place, world, desk, record)
        take_in(parameters, place, t, evidence, memory, world.fractional, desk)
        total = total * memory.fading + 1.0
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
    """All numbers age, the chosen arm learns, and what is too old is forgotten."""
    seed, first_run, step = place
    chosen, reward = desk.chosen, desk.reward
    n_arms, count, n = evidence.shape
    if memory.fading != 1.0:
        numbers = evidence.reshape(n_arms * count * n)  # one long loop
        decay = memory.fading
        for i in range(numbers.size):
            numbers[i] *= decay
    elif memory.mixed:
        for k in range(n_arms):
            for i in range(count):
                row = evidence[k, i]
                decay = memory.decay[i]
                for r in range(n):
                    row[r] *= decay
    if memory.drifts:
        for k in range(n_arms):
            for i in range(count):
                row = evidence[k, i]
                drift = memory.drift[i]
                for r in range(n):
                    row[r] += drift
    if memory.binary and fractional:
        for r in range(n):
            words = draw(seed, first_run + np.uint64(r), step, ZERO, TRIAL, ZERO)
            reward[r] = 1.0 if uniform(words[0], words[1]) < reward[r] else 0.0
    take(parameters, evidence, memory, desk)
    if memory.window > 0 and memory.arms.shape[0] > 0:
        row_of_step = (t - 1) % memory.window
        for r in range(n):
            k = memory.arms[row_of_step, r]
            if t > memory.window and k >= 0:
                arm = evidence[k]
                put_own(arm, r, forgotten(parameters, own_of(arm, r), memory.rewards[row_of_step, r]))
            memory.arms[row_of_step, r] = chosen[r]
            memory.rewards[row_of_step, r] = reward[r]
    hear(parameters, evidence, memory, desk)
    if memory.restart > 0 and t % memory.restart == 0:
        start_all_again(evidence, memory)


def start_all_again(evidence: Evidence, memory: Memory) -> None:
    """Everything is forgotten, in every run."""
    for k in range(evidence.shape[0]):
        arm = evidence[k]
        for r in range(arm.shape[1]):
            put_own(arm, r, memory.initial)
    for r in range(evidence.shape[2]):
        put_common(memory.common, r, memory.start)
    for k in range(memory.past_count.shape[0]):
        for r in range(memory.past_count.shape[1]):
            memory.past_count[k, r] = 0
    for row in range(memory.arms.shape[0]):
        for r in range(memory.arms.shape[1]):
            memory.arms[row, r] = -1
