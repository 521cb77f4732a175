"""All figures of the report, drawn one after the other or by several processes: the same files either way."""

import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple

from driftbandit.campaign.kept_games import KeptGames
from driftbandit.campaign.pictures import Panel, Picture, written
from driftbandit.crew import Crew, Unanswered
from driftbandit.engine.games import Game
from driftbandit.paper.experiment import Experiment, Section
from driftbandit.paper.findings import Findings
from driftbandit.paper.game_of import Scale
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record
from driftbandit.paper.report.opening import opening

DRAWING = 1_200_000_000
"""How long the figures of an experiment take, on the scale of `work.cost`."""
Part = Experiment | Section | None
"""What is drawn at a time: an experiment, what a section has in common, or, None, what opens the report."""
Pictures = dict[Part, list[Picture]]
"""The pictures of each part."""


class Stored(NamedTuple):
    """Findings as another process can have them: the records are in the store."""

    experiments: tuple[Experiment, ...]
    profiles: tuple[Profile, ...]
    scale: Scale
    fits: tuple[tuple[tuple[str, str], float], ...]
    store: KeptGames[Record]


def rehearse(crew: Crew | None) -> None:
    """Have the processes of a crew import what they will draw with."""
    if crew is not None:
        for _ in range(crew.size):
            crew.ask(_import)


def _import() -> None:
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_svg  # noqa: F401  # all that is wanted


class Drawing:
    """All panels of a report: begun by a crew where there is one, while other things are done here."""

    def __init__(self, folder: Path, found: Findings, store: KeptGames[Record], crew: Crew | None) -> None:
        self.folder = folder
        self.found = found
        self.began = time.time_ns() - 10**9  # file times are coarse
        stored = Stored(found.experiments, found.profiles, found.scale, tuple(found.fits.items()), store)
        self.coming: dict[Part, Future[list[Picture]]] = {}
        if crew is not None:
            self.coming = {part: crew.ask(drawn_from_store, stored, part, folder) for part in _parts(found)}

    def pictures(self, done: Callable[[int], None]) -> Pictures:
        """All of them, written and ready for the page; what nobody else could draw is drawn here."""
        parts = list(_parts(self.found))
        here: Pictures = {}
        for part in reversed(parts):  # others begin at the beginning
            if part not in self.coming or self.coming[part].cancel():
                here[part] = self._drawn_here(part, done)
        pictures = {part: here[part] if part in here else self._answer(part, done) for part in parts}
        for path in self.folder.iterdir():  # pictures of an earlier call with other options are not in this report
            if path.suffix in {".png", ".svg"} and path.stat().st_mtime_ns < self.began:
                path.unlink()
        return pictures

    def _answer(self, part: Part, done: Callable[[int], None]) -> list[Picture]:
        """What another process draws; if it cannot, it is drawn here."""
        try:
            pictures: list[Picture] = self.coming[part].result()
        except Unanswered:
            return self._drawn_here(part, done)
        done(_cost(part))
        return pictures

    def _drawn_here(self, part: Part, done: Callable[[int], None]) -> list[Picture]:
        pictures = _drawn(part, self.found, self.folder)
        done(_cost(part))
        return pictures


def drawn_from_store(stored: Stored, part: Part, folder: Path) -> list[Picture]:
    """The pictures of a part, by a process that was told where everything is."""
    return _drawn(part, _findings(stored), folder)


@functools.lru_cache(1)
def _findings(stored: Stored) -> Findings:
    return Findings(stored.experiments, stored.profiles, stored.scale, dict(stored.fits), Records(stored.store))


class Records(Mapping[Game, Record]):
    """The records of a store, each read when it is asked for."""

    def __init__(self, store: KeptGames[Record]) -> None:
        self.store = store
        self.read: dict[Game, Record] = {}

    def __getitem__(self, game: Game) -> Record:
        if game not in self.read:
            found = self.store.find(game)
            if found is None:
                raise KeyError(game)
            self.read[game] = found
        return self.read[game]

    def __iter__(self) -> Iterator[Game]:
        return iter(self.read)

    def __len__(self) -> int:
        return len(self.read)


def _parts(found: Findings) -> Iterator[Part]:
    """In the order in which they are drawn."""
    yield None
    begun = set()
    for experiment in found.experiments:
        if experiment.section not in begun:
            begun.add(experiment.section)
            yield experiment.section
        yield experiment


def _drawn(part: Part, found: Findings, folder: Path) -> list[Picture]:
    return [written(panel, folder) for panel in _panels(part, found)]


def _panels(part: Part, found: Findings) -> Iterable[Panel]:
    if part is None:
        return opening(found)
    if isinstance(part, Experiment):
        return part.panels(found)
    first = next(experiment for experiment in found.experiments if experiment.section == part)
    return first.overview(found)


def _cost(part: Part) -> int:
    return DRAWING if isinstance(part, Experiment) else 0
