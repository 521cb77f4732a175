"""What a replay found: rewards by policy, over runs and over blocks of time, beside what the table offers."""

import dataclasses
import functools
import importlib
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftbandit.checks import counted
from driftbandit.engine.estimate import Estimate, Estimates, estimate, label_of
from driftbandit.engine.result import Result
from driftbandit.logs.yardsticks import BEST, ROLLING
from driftbandit.policies import Policy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """The outcome of `replay`."""

    result: Result
    """What was recorded of every run, as `simulate` records it."""
    arm: str
    """The best single arm in hindsight."""
    window: int
    """Rows in the moving average of the rolling oracle."""
    repeat: int
    """Decisions a row."""
    delay: int
    lasts: NDArray[np.int64]
    """The last step of every block."""
    blocks: dict[str, NDArray[np.float64]]
    """The mean reward in every block, by policy and then by yardstick."""
    names: tuple[str, ...] = ()
    """The names of the rows in which blocks end, where rows have any."""
    warnings: tuple[str, ...] = ()
    before: "Replay | None" = None
    """With a split: the first part, on which a policy was chosen for this one."""

    @property
    def policies(self) -> list[str]:
        """The labels of the policies."""
        return self.result.policies

    @property
    def mean_reward(self) -> Estimates:
        """Reward a step, by policy. The interval is over runs: it knows nothing of other times."""
        return self.result.mean_reward

    @functools.cached_property
    def by_block(self) -> Estimates:
        """Reward a step, by policy and by yardstick. The interval is over blocks of time."""
        lengths = np.diff(self.lasts, prepend=0)
        return Estimates(
            {
                label: Estimate(float(np.average(means, weights=lengths)), estimate(means).ci95)
                for label, means in self.blocks.items()
            }
        )

    def difference(self, policy: Policy | str, other: Policy | str = BEST) -> Estimate:
        """Reward a step of one policy or yardstick less that of another: the interval to read.

        It is paired by block and by run, and the squares of both half-widths are added: blocks of time do not tell that
        a policy was lucky early and lived on it, and runs do not tell that another time would have been another.
        """
        first, second = label_of(policy, self.blocks), label_of(other, self.blocks)
        by_block = self.difference_by_block(first, second)
        runs = self._by_run(first) - self._by_run(second)
        return Estimate(by_block.mean, math.hypot(by_block.ci95, estimate(runs).ci95))

    def difference_by_block(self, policy: Policy | str, other: Policy | str = BEST) -> Estimate:
        """The same with the interval over blocks of time alone, which holds for this very luck of the runs."""
        first, second = label_of(policy, self.blocks), label_of(other, self.blocks)
        paired = estimate(self.blocks[first] - self.blocks[second])
        return Estimate(self.by_block[first].mean - self.by_block[second].mean, paired.ci95)

    def _by_run(self, label: str) -> NDArray[np.float64]:
        """The reward a step in every run; yardsticks have no luck."""
        if label not in self.policies:
            return np.zeros(self.result.runs)
        reward = self.result.dataset["reward"].values[self.policies.index(label), :, -1]
        return np.asarray(reward / self.result.horizon)

    @property
    def chosen(self) -> str | None:
        """With a split: the policy that earned most in the first part."""
        if self.before is None:
            return None
        earned = self.before.mean_reward
        return max(earned, key=lambda label: earned[label].mean)

    @property
    def title(self) -> str:
        """What was played."""
        game = self.result
        counts = f"{counted(game.horizon, 'decision')}, {counted(game.runs, 'run')}, {len(self.lasts)} blocks"
        prefix, told = "from-means:means=<", game.environment
        if told.startswith(prefix):  # the table says enough
            told = told.removeprefix(prefix).replace(">", "", 1)
        return f"{told}, {counts}, seed {game.seed}"

    def columns(self) -> dict[str, list[str]]:
        """A table for people: a row a policy or yardstick; differences are from the first policy."""
        first = self.policies[0]
        told = {BEST: f"{BEST}, {self.arm}", ROLLING: f"{ROLLING}, {self.window} rows"}
        if self.chosen is not None:
            told[self.chosen] = f"{self.chosen} (chosen before)"
        runs = self.mean_reward
        return {
            "policy": [told.get(label, label) for label in self.blocks],
            "mean reward": [f"{value.mean:.4f}" for value in self.by_block.values()],
            "± by blocks": [_half(value) for value in self.by_block.values()],
            "± by runs": [_half(runs[label]) if label in runs else "" for label in self.blocks],
            f"less {first}, 95%": [
                "" if label == first else _signed(self.difference(label, first)) for label in self.blocks
            ],
        }

    def __repr__(self) -> str:
        columns = self.columns()
        widths = [max(map(len, [name, *cells])) for name, cells in columns.items()]
        rows = [list(columns), *zip(*columns.values(), strict=True)]
        lines = [
            "  ".join(cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in enumerate(cells))
            for cells in (zip(row, widths, strict=True) for row in rows)
        ]
        notes = [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([self.title, *(line.rstrip() for line in lines), *notes])

    def plot(self, *, title: str | None = None, size: tuple[float, float] = (8.6, 4.4)) -> "Figure":
        """Reward over time against the best single arm, and the differences with their intervals by blocks.

        Parameters:
            title: what was played unless given.
            size: in inches.
        """
        figures = importlib.import_module("driftbandit.figures.replays")  # a layer above: only here, and late
        gains = {label: self.difference(label) for label in self.blocks}
        told = self.title if title is None else title
        figure: Figure = figures.replays(self.blocks, self.lasts, self.names, gains, self.arm, told, size)
        return figure


def _half(value: Estimate) -> str:
    return f"{value.ci95:.4f}" if math.isfinite(value.ci95) else ""


def _signed(value: Estimate) -> str:
    return f"{value.mean:+.4f}" + (f" ± {value.ci95:.4f}" if math.isfinite(value.ci95) else "")
