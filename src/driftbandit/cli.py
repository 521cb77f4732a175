"""The command line: parse, call, print. Every error is one line on standard error."""

import contextlib
import dataclasses
import inspect
import json
import math
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from driftbandit import checks
from driftbandit._version import __version__
from driftbandit.environments import Environment
from driftbandit.errors import DriftbanditError, InvalidValue
from driftbandit.files import check_writable, written_whole
from driftbandit.policies import Policy
from driftbandit.policies.policy import FAMILIES


class Commands(typer.core.TyperGroup):
    """All commands. The parser of the command line would end without a word at Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            _end_now(str(error) or "interrupted", 130)


app = typer.Typer(
    name="driftbandit",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

USUAL_HORIZON = 5000
SUCH_AS = (
    "Such as fast, abrupt:n_arms=6, 'piecewise:levels=0.1 0.9; 0.9 0.1,change_points=500' (a row of levels a segment, "
    "a number an arm), or the path of a CSV of means."
)


def whole_number(text: str) -> int:
    """A whole number, also as 1e6; what it may be is said by whoever needs it."""
    for number in (int, float):  # a seed has more digits than a float
        try:
            return checks.whole("it", number(text), -(2**64), 2**64)
        except ValueError:
            continue
    raise typer.BadParameter(f"must be a whole number, got {checks.shown(text)}")


Whole = {"parser": whole_number, "metavar": "NUMBER"}
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Threads = Annotated[
    int | None, typer.Option(help="Threads to use; all cores unless given.", show_default=False, **Whole)
]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Precision = Annotated[str, typer.Option(help="float64, or float32 on a GPU.")]
Cluster = Annotated[str | None, typer.Option(help="Address of a Dask scheduler.", metavar="ADDRESS")]
Seed = Annotated[int, typer.Option(help="Seed of all random numbers.", **Whole)]


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Bandits whose arms drift: simulate policies, get exact probabilities, reproduce the paper."""
    if version:
        print(__version__)
        raise typer.Exit


@app.command()
def simulate(
    environment: Annotated[str, typer.Argument(help=SUCH_AS)],
    policy: Annotated[
        list[str] | None, typer.Option("--policy", "-p", help="Such as dts:discount=0.4; give it once for each policy.")
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(
            help="Steps in a game: 5000, as published, or the rows of a CSV, unless given.", show_default=False, **Whole
        ),
    ] = None,
    runs: Annotated[int, typer.Option(help="Games for each policy.", **Whole)] = 1000,
    seed: Seed = 0,
    threads: Threads = None,
    device: Device = "cpu",
    precision: Precision = "float64",
    cluster: Cluster = None,
    keep: Annotated[Path | None, typer.Option(help="Folder for finished parts, to go on after a stop.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write everything recorded to this netCDF file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw regret over time to this file (.svg, .png, .pdf).")] = None,
    as_json: Json = False,
) -> None:
    """Play policies in an environment and compare their regret.

    `driftbandit policies` and `driftbandit environments` list what there is.
    """
    from driftbandit.engine import simulate as run

    if not policy:
        raise InvalidValue("policy must be given at least once, such as --policy dts:discount=0.9")
    policies = [Policy.parse(text) for text in policy]
    for option, path in (("save", save), ("plot", plot)):
        if path is not None:
            check_writable(option, path)
    if plot is not None and plot.suffix not in {".svg", ".png", ".pdf"}:
        raise InvalidValue(f"plot must end in .svg, .png or .pdf, got {checks.shown(str(plot))}")
    world = _environment(environment)
    if horizon is None:
        horizon = world.usual_horizon or USUAL_HORIZON
    result = run(
        policies, world, horizon=horizon, runs=runs, seed=seed, threads=threads, device=device, precision=precision,
        cluster=cluster, keep=keep,
    )  # fmt: skip
    if save is not None:
        result.save(save)
    if plot is not None:
        with written_whole(plot, "plot") as part:
            result.plot().savefig(part, format=plot.suffix[1:])
    measures = [measure.values() for measure in (result.normalized_regret, result.static_regret, result.mean_reward)]
    if as_json:
        rows = [
            {
                "policy": specification.name,
                "parameters": specification.parameters(),
                "normalized_regret": regret.mean,
                "ci95": _finite(regret.ci95),
                "static_regret": static.mean,
                "mean_reward": reward.mean,
                "static_regret_ci95": _finite(static.ci95),
                "mean_reward_ci95": _finite(reward.ci95),
            }
            for specification, regret, static, reward in zip(policies, *measures, strict=True)
        ]
        head = {"environment": result.environment, "horizon": horizon, "runs": runs, "seed": seed}
        print(json.dumps(head | {"policies": rows}))
        return
    table = {
        "policy": result.policies,
        **dict(zip(("normalised regret", "against best single arm", "mean reward"), measures, strict=True)),
    }
    _print_table(f"{result.environment}, {horizon} steps, {runs} runs, seed {seed}", table)


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
    _print_table(title, {"arm": range(1, len(arms) + 1), "posterior": [f"Beta({a:g}, {b:g})" for a, b in parameters],
                         "probability": [f"{value:.12g}" for value in probabilities]})  # fmt: skip


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


@app.command()
def arena(
    only: Annotated[
        list[str] | None,
        typer.Option(help="Ids of families or environments: a,b or once for each.", metavar="ID,…"),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", "-p", help="A further one, such as mine.py:Mine or dts:discount=0.9; once for each."),
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

    made = compete(
        out=out, only=_ids(only), policies=policy or (), tables=table or (), draw=draw, runs=runs, seed=seed,
        threads=threads, device=device, precision=precision, cluster=cluster,
    )  # fmt: skip
    print(json.dumps(made.numbers) if as_json else made)


@app.command()
def warm(
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", "-p", help="Such as dts:discount=0.97, once for each; all policies unless given."),
    ] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option("--environment", "-e", help="Such as fast: for simulations there too; once for each."),
    ] = None,
) -> None:
    """Compile beforehand what decisions will run, such as while an image is built.

    Kernels are kept in the folder that DRIFTBANDIT_CACHE names, else in the user's cache folder.
    """
    from driftbandit import warming
    from driftbandit.compiling.target import cache_folder

    chosen = [Policy.parse(text) for text in policy or []] or warming.usual_policies()
    for what, seconds in warming.warm(chosen, [_environment(text) for text in environment or []]):
        print(f"{seconds:6.1f} s  {what}", flush=True)
    print(f"kept in {cache_folder()}")


@app.command()
def policies(as_json: Json = False) -> None:
    """The policies by family: what each is, what it must be told, and what else it can be told."""
    _print_specifications(Policy, as_json)


@app.command()
def environments(as_json: Json = False) -> None:
    """The environments and their parameters.

    Numbers are separated by spaces, rows of them by semicolons: "piecewise:levels=0.1 0.9; 0.9 0.1,change_points=500".
    """
    _print_specifications(Environment, as_json)


def main() -> None:
    """The command `driftbandit`: status 2 for a wrong value, 1 for other errors, 130 after Ctrl-C."""
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], standalone_mode=False) or 0)
    except InvalidValue as error:
        _end(str(error), 2)
    except DriftbanditError as error:
        _end(str(error), 1)
    except (KeyboardInterrupt, typer.Abort):
        _end_now("interrupted", 130)
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        _end(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except MemoryError:
        _end("not enough memory: use fewer runs or arms", 1)
    except Exception as error:
        message = getattr(error, "format_message", None)  # what the parser of the command line raises
        if message is None:
            raise
        _end(message(), 2)


def _end(message: str, status: int) -> None:
    print(f"driftbandit: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)


def _end_now(message: str, status: int) -> None:
    """End without waiting for a thread that may still be compiling."""
    with contextlib.suppress(SystemExit):
        _end(message, status)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def _environment(text: str) -> Environment:
    if text.lower().endswith(".csv") and text.partition(":")[0] not in Environment.known:
        return Environment.build("from-means", {"means": text})
    return Environment.parse(text)


def _ids(texts: list[str] | None) -> list[str] | None:
    """Ids that were given one by one or with commas; None if there are none."""
    return [part.strip() for text in texts or [] for part in text.split(",")] or None


def _pair(text: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidValue(f"a posterior must be written as 30.5,20.3, got {checks.shown(text)}") from None
    return first, second


def _print_specifications(kind: type[Policy] | type[Environment], as_json: bool) -> None:
    known: dict[str, Any] = kind.known
    listed = [_listed(name, cls) for name, cls in sorted(known.items())]
    if as_json:
        print(json.dumps({kind.plural: listed}))
        return
    common = [field.name for field in dataclasses.fields(kind)]
    families = list(dict.fromkeys(row["family"] for row in listed))
    for family in sorted(families, key=[*FAMILIES, "", *families].index):
        rows = [row for row in listed if row["family"] == family]
        table = {
            "name": [row["name"] for row in rows],
            "what it is": [row["summary"] for row in rows],
            "must be told": [", ".join(row["needs"]) or "nothing" for row in rows],
            "may be told": [_defaults(row, (name for name in row["defaults"] if name not in common)) for row in rows],
        }
        _print_table(family or kind.plural.title(), table)
    for line in (
        *([f"Every one may be told: {_defaults(listed[0], common)}."] if common else []),
        f"Written as name:parameter=value,parameter=value; in Python {kind.__name__}.parse reads the same, "
        "and --json names the classes.",
    ):
        _console().print(line, markup=False, highlight=False)


def _defaults(row: dict[str, Any], names: Iterable[str]) -> str:
    return ", ".join(f"{name}={_short(row['defaults'][name])}" for name in names)


def _listed(name: str, cls: type[Policy] | type[Environment]) -> dict[str, Any]:
    """What a person, or a program, wants to know of a policy or an environment."""
    fields = [field for field in dataclasses.fields(cls) if field.init]
    tuned = getattr(cls, "tuned", None)
    asked = inspect.signature(tuned).parameters.values() if tuned else ()
    return {
        "name": name,
        "class": cls.__name__,
        "family": getattr(cls, "family", ""),
        "summary": _first_sentence(cls.__doc__ or ""),
        "needs": [field.name for field in fields if field.default is dataclasses.MISSING],
        "defaults": {field.name: field.default for field in fields if field.default is not dataclasses.MISSING},
        "tuned_by": [one.name for one in asked if one.default is one.empty and one.kind is not one.VAR_KEYWORD],
    }


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return re.split(r"(?<=[.])\s+(?=[A-Z1])", paragraph)[0].removesuffix(".")


def _finite(value: float) -> float | None:
    """JSON has no NaN: one run has no interval."""
    return value if math.isfinite(value) else None


def _short(value: Any) -> str:
    if isinstance(value, bool | None):
        return str(value).lower()
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _console() -> Any:
    from rich.console import Console

    told = sys.stdout.isatty() or "COLUMNS" in os.environ  # how wide a line may be
    return Console(width=None if told else 160)


def _print_table(title: str, columns: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold")
    for name in columns:
        numeric = name not in {"policy", "posterior", "name", "what it is", "must be told", "may be told"}
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(str, row))
    _console().print(table)
