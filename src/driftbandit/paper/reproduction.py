"""The whole evaluation with one call: run what is missing, judge, draw, and write the report."""

import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from driftbandit import checks
from driftbandit.engine.games import Backend, Game, backend_for
from driftbandit.engine.progress import Progress
from driftbandit.errors import Interrupted
from driftbandit.files import written_whole
from driftbandit.paper.claims import judged
from driftbandit.paper.experiment import Experiment
from driftbandit.paper.experiments import chosen_experiments
from driftbandit.paper.findings import Findings
from driftbandit.paper.fits import fitted_discounts, fitting_games, unfitted
from driftbandit.paper.folder import DRAWING, drawn, facts_of, write_index, write_numbers
from driftbandit.paper.game_of import Scale
from driftbandit.paper.lock import locked
from driftbandit.paper.printed import Setting
from driftbandit.paper.profiles import Profile, chosen_profiles
from driftbandit.paper.report.page import page
from driftbandit.paper.report.words import tally
from driftbandit.paper.store import Store
from driftbandit.paper.work import Work, cost

SEED = 1
REPORT = "report.html"


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """What `reproduce` leaves behind."""

    report: Path
    seconds: float
    simulated: int
    """How many games were run; the others were there already."""
    games: int
    claims: Mapping[str, Mapping[str, int]]
    """How many claims hold, fail, are undecided or not run, by profile."""

    def __str__(self) -> str:
        """A few lines for a terminal."""
        done = f"{self.games} games, {self.simulated} of them run now, in {self.seconds:.0f} s"
        counts = [
            f"{profile:<10}" + ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))
            for profile, verdicts in self.claims.items()
        ]
        return "\n".join([done, *counts, f"report: {self.report}"])


def reproduce(
    out: str | Path = Path("reproduction"),
    only: Iterable[str] | None = None,
    profile: str = "all",
    runs: int | None = None,
    seed: int = SEED,
    threads: int | None = None,
    device: str = "cpu",
    precision: str = "float64",
    cluster: Any = None,
    progress: bool | None = None,
) -> Reproduction:
    """Run the paper's evaluation and write a folder with a report, its figures and its numbers.

    Finished games are kept in the folder: the same call again runs nothing twice, also after it was killed.

    Parameters:
        out: the folder: a new one, an empty one, or one that an earlier call has made.
        only: ids of experiments; all of them unless given.
        profile: "text", "published", "fitted", or "all".
        runs: of every experiment, instead of the paper's 5000 and 1000.
        seed: of all reported random numbers; discounts are fitted on another seed, computed from this one.
        threads, device, precision, cluster, progress: as for `simulate`.
    """
    began = time.monotonic()
    experiments, profiles = chosen_experiments(only), chosen_profiles(profile)
    count = None if runs is None else checks.whole("runs", runs, 1)
    scale = Scale(checks.whole("seed", seed, 0, 2**64 - 1), count)
    if progress is not None:
        checks.flag("progress", progress)
    backend = backend_for(threads, device, precision, cluster)
    folder = Path(out)
    with locked(folder):
        store = Store(folder / "results", device, precision)
        for name in ("results", "figures", "numbers"):
            (folder / name).mkdir(exist_ok=True)
        try:
            with Progress("Reproducing the paper", 0, progress) as bar:
                found, work = _run(experiments, profiles, scale, store, backend, bar)
                judgements = judged(found)
                write_numbers(folder / "numbers", found, judgements)
                write_index(folder / "results" / "index.csv", store, work.records)
                pictures = drawn(folder / "figures", found, bar.advance)
            facts = facts_of(found, work, scale, time.monotonic() - began, device, precision)
            with written_whole(folder / REPORT, "out") as part:
                part.write_text(page(found, judgements, pictures, facts), encoding="utf-8")
        except Interrupted:  # while playing: it says already how far
            raise
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted while writing; finished games are kept in {folder}") from None
    counts = {name: dict(counter) for name, counter in tally(judgements).items()}
    seconds = time.monotonic() - began
    return Reproduction(folder / REPORT, seconds, work.simulated, len(work.records), counts)


def _run(
    experiments: Sequence[Experiment],
    profiles: Sequence[Profile],
    scale: Scale,
    store: Store,
    backend: Backend,
    bar: Progress,
) -> tuple[Findings, Work]:
    """First the games that choose discounts, then all others at once; one progress bar for both."""
    settings: tuple[Setting, ...] = ()
    if any(profile.fitted for profile in profiles):
        settings = tuple(dict.fromkeys(setting for experiment in experiments for setting in experiment.settings))
    choosing = fitting_games(settings, scale)
    planned = dict.fromkeys([*choosing, *_games(experiments, profiles, scale, unfitted())])
    bar.total = sum(map(cost, planned)) + DRAWING * len(experiments)
    work = Work(store, backend, store.folder.parent / "parts" / f"{store.device}-{store.precision}", bar)
    work.obtain(choosing)
    fits = fitted_discounts(settings, scale, work.records)
    work.obtain(_games(experiments, profiles, scale, fits))
    work.tidy()
    return Findings(experiments, profiles, scale, fits, work.records), work


def _games(
    experiments: Sequence[Experiment], profiles: Sequence[Profile], scale: Scale, fits: Mapping[tuple[str, str], float]
) -> list[Game]:
    return [
        entry.game
        for experiment in experiments
        for profile in profiles
        for entry in experiment.entries(profile, scale, fits)
    ]
