"""The games of a sweep, one after the other: a row for each policy; what was finished before is not played again."""

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.campaign.kept_games import KeptGames
from driftbandit.campaign.lock import locked
from driftbandit.campaign.work import Work, cost
from driftbandit.engine.estimate import Estimate
from driftbandit.engine.games import Backend, Game
from driftbandit.engine.progress import Progress
from driftbandit.engine.result import Result
from driftbandit.errors import Interrupted

MEASURES = ("normalized_regret", "static_regret", "mean_reward")


@dataclasses.dataclass(frozen=True, eq=False)
class Scores:
    """What is kept of a game of one policy."""

    DIMENSIONS: ClassVar[Mapping[str, tuple[str, ...]]] = {"scores": ("measure", "end")}
    EMPTY: ClassVar[Mapping[str, NDArray[Any]]] = {}

    scores: NDArray[np.float64]
    """Mean and half-width of each measure."""

    def estimates(self) -> dict[str, Estimate]:
        """The measures by name."""
        return {name: Estimate(*map(float, row)) for name, row in zip(MEASURES, self.scores, strict=True)}


@dataclasses.dataclass(frozen=True)
class PlayedPolicy:
    """What one policy did in one environment."""

    game: Game
    """Of this policy alone."""
    estimates: dict[str, Estimate]


def condensed(game: Game, result: Result, rows: range) -> Scores:
    """What is kept of the policy in this row of a result."""
    label = result.policies[rows.start]
    return Scores(np.array([getattr(result, name)[label] for name in MEASURES], np.float64))


def play_sweep(
    games: Sequence[Game],
    backend: Backend,
    device: str,
    precision: str,
    keep: Path | None,
    progress: bool | None = None,
) -> Iterator[list[PlayedPolicy]]:
    """The rows of each game, in order, as soon as it is finished; with `keep` in a folder, where the same goes on."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) if keep is None else keep
        if keep is not None:
            stack.enter_context(locked(folder, "simulate -f", "keep"))
        (folder / "results").mkdir(exist_ok=True)
        alone = [[dataclasses.replace(game, policies=(policy,)) for policy in game.policies] for game in games]
        bar = stack.enter_context(Progress(f"{len(games)} games", 0, progress))
        bar.total = sum(cost(one) for some in alone for one in some)
        kept = KeptGames(folder / "results", Scores, device, precision)
        work = Work(kept, backend, bar, condensed, keeps_parts=keep is not None)
        work.get_ready(one for some in alone for one in some)
        for some in alone:
            try:
                work.obtain(some)
            except Interrupted as stop:
                if keep is None:
                    share = bar.finished / max(1, bar.total)
                    raise Interrupted(f"interrupted after {share:.0%}; nothing was kept: --keep FOLDER does") from None
                raise stop
            yield [PlayedPolicy(one, work.records[one].estimates()) for one in some]
        work.tidy()
