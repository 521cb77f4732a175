"""Who has how much regret where, relative to the best fitted policy, and what that is over all environments."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.arena.entrants import Entrant
from driftbandit.arena.families import Family
from driftbandit.arena.fitting import Fit
from driftbandit.arena.world import World
from driftbandit.engine.estimate import Estimate

Reals = NDArray[np.float64]
NEAR = 1.05
"""Within 5%: a ratio up to this."""
LEAST_RATIO = 0.01
"""In a geometric mean: of what has no regret, nothing would be left of all others."""
RESAMPLES = 2000
RESAMPLING_SEED = 20170731


class Showing(NamedTuple):
    """How one entrant did in one environment."""

    setting: str
    """The policy that played, as text."""
    regret: Estimate
    """Normalised regret."""
    runs: int
    """0 where nothing had to be played."""
    ratio: float
    """Its regret divided by that of the best fitted policy."""


class Summary(NamedTuple):
    """How one entrant did over all environments; intervals are (low, high), or NaN."""

    geometric_mean: float
    geometric_mean_interval: tuple[float, float]
    worst: float
    worst_interval: tuple[float, float]
    worst_world: str
    near: float
    """The share of environments in which it is within 5% of the best fitted policy, or better."""
    near_interval: tuple[float, float]


@dataclasses.dataclass(frozen=True)
class Standings:
    """Everything that was found."""

    families: Mapping[Family, Sequence[World]]
    entrants: Sequence[Entrant]
    fits: Mapping[World, Fit]
    showings: Mapping[tuple[World, Entrant], Showing]

    @property
    def worlds(self) -> list[World]:
        """All environments, family by family."""
        return [world for worlds in self.families.values() for world in worlds]

    def ratios(self, entrant: Entrant, worlds: Sequence[World] | None = None) -> Reals:
        """Its ratio to the best fitted policy in each environment."""
        return np.array([self.showings[world, entrant].ratio for world in worlds or self.worlds])

    def of_family(self, entrant: Entrant, family: Family) -> float:
        """The geometric mean of its ratios within a family."""
        return geometric_mean(self.ratios(entrant, self.families[family]))

    def summary(self, entrant: Entrant) -> Summary:
        """Over all environments, with 95% intervals of the bootstrap over families.

        Environments of one family are alike, so whole families are drawn, as many as there are, with replacement.
        """
        parts = [self.ratios(entrant, worlds) for worlds in self.families.values()]
        every = np.concatenate(parts)
        counts = _resampled(len(parts))
        sizes = counts @ np.array([len(part) for part in parts], dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.exp(counts @ np.array([_logs(part).sum() for part in parts]) / sizes)
            near = counts @ np.array([float((part <= NEAR).sum()) for part in parts]) / sizes
            worst = np.where(counts > 0, np.array([part.max() for part in parts]), -math.inf).max(axis=1)
        return Summary(
            geometric_mean(every), _interval(logs, len(parts)), float(every.max()), _interval(worst, len(parts)),
            self.worlds[int(every.argmax())].id, float((every <= NEAR).mean()), _interval(near, len(parts)),
        )  # fmt: skip


def ratio(regret: float, best: float) -> float:
    """How many times the best's regret; where neither has any, they are equal."""
    if best > 0.0:
        return regret / best
    return 1.0 if regret <= 0.0 else math.inf


def geometric_mean(ratios: Reals) -> float:
    """The number whose logarithm is the mean of the logarithms; ratios below 0.01 count as that.

    >>> geometric_mean(np.array([0.5, 2.0, 8.0]))
    2.0
    """
    return float(np.exp(_logs(ratios).mean()))


def _logs(ratios: Reals) -> Reals:
    return np.log(np.maximum(ratios, LEAST_RATIO))


def profile(ratios: Reals, limits: tuple[float, float]) -> tuple[Reals, Reals]:
    """The share of environments whose ratio is at most τ, as a staircase from the first limit of τ to the last.

    This is the performance profile of Dolan and Moré (2002), with the best fitted policy in the place of the best.

    >>> x, y = profile(np.array([4.0, 0.5]), (0.25, 8.0))
    >>> list(zip(x.tolist(), y.tolist()))
    [(0.25, 0.0), (0.5, 0.0), (0.5, 0.5), (4.0, 0.5), (4.0, 1.0), (8.0, 1.0)]
    """
    low, high = limits
    inside = np.sort(ratios[(ratios > low) & (ratios <= high)])
    before = float((ratios <= low).sum())
    heights = before + np.arange(len(inside) + 1)
    x = np.concatenate([[low], np.repeat(inside, 2), [high]])
    return x, np.repeat(heights, 2) / len(ratios)


def _resampled(count: int) -> Reals:
    """How often each of some families is drawn, for every resample."""
    stream = np.random.Generator(np.random.PCG64(RESAMPLING_SEED))
    drawn = (stream.random((RESAMPLES, count)) * count).astype(int)
    return np.array([np.bincount(row, minlength=count) for row in drawn], dtype=float)


def _interval(values: Reals, families: int) -> tuple[float, float]:
    """The middle 95% of what resampling gave; of one family there is none."""
    if families < 2 or not np.isfinite(values).all():
        return math.nan, math.nan
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
