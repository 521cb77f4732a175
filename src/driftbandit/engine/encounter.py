"""Some runs of an environment, a step at a time: for policies that are plain Python, and for agents from elsewhere.

Means and rewards are those of `simulate` for the same seed and run, to the last bit: they come from the same tables,
paths and laws of rewards, with random numbers from the same coordinates.
"""

from typing import Any

import numpy as np

from driftbandit.compiling.gears import Gears, geared
from driftbandit.engine.cpu.block import Integers, Place, Reals
from driftbandit.engine.cpu.shard import REWARDS, spread_of, start_walks
from driftbandit.engine.step.forms import mean_after
from driftbandit.engine.step.parts import reward_of
from driftbandit.environments import Environment
from driftbandit.environments.validation import means_of
from driftbandit.errors import InvalidValue

OURS = "driftbandit."
READ_AHEAD = 4096
"""How many readings of the clock are looked up at once, where it is known that there are so many."""
NUMBERS = 1 << 18
"""How many means are looked up at once, at most."""
MOST_INTERPRETED = 2000
"""How many steps of a run a process interprets before a kernel is worth waiting for: some hundredths of a second."""


class Encounter:
    """Where some runs are: `begin` takes them to the first step, and `meet` one step on.

    Parameters:
        environment: where they play.
        runs: how many side by side.
        horizon: how many steps there will be at most; None: nobody knows, and a user's own means are asked for one
            step at a time.
    """

    def __init__(self, environment: Environment, runs: int, horizon: int | None = None) -> None:
        self.environment = environment
        self.step = 1
        self.mean: Reals = np.empty((environment.n_arms, runs))
        """What the arms are worth at this step, `[arm, run]`."""
        self.figures: Reals = np.zeros((3, runs))
        """Of the choices that were met last: how much better the best arm was, the mean, and what was drawn."""
        self.regret, self.expected, self.reward = self.figures
        self._seed = self._first_run = np.uint64(0)
        self._own = not type(environment).__module__.startswith(OURS)
        self._clock: Integers = np.ones((environment.n_arms, runs), np.int64)
        self._each = np.arange(runs)
        self._spread = float(spread_of(environment))
        self._path = environment.path()
        self._readings = _Readings(environment, horizon, self._own)
        self._draw = geared(drawn, reward_of=REWARDS[environment.rewards])
        if self._path is not None:
            self._start = geared(start_walks, first_mean=self._path.first)
            self._walk = geared(walked, next_mean=self._path.following)

    def begin(self, seed: int, first_run: int) -> None:
        """The first step of these runs: `first_run` and those that follow it."""
        self._seed, self._first_run, self.step = np.uint64(seed), np.uint64(first_run), 1
        self._clock[:] = 1
        if self._path is None:
            self.mean[:] = self._readings.at(1)[:, None]
        else:
            self._run(self._start, self._path.numbers, self._seed, self._first_run, self.mean)

    def meet(self, chosen: Integers) -> None:
        """What comes of the arm that each run chose, and then the next step: `mean` moves on."""
        place = self._seed, self._first_run, np.uint64(self.step)
        self._run(self._draw, self.mean, chosen, self._spread, place, self.regret, self.expected, self.reward)
        self.step += 1
        rested = self.environment.rested
        if self._path is not None:
            numbers = self._path.numbers
            self._run(self._walk, numbers, rested, chosen, self._seed, self._first_run, self._clock, self.mean)
            if self._own:
                self._check_means()
        elif rested:
            self._clock[chosen, self._each] += 1
            self.mean[chosen, self._each] = self._readings.of(self._clock[chosen, self._each], chosen)
        else:
            self.mean[:] = self._readings.at(self.step)[:, None]

    def _run(self, gears: Gears, *arguments: Any) -> None:
        # a user's own path may fail in Python, half-way, where compiled it goes on
        most = 0 if self._own and gears is not self._draw else MOST_INTERPRETED
        (gears.kernel or gears.within(self._each.size, most))(*arguments)

    def _check_means(self) -> None:
        least, most = self.mean.min(), self.mean.max()
        if not 0.0 <= least <= most <= 1.0:
            wrong = most if least >= 0.0 else least
            name = type(self.environment).__name__
            raise InvalidValue(f"following of {name} must return means in [0, 1], got {wrong:g} by step {self.step}")


class _Readings:
    """Means by the clock, looked up some readings at a time."""

    def __init__(self, environment: Environment, horizon: int | None, own: bool) -> None:
        self._environment = environment
        self._cycle = environment.cycle if environment.path() is None else None
        known = horizon is not None or not own
        self._rows = max(1, min(READ_AHEAD, NUMBERS // environment.n_arms)) if known else 1
        ends = [end for end in (horizon and horizon + int(environment.rested), self._cycle) if end]
        self._end = min(ends, default=None)
        self._kept: dict[int, Reals] = {}

    def at(self, clock: int) -> Reals:
        """The means of all arms; what was read before is forgotten where nobody can come back to it."""
        reading = clock if self._cycle is None else (clock - 1) % self._cycle + 1
        if self._end is not None and reading > self._end:  # one step after the last
            reading = self._end
        number, row = divmod(reading - 1, self._rows)
        means: Reals = self._table(number)[row]
        return means

    def of(self, clocks: Integers, arms: Integers) -> Reals:
        """The mean of one arm for each reading."""
        each, place = np.unique(clocks, return_inverse=True) if clocks.size > 1 else (clocks, np.zeros(1, np.int64))
        rows = np.stack([self.at(int(clock)) for clock in each])
        means: Reals = rows[place.reshape(-1), arms]
        return means

    def _table(self, number: int) -> Reals:
        table = self._kept.get(number)
        if table is None:
            first = number * self._rows + 1
            last = first + self._rows - 1 if self._end is None else min(first + self._rows - 1, self._end)
            if not self._environment.rested:
                self._kept.clear()
            table = self._kept[number] = means_of(self._environment, np.arange(first, last + 1))
        return table


def drawn(
    mean: Reals, chosen: Integers, spread: float, place: Place, regret: Reals, expected: Reals, reward: Reals
) -> None:
    """The reward of each run's choice, and what the best arm would have had more."""
    seed, first_run, step = place
    for r in range(chosen.size):
        best = mean[0, r]
        for k in range(1, mean.shape[0]):
            best = max(best, mean[k, r])
        its = mean[chosen[r], r]
        regret[r] = best - its
        expected[r] = its
        reward[r] = reward_of(its, spread, seed, first_run + np.uint64(r), step)


def walked(
    path: Any, rested: bool, chosen: Integers, seed: np.uint64, first_run: np.uint64, clock: Integers, mean: Reals
) -> None:
    """Every arm walks on, or the chosen one only."""
    for k in range(mean.shape[0]):
        for r in range(chosen.size):
            if not rested or chosen[r] == k:
                run, now = first_run + np.uint64(r), np.uint64(clock[k, r])
                mean[k, r] = mean_after(path, mean[k, r], seed, run, now, np.uint64(k))
                clock[k, r] += 1
