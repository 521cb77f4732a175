"""How a mean starts and goes on where every run has its own path: the path's functions, and the random words they get.

`first_mean` and `next_mean` are slots, filled with `first` and `following` of the environment's `Path`. Words that they
do not look at cost nothing: all of it is inlined.
"""

from typing import Any

import numpy as np

from driftbandit.engine.step.rule_functions import first_mean, next_mean
from driftbandit.numerics.rng import START, TOGETHER, WALK, draw

ZERO = np.uint64(0)


def mean_at_start(path: Any, seed: Any, run: Any, arm: Any) -> Any:
    """The mean of an arm at clock 1."""
    words = draw(seed, run, ZERO, arm, START, ZERO)
    together = draw(seed, run, ZERO, ZERO, TOGETHER, ZERO)
    return first_mean(path, np.int64(arm), words, together)


def mean_after(path: Any, mean: Any, seed: Any, run: Any, clock: Any, arm: Any) -> Any:
    """The mean of an arm one step after `clock`, where it was `mean`."""
    words = draw(seed, run, clock, arm, WALK, ZERO)
    together = draw(seed, run, clock, ZERO, TOGETHER, ZERO)
    return next_mean(path, mean, np.int64(clock), np.int64(arm), words, together)
