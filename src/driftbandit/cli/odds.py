"""`probability`: exact odds."""

import json
import math
from typing import Annotated

import typer

from driftbandit import checks
from driftbandit.cli.arguments import Json
from driftbandit.cli.printing import print_table
from driftbandit.cli.program import app
from driftbandit.errors import InvalidValue


@app.command(context_settings={"ignore_unknown_options": True})  # or -1,2 would be an option that there is not
def probability(
    arms: Annotated[list[str], typer.Argument(help="Beta posteriors, such as 30.5,20.3 28.2,25.9.", metavar="A,B ...")],
    optimistic: Annotated[bool, typer.Option("--optimistic", help="For OTS and dOTS.")] = False,
    as_json: Json = False,
) -> None:
    """The exact probability that Thompson sampling chooses each arm."""
    from driftbandit.exact import selection_probabilities

    parameters = [_pair(text) for text in arms]
    probabilities = [float(value) for value in selection_probabilities(parameters, optimistic=optimistic)]
    if as_json:
        print(json.dumps({"probabilities": probabilities}))
        return
    title = "probability of choosing each arm" + (", optimistic" if optimistic else "")
    print_table(title, {"arm": range(1, len(arms) + 1), "posterior": [f"Beta({a:g}, {b:g})" for a, b in parameters],
                         "probability": [f"{value:.12g}" for value in probabilities]})  # fmt: skip


def _pair(text: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValue(f"a posterior must be written as 30.5,20.3, got {checks.shown(text)}") from None
    if not all(0.0 < each < math.inf for each in (first, second)):
        raise InvalidValue(f"a posterior must be two finite numbers above 0, as in 30.5,20.3, got {checks.shown(text)}")
    return first, second
