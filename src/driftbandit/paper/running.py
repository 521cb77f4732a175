"""Running the games that are not there yet, all in one go, and loading the others."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from driftbandit.engine.games import Backend, Game, play_games
from driftbandit.engine.progress import Progress
from driftbandit.errors import Interrupted
from driftbandit.paper.record import Record, condensed
from driftbandit.paper.store import Store


class Work:
    """The games of a whole reproduction: what is loaded, what is run, and how far it is."""

    def __init__(self, store: Store, backend: Backend, parts: Path, bar: Progress) -> None:
        self.store = store
        self.backend = backend
        self.parts = parts
        self.bar = bar
        self.records: dict[Game, Record] = {}
        self.simulated = 0

    def obtain(self, games: Iterable[Game]) -> None:
        """Make sure that the records of these games are at hand."""
        missing = []
        for game in dict.fromkeys(games):
            if game in self.records:
                continue
            found = self.store.find(game)
            if found is None:
                missing.append(game)
            else:
                self._have(game, found)
        if not missing:
            return
        missing.sort(key=cost, reverse=True)  # the longest first, so that no core is idle at the end
        try:
            for place, result in play_games(missing, self.backend, progress=False, keep=self.parts):
                record = condensed(missing[place], result)
                self.store.keep(missing[place], record)
                self.simulated += 1
                self._have(missing[place], record)
        except Interrupted:
            share = self.bar.finished / max(1, self.bar.total)
            raise Interrupted(
                f"interrupted after {share:.0%}; what is finished is kept in {self.store.folder.parent}, "
                "and the same command goes on from there"
            ) from None

    def tidy(self) -> None:
        """Nothing is half done any more."""
        shutil.rmtree(self.parts, ignore_errors=True)

    def _have(self, game: Game, record: Record) -> None:
        self.records[game] = record
        self.bar.advance(cost(game))


def cost(game: Game) -> int:
    """How long a game takes compared with others: samples of every arm are dearer than indices or weights."""
    n_arms = game.environment.n_arms
    [policy] = game.policies
    sampled = policy.rule(n_arms).selection == "sampled"
    return int(game.runs * game.horizon * (n_arms * 10 if sampled else 10 + 2 * n_arms))
