"""`reproduce` and `arena`: long work that ends in a report."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from driftbandit import checks
from driftbandit.cli.arguments import (
    EPILOG,
    WRITTEN,
    Cluster,
    Device,
    Json,
    Precision,
    Seed,
    Threads,
    Whole,
    policies_of,
)
from driftbandit.cli.completing import policy_offers
from driftbandit.cli.program import app


@app.command()
def reproduce(
    only: Annotated[
        list[str] | None, typer.Option(help="Ids of experiments: a,b or once for each.", metavar="ID,…")
    ] = None,
    profile: Annotated[str, typer.Option(help="text, published, fitted or all.")] = "all",
    runs: Annotated[
        int | None, typer.Option(help="Runs instead of the paper's numbers.", show_default=False, **Whole)
    ] = None,
    seed: Seed = 1,
    out: Annotated[Path, typer.Option(help="Folder for the report, figures and numbers.")] = Path("reproduction"),
    threads: Threads = None,
    device: Device = "cpu",
    precision: Precision = "float64",
    cluster: Cluster = None,
) -> None:
    """Run the paper's whole evaluation and write a report.

    Finished experiments are kept in the folder and not run again.
    """
    from driftbandit.paper import reproduce as run

    summary = run(
        out=out,
        only=_ids(only),
        profile=profile,
        runs=runs,
        seed=seed,
        threads=threads,
        device=device,
        precision=precision,
        cluster=cluster,
    )
    print(summary)


@app.command(epilog=EPILOG)
def arena(
    only: Annotated[
        list[str] | None,
        typer.Option(help="Ids of families or environments: a,b or once for each.", metavar="ID,…"),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            help="A further one, such as mine.py:Mine or dts:discount=0.9; once for each.",
            metavar=WRITTEN,
            autocompletion=policy_offers,
        ),
    ] = None,
    table: Annotated[
        list[Path] | None, typer.Option(help="A further environment: a CSV of means; once for each.")
    ] = None,
    draw: Annotated[int, typer.Option(help="Number of the set of random environments.", **Whole)] = 1,
    runs: Annotated[
        int | None, typer.Option(help="Runs of everything instead of the usual numbers.", show_default=False, **Whole)
    ] = None,
    seed: Seed = 1,
    out: Annotated[Path, typer.Option(help="Folder for the report, figures and numbers.")] = Path("arena"),
    threads: Threads = None,
    device: Device = "cpu",
    precision: Precision = "float64",
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Play all policies in all environments, against the best setting of each, and write a report.

    Finished games are kept in the folder and not run again.
    """
    from driftbandit.arena import compete
    from driftbandit.arena.entrants import entrants
    from driftbandit.arena.families import chosen_families

    policies = policies_of(policy)
    if runs is not None:
        checks.whole("runs", runs, 1)
    worlds = sum(map(len, chosen_families(_ids(only), draw, table or ()).values()))
    said = f"{len(entrants(policies))} policies in {checks.counted(worlds, 'environment')}"
    print(
        f"the arena: {said}; finished games are kept in {out}. The usual whole took 14 minutes on two cores.",
        file=sys.stderr,
        flush=True,
    )
    made = compete(
        out=out, only=_ids(only), policies=policies, tables=table or (), draw=draw, runs=runs, seed=seed,
        threads=threads, device=device, precision=precision, cluster=cluster,
    )  # fmt: skip
    print(json.dumps(made.numbers) if as_json else made)


def _ids(texts: list[str] | None) -> list[str] | None:
    """Ids that were given one by one or with commas; None if there are none."""
    return [part.strip() for text in texts or [] for part in text.split(",")] or None
