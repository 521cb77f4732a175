"""The run loop of a card: one thread plays one run, and a block of threads belongs to one shard.

The decisions, rewards, walks and updates are the functions that the processor runs, filled into slots by `link`. Only
what surrounds them is here. A launch holds the runs of many shards: what differs between them is read from tables, so
that policies of one kind in environments of one kind share a compiled kernel and fill the card together.

A thread keeps its arms' numbers in shared memory, `[number, thread, arm]`, or for many arms in the card's memory,
`[number, arm, run]`.
"""

from typing import Any

import numpy as np

from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cuda.memory import ONE, ZERO, own_means
from driftbandit.engine.cuda.target import cuda
from driftbandit.engine.cuda.watch import NO_ARM, start_again, windowed
from driftbandit.engine.step.slots import forgotten, hear, own_of, put_own, reward_of, share, take, turn
from driftbandit.numerics.elementary import real
from driftbandit.numerics.rng import TRIAL, draw, uniform

# The columns of `whole`, the whole numbers of every shard.
(
    ARMS, RUNS, PLACES, HORIZON, FIRST_RUN, WINDOW, RING, RESTART, CYCLE, ROW, TABLE, BEST, STEPS, POINTS,
    BIN_WIDTH, ARM_START, RUN_START, RING_START, FIGURES, CHOICES, APART, OWN_WINDOW, PAST, PAST_START,
    COUNT_START, WHOLE_COLUMNS,
) = range(26)  # fmt: skip
# The first columns of `numbers`, the real numbers of every shard; slots read the others, however many there are.
SPREAD, EXPLORE, OTHER_NUMBERS = range(3)
REGRET, EXPECTED, REWARD, SUMS = range(4)

TALLY_STEPS = 32
"""Steps whose choices are counted in shared memory before they are added to the shard's counts."""

LAST_OF_TALLY = TALLY_STEPS - 1
COUNTED_STEPS = np.uint64(TALLY_STEPS)


parameters_of = path_of = initial_of = decay_of = drift_of = start_of = OPEN
"""Numbers of a shard, each a tuple."""
room = decide = see = begin = move = fading = aged = drifted = common_at = put_common_at = OPEN
mixed: Any = OPEN
"""Whether an arm's numbers fade by different factors."""
drifting: Any = OPEN
"""Whether something is added to arms' numbers at each step."""
shared_room: Any = OPEN
"""Whether the arms' numbers are in shared memory."""
restarts: Any = OPEN
"""Whether an arm can start again."""
trials: Any = OPEN
"""Whether a fractional reward is turned into a Bernoulli trial first."""


def play_runs(
    seed: Any, first_step: int, last_step: int, blocks: Any, whole: Any, numbers: Any, table: Any, best: Any,
    steps: Any, all_own: Any, all_common: Any, all_means: Any, all_clocks: Any, ring_arms: Any, ring_rewards: Any,
    all_past: Any, all_counts: Any, totals: Any, sums: Any, figures: Any, choices: Any,
) -> None:  # fmt: skip
    """Steps `first_step` to `last_step` of every run in the launch, or to the end of its game."""
    threads = np.uint64(cuda.blockDim.x)
    thread = np.uint64(cuda.threadIdx.x)
    shard = blocks[cuda.blockIdx.x, 0]
    place = blocks[cuda.blockIdx.x, 1] + thread  # of this run in its shard; some threads have none
    n_arms = whole[shard, ARMS]
    runs = whole[shard, RUNS]
    places = whole[shard, PLACES]
    horizon = whole[shard, HORIZON]
    active = place < runs
    run = whole[shard, FIRST_RUN] + place
    mine = whole[shard, RUN_START] + place
    cycle = whole[shard, CYCLE]
    own_table = table[whole[shard, TABLE] :]
    own_best = best[whole[shard, BEST] :]
    p = parameters_of(numbers, shard)
    decay = decay_of(numbers, shard)
    path = path_of(numbers, shard)
    common = start_of(numbers, shard)
    spread = numbers[shard, SPREAD]

    start = whole[shard, ARM_START] + place
    stop = whole[shard, ARM_START] + n_arms * places
    apart = whole[shard, APART]
    arms, scores, mean, clock, tally = room(
        thread, threads, n_arms, start, stop, places, apart, all_own, all_means, all_clocks
    )
    ring = whole[shard, RING]
    window = (ring_arms[whole[shard, RING_START] + place :], ring)
    past = (all_past[whole[shard, PAST_START] + place :], places, whole[shard, PAST])
    counts = all_counts[whole[shard, COUNT_START] + place :]
    if shared_room:
        i = thread
        while i < COUNTED_STEPS * n_arms:
            tally[i] = 0
            i += threads
        cuda.syncthreads()

    total = real(0.0)
    regret = np.float64(0.0)
    expected = np.float64(0.0)
    rewards = np.float64(0.0)
    if first_step == 1:
        start_again(n_arms, arms, initial_of(numbers, shard), NO_ARM, past, counts, window)
        begin(own_table, path, n_arms, mean, clock, seed, run)
    else:
        total = totals[mine]
        common = common_at(all_common, mine)
        regret = sums[REGRET, mine]
        expected = sums[EXPECTED, mine]
        rewards = sums[REWARD, mine]
        if shared_room:
            copy_numbers((all_own[start:], apart, places), arms, n_arms)
            if own_means:
                copy(all_means, start, places, mean, ZERO, ONE, n_arms)
                copy(all_clocks, start, places, clock, ZERO, ONE, n_arms)

    # Counters instead of remainders, which cost a card some hundred instructions each.
    done = np.uint64(first_step - 1)
    row = whole[shard, ROW]
    ring_row = done % ring if ring > ZERO else ZERO
    restart = whole[shard, RESTART]
    until_restart = restart - done % restart
    points = whole[shard, POINTS]
    steps_start = whole[shard, STEPS]
    point = ZERO
    while point < points and steps[steps_start + point] <= done:
        point += ONE
    next_point = steps[steps_start + point] if point < points else ZERO

    slot = 0
    end = min(np.uint64(last_step), horizon)
    step = np.uint64(first_step)
    while step <= end:
        shared = share(p, total, n_arms, arms, common, seed, run, step)
        chosen, chance = decide(p, shared, n_arms, arms, scores, seed, run, step)
        chosen, chance = turn(p, numbers[shard, EXPLORE], shared, n_arms, arms, common, chosen, chance, seed, run, step)

        best_mean, chosen_mean = see(own_table, own_best, row, n_arms, mean, chosen)
        reward = reward_of(real(chosen_mean), spread, seed, run, step)
        regret += np.float64(best_mean) - np.float64(chosen_mean)
        expected += np.float64(chosen_mean)
        rewards += np.float64(reward)
        move(own_table, cycle, path, n_arms, mean, clock, chosen, seed, run, step)
        row += ONE
        row = ZERO if row == cycle else row

        if mixed or fading(decay) != real(1.0):
            arm = ZERO
            while arm < n_arms:
                put_own(arms, arm, aged(own_of(arms, arm), decay))
                arm += ONE
        if drifting:
            arm = ZERO
            while arm < n_arms:
                put_own(arms, arm, drifted(own_of(arms, arm), drift_of(numbers, shard)))
                arm += ONE
        if trials:
            words = draw(seed, run, step, ZERO, TRIAL, ZERO)
            reward = real(1.0) if uniform(words[0], words[1]) < reward else real(0.0)
        common = take(p, arms, common, chosen, reward, chance, past, counts, whole[shard, OWN_WINDOW])
        total = total * fading(decay) + real(1.0)
        if windowed:
            total = min(total, real(whole[shard, WINDOW]))
            if ring > ZERO:
                at = whole[shard, RING_START] + ring_row * places + place
                if step > ring and (not restarts or ring_arms[at] != NO_ARM):
                    arm = np.uint64(ring_arms[at])
                    put_own(arms, arm, forgotten(p, own_of(arms, arm), ring_rewards[at]))
                ring_arms[at] = chosen
                ring_rewards[at] = reward
                ring_row += ONE
                ring_row = ZERO if ring_row == ring else ring_row
        common = hear(
            p, n_arms, arms, common, start_of(numbers, shard), initial_of(numbers, shard), chosen, past, counts, window
        )
        until_restart -= ONE
        if until_restart == ZERO:
            until_restart = restart
            total = real(0.0)
            common = start_of(numbers, shard)
            start_again(n_arms, arms, initial_of(numbers, shard), NO_ARM, past, counts, window)

        if step == next_point:  # what is read here again would else take registers all the while
            runs = whole[shard, RUNS]
            points = whole[shard, POINTS]
            steps_start = whole[shard, STEPS]
            if active:
                at = whole[shard, FIGURES] + place * points + point
                figures[at] = regret
                figures[at + runs * points] = expected
                figures[at + np.uint64(2) * runs * points] = rewards
            point += ONE
            next_point = steps[steps_start + point] if point < points else ZERO

        if shared_room:
            if active:
                cuda.atomic.add(tally, np.uint64(slot) * n_arms + chosen, 1)
            if slot == LAST_OF_TALLY or step == end:
                cuda.syncthreads()
                first = step - np.uint64(slot)
                width = np.uint32(n_arms)
                i = thread
                while i < np.uint64(slot + 1) * n_arms:
                    if tally[i] > 0:
                        later = np.uint32(i) // width
                        at = bin_of(first + later, whole[shard, BIN_WIDTH]) * n_arms + (i - np.uint64(later) * n_arms)
                        cuda.atomic.add(choices, whole[shard, CHOICES] + at, np.int64(tally[i]))
                    tally[i] = 0
                    i += threads
                cuda.syncthreads()
                slot = -1
            slot += 1
        elif active:
            at = bin_of(step, whole[shard, BIN_WIDTH]) * n_arms + chosen
            cuda.atomic.add(choices, whole[shard, CHOICES] + at, np.int64(1))
        step += ONE

    if np.uint64(first_step) <= end and end < horizon:
        mine = whole[shard, RUN_START] + place
        start = whole[shard, ARM_START] + place
        totals[mine] = total
        put_common_at(all_common, mine, common)
        sums[REGRET, mine] = regret
        sums[EXPECTED, mine] = expected
        sums[REWARD, mine] = rewards
        if shared_room:
            copy_numbers(arms, (all_own[start:], whole[shard, APART], places), n_arms)
            if own_means:
                copy(mean, ZERO, ONE, all_means, start, places, n_arms)
                copy(clock, ZERO, ONE, all_clocks, start, places, n_arms)


def copy_numbers(source: Any, target: Any, n_arms: Any) -> None:
    """The numbers of every arm from here to there."""
    arm = ZERO
    while arm < n_arms:
        put_own(target, arm, own_of(source, arm))
        arm += ONE


def copy(source: Any, start: Any, stride: Any, target: Any, target_start: Any, target_stride: Any, n_arms: Any) -> None:
    """One number of every arm from here to there."""
    arm = ZERO
    while arm < n_arms:
        target[target_start + arm * target_stride] = source[start + arm * stride]
        arm += ONE


def bin_of(step: Any, bin_width: Any) -> Any:
    """The interval in which a step's choices are counted."""
    return step - ONE if bin_width == ONE else (step - ONE) // bin_width
