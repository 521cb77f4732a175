"""Where a thread keeps its numbers: in the shared memory of its block, or in the card's memory; and its parameters."""

import functools
from typing import Any

import numpy as np
from numba import float64, int32, uint64

from driftbandit.engine.cuda_target import cuda

ZERO = np.uint64(0)
ONE = np.uint64(1)


def _open(*_: Any) -> Any:
    raise AssertionError("a slot that link must fill")


own_means: Any = _open
"""Whether every run has means of its own."""
arm_reals: Any = _open
"""How many real numbers of its own a policy keeps for an arm in shared memory."""
real_type: Any = _open
real_bytes: Any = _open


def room_in_shared_memory(
    thread: Any, threads: Any, n_arms: Any, start: Any, stop: Any, places: Any, all_a: Any, all_b: Any,
    all_means: Any, all_clocks: Any,
) -> Any:  # fmt: skip
    """`a`, `b`, scores, means and clocks of a thread's arms, an odd number apart, so that no two meet in a bank.

    Behind them are the counts of the block's choices, `[step, arm]`.
    """
    odd = n_arms | ONE
    size = threads * odd
    mine = thread * odd
    here = np.uint64(16 // real_bytes) * size if own_means else ZERO
    reals = cuda.shared.array(0, real_type)
    a = reals[here + mine : here + mine + n_arms]
    b = reals[here + size + mine : here + size + mine + n_arms]
    last = here + np.uint64(arm_reals - 1) * size + mine
    scores = reals[last : last + n_arms]
    mean = cuda.shared.array(0, float64)[mine : mine + n_arms]
    clock = cuda.shared.array(0, uint64)[size + mine : size + mine + n_arms]
    tally = cuda.shared.array(0, int32)[np.uint64((16 * own_means + arm_reals * real_bytes) // 4) * size :]
    return a, b, scores, mean, clock, tally


def room_on_the_card(
    thread: Any, threads: Any, n_arms: Any, start: Any, stop: Any, places: Any, all_a: Any, all_b: Any,
    all_means: Any, all_clocks: Any,
) -> Any:  # fmt: skip
    """`a`, `b`, scores, means and clocks of a thread's arms: neighbouring threads have neighbouring numbers.

    Choices are counted in the shard's counts at once: with many arms few threads meet at one.
    """
    a = all_a[start:stop:places]
    return a, all_b[start:stop:places], a, all_means[start:stop:places], all_clocks[start:stop:places], all_clocks


def no_numbers(table: Any, shard: int) -> Any:
    """A shard without numbers."""
    return ()


@functools.cache
def numbers_of(count: int) -> Any:
    """A function of a table and a shard: the shard's first numbers as a tuple, made of the one for one number fewer.

    A row of the table would not do: a card's function cannot return a part of an array.
    """
    if count == 0:
        return no_numbers
    fewer, last = numbers_of(count - 1), count - 1

    def numbers(table: Any, shard: int) -> Any:
        return (*fewer(table, shard), table[shard, last])

    return numbers


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
