"""The run loop of a card: one thread plays one run, and a block of threads belongs to one shard.

The decisions, rewards, walks and updates are the functions that the processor runs, filled into slots by `link`. Only
what surrounds them is here. A launch holds the runs of many shards: what differs between them is read from tables, so
that policies of one kind in environments of one kind share a compiled kernel and fill the card together.

A thread keeps its arms' numbers in shared memory, `[arm, thread]`, or for many arms in the card's memory, `[arm, run]`.
"""

from typing import Any

import numpy as np
from numba import cuda, float64, int32, int64

from driftbandit.elementary import real
from driftbandit.engine.layout import context, learn, reward_of, unlearn
from driftbandit.rng import TRIAL, draw, uniform

# The columns of `whole`, the whole numbers of every shard.
(
    ARMS, RUNS, PLACES, HORIZON, FIRST_RUN, WINDOW, RING, RESTART, TRIALS, CYCLE, ROW, TABLE, BEST, STEPS, POINTS,
    BIN_WIDTH, ARM_START, RUN_START, RING_START, FIGURES, CHOICES, WHOLE_COLUMNS,
) = range(22)  # fmt: skip
# The columns of `numbers`, the real numbers of every shard.
DECAY, INITIAL_A, INITIAL_B, VOLATILITY, CONCENTRATION, WALK_START, NUMBER_COLUMNS = range(7)
REGRET, EXPECTED, REWARD, SUMS = range(4)

TALLY_STEPS = 32
"""Steps whose choices are counted in shared memory before they are added to the shard's counts."""

ZERO = np.uint64(0)
LAST_OF_TALLY = TALLY_STEPS - 1


def _open(*_: Any) -> Any:
    raise AssertionError("a slot that link must fill")


parameters_of = decide = see = begin = move = _open
shared_room: bool = True
"""Whether the arms' numbers are in shared memory."""
own_means: bool = True
"""Whether every run has means of its own."""
arm_reals: int = 3
"""How many real numbers of its own a policy keeps for an arm in shared memory."""
real_type: Any = float64
real_bytes: int = 8


def play_runs(
    seed: Any, first_step: int, last_step: int, blocks: Any, whole: Any, numbers: Any, parameters: Any, table: Any,
    best: Any, steps: Any, all_a: Any, all_b: Any, all_means: Any, all_clocks: Any, ring_arms: Any, ring_rewards: Any,
    totals: Any, sums: Any, figures: Any, choices: Any,
) -> None:  # fmt: skip
    """Steps `first_step` to `last_step` of every run in the launch, or to the end of its game."""
    threads = cuda.blockDim.x
    thread = cuda.threadIdx.x
    shard = blocks[cuda.blockIdx.x, 0]
    place = np.int64(blocks[cuda.blockIdx.x, 1] + thread)  # of this run in its shard; some threads have none
    n_arms = whole[shard, ARMS]
    runs = whole[shard, RUNS]
    places = whole[shard, PLACES]
    horizon = whole[shard, HORIZON]
    active = place < runs
    run = np.uint64(whole[shard, FIRST_RUN] + place)
    mine = whole[shard, RUN_START] + place
    cycle = whole[shard, CYCLE]
    own_table = table[whole[shard, TABLE] :]
    own_best = best[whole[shard, BEST] :]
    p = parameters_of(parameters, shard)
    decay = numbers[shard, DECAY]
    volatility = numbers[shard, VOLATILITY]
    concentration = numbers[shard, CONCENTRATION]

    arm_start = whole[shard, ARM_START]
    arm_stop = arm_start + n_arms * places
    if shared_room:
        size = n_arms * threads
        reals = cuda.shared.array(0, real_type)
        from_here = 16 * size // real_bytes if own_means else 0
        a = reals[from_here + thread : from_here + size : threads]
        b = reals[from_here + size + thread : from_here + 2 * size : threads]
        scores = reals[from_here + (arm_reals - 1) * size + thread : from_here + arm_reals * size : threads]
        mean = cuda.shared.array(0, float64)[thread:size:threads]
        clock = cuda.shared.array(0, int64)[size + thread : 2 * size : threads]
        tally = cuda.shared.array(0, int32)[(16 * size * own_means + arm_reals * size * real_bytes) // 4 :]
        i = thread
        while i < TALLY_STEPS * n_arms:
            tally[i] = 0
            i += threads
        cuda.syncthreads()
    else:
        a = all_a[arm_start + place : arm_stop : places]
        b = all_b[arm_start + place : arm_stop : places]
        scores = a
        mean = all_means[arm_start + place : arm_stop : places]
        clock = all_clocks[arm_start + place : arm_stop : places]

    if first_step == 1:
        total = real(0.0)
        regret = np.float64(0.0)
        expected = np.float64(0.0)
        rewards = np.float64(0.0)
        for k in range(n_arms):
            a[k] = numbers[shard, INITIAL_A]
            b[k] = numbers[shard, INITIAL_B]
        begin(own_table, numbers[shard, WALK_START], n_arms, mean, clock, seed, run)
    else:
        total = totals[mine]
        regret = sums[REGRET, mine]
        expected = sums[EXPECTED, mine]
        rewards = sums[REWARD, mine]
        if shared_room:
            for k in range(n_arms):
                a[k] = all_a[arm_start + k * places + place]
                b[k] = all_b[arm_start + k * places + place]
                if own_means:
                    mean[k] = all_means[arm_start + k * places + place]
                    clock[k] = all_clocks[arm_start + k * places + place]

    # Counters instead of remainders, which cost a card some hundred instructions each.
    row = whole[shard, ROW]
    ring = whole[shard, RING]
    ring_row = (first_step - 1) % ring if ring > 0 else 0
    until_restart = whole[shard, RESTART]
    if until_restart > 0:
        until_restart -= (first_step - 1) % until_restart
    points = whole[shard, POINTS]
    steps_start = whole[shard, STEPS]
    point = 0
    while point < points and steps[steps_start + point] < first_step:
        point += 1
    next_point = steps[steps_start + point] if point < points else 0

    end = min(last_step, horizon)
    for t in range(first_step, end + 1):
        step = np.uint64(t)
        chosen, chance = decide(p, context(p, total), n_arms, a, b, scores, seed, run, step)

        best_mean, chosen_mean = see(own_table, own_best, row, n_arms, mean, chosen)
        reward = reward_of(real(chosen_mean), concentration, seed, run, step)
        regret += np.float64(best_mean) - np.float64(chosen_mean)
        expected += np.float64(chosen_mean)
        rewards += np.float64(reward)
        move(own_table, cycle, volatility, n_arms, mean, clock, chosen, seed, run, step)
        row += 1
        if row == cycle:
            row = 0

        if decay != 1.0:
            for k in range(n_arms):
                a[k] *= decay
                b[k] *= decay
        if whole[shard, TRIALS] > 0:
            words = draw(seed, run, step, ZERO, TRIAL, ZERO)
            reward = real(1.0) if uniform(words[0], words[1]) < reward else real(0.0)
        a[chosen], b[chosen] = learn(p, a[chosen], b[chosen], reward, chance)
        total = total * decay + 1.0
        if whole[shard, WINDOW] > 0:
            total = min(total, real(whole[shard, WINDOW]))
        if ring > 0:
            at = whole[shard, RING_START] + ring_row * places + place
            if t > ring:
                k = ring_arms[at]
                a[k], b[k] = unlearn(p, a[k], b[k], ring_rewards[at])
            ring_arms[at] = chosen
            ring_rewards[at] = reward
            ring_row += 1
            if ring_row == ring:
                ring_row = 0
        until_restart -= 1
        if until_restart == 0:
            until_restart = whole[shard, RESTART]
            total = real(0.0)
            for k in range(n_arms):
                a[k] = numbers[shard, INITIAL_A]
                b[k] = numbers[shard, INITIAL_B]

        if t == next_point:
            if active:
                at = whole[shard, FIGURES] + place * points + point
                figures[at] = regret
                figures[at + runs * points] = expected
                figures[at + 2 * runs * points] = rewards
            point += 1
            next_point = steps[steps_start + point] if point < points else 0

        if shared_room:
            slot = np.int32(t - first_step) & LAST_OF_TALLY
            if active:
                cuda.atomic.add(tally, slot * n_arms + chosen, 1)
            if slot == LAST_OF_TALLY or t == end:
                cuda.syncthreads()
                i = thread
                while i < (slot + 1) * n_arms:
                    if tally[i] > 0:
                        counted = t - slot + i // n_arms
                        at = (counted - 1) // whole[shard, BIN_WIDTH] * n_arms + i % n_arms
                        cuda.atomic.add(choices, whole[shard, CHOICES] + at, np.int64(tally[i]))
                    tally[i] = 0
                    i += threads
                cuda.syncthreads()
        elif active:
            at = (t - 1) // whole[shard, BIN_WIDTH] * n_arms + chosen
            cuda.atomic.add(choices, whole[shard, CHOICES] + at, np.int64(1))

    if first_step <= end and end < horizon:
        totals[mine] = total
        sums[REGRET, mine] = regret
        sums[EXPECTED, mine] = expected
        sums[REWARD, mine] = rewards
        if shared_room:
            for k in range(n_arms):
                all_a[arm_start + k * places + place] = a[k]
                all_b[arm_start + k * places + place] = b[k]
                if own_means:
                    all_means[arm_start + k * places + place] = mean[k]
                    all_clocks[arm_start + k * places + place] = clock[k]


def one_parameter(parameters: Any, shard: int) -> Any:
    """The shard's parameters as a tuple of 1."""
    return (parameters[shard, 0],)


def two_parameters(parameters: Any, shard: int) -> Any:
    """The shard's parameters as a tuple of 2."""
    return parameters[shard, 0], parameters[shard, 1]


def three_parameters(parameters: Any, shard: int) -> Any:
    """The shard's parameters as a tuple of 3."""
    return parameters[shard, 0], parameters[shard, 1], parameters[shard, 2]


def many_parameters(parameters: Any, shard: int) -> Any:
    """The shard's parameters as a row of the table."""
    return parameters[shard]
