"""What a block of runs is made of: arrays `[arm, run]` and `[run]`."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
Evidence = Reals
"""What a policy knows of every arm: `[arm, number, run]`, to be taken arm by arm, whose rows are contiguous."""
Place = tuple[np.uint64, np.uint64, np.uint64]
"""Where random numbers come from: the seed, the first run of the block, the step."""


VECTOR = 8
"""Numbers that the widest processors handle at once."""


class Waiting(NamedTuple):
    """The attempts that are not decided yet: a list over all arms and runs."""

    place: NDArray[np.int64]  # in the flat order of `scores`
    arms: NDArray[np.uint64]
    runs: NDArray[np.uint64]
    shape: Reals  # [number, place in the list]: what a score depends on
    value: Reals


class Desk(NamedTuple):
    """Scratch space, and what one step hands to the next."""

    scores: Reals  # [arm, run]
    chosen: NDArray[np.int64]
    probability: Reals  # of the chosen arm; only policies that choose by probability set it
    reward: Reals
    words: NDArray[np.uint32]  # [word, run]: four for an attempt, and four more for shapes below 1
    doubtful: NDArray[np.bool_]  # in the flat order of `scores`
    waiting: Waiting
    unknown: NDArray[np.bool_]  # in the order of the list: which attempts single precision cannot decide
    unclear: NDArray[np.int64]  # their places
    close: NDArray[np.int64]  # runs whose best scores are not told apart
    best: Reals
    total: Reals
    target: Reals
    shared: Reals  # what the arms of a run share; only where runs differ in it


class World(NamedTuple):
    """The environment of a block. `table` has a row a reading of the clock; `mean` and `clock` are `[arm, run]`."""

    table: Reals
    first_clock: int  # the clock reading of row 0
    cycle: int  # after how many rows the table repeats; 0: never
    mean: Reals
    clock: NDArray[np.int64]
    path: tuple[float, ...]  # its parameters, where every run has its own
    spread: float  # of rewards: the concentration of "beta" ones, the deviation of "normal" ones
    fractional: bool  # whether rewards are anything but 0 and 1


class Mind(NamedTuple):
    """What a policy believes of arms whose numbers are not enough (`policies.beliefs`); empty where they are."""

    tables: Any
    common: Singles  # [run, number]
    beliefs: Singles  # [run, arm, number]
    arms: NDArray[np.int64]  # all of them
    pending: NDArray[np.int64]  # [arm]: none, as every reward comes at once
    luck: Reals  # [arm]: only where every arm has its own
    room: Singles


class Memory(NamedTuple):
    """How a policy forgets, what its arms share, and the observations that are still needed."""

    decay: tuple[float, ...]  # of each number
    drift: tuple[float, ...]
    mixed: bool  # whether numbers fade by different factors
    drifts: bool
    fading: float  # of all numbers and their count, or 1 where theirs are mixed
    window: int  # of steps
    restart: int
    initial: tuple[float, ...]
    binary: bool
    arms: NDArray[np.int64]  # [place in the window, run]; −1 where the arm has started again since
    rewards: Reals
    common: Reals  # [number, run]
    start: tuple[float, ...]  # of the common numbers
    own_window: int  # of an arm's own choices
    explore: float
    history: int  # how many of an arm's last rewards an alarm may look at
    past: NDArray[Any]  # [arm, run, place in the ring]: the arms' last rewards
    past_count: NDArray[np.int64]  # [arm, run]: how many rewards since the arm started
    mind: Mind
    there: Integers  # the arms
    mean: Reals  # [run]: room for that of their first numbers


class Tally(NamedTuple):
    """What is kept of a block: running sums `[run]`, their values at the recorded steps `[run, point]`, and counts."""

    regret: Reals
    expected: Reals
    reward: Reals
    steps: NDArray[np.int64]
    regret_at: Reals
    expected_at: Reals
    reward_at: Reals
    choices: NDArray[np.int64]  # [bin, arm]
    bin_width: int
