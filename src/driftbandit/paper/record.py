"""What is kept of one policy's game: curves over time and the final figures of every run."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.engine.estimate import Estimate, estimate, half_width
from driftbandit.engine.games import Game
from driftbandit.engine.result import Result

Reals = NDArray[np.float64]
CHECKPOINTS = 5
"""At so many steps, evenly spaced, the regret of every run is kept."""
LATE = 500
"""For so many of the last steps the mean reward is kept, step by step."""


@dataclasses.dataclass(frozen=True, eq=False)
class Record:
    """One policy in one environment.

    Curves have a value for each of `steps`; `…_ci95` is half the width of a 95% interval. `late_…` are curves over the
    last steps, one by one; they are empty in rested environments, where the means depend on the run.
    """

    DIMENSIONS: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "steps": ("step",), "regret_mean": ("step",), "regret_ci95": ("step",), "reward_mean": ("step",),
        "reward_ci95": ("step",), "late_steps": ("late_step",), "late_mean": ("late_step",),
        "late_ci95": ("late_step",), "checkpoints": ("checkpoint",), "regret": ("run", "checkpoint"),
        "expected": ("run",), "reward": ("run",), "static_oracle": ("one",),
    }  # fmt: skip
    EMPTY: ClassVar[Mapping[str, NDArray[Any]]] = {
        "late_steps": np.zeros(0, np.int32), "late_mean": np.zeros(0), "late_ci95": np.zeros(0),
    }  # fmt: skip

    steps: NDArray[np.int32]
    regret_mean: Reals
    """Normalised regret up to each step."""
    regret_ci95: Reals
    reward_mean: Reals
    """Mean reward a step, since the recorded step before."""
    reward_ci95: Reals
    late_steps: NDArray[np.int32]
    late_mean: Reals
    late_ci95: Reals
    checkpoints: NDArray[np.int32]
    regret: Reals
    """Normalised regret up to each checkpoint, `[run, checkpoint]`."""
    expected: Reals
    """Mean reward a step, in expectation, by run."""
    reward: Reals
    """Mean reward a step, as drawn, by run."""
    static_oracle: Reals
    """Mean reward a step of the best single arm in hindsight; one value."""

    @property
    def normalized_regret(self) -> Estimate:
        """Regret a step against the dynamic oracle."""
        return estimate(self.regret[:, -1])

    @property
    def static_regret(self) -> Estimate:
        """Regret a step against the best single arm; negative where the policy does better."""
        return estimate(self.static_oracle[0] - self.expected)

    @property
    def mean_reward(self) -> Estimate:
        """Reward a step, as drawn."""
        return estimate(self.reward)

    def at(self, step: int) -> Estimate:
        """Normalised regret up to a step; not a number, and so no verdict, if that step was not recorded."""
        place = int(np.abs(self.steps - step).argmin())
        if self.steps[place] != step:
            return Estimate(math.nan, math.nan)
        return Estimate(float(self.regret_mean[place]), float(self.regret_ci95[place]))


def condensed(game: Game, result: Result, rows: range) -> Record:
    """The record of a game with one policy: what is kept of its row of a result."""
    [row] = rows
    horizon = result.horizon
    steps = result.dataset["step"].values.astype(np.int32)
    cumulative = {name: result.dataset[name].values[row] for name in ("regret", "expected", "reward")}
    regret = cumulative["regret"] / steps
    reward = np.diff(cumulative["expected"], axis=1, prepend=0.0) / np.diff(steps, prepend=0)
    count = np.round(len(steps) * np.arange(1, CHECKPOINTS + 1) / CHECKPOINTS).astype(int)
    places = np.unique(np.maximum(1, count)) - 1
    late_steps, late_mean, late_ci95 = _late(game, result, row)
    return Record(
        steps,
        regret.mean(axis=0),
        half_width(regret),
        reward.mean(axis=0),
        half_width(reward),
        late_steps,
        late_mean,
        late_ci95,
        steps[places],
        np.ascontiguousarray(regret[:, places]),
        cumulative["expected"][:, -1] / horizon,
        cumulative["reward"][:, -1] / horizon,
        np.array([result.dataset["static_oracle"].values[0] / horizon]),
    )


def _late(game: Game, result: Result, row: int) -> tuple[NDArray[np.int32], Reals, Reals]:
    """The mean reward of the last steps, from how often each arm was chosen there."""
    interval = result.dataset["interval"].values
    if game.environment.rested or len(interval) != game.horizon:
        return np.zeros(0, np.int32), np.zeros(0), np.zeros(0)
    steps = interval[-LATE:].astype(np.int64)
    share: Reals = result.dataset["choices"].values[row, -LATE:] / result.runs
    means = game.environment.means_at(steps)
    mean = (share * means).sum(axis=1)
    variance = np.maximum(0.0, (share * means**2).sum(axis=1) - mean**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        ci95 = 1.96 * np.sqrt(variance / np.float64(result.runs - 1))
    return steps.astype(np.int32), mean, ci95
