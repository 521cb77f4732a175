"""Where a thread keeps its arms' numbers: in the shared memory of its block; for many arms in the card's memory."""

import functools
from typing import Any

import numpy as np
from numba import float64, int32, uint64

from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cuda.layout import ONE, ZERO, ArmNumbers, Launch, Room, RunState
from driftbandit.engine.cuda.target import cuda
from driftbandit.engine.step.numbers import nothing, nowhere

own_means: Any = OPEN
"""Whether every run has means of its own."""
arm_reals: Any = OPEN
"""How many real numbers of its own a policy keeps for an arm in shared memory."""
real_type: Any = OPEN
real_bytes: Any = OPEN


def room_in_shared_memory(launch: Launch, state: RunState, shard: Any, position: Any) -> Room:
    """Numbers of neighbouring threads are an odd number apart, so that no two meet in a bank.

    Behind the arms' numbers are the counts of the block's choices.
    """
    n_arms = shard.n_arms
    odd = n_arms | ONE
    size = np.uint64(cuda.blockDim.x) * odd
    mine = np.uint64(cuda.threadIdx.x) * odd
    here = np.uint64(16 // real_bytes) * size if own_means else ZERO
    reals = cuda.shared.array(0, real_type)
    last = here + np.uint64(arm_reals - 1) * size + mine
    scores = reals[last : last + n_arms]
    mean = cuda.shared.array(0, float64)[mine : mine + n_arms]
    clock = cuda.shared.array(0, uint64)[size + mine : size + mine + n_arms]
    tally = cuda.shared.array(0, int32)[np.uint64((16 * own_means + arm_reals * real_bytes) // 4) * size :]
    return Room(ArmNumbers(reals[here + mine :], size, ONE, n_arms), scores, mean, clock, tally)


def room_on_the_card(launch: Launch, state: RunState, shard: Any, position: Any) -> Room:
    """Neighbouring threads have neighbouring numbers.

    There is no tally: with many arms few threads meet at one, and choices are counted in the shard's counts at once.
    """
    start = shard.arms_start + position
    stop = shard.arms_start + shard.n_arms * shard.positions
    own = state.own[start:]
    mean = state.means[start : stop : shard.positions]
    clock = state.clocks[start : stop : shard.positions]
    return Room(ArmNumbers(own, launch.apart, shard.positions, shard.n_arms), own, mean, clock, clock)


@functools.cache
def reader(count: int) -> Any:
    """own(arms, arm) → the `count` numbers of an arm."""
    if count == 0:
        return nothing
    fewer, last = reader(count - 1), np.uint64(count - 1)

    def own(arms: Any, arm: Any) -> Any:
        return (*fewer(arms, arm), arms.numbers[last * arms.apart + np.uint64(arm) * arms.stride])

    return own


@functools.cache
def writer(count: int) -> Any:
    """put(arms, arm, values): the `count` numbers of an arm back to their places."""
    if count == 0:
        return nowhere
    fewer, last = writer(count - 1), np.uint64(count - 1)
    place = count - 1

    def put(arms: Any, arm: Any, values: Any) -> None:
        fewer(arms, arm, values)
        arms.numbers[last * arms.apart + np.uint64(arm) * arms.stride] = values[place]

    return put
