"""What a card holds, by name: records in its memory, and tuples that a kernel hands from function to function.

A launch plays the runs of many shards. Each shard has a record, and its own part of every flat array. A block of
threads plays runs of one shard. A shard has a position for each run and fills whole blocks, so the last positions may
belong to no run: they play along, and nothing of them is counted.
"""

from typing import Any, NamedTuple

import numpy as np

from driftbandit.engine.cpu.shard import Shard
from driftbandit.policies import Rule

ZERO = np.uint64(0)
ONE = np.uint64(1)

WHOLE_NUMBERS = (
    "n_arms", "runs", "positions", "horizon", "first_run",
    "window",  # of steps, as the rule says
    "ring",  # observations that are kept because they will leave the window
    "own_window",  # of an arm's own choices
    "past",  # rewards of each arm that are kept
    "restart",  # steps from one restart to the next
    "cycle",  # rows of means until they repeat
    "row",  # of means at the first step of the launch
    "points",  # steps at which figures are kept
    "bin_width",
    # Where the shard's part of a flat array starts.
    "arms_start", "runs_start", "ring_start", "past_start", "means_start", "best_start", "steps_start",
    "figures_start", "choices_start",
)  # fmt: skip


def record(fields: dict[str, type]) -> np.dtype[Any]:
    """A record that a kernel reads and writes field by field, as `array[i].field`."""
    return np.dtype((np.record, np.dtype(list(fields.items()), align=True)))


def shard_record(real: type) -> np.dtype[Any]:
    """What a kernel knows of a shard: whole numbers, the spread of rewards, and the share of choices left to chance."""
    return record(dict.fromkeys(WHOLE_NUMBERS, np.uint64) | {"spread": real, "explore": real})


BLOCK = record({"shard": np.uint64, "first_position": np.uint64})


class Member(NamedTuple):
    """A shard of a batch, its place in the caller's list, and its policy's rule."""

    number: int
    shard: Shard
    rule: Rule


class Sums(NamedTuple):
    """What is summed up over the steps of a run, in the order in which arrays of sums hold it."""

    regret: Any
    expected: Any
    reward: Any


class Launch(NamedTuple):
    """What a launch reads."""

    seed: Any
    first_step: Any
    last_step: Any
    apart: Any  # from one number of an arm to its next, in `RunState.own`
    blocks: Any
    shards: Any
    numbers: Any  # [shard, number]: real numbers of rules and paths
    means: Any  # [row, arm]
    best: Any  # [row]: the largest mean
    steps: Any  # at which figures are kept


class RunState(NamedTuple):
    """What runs write and read again. What only the next launch reads is left out if there is none."""

    own: Any  # [number, arm, position]
    common: Any  # [number, position]
    means: Any  # [arm, position]
    clocks: Any  # [arm, position]
    ring_arms: Any  # [place in the window, position]
    ring_rewards: Any
    past: Any  # [arm, place in the ring, position]: the arms' last rewards
    counts: Any  # [arm, position]: how many rewards since the arm started
    totals: Any  # [position]: observations
    sums: Any  # [position, sum]


Place = tuple[Any, Any, Any]
"""Where random numbers come from: the seed, the run, the step. A plain tuple, which compilers let a call unpack."""


class Choice(NamedTuple):
    """An arm, and the probability with which it was chosen."""

    arm: Any
    chance: Any


class ArmNumbers(NamedTuple):
    """What a rule knows of a run's arms: number i of an arm is numbers[i·apart + arm·stride]."""

    numbers: Any
    apart: Any
    stride: Any
    count: Any


class Room(NamedTuple):
    """Where a thread keeps what belongs to its arms, and its block the counts of choices."""

    arms: Any
    scores: Any
    mean: Any
    clock: Any
    tally: Any  # [step, arm]


class World(NamedTuple):
    """A run's environment. Runs that have means of their own keep them in `mean`, and each arm's time in `clock`."""

    n_arms: Any
    table: Any  # [row, arm]
    best: Any  # [row]
    cycle: Any
    path: Any
    mean: Any
    clock: Any


class Memory(NamedTuple):
    """What a run's rule remembers beside its arms' numbers, and where it reads how they start."""

    numbers: Any  # of the launch
    shard: Any
    stride: Any  # from one place of a ring to the next, and from one arm to the next
    past: Any
    counts: Any
    past_length: Any
    own_window: Any
    ring_arms: Any
    ring_rewards: Any
    ring_length: Any
