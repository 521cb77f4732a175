"""The run loop of a card: one thread plays one run, and a block of threads belongs to one shard.

The decisions, rewards, walks and updates are the functions that the processor runs, filled into slots by `link`. Only
what surrounds them is here. A launch holds the runs of many shards: what differs between them is read from tables, so
that policies of one kind in environments of one kind share a compiled kernel and fill the card together.
"""

from typing import Any

import numpy as np

from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cuda.layout import ONE, ZERO, ArmNumbers, Launch, Memory, Place, Room, RunState, Sums, World
from driftbandit.engine.cuda.memory import own_means, room_on_the_card
from driftbandit.engine.cuda.steps import following
from driftbandit.engine.cuda.target import cuda
from driftbandit.engine.cuda.watch import NO_ARM, start_again, start_of, windowed
from driftbandit.engine.step.parts import forgotten, hear, own_of, put_own, reward_of, share, take, turn
from driftbandit.numerics.elementary import real
from driftbandit.numerics.rng import TRIAL, draw, uniform

TALLY_STEPS = 32
"""Steps whose choices are counted in shared memory before they are added to the shard's counts."""

parameters_of = path_of = decay_of = drift_of = OPEN
"""Numbers of a shard, each a tuple."""
room_of = decide = see = begin = move = fading = aged = drifted = common_at = put_common_at = OPEN
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
    seed: Any, first_step: Any, last_step: Any, apart: Any, blocks: Any, shards: Any, numbers: Any, means: Any,
    best_means: Any, steps: Any, own: Any, all_common: Any, all_means: Any, clocks: Any, ring_arms: Any,
    ring_rewards: Any, past: Any, counts: Any, totals: Any, all_sums: Any, figures: Any, choices: Any,
) -> None:  # fmt: skip
    """Steps `first_step` to `last_step` of every run in the launch, or to the end of its game.

    The arguments are those of `Launch` and `RunState`, figures and choices, one by one: tuples of arrays take twice as
    long to hand over.
    """
    launch = Launch(seed, first_step, last_step, apart, blocks, shards, numbers, means, best_means, steps)
    state = RunState(own, all_common, all_means, clocks, ring_arms, ring_rewards, past, counts, totals, all_sums)
    threads = np.uint64(cuda.blockDim.x)
    thread = np.uint64(cuda.threadIdx.x)
    block = launch.blocks[cuda.blockIdx.x]
    shard = launch.shards[block.shard]
    position = block.first_position + thread
    active = position < shard.runs
    run = shard.first_run + position
    n_arms = shard.n_arms
    p = parameters_of(launch.numbers, block.shard)
    decay = decay_of(launch.numbers, block.shard)
    room = room_of(launch, state, shard, position)
    arms = room.arms
    world = World(
        n_arms, launch.means[shard.means_start :], launch.best[shard.best_start :], shard.cycle,
        path_of(launch.numbers, block.shard), room.mean, room.clock,
    )  # fmt: skip
    memory = Memory(
        launch.numbers, block.shard, shard.positions, state.past[shard.past_start + position :],
        state.counts[shard.arms_start + position :], shard.past, shard.own_window,
        state.ring_arms[shard.ring_start + position :], state.ring_rewards[shard.ring_start + position :], shard.ring,
    )  # fmt: skip
    if shared_room:
        i = thread
        while i < np.uint64(TALLY_STEPS) * n_arms:
            room.tally[i] = 0
            i += threads
        cuda.syncthreads()
    if launch.first_step == 1:
        total, common, sums = begun(arms, world, memory, (launch.seed, run, ZERO))
    else:
        total, common, sums = resumed(launch, state, shard, position, room)

    # Counters instead of remainders, which cost a card some hundred instructions each. What is seldom needed is read
    # from `shard` each time: it would else take registers all the while.
    done = np.uint64(launch.first_step - 1)
    row = shard.row
    ring_row = done % shard.ring if shard.ring > ZERO else ZERO
    until_restart = shard.restart - done % shard.restart
    point = ZERO
    next_point = point_at(launch.steps, shard, point)
    while next_point != ZERO and next_point <= done:
        point += ONE
        next_point = point_at(launch.steps, shard, point)
    slot = 0
    end = min(np.uint64(launch.last_step), shard.horizon)
    step = done + ONE
    while step <= end:
        place = (launch.seed, run, step)
        shared = share(p, total, arms, common, place)
        choice = decide(p, shared, arms, room.scores, place)
        choice = turn(p, shard.explore, shared, arms, common, choice, place)
        chosen = choice.arm

        best, mean = see(world, row, chosen)
        reward = reward_of(real(mean), shard.spread, *place)
        sums = Sums(
            sums.regret + (np.float64(best) - np.float64(mean)),
            sums.expected + np.float64(mean),
            sums.reward + np.float64(reward),
        )
        move(world, chosen, place)
        row = following(row, world.cycle)

        age(arms, decay, memory)
        if trials:
            words = draw(*place, ZERO, TRIAL, ZERO)
            reward = real(1.0) if uniform(words[0], words[1]) < reward else real(0.0)
        common = take(p, arms, common, choice, reward, memory)
        total = total * fading(decay) + real(1.0)
        if windowed:
            total = min(total, real(shard.window))
            if memory.ring_length > ZERO:
                slide(p, arms, chosen, reward, memory, ring_row, step)
                ring_row = following(ring_row, memory.ring_length)
        common = hear(p, arms, common, chosen, memory)
        until_restart -= ONE
        if until_restart == ZERO:
            until_restart = shard.restart
            total = real(0.0)
            common = start_of(launch.numbers, block.shard)
            start_again(arms, NO_ARM, memory)

        if step == next_point:
            if active:
                put_sums(figures, shard.figures_start + position * shard.points + point, sums)
            point += ONE
            next_point = point_at(launch.steps, shard, point)
        if shared_room:
            if active:
                cuda.atomic.add(room.tally, np.uint64(slot) * n_arms + chosen, 1)
            if slot == TALLY_STEPS - 1 or step == end:
                cuda.syncthreads()
                first = step - np.uint64(slot)
                i = thread
                while i < np.uint64(slot + 1) * n_arms:
                    if room.tally[i] > 0:
                        later = np.uint64(np.uint32(i) // np.uint32(n_arms))
                        at = count_at(shard, first + later, i - later * n_arms)
                        cuda.atomic.add(choices, at, np.int64(room.tally[i]))
                    room.tally[i] = 0
                    i += threads
                cuda.syncthreads()
                slot = -1
            slot += 1
        elif active:
            cuda.atomic.add(choices, count_at(shard, step, chosen), np.int64(1))
        step += ONE

    if np.uint64(launch.first_step) <= end and end < shard.horizon:
        keep(launch, state, shard, position, room, total, common, sums)


def begun(arms: ArmNumbers, world: World, memory: Memory, place: Place) -> tuple[Any, Any, Sums]:
    """A run before its first step: its observations, the numbers that its arms share, and its sums."""
    start_again(arms, NO_ARM, memory)
    begin(world, place)
    zero = np.float64(0.0)
    return real(0.0), start_of(memory.numbers, memory.shard), Sums(zero, zero, zero)


def resumed(launch: Launch, state: RunState, shard: Any, position: Any, room: Room) -> tuple[Any, Any, Sums]:
    """A run as the last launch left it."""
    if shared_room:
        copy(room_on_the_card(launch, state, shard, position), room)
    mine = shard.runs_start + position
    sums = Sums(state.sums[mine, 0], state.sums[mine, 1], state.sums[mine, 2])
    return state.totals[mine], common_at(state.common, mine), sums


def keep(
    launch: Launch, state: RunState, shard: Any, position: Any, room: Room, total: Any, common: Any, sums: Sums
) -> None:
    """A run for the next launch."""
    if shared_room:
        copy(room, room_on_the_card(launch, state, shard, position))
    mine = shard.runs_start + position
    state.totals[mine] = total
    put_common_at(state.common, mine, common)
    put_sums(state.sums, mine, sums)


def copy(source: Room, target: Room) -> None:
    """What belongs to a thread's arms, from here to there."""
    arm = ZERO
    while arm < source.arms.count:
        put_own(target.arms, arm, own_of(source.arms, arm))
        if own_means:
            target.mean[arm] = source.mean[arm]
            target.clock[arm] = source.clock[arm]
        arm += ONE


def put_sums(array: Any, at: Any, sums: Sums) -> None:
    """A run's sums to their place in an array, `[place, sum]`."""
    array[at, 0] = sums.regret
    array[at, 1] = sums.expected
    array[at, 2] = sums.reward


def age(arms: ArmNumbers, decay: Any, memory: Memory) -> None:
    """A step's decay and drift of all arms' numbers."""
    if mixed or fading(decay) != real(1.0):
        arm = ZERO
        while arm < arms.count:
            put_own(arms, arm, aged(own_of(arms, arm), decay))
            arm += ONE
    if drifting:
        arm = ZERO
        while arm < arms.count:
            put_own(arms, arm, drifted(own_of(arms, arm), drift_of(memory.numbers, memory.shard)))
            arm += ONE


def slide(parameters: Any, arms: ArmNumbers, chosen: Any, reward: Any, memory: Memory, row: Any, step: Any) -> None:
    """An observation enters the window of steps, and the one in its place leaves."""
    at = row * memory.stride
    if step > memory.ring_length and (not restarts or memory.ring_arms[at] != NO_ARM):
        arm = np.uint64(memory.ring_arms[at])
        put_own(arms, arm, forgotten(parameters, own_of(arms, arm), memory.ring_rewards[at]))
    memory.ring_arms[at] = chosen
    memory.ring_rewards[at] = reward


def point_at(steps: Any, shard: Any, point: Any) -> Any:
    """The next step at which figures are kept, or 0."""
    return steps[shard.steps_start + point] if point < shard.points else ZERO


def count_at(shard: Any, step: Any, arm: Any) -> Any:
    """Where choices of an arm are counted: in the interval of this step."""
    interval = step - ONE if shard.bin_width == ONE else (step - ONE) // shard.bin_width
    return shard.choices_start + interval * shard.n_arms + arm
