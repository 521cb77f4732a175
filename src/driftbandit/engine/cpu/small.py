"""Small games: interpreted, as a kernel would take longer to load, let alone to compile, than they take to play.

Interpreted and compiled they have the same outcome to the last bit. Only what is of this package is interpreted, and in
one process only so much in all: who plays many small games is better off with a kernel.
"""

from collections.abc import Sequence

import numpy as np

from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.engine.cpu.shard import Outcome, Shard, run_shard

OURS = "driftbandit."
MOST_INTERPRETED = 1 << 13
"""How many (arm, run, step) a process interprets: each takes 10 to 220 microseconds, two seconds in all at most."""
_interpreted = 0


def numbers_of(shard: Shard) -> int:
    """How much there is to an arm, where most have next to nothing."""
    beliefs = shard.policy.rule(shard.environment.n_arms).beliefs
    return 1 if beliefs is None else beliefs.initial.size


def played_small(shards: Sequence[Shard]) -> list[Outcome] | None:
    """The outcomes of a few small shards, or None where kernels are better."""
    global _interpreted
    size = sum(shard.horizon * shard.runs * shard.environment.n_arms * numbers_of(shard) for shard in shards)
    ours = all(type(part).__module__.startswith(OURS) for each in shards for part in (each.policy, each.environment))
    if not ours or _interpreted + size > MOST_INTERPRETED:
        return None
    _interpreted += size
    with np.errstate(all="ignore"):
        try:
            return [run_shard(shard, target=INTERPRETED) for shard in shards]
        except (ArithmeticError, ValueError):  # where compiled code goes on with a NaN
            return None
