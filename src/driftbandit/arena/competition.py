"""The whole arena with one call: play what is missing, compare, draw, and write the report."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from driftbandit import checks
from driftbandit.arena.arena_page import page
from driftbandit.arena.drawn import opening, panel_of
from driftbandit.arena.effort import AGAIN, FEWEST_TRIED, MOST_TRIED, RUNS, Effort
from driftbandit.arena.entrants import FEWER_RUNS, Entrant, entrants
from driftbandit.arena.families import Family, chosen_families
from driftbandit.arena.fitting import Fit, first_games, fitted, second_game, unfitted
from driftbandit.arena.numbers_file import numbers
from driftbandit.arena.regrets import Regrets, scored
from driftbandit.arena.standings import Showing, Standings, ratio
from driftbandit.arena.world import World
from driftbandit.campaign.facts import games_played, versions
from driftbandit.campaign.kept_games import KeptGames
from driftbandit.campaign.lock import locked
from driftbandit.campaign.pictures import Picture, written
from driftbandit.campaign.times import Times
from driftbandit.campaign.work import Work, cost
from driftbandit.engine.estimate import Estimate, estimate
from driftbandit.engine.games import Game, backend_for
from driftbandit.engine.progress import Progress
from driftbandit.errors import Interrupted
from driftbandit.files import written_whole
from driftbandit.policies import Policy

SEED = 1
DRAW = 1
REPORT, NUMBERS = "report.html", "numbers.json"
HEAD = "regret / best fitted"


@dataclasses.dataclass(frozen=True)
class Competition:
    """What `compete` leaves behind."""

    report: Path
    seconds: float
    simulated: int
    """How many games were run; the others were there already."""
    games: int
    numbers: Mapping[str, Any]
    """What is in numbers.json."""
    times: str
    """Where the seconds went."""

    def __str__(self) -> str:
        """A few lines for a terminal: the policies, the best first."""
        done = f"{self.games} games, {self.simulated} of them run now, in {self.seconds:.0f} s: {self.times}"
        rows = [(_or_inf(row["geometric_mean"]), _or_inf(row["worst"]), row) for row in self.numbers["policies"]]
        width = max(len(HEAD), *(len(row["policy"]) for _, _, row in rows))
        lines = [
            f"{row['policy']:<{width}}  {mean:8.3f}  {worst:8.3f}  {row['within_5_percent']:9.0%}"
            for mean, worst, row in sorted(rows, key=lambda each: (each[2]["column"] == "oracle", each[0]))
        ]
        head = f"{HEAD:<{width}}  {'geo mean':>8}  {'worst':>8}  {'within 5%':>9}"
        return "\n".join([done, head, *lines, f"report: {self.report}"])


def _or_inf(value: float | None) -> float:
    return float("inf") if value is None else value


def compete(
    out: str | Path = Path("arena"),
    only: Iterable[str] | None = None,
    policies: Iterable[str | Policy] = (),
    tables: Sequence[str | Path] = (),
    draw: int = DRAW,
    runs: int | None = None,
    seed: int = SEED,
    threads: int | None = None,
    device: str = "cpu",
    precision: str = "float64",
    cluster: Any = None,
    progress: bool | None = None,
) -> Competition:
    """Play every policy in every environment and write a folder with a report, its figures and its numbers.
    Finished games are kept in it: the same call again runs nothing twice, also after it was killed.

    Parameters:
        out: the folder: a new one, an empty one, or one that an earlier call has made.
        only: ids of families or of environments; all of them unless given.
        policies: further ones: values, or texts such as "dts:discount=0.9" or "mine.py:Mine".
        tables: paths of CSV files with a row a step and a column an arm: further environments.
        draw: the number of the set of random environments; another number is another set of the same kind.
        runs: of everything, instead of the usual numbers.
        seed: of all reported random numbers; settings are fitted on two other seeds, computed from this one.
        threads, device, precision, cluster, progress: as for `simulate`.
    """
    times = Times()
    count = None if runs is None else checks.whole("runs", runs, 1)
    effort = Effort(checks.whole("seed", seed, 0, 2**64 - 1), count)
    number = checks.whole("draw", draw, 0, 2**32 - 1)
    if progress is not None:
        checks.flag("progress", progress)
    field = entrants(listed(policies))
    if device == "cuda":  # a card cannot play them yet
        field = [each for each in field if not each.has_beliefs]
    families = chosen_families(None if only is None else listed(only), number, listed(tables))
    backend = backend_for(threads, device, precision, cluster)
    folder = Path(out)
    with locked(folder, "arena"):
        store = KeptGames(folder / "results", Regrets, device, precision)
        for name in ("results", "figures"):
            (folder / name).mkdir(exist_ok=True)
        try:
            with Progress("The arena", 0, progress) as bar, times.of("playing"):
                work = Work(store, backend, bar, scored, keeps_parts=False)
                found = _played(families, field, effort, work)
            times.compiling = backend.compiling
            contents = numbers(found, effort, number)
            with written_whole(folder / NUMBERS, "out") as part:
                part.write_text(json.dumps(contents, indent=1) + "\n", encoding="utf-8")
            with times.of("drawing"):
                pictures = _drawn(found, folder / "figures")
            facts = games_played(work, times) | _facts(effort, number, device, precision)
            with written_whole(folder / REPORT, "out") as part:
                part.write_text(page(found, pictures, facts, number), encoding="utf-8")
        except KeyboardInterrupt as stop:
            if isinstance(stop, Interrupted):  # while playing: it says already how far
                raise
            raise Interrupted(f"interrupted while writing; finished games are kept in {folder}") from None
    return Competition(folder / REPORT, times.total, work.simulated, len(work.records), contents, str(times))


def listed(values: Any) -> list[Any]:
    """A text, a path or a policy by itself is a list of one."""
    return [values] if isinstance(values, str | Path | Policy) else list(values)


def _played(
    families: Mapping[Family, Sequence[World]], field: Sequence[Entrant], effort: Effort, work: Work[Regrets]
) -> Standings:
    """First every setting and those who need none, then the best settings again, then those that were fitted."""
    worlds = [world for some in families.values() for world in some]
    first = {world: first_games(world, effort) for world in worlds}
    planned = {world: unfitted(world, effort) for world in worlds}
    sure = [game for w in worlds for game in _games(w, field, planned[w][1], effort, fitted_too=False).values()]
    later = [game for w in worlds for game in (planned[w][0], *_games(w, field, planned[w][1], effort).values())]
    tried = [game for games in first.values() for game in games]
    work.bar.total = sum(map(cost, dict.fromkeys([*tried, *sure, *later])))
    work.get_ready([*tried, *sure])
    work.obtain([*tried, *sure])
    second = {world: second_game(world, effort, first[world], work.records) for world in worlds}
    work.obtain(second.values())
    fits = {world: fitted(second[world], work.records) for world in worlds}
    work.obtain(game for world in worlds for game in _games(world, field, fits[world], effort).values())
    showings: dict[tuple[World, Entrant], Showing] = {}
    for world in worlds:
        showings |= _showings(world, field, fits[world], effort, work.records)
    return Standings(families, field, fits, showings)


def _games(
    world: World, field: Sequence[Entrant], fit: Fit, effort: Effort, fitted_too: bool = True
) -> dict[Entrant, Game]:
    """Each one's game in an environment. Two that have the same setting there have the same game."""
    return {
        entrant: Game(
            (entrant.policy_in(world, fit),), world.environment, world.horizon, effort.reported_runs(entrant.runs),
            effort.seed,
        )
        for entrant in field
        if entrant.column != "oracle" and (fitted_too or entrant.column != "fitted")
    }  # fmt: skip


def _showings(
    world: World, field: Sequence[Entrant], fit: Fit, effort: Effort, scores: Mapping[Game, Regrets]
) -> dict[tuple[World, Entrant], Showing]:
    games = _games(world, field, fit, effort)
    regrets = {entrant: estimate(scores[game].regret[0]) for entrant, game in games.items()}
    [best] = [regrets[entrant].mean for entrant in games if (entrant.column, entrant.name) == ("fitted", fit.best)]
    found = {}
    for entrant in field:
        if entrant in games:
            game = games[entrant]
            setting, regret, runs = str(game.policies[0]), regrets[entrant], game.runs
        else:
            setting, regret, runs = entrant.label, Estimate(world.single_arm_regret, 0.0), 0
        found[world, entrant] = Showing(setting, regret, runs, ratio(regret.mean, best))
    return found


def _drawn(found: Standings, folder: Path) -> dict[Family | None, Picture]:
    """All pictures; those of an earlier call with other options are not in this report."""
    for path in folder.iterdir():
        if path.suffix in {".png", ".svg"}:
            path.unlink()
    drawn: dict[Family | None, Picture] = {None: written(opening(found), folder)}
    for family in found.families:
        drawn[family] = written(panel_of(family, found), folder)
    return drawn


def _facts(effort: Effort, draw: int, device: str, precision: str) -> dict[str, str]:
    slow = ", ".join(f"{runs} of {name}" for name, runs in FEWER_RUNS.items())
    tried = f"{FEWEST_TRIED} to {MOST_TRIED}, then {AGAIN} times as many, while fitting"
    usual = f"{RUNS} of everything reported, but {slow}; {tried}"
    return {
        "Runs": usual if effort.runs is None else f"{effort.runs} of everything",
        "Seeds": f"{effort.seed} for everything reported, {effort.first_seed} and {effort.second_seed} for fitting",
        "Draw": f"{draw}: another number draws other random environments of the same kind",
        "Device": f"{device}, {precision}",
        "Versions": versions(),
    }
