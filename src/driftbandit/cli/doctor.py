"""`doctor`: what works here, and what to install or mend."""

import json

import typer

from driftbandit.cli.arguments import Json
from driftbandit.cli.printing import print_table
from driftbandit.cli.program import app


@app.command()
def doctor(as_json: Json = False) -> None:
    """What works here: versions and their bounds, kernel cache, threads, card, extras, a small simulation.

    Status 1 where something is broken. What is absent is needed by nobody who does not use it.
    """
    from driftbandit.checkup import BROKEN, checkup

    rows = list(checkup())
    broken = [row for row in rows if row.state == BROKEN]
    if as_json:
        print(json.dumps({"works": not broken, "found": [row._asdict() for row in rows]}))
    else:
        print_table("", {
            "what": [row.what for row in rows], "state": [row.state for row in rows],
            "found": [row.found + (f"; {row.hint}" if row.hint else "") for row in rows],
        })  # fmt: skip
        print(f"broken: {', '.join(row.what for row in broken)}" if broken else "nothing is broken")
    if broken:
        raise typer.Exit(1)
