"""The whole evaluation with one call: run what is missing, judge, draw, and write the report."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from driftbandit import checks
from driftbandit.campaign.kept_games import KeptGames
from driftbandit.campaign.lock import locked
from driftbandit.campaign.times import Times
from driftbandit.campaign.work import Work, cost
from driftbandit.crew import Crew, hired
from driftbandit.engine.games import Game, backend_for
from driftbandit.engine.progress import Progress
from driftbandit.errors import Interrupted
from driftbandit.files import written_whole
from driftbandit.paper import drawing
from driftbandit.paper.claims import judged
from driftbandit.paper.drawing import DRAWING, Drawing
from driftbandit.paper.experiment import Experiment
from driftbandit.paper.experiments import chosen_experiments
from driftbandit.paper.findings import Findings
from driftbandit.paper.fits import fitted_discounts, fitting_games, unfitted
from driftbandit.paper.folder import facts_of, write_index, write_numbers
from driftbandit.paper.game_of import Scale
from driftbandit.paper.printed import Setting
from driftbandit.paper.profiles import Profile, chosen_profiles
from driftbandit.paper.record import Record, condensed
from driftbandit.paper.report.page import page
from driftbandit.paper.report.words import tally

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
    times: str
    """Where the seconds went."""

    def __str__(self) -> str:
        """A few lines for a terminal."""
        done = f"{self.games} games, {self.simulated} of them run now, in {self.seconds:.0f} s: {self.times}"
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
    times = Times()
    experiments, profiles = chosen_experiments(only), chosen_profiles(profile)
    count = None if runs is None else checks.whole("runs", runs, 1)
    scale = Scale(checks.whole("seed", seed, 0, 2**64 - 1), count)
    if progress is not None:
        checks.flag("progress", progress)
    backend = backend_for(threads, device, precision, cluster)
    folder = Path(out)
    with locked(folder, "reproduce"):
        store = KeptGames(folder / "results", Record, device, precision)
        for name in ("results", "figures", "numbers"):
            (folder / name).mkdir(exist_ok=True)
        try:
            with Progress("Reproducing the paper", 0, progress) as bar, hired(threads) as crew:
                with times.of("playing"):
                    work = Work(store, backend, bar, condensed)
                    found = _run(experiments, profiles, scale, work, crew)
                times.compiling = backend.compiling
                panels = Drawing(folder / "figures", found, store, crew)
                with times.of("judging"):
                    judgements = judged(found)
                with times.of("writing"):
                    write_numbers(folder / "numbers", found, judgements)
                    write_index(folder / "results" / "index.csv", store, work.records)
                with times.of("drawing"):
                    pictures = panels.pictures(bar.advance)
            facts = facts_of(found, work, scale, times, device, precision)
            with written_whole(folder / REPORT, "out") as part:
                part.write_text(page(found, judgements, pictures, facts), encoding="utf-8")
        except Interrupted:  # while playing: it says already how far
            raise
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted while writing; finished games are kept in {folder}") from None
    counts = {name: dict(counter) for name, counter in tally(judgements).items()}
    return Reproduction(folder / REPORT, times.total, work.simulated, len(work.records), counts, str(times))


def _run(
    experiments: Sequence[Experiment], profiles: Sequence[Profile], scale: Scale, work: Work[Record], crew: Crew | None
) -> Findings:
    """First the games that choose discounts and those that need none chosen, then the others."""
    settings: tuple[Setting, ...] = ()
    if any(profile.fitted for profile in profiles):
        settings = tuple(dict.fromkeys(setting for experiment in experiments for setting in experiment.settings))
    choosing = fitting_games(settings, scale)
    planned = dict.fromkeys([*choosing, *_games(experiments, profiles, scale, unfitted())])
    work.bar.total = sum(map(cost, planned)) + DRAWING * len(experiments)
    work.get_ready(planned)
    certain = [profile for profile in profiles if not profile.fitted]
    work.obtain([*choosing, *_games(experiments, certain, scale, unfitted())])
    if work.backend.replays:  # there it will be time to draw soon
        drawing.rehearse(crew)
    fits = fitted_discounts(settings, scale, work.records)
    work.obtain(_games(experiments, profiles, scale, fits))
    work.tidy()
    return Findings(experiments, profiles, scale, fits, work.records)


def _games(
    experiments: Sequence[Experiment], profiles: Sequence[Profile], scale: Scale, fits: Mapping[tuple[str, str], float]
) -> list[Game]:
    return [
        entry.game
        for experiment in experiments
        for profile in profiles
        for entry in experiment.entries(profile, scale, fits)
    ]
