"""Where a thread keeps its numbers: in the shared memory of its block, or in the card's memory.

The numbers of a thread's arms are `(array, apart, stride)`: number i of an arm is array[i·apart + arm·stride].
"""

import functools
from typing import Any

import numpy as np
from numba import float64, int32, uint64

from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cuda.target import cuda
from driftbandit.engine.step.numbers import nothing, nowhere

ZERO = np.uint64(0)
ONE = np.uint64(1)


own_means: Any = OPEN
"""Whether every run has means of its own."""
arm_reals: Any = OPEN
"""How many real numbers of its own a policy keeps for an arm in shared memory."""
real_type: Any = OPEN
real_bytes: Any = OPEN


def room_in_shared_memory(
    thread: Any, threads: Any, n_arms: Any, start: Any, stop: Any, places: Any, apart: Any, all_own: Any,
    all_means: Any, all_clocks: Any,
) -> Any:  # fmt: skip
    """Numbers, scores, means and clocks of a thread's arms, an odd number apart, so that no two meet in a bank.

    Behind them are the counts of the block's choices, `[step, arm]`.
    """
    odd = n_arms | ONE
    size = threads * odd
    mine = thread * odd
    here = np.uint64(16 // real_bytes) * size if own_means else ZERO
    reals = cuda.shared.array(0, real_type)
    last = here + np.uint64(arm_reals - 1) * size + mine
    scores = reals[last : last + n_arms]
    mean = cuda.shared.array(0, float64)[mine : mine + n_arms]
    clock = cuda.shared.array(0, uint64)[size + mine : size + mine + n_arms]
    tally = cuda.shared.array(0, int32)[np.uint64((16 * own_means + arm_reals * real_bytes) // 4) * size :]
    return (reals[here + mine :], size, ONE), scores, mean, clock, tally


def room_on_the_card(
    thread: Any, threads: Any, n_arms: Any, start: Any, stop: Any, places: Any, apart: Any, all_own: Any,
    all_means: Any, all_clocks: Any,
) -> Any:  # fmt: skip
    """Numbers, scores, means and clocks of a thread's arms: neighbouring threads have neighbouring numbers.

    Choices are counted in the shard's counts at once: with many arms few threads meet at one.
    """
    own = all_own[start:]
    return (own, apart, places), own, all_means[start:stop:places], all_clocks[start:stop:places], all_clocks


@functools.cache
def reader(count: int) -> Any:
    """own(numbers, arm) → the `count` numbers of an arm."""
    if count == 0:
        return nothing
    fewer, last = reader(count - 1), np.uint64(count - 1)

    def own(numbers: Any, arm: Any) -> Any:
        return (*fewer(numbers, arm), numbers[0][last * numbers[1] + np.uint64(arm) * numbers[2]])

    return own


@functools.cache
def writer(count: int) -> Any:
    """put(numbers, arm, values): the `count` numbers of an arm back to their places."""
    if count == 0:
        return nowhere
    fewer, last = writer(count - 1), np.uint64(count - 1)
    place = count - 1

    def put(numbers: Any, arm: Any, values: Any) -> None:
        fewer(numbers, arm, values)
        numbers[0][last * numbers[1] + np.uint64(arm) * numbers[2]] = values[place]

    return put
