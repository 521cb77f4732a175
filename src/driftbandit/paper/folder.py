"""What a reproduction leaves in its folder: numbers, figures, an index of games, and how it was made."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from driftbandit.campaign.facts import games_played, versions
from driftbandit.campaign.kept_games import KeptGames
from driftbandit.campaign.times import Times
from driftbandit.campaign.work import Work
from driftbandit.engine.games import Game
from driftbandit.paper.claims import Judgement
from driftbandit.paper.findings import Findings
from driftbandit.paper.game_of import Scale
from driftbandit.paper.record import Record
from driftbandit.paper.table import Table, table_of


def write_numbers(folder: Path, found: Findings, judgements: Sequence[Judgement]) -> None:
    """The numbers of every experiment and the comparisons behind every claim."""
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


def write_index(path: Path, store: KeptGames[Record], games: Iterable[Game]) -> None:
    """Which game is in which file."""
    rows = tuple(sorted((store.path(game).name, game.specification()) for game in games))
    path.write_text(Table(("file", "specification"), rows).csv(), encoding="utf-8")


def facts_of(
    found: Findings, work: Work[Record], scale: Scale, times: Times, device: str, precision: str
) -> dict[str, str]:
    """How the report was made."""
    return {
        **games_played(work, times),
        "Runs": "as in the paper: 5000 in the main text, 1000 in its appendix; fewer beyond the paper"
        if scale.runs is None
        else f"{scale.runs} everywhere",
        "Seeds": f"{scale.seed} for everything reported, {scale.fitting.seed} for fitting",
        "Device": f"{device}, {precision}",
        "Versions": versions(),
        "Experiments": ", ".join(experiment.id for experiment in found.experiments),
        "Fitted discounts": ", ".join(f"{name} {setting} {value:g}" for (setting, name), value in found.fits.items())
        or "none",
    }
