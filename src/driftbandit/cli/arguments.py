"""The arguments that commands share, and what is made of their texts."""

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.files import check_writable
from driftbandit.policies import Policy

SUCH_AS = (
    "Such as fast, flights, abrupt:n_arms=6, 'piecewise:levels=0.1 0.9; 0.9 0.1,change_points=500' (a row of levels a "
    "segment, a number an arm), or the path of a CSV of means."
)


def whole_number(text: str) -> int:
    """A whole number, also as 1e6; what it may be is said by whoever needs it."""
    for number in (int, float):  # a seed has more digits than a float
        try:
            return checks.whole("it", number(text), -(2**64), 2**64)
        except ValueError:
            continue
    raise typer.BadParameter(f"must be a whole number, got {checks.shown(text)}")


WRITTEN = "NAME:PARAMETER=VALUE,…"
EPILOG = (
    "Policies and environments are written as NAME:PARAMETER=VALUE,PARAMETER=VALUE; a row of numbers has spaces, "
    "rows are separated by semicolons; FILE.py:Class:PARAMETER=VALUE is one of your own. `driftbandit policies NAME` "
    "and `driftbandit environments NAME` say what each parameter takes. Numbers may be written as 1e6."
)

Whole = {"parser": whole_number, "metavar": "NUMBER"}
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Threads = Annotated[
    int | None, typer.Option(help="Threads to use; all cores unless given.", show_default=False, **Whole)
]
Device = Annotated[str, typer.Option(help="Where to play.", metavar="cpu|cuda")]
Precision = Annotated[str, typer.Option(help="float32 on a GPU only.", metavar="float64|float32")]
Cluster = Annotated[str | None, typer.Option(help="Address of a Dask scheduler.", metavar="ADDRESS")]
Seed = Annotated[int, typer.Option(help="Seed of all random numbers.", **Whole)]
Plot = Annotated[Path | None, typer.Option(help="Draw it to this file (.svg, .png, .pdf).")]


def option_of(field: "dataclasses.Field[Any]") -> Any:
    """An option of the command line for a field that says what it is; an environment variable may give it too."""
    more: dict[str, Any] = Whole if field.type is int else {"metavar": field.metadata["metavar"]}
    shown = field.default not in (None, "")
    return typer.Option(
        help=field.metadata["help"], envvar=f"DRIFTBANDIT_{field.name.upper()}", show_default=shown, **more
    )


def with_options(run: Callable[..., None], options: type) -> Callable[..., None]:
    """A command that has an option for each field of a specification."""
    fields = dataclasses.fields(options)
    kinds: dict[str, Any] = {field.name: field.metadata["typed"] or field.type for field in fields}
    hints: dict[str, Any] = {field.name: Annotated[kinds[field.name], option_of(field)] for field in fields}

    def command(**given: Any) -> None:
        run(**given)

    command.__doc__ = run.__doc__
    command.__annotations__ = hints | {"return": None}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(field.name, keyword, default=field.default, annotation=hints[field.name]) for field in fields
    ]
    setattr(command, "__signature__", inspect.Signature(parameters))  # noqa: B010
    return command


def policies_of(texts: list[str] | None) -> list[Policy]:
    """Policies that were given one by one."""
    return [Policy.of(text) for text in texts or []]


def check_plot(plot: Path | None) -> None:
    """That a picture can be written there, in a format that is known."""
    if plot is None:
        return
    check_writable("plot", plot)
    if plot.suffix not in {".svg", ".png", ".pdf"}:
        raise InvalidValue(f"plot must end in .svg, .png or .pdf, got {checks.shown(str(plot))}")
