"""How an experiment asks for games: at which scale, and where in its figure each of them belongs."""

import dataclasses
from typing import NamedTuple

from driftbandit.engine.games import Game
from driftbandit.environments import Environment
from driftbandit.policies import Policy

FITTING_SEED_SHIFT = 1_000_003


@dataclasses.dataclass(frozen=True)
class Scale:
    """The seed, and the number of runs where it is not the paper's."""

    seed: int
    runs: int | None = None

    def game(self, policy: Policy, environment: Environment, horizon: int, runs: int) -> Game:
        """One policy's game at this scale."""
        return Game((policy,), environment, horizon, self.runs or runs, self.seed)

    @property
    def fitting(self) -> "Scale":
        """The same scale on a seed whose results are never reported."""
        return Scale((self.seed + FITTING_SEED_SHIFT) % 2**64, self.runs)


class Entry(NamedTuple):
    """A game and its place in a figure: whose curve, and where along it."""

    policy: str
    """The policy's name in the paper."""
    game: Game
    x: float | None = None
    """The number of arms or the discount, where the figure has one of them along its axis."""
    y: float | None = None
    """The prior, the number of arms that a curve is about, or 1 if arms are rested and 0 if not."""
