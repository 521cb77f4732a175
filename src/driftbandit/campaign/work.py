"""The games of a report: finished ones are loaded, and all others are run at once."""

import contextlib
import dataclasses
import logging
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic

from driftbandit.campaign.kept_games import Kept, KeptGames
from driftbandit.crew import FEWEST_CORES, cores
from driftbandit.engine.games import Backend, Game, play_games
from driftbandit.engine.progress import Progress
from driftbandit.engine.result import Result
from driftbandit.environments import Environment
from driftbandit.errors import Interrupted

log = logging.getLogger("driftbandit.keep")
BATCH_RUNS = 2500
"""A batch has at most so many runs, of all its policies together: their curves then fit into memory easily."""

CLERKS = 4
"""Threads that condense results and write them down while others are played, where there are cores for them."""
BACKLOG = 16
"""So many games may wait for that, at most: their curves are in memory until then."""


class Work(Generic[Kept]):
    """The records that are at hand, and how far the work is."""

    def __init__(
        self, store: KeptGames[Kept], backend: Backend, bar: Progress, condense: Callable[[Game, Result, range], Kept],
        keeps_parts: bool = True,
    ) -> None:  # fmt: skip
        self.store = store
        self.backend = backend
        self.condense = condense
        """What is kept of a game: of these rows of a result, one a policy."""
        self.keeps_parts = keeps_parts
        """Whether parts of unfinished games are kept too: where games are short, writing them takes longer."""
        self.parts = store.folder.parent / "parts" / f"{store.device}-{store.precision}"
        self.bar = bar
        self.records: dict[Game, Kept] = {}
        self.simulated = 0

    def get_ready(self, games: Iterable[Game]) -> None:
        """Let the backend see to what it needs for those of these games that are not finished."""
        missing = [game for game in games if not self.store.path(game).exists()]
        self.backend.get_ready([job for game in missing for job in game.jobs()])

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
        if self.records:
            log.info("%d games are kept in %s, %d are to be played", len(self.records), self.store.folder, len(missing))
        if not missing:
            return
        batches = list(batched(missing))
        batches.sort(key=lambda batch: sum(map(cost, batch)), reverse=True)  # then no core is idle at the end
        keep = self.parts if self.keeps_parts and not self.backend.replays else None
        finished: deque[tuple[Game, Future[Kept]]] = deque()
        try:
            with ThreadPoolExecutor(CLERKS if cores() >= FEWEST_CORES else 1) as clerks:
                for place, result in play_games([_together(batch) for batch in batches], self.backend, False, keep):
                    first = 0
                    for game in batches[place]:
                        rows = range(first, first := first + len(game.policies))
                        finished.append((game, clerks.submit(self._written, game, result, rows)))
                    self._take(finished, BACKLOG)
                self._take(finished, 0)
        except Interrupted:
            share = self.bar.finished / max(1, self.bar.total)
            raise Interrupted(
                f"interrupted after {share:.0%}; what is finished is kept in {self.store.folder.parent}, "
                "and the same command goes on from there"
            ) from None

    def tidy(self) -> None:
        """Remove the folder of unfinished parts: everything is finished."""
        shutil.rmtree(self.parts, ignore_errors=True)
        with contextlib.suppress(OSError):  # there may be parts of another device
            self.parts.parent.rmdir()

    def _written(self, game: Game, result: Result, rows: range) -> Kept:
        record = self.condense(game, result, rows)
        self.store.keep(game, record)
        return record

    def _take(self, finished: "deque[tuple[Game, Future[Kept]]]", most: int) -> None:
        """The records that are written, in order, until no more than so many are left; the first may be waited for."""
        while finished and (len(finished) > most or finished[0][1].done()):
            game, record = finished.popleft()
            self._have(game, record.result())
            self.simulated += 1

    def _have(self, game: Game, record: Kept) -> None:
        self.records[game] = record
        self.bar.advance(cost(game))


def batched(games: Iterable[Game]) -> Iterator[tuple[Game, ...]]:
    """Batches of games that differ in their policies only: one result for all of them costs little more than for one.

    What a policy does never depends on its company, so neither do the records.
    """
    alike: dict[tuple[Environment, int, int, int], list[Game]] = {}
    for game in games:
        alike.setdefault((game.environment, game.horizon, game.runs, game.seed), []).append(game)
    for (_, _, runs, _), members in alike.items():
        batch: list[Game] = []
        for game in members:
            if batch and runs * sum(len(one.policies) for one in (*batch, game)) > BATCH_RUNS:
                yield tuple(batch)
                batch = []
            batch.append(game)
        yield tuple(batch)


def _together(games: Sequence[Game]) -> Game:
    return dataclasses.replace(games[0], policies=tuple(policy for game in games for policy in game.policies))


def cost(game: Game) -> int:
    """How long a game takes, compared with others: a sample of an arm takes longer than an index or a weight."""
    n_arms = game.environment.n_arms
    sampled = sum(policy.rule(n_arms).selection == "sampled" for policy in game.policies)
    step = n_arms * 10 * sampled + (10 + 2 * n_arms) * (len(game.policies) - sampled)
    return int(game.runs * game.horizon * step)
