"""The drift filter: a Bayesian filter over models of drift. Nothing to tune."""

import dataclasses
import functools
import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.policies import drift_models as models
from driftbandit.policies.beliefs import Beliefs
from driftbandit.policies.drift_models import CELLS, PARTS
from driftbandit.policies.policy import Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import flag

CELL = math.pi / 2 / CELLS
JUMPS = (0.001, 0.002, 0.004, 0.008, 0.02, 0.06)
WALKS = tuple((spread, hazard) for spread in (0.004, 0.016) for hazard in (0.0, 0.0015, 0.005, 0.012))
SPEEDS = tuple(0.12 * 1.9**-i for i in range(8))
STILL, WALKING, MOVING, RESTED = 0.08, 0.60, 0.24, 0.08
"""What the kinds of models weigh at the start."""
TAIL, RANDOM_TAIL = 0.08, 0.6
SHARE = 2e-4
MOST_ARMS = 16
"""With more arms the tail is that of so many."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DriftFilter(Policy):
    """The drift filter."""

    name: ClassVar[str] = "drift-filter"

    momentum: bool = flag(True)
    randomized: bool = flag(False)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=position,
            learn=as_it_is,
            parameters=(),
            initial=(0.0, 0.5, 0.0, 0.0),
            beliefs=_beliefs(self.momentum, self.randomized, min(n_arms, MOST_ARMS)),
            interval=interval,
            learning="sequential",
        )


def position(parameters: Parameters, shared: float, place: float, mean: float, low: float, chance: float) -> float:
    """The upper quantile of what an arm's mean may be."""
    return place


def as_it_is(
    parameters: Parameters,
    place: float,
    mean: float,
    low: float,
    chance: float,
    reward: float,
    probability: float,
) -> tuple[float, float, float, float]:
    """An arm's numbers are made anew from what is believed, before each choice."""
    return place, mean, low, chance


def interval(
    parameters: Parameters, shared: float, place: float, mean: float, low: float, chance: float
) -> tuple[float, float, float]:
    """The mean, and both quantiles."""
    return mean, math.sin(low * CELL) ** 2, math.sin(place * CELL) ** 2


@functools.cache
def _beliefs(momentum: bool, randomized: bool, n_arms: int) -> Beliefs:
    """What is believed of arms at the start, and the constants of all models."""
    walks = np.array([_walk(spread, hazard) for spread, hazard in (*((0.0, jump) for jump in JUMPS), *WALKS)])
    rings = np.array([_ring(speed) for speed in SPEEDS if momentum]).reshape(-1, models.RING_NUMBERS)
    kinds = ((STILL, 1), (WALKING, len(walks)), (MOVING, len(rings)), (RESTED, len(rings)))
    weights = np.concatenate([np.full(count, weight / max(1, count)) for weight, count in kinds])
    weights /= weights.sum()
    rows = PARTS + len(walks) + 4 * len(rings)
    start, empty = _start(), -rows % 4
    rows += empty
    means = [_means(0.5), *(_means((i + 0.5) / PARTS) for i in range(PARTS))]
    numbers = [weights, walks.ravel(), rings.ravel()]
    head = np.zeros(models.HEAD)
    for place, value in {
        models.MODELS: len(weights),
        models.ROWS: rows,
        models.JUMPING: len(JUMPS),
        models.WALKING: len(WALKS),
        models.RINGS: len(rings),
        models.ONE: 1.0,
        models.QUARTER: 0.25,
        models.TINY: 1e-15,
        models.ALPHA: TAIL * (n_arms / 4.0) ** 0.25,
        models.SPREAD: RANDOM_TAIL if randomized else 0.0,
        models.SHARE: SHARE,
        models.ONE_STEP: models.PRIORS + sum(map(len, numbers)),
    }.items():
        head[place] = value
    tables = np.concatenate([head, *means, start, *numbers, *_cells(walks, rings, start)]).astype(np.float32)
    none = np.zeros(CELLS)
    initial = [none, *PARTS * [start / PARTS], *len(walks) * [start], *4 * len(rings) * [start / 2]]
    common = np.concatenate([[0.0], weights, np.zeros(rows)]).astype(np.float32)
    models.weigh_rows(tables, common)
    return Beliefs(
        initial=np.concatenate([*initial, *(empty + 1) * [none]]).astype(np.float32),
        common=common,
        tables=tables,
        room=2 * CELLS * max(len(walks), len(rings)),
        judge=models.judge,
        learn=models.learn,
        move=models.move,
        lucky=randomized,
        odds=models.odds if randomized else None,
        chance_at=models.CHANCE,
    )


def _cells(walks: Any, rings: Any, start: Any) -> list[Any]:
    """Numbers of cells for one step, side by side.

    Of walks that spread: what comes from the cell below, and above. Of all walks: how much starts again, and where. Of
    rings: the part of a cell that they move, how much goes on, turns round, and starts again.
    """
    cells, below, above = np.ones((3, CELLS))
    below[0] = above[-1] = 0.0  # nothing passes the ends
    return [
        *(np.outer(walks[len(JUMPS) :, 1], ends).ravel() for ends in (below, above)),
        np.outer(walks[:, 0], cells).ravel(),
        np.tile(start, len(walks)),
        *(np.outer(number, cells).ravel() for number in (rings[:, 0] % 1.0, rings[:, 1], rings[:, 2])),
        np.outer(rings[:, 3], start).ravel(),
    ]


def _means(within: float) -> NDArray[np.float64]:
    """At this part of each cell: θ, 1 − θ, and their logarithms."""
    angle = (np.arange(CELLS) + within) * CELL
    success, failure = np.sin(angle) ** 2, np.cos(angle) ** 2
    return np.concatenate([success, failure, np.log(success), np.log(failure)])


def _start() -> NDArray[np.float64]:
    """The law after a jump: three quarters uniform in θ, one quarter uniform in φ."""
    law = 0.75 * np.sin(2.0 * (np.arange(CELLS) + 0.5) * CELL) * CELL + 0.25 / CELLS
    return np.asarray(law / law.sum())


def _walk(spread: float, hazard: float) -> list[float]:
    """The numbers of a walk, as `drift_models` has them."""
    return [hazard, spread**2 / (2.0 * CELL**2)]


def _ring(speed: float) -> list[float]:
    """The numbers of a ring."""
    turn, jump = 0.5 * speed, 0.0003
    return [speed / CELL, (1 - jump) * (1 - turn), (1 - jump) * turn, jump / 2, turn]
