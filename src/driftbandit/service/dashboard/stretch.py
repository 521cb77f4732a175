"""What the store says of a stretch of time: sums and beliefs by arm and point, as arrays."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftbandit.service.dashboard.lookbacks import Lookback
from driftbandit.service.database import Row, Statement

Reals = npt.NDArray[np.float64]

SUMMED = ("decisions", "odds", "rewards", "reward", "rewarded", "rewarded_2", "paid", "paid_2", "defaults")


class PointSums(NamedTuple):
    """Sums by arm and point; `service/minute_sums.py` says what each is of."""

    decisions: Reals
    odds: Reals
    rewards: Reals
    reward: Reals
    rewarded: Reals
    rewarded_2: Reals
    paid: Reals
    paid_2: Reals
    defaults: Reals


class PointBeliefs(NamedTuple):
    """What was believed at the end of each point, by arm; NaN where nobody said."""

    mean: Reals
    low: Reals
    high: Reals


class Stretch(NamedTuple):
    """Some points in time."""

    lookback: Lookback
    begin: float
    """Of the first point, in seconds."""
    sums: PointSums
    believed: PointBeliefs

    @property
    def ends(self) -> list[float]:
        """When each point ends."""
        step = self.lookback.step
        return [self.begin + (k + 1) * step for k in range(self.lookback.points)]

    def points(self, values: Reals, now: float) -> list[tuple[float, float]]:
        """Values with the times at which their points end; the last one has not."""
        return [*zip((min(end, now) for end in self.ends), values.tolist(), strict=True)]

    @property
    def total(self) -> float:
        """Decisions in all."""
        return float(self.sums.decisions.sum())

    @property
    def rows(self) -> list[int]:
        """The first point of each row of a table; rows begin at whole hours, or where the stretch does."""
        size, first = round(self.lookback.row / self.lookback.step), round(self.begin / self.lookback.step)
        return [k for k in range(self.lookback.points) if k == 0 or (first + k) % size == 0]

    @property
    def row_ends(self) -> list[int]:
        """The point after the last one of each row."""
        return [*self.rows[1:], self.lookback.points]

    def by_row(self) -> tuple[PointSums, PointBeliefs]:
        """The same by the rows of a table; of what was believed, the last in each."""
        ends = [end - 1 for end in self.row_ends]
        sums = PointSums._make(np.add.reduceat(each, self.rows, axis=1) for each in self.sums)
        return sums, PointBeliefs._make(each[:, ends] for each in self.believed)


def questions(experiment: int, lookback: Lookback, now: float) -> list[Statement]:
    """What to ask of the store."""
    minutes, first = round(lookback.step / 60.0), round(lookback.begin(now) / 60.0)
    last = first + minutes * lookback.points
    return [
        Statement(
            f"SELECT minute / ? AS part, arm, {', '.join(f'sum({each})' for each in SUMMED)} FROM rollup "
            "WHERE experiment = ? AND minute >= ? AND minute < ? GROUP BY 1, arm",
            (minutes, experiment, first, last),
        ),
        Statement(
            "SELECT minute / ?, arm, mean, low, high FROM belief WHERE experiment = ? AND minute IN ("
            "SELECT max(minute) FROM belief WHERE experiment = ? AND minute >= ? AND minute < ? GROUP BY minute / ?)",
            (minutes, experiment, experiment, first, last, minutes),
        ),
    ]


def stretch_of(answers: list[list[Row]], lookback: Lookback, now: float, arms: int) -> Stretch:
    """What the store answered."""
    begin, points = lookback.begin(now), lookback.points
    first = round(begin / lookback.step)
    sums = np.zeros((len(SUMMED), arms, points))
    believed = np.full((3, arms, points), np.nan)
    for table, rows in ((sums, answers[0]), (believed, answers[1])):
        for part, arm, *values in rows:
            if arm < arms:  # another may have come since
                table[:, arm, int(part) - first] = [np.nan if value is None else value for value in values]
    return Stretch(lookback, begin, PointSums._make(sums), PointBeliefs._make(believed))
