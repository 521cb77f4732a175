"""What is kept of a game of the arena: the regret of every run."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.engine.games import Game
from driftbandit.engine.result import Result


@dataclasses.dataclass(frozen=True, eq=False)
class Regrets:
    """Some policies in one environment."""

    DIMENSIONS: ClassVar[Mapping[str, tuple[str, ...]]] = {"regret": ("policy", "run")}
    EMPTY: ClassVar[Mapping[str, NDArray[Any]]] = {}

    regret: NDArray[np.float64]
    """Normalised regret, `[policy, run]`."""


def scored(game: Game, result: Result, rows: range) -> Regrets:
    """The score of a game whose policies are these rows of a result."""
    regret = result.dataset["regret"].values[rows.start : rows.stop, :, -1]
    return Regrets(np.ascontiguousarray(regret / game.horizon))
