"""The static oracle: what the best single arm in hindsight earns in expectation."""

from typing import Any

import numpy as np

from driftbandit.compiling.linking import link
from driftbandit.compiling.target import CPU
from driftbandit.engine.cpu.block import Reals
from driftbandit.engine.step.forms import mean_after, mean_at_start
from driftbandit.environments import Environment
from driftbandit.environments.validation import means_of

ROWS = 1 << 16
WALK_NUMBERS = 1 << 22
"""How many (arm, run, step) of walks one call of the kernel handles, so that Ctrl-C is heard between calls."""


def static_oracle(environment: Environment, horizon: int, seed: int, runs: int) -> Reals:
    """The largest sum of one arm's means over the horizon, for every run.

    An arm that is chosen at every step meets the same means whether the environment is rested or restless.
    """
    path = environment.path()
    if path is not None:
        best = np.empty(runs)
        totals = link(walk_totals, CPU, first_mean=path.first, next_mean=path.following)
        some = max(1, WALK_NUMBERS // (horizon * environment.n_arms))
        for first in range(0, runs, some):
            part = best[first : first + some]
            totals(path.numbers, np.uint64(seed), np.uint64(first), horizon, environment.n_arms, part)
        return best
    total = np.zeros(environment.n_arms)
    for first in range(1, horizon + 1, ROWS):
        total += means_of(environment, np.arange(first, min(first + ROWS, horizon + 1))).sum(axis=0)
    return np.full(runs, total.max())


def walk_totals(path: Any, seed: np.uint64, first_run: np.uint64, horizon: int, n_arms: int, best: Reals) -> None:
    """The best arm's sum of means along every run's walk."""
    for r in range(best.size):
        run = first_run + np.uint64(r)
        best[r] = 0.0
        for k in range(n_arms):
            arm = np.uint64(k)
            mean = float(mean_at_start(path, seed, run, arm))
            total = 0.0
            for t in range(1, horizon + 1):
                total += mean
                mean = float(mean_after(path, mean, seed, run, np.uint64(t), arm))
            best[r] = max(best[r], total)
