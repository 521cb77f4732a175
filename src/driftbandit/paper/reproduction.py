"""The whole evaluation with one call: run what is missing, judge, draw, and write the report."""

import dataclasses
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from driftbandit import checks
from driftbandit._version import __version__
from driftbandit.engine.games import Backend, Game, backend_for
from driftbandit.engine.progress import Progress
from driftbandit.errors import Interrupted
from driftbandit.paper.claims import Judgement, judged
from driftbandit.paper.drawing import opening, panels_of
from driftbandit.paper.entry import Scale
from driftbandit.paper.experiment import Experiment
from driftbandit.paper.experiments import chosen_experiments
from driftbandit.paper.findings import Findings
from driftbandit.paper.fitting import fitted_discounts, fitting_games, unfitted
from driftbandit.paper.lock import locked
from driftbandit.paper.pictures import Picture, written
from driftbandit.paper.printed import Setting
from driftbandit.paper.profiles import Profile, chosen_profiles
from driftbandit.paper.report import Colophon, page
from driftbandit.paper.report.words import tally
from driftbandit.paper.running import Work, cost
from driftbandit.paper.store import Store
from driftbandit.paper.tabulating import Table, table_of

SEED = 2017
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
        out: the folder.
        only: ids of experiments; None or none: all of them.
        profile: "text", "published", "fitted", or "all".
        runs: of every experiment, instead of the paper's 5000 and 1000.
        seed: of all reported random numbers; discounts are fitted on another one that follows from it.
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
            found, work = _run(experiments, profiles, scale, store, backend, progress)
            judgements = judged(found)
            _write_numbers(folder / "numbers", found, judgements)
            _write_index(folder / "results" / "index.csv", store, work.records)
            first, pictures = _drawn(folder / "figures", found)
            facts = _facts(found, work, scale, time.monotonic() - began, device, precision)
            _write_whole(folder / REPORT, page(found, judgements, first, pictures, Colophon(facts)))
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
    progress: bool | None,
) -> tuple[Findings, Work]:
    """First the games that choose discounts, then all others in one go, under one bar."""
    settings: tuple[Setting, ...] = ()
    if any(profile.fitted for profile in profiles):
        settings = tuple(dict.fromkeys(setting for experiment in experiments for setting in experiment.settings))
    choosing = fitting_games(settings, scale)
    total = sum(map(cost, dict.fromkeys([*choosing, *_games(experiments, profiles, scale, unfitted())])))
    with Progress("Reproducing the paper", total, progress) as bar:
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


def _write_numbers(folder: Path, found: Findings, judgements: Sequence[Judgement]) -> None:
    for experiment in found.experiments:
        table = table_of(experiment, found)
        if table is not None:
            (folder / f"{experiment.id}.csv").write_text(table.csv(), encoding="utf-8")
            table.save_netcdf(folder / f"{experiment.id}.nc")
    rows = [
        (judgement.claim.id, judgement.profile.id, judgement.verdict, check.text, check.outcome)
        for judgement in judgements
        for check in judgement.checks
    ]
    claims = Table(("claim", "profile", "verdict", "comparison", "outcome"), tuple(rows))
    (folder / "claims.csv").write_text(claims.csv(), encoding="utf-8")


def _write_index(path: Path, store: Store, games: Iterable[Game]) -> None:
    rows = tuple(sorted((store.path(game).name, game.specification()) for game in games))
    path.write_text(Table(("file", "specification"), rows).csv(), encoding="utf-8")


def _drawn(folder: Path, found: Findings) -> tuple[list[Picture], dict[str, list[Picture]]]:
    """The opening picture and the panels of every experiment, written and ready for the page."""
    first = [written(panel, folder) for panel in opening(found)]
    pictures = {
        experiment.id: [written(panel, folder) for panel in panels_of(experiment, found)]
        for experiment in found.experiments
    }
    return first, pictures


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _facts(found: Findings, work: Work, scale: Scale, seconds: float, device: str, precision: str) -> dict[str, str]:
    import matplotlib
    import numba
    import numpy
    import scipy

    versions = {"driftbandit": __version__, "Python": platform.python_version()}
    versions |= {module.__name__: module.__version__ for module in (numpy, scipy, numba, matplotlib)}
    loaded = len(work.records) - work.simulated
    return {
        "Games": f"{len(work.records)}: {work.simulated} run now, {loaded} kept from before",
        "Run-steps": f"{sum(game.runs * game.horizon for game in work.records) / 1e9:.2f} billion",
        "Time": f"{seconds:.0f} seconds, on {os.cpu_count()} cores of {platform.machine()}",
        "Runs": "as in the paper: 5000 in the main text, 1000 in its appendix; fewer beyond the paper"
        if scale.runs is None
        else f"{scale.runs} everywhere",
        "Seeds": f"{scale.seed} for everything reported, {scale.fitting.seed} for fitting",
        "Device": f"{device}, {precision}",
        "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "Experiments": ", ".join(experiment.id for experiment in found.experiments),
        "Fitted discounts": ", ".join(f"{name} {setting} {value:g}" for (setting, name), value in found.fits.items())
        or "none",
    }
