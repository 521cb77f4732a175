"""The drift filter: a Bayesian filter over models of drift. Nothing to tune."""

import dataclasses
import functools
import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.policies import drift_models as models
from driftbandit.policies.beliefs import Beliefs, Singles
from driftbandit.policies.drift_models import CELLS, PARTS, Models
from driftbandit.policies.policy import FILTERS, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import flag

CELL = math.pi / 2 / CELLS
MOST_ARMS = 16
"""With more arms the tail is that of so many."""


WALKS = tuple((spread, hazard) for spread in (0.004, 0.016) for hazard in (0.0, 0.0015, 0.005, 0.012))
SPEEDS = tuple(0.12 * 1.9**-i for i in range(8))


class Ladder(NamedTuple):
    """Which models there are, what they weigh at the start, and how wide the tail is."""

    jumps: tuple[float, ...] = (0.001, 0.002, 0.004, 0.008, 0.02, 0.06)
    """How often a mean jumps that stands still otherwise."""
    walks: tuple[tuple[float, float], ...] = WALKS
    """How far one walks in a step, in φ, and how often it jumps."""
    speeds: tuple[float, ...] = SPEEDS
    """How far one with momentum goes in a step, in φ."""
    turns: float = 0.5
    """How often it turns round, as a share of its speed."""
    lost: float = 0.0003
    """How often it jumps."""
    still: float = 0.08
    walking: float = 0.60
    moving: float = 0.24
    rested: float = 0.08
    share: float = 2e-4
    """How much of their weights models exchange in a step, at most."""
    tail: float = 0.08
    by_arms: float = 0.25
    random_tail: float = 0.6


@dataclasses.dataclass(frozen=True, kw_only=True)
class DriftFilter(Policy):
    """The drift filter: Bayesian inference about how arms drift, and the arm with the highest upper quantile.

    It holds many models of how a mean may move: not at all; jumps, from one in a thousand steps to one in seventeen;
    random walks of two sizes, with and without jumps; motion in one direction at eight speeds; and the same for arms
    that move only when they are chosen. Under each model a filter follows every arm on a grid, and the weights w of the
    models are learned from how well each foretells the rewards:

        P_k(θ) = Σ_m w_m·p_{m,k}(θ),        choose the largest q with P_k(θ > q) = .08·√M·(min(K, 16)/4)^¼,

    where M is the largest mean of the K mixtures P_k. Nothing has to be known: no horizon, no discount, no number of
    changes. Use it first when you can pay some microseconds a decision. Where the kind of drift is known, so that a
    fitted discount can be trusted, or where decisions must take less, use `DiscountedUCB`. Rewards are from 0 to 1; in
    a simulation with others, those beyond count as the nearer end.

    Parameters:
        momentum: whether means may move in one direction for a while; without, half of the models are left out.
        randomized: whether the tail is drawn anew for each decision, from .4 to 1.6 times itself, so that several arms
            have some probability; else the best has probability 1.

    >>> print(DriftFilter(randomized=True))
    drift-filter:randomized=true

    References:
        docs/filter.md has the models, what they were compared with, and where the filter loses.
    """

    name: ClassVar[str] = "drift-filter"
    family: ClassVar[str] = FILTERS
    ladder: ClassVar[Ladder] = Ladder()

    momentum: bool = flag(True)
    randomized: bool = flag(False)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=position,
            learn=as_it_is,
            parameters=(),
            initial=(0.0, 0.5, 0.0, 0.0),
            beliefs=_beliefs(self.ladder, self.momentum, self.randomized, min(n_arms, MOST_ARMS)),
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
def _beliefs(ladder: Ladder, momentum: bool, randomized: bool, n_arms: int) -> Beliefs:
    """What is believed of arms at the start, and what all models are made of."""
    tables = _tables(ladder, momentum, randomized, n_arms)
    walks, rings, none = tables.hazard.size, tables.rings, np.zeros(CELLS)
    rows: list[Any] = [*PARTS * [tables.start / PARTS], *walks * [tables.start], *4 * rings * [tables.start / 2]]
    rows = [none, *rows, *(tables.rows - len(rows)) * [none], none]  # the mixture is the first, the last stays empty
    return Beliefs(
        initial=np.concatenate(rows).astype(np.float32),
        common=np.append(tables.priors, np.float32(0.0)),
        tables=tables,
        room=2 * CELLS * max(walks, rings),
        judge=models.judge,
        learn=models.learn,
        move=models.move,
        lucky=randomized,
        odds=models.odds if randomized else None,
        chance_at=models.AT.chance,
        scratch=CELLS,
        least=0.0,
    )


def _tables(ladder: Ladder, momentum: bool, randomized: bool, n_arms: int) -> Models:
    start, angle = _start(), (np.arange(CELLS) + 0.5) * CELL
    walks = np.array([(0.0, hazard) for hazard in ladder.jumps] + list(ladder.walks))
    jumping, lost = len(ladder.jumps), ladder.lost
    speed = np.array(ladder.speeds if momentum else ())
    turn = ladder.turns * speed
    kinds = (
        (ladder.still, 1),
        (ladder.walking, len(walks)),
        *((w, len(speed)) for w in (ladder.moving, ladder.rested)),
    )
    weights = np.concatenate([np.full(count, weight / max(1, count)) for weight, count in kinds])
    rows = PARTS + len(walks) + 4 * len(speed)
    places = [angle, *(angle + ((i + 0.5) / PARTS - 0.5) * CELL for i in range(PARTS))]
    means = [[np.sin(at) ** 2, np.cos(at) ** 2, 2 * np.log(np.sin(at)), 2 * np.log(np.cos(at))] for at in places]
    cells, below, above = np.ones((3, CELLS))
    below[0] = above[-1] = 0.0  # nothing passes the ends
    diffusion = walks[:, 0] ** 2 / (2 * CELL**2)
    values = {
        "one": 1.0,
        "quarter": 0.25,
        "tiny": 1e-15,
        "tail": ladder.tail * (n_arms / 4) ** ladder.by_arms,
        "luck": ladder.random_tail if randomized else 0.0,
        "share": ladder.share,
        "priors": weights / weights.sum(),
        "means": means,
        "start": start,
        "hazard": walks[:, 1],
        "diffusion": diffusion,
        "speed": speed / CELL,
        "turn": turn,
        "jump": np.full(len(speed), lost),
        "below": np.outer(diffusion[jumping:], below),
        "above": np.outer(diffusion[jumping:], above),
        "starts_again": np.outer(walks[:, 1], cells),
        "starts_at": np.tile(start, len(walks)),
        "part": np.outer(speed / CELL % 1.0, cells),
        "goes_on": np.outer((1 - lost) * (1 - turn), cells),
        "turns": np.outer((1 - lost) * turn, cells),
        "jumps": np.outer(np.full(len(speed), lost / 2), start),
    }
    return Models(
        rows + -rows % 4, jumping, len(ladder.walks), len(speed), **{name: _single(values[name]) for name in values}
    )


def _single(value: Any) -> Any:
    """Numbers of single precision: a table of cells as one row, those of all means as they are."""
    numbers: Singles = np.array(value, np.float32)
    return numbers[()] if numbers.ndim == 0 else numbers.reshape(-1) if numbers.ndim == 2 else numbers


def _start() -> NDArray[np.float64]:
    """The law after a jump: three quarters uniform in θ, one quarter uniform in φ."""
    law = 0.75 * np.sin(2.0 * (np.arange(CELLS) + 0.5) * CELL) * CELL + 0.25 / CELLS
    return np.asarray(law / law.sum())
