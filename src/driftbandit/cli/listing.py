"""`policies` and `environments`: what there is, and what each can be told; `warm`: what is compiled beforehand."""

import dataclasses
import inspect
import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from driftbandit.cli.arguments import EPILOG, WRITTEN, Json, policies_of
from driftbandit.cli.completing import environment_offers, policy_offers
from driftbandit.cli.printing import console, print_table
from driftbandit.cli.program import app
from driftbandit.environments import Environment
from driftbandit.own_files import class_in_file
from driftbandit.policies import Policy
from driftbandit.policies.policy import FAMILIES

NAMED = "Of this one: what each of its parameters takes and means."


@app.command(epilog=EPILOG)
def warm(
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            "-p",
            help="Such as dts:discount=0.97, once for each; all policies unless given.",
            metavar=WRITTEN,
            autocompletion=policy_offers,
        ),
    ] = None,
    environment: Annotated[
        list[str] | None,
        typer.Option(
            "--environment",
            "-e",
            help="Such as fast: for simulations there too; once for each.",
            metavar=WRITTEN,
            autocompletion=environment_offers,
        ),
    ] = None,
    logs: Annotated[bool, typer.Option("--logs", help="For evaluating long logs too.")] = False,
) -> None:
    """Compile beforehand what decisions will run, such as while an image is built.

    Kernels are kept in the folder that DRIFTBANDIT_CACHE names, else in the user's cache folder.
    """
    from driftbandit import warming
    from driftbandit.compiling.target import cache_folder

    chosen = policies_of(policy) or warming.usual_policies()
    for what, seconds in warming.warm(chosen, [Environment.of(text) for text in environment or []], logs):
        print(f"{seconds:6.1f} s  {what}", flush=True)
    print(f"kept in {cache_folder()}")


@app.command()
def policies(
    name: Annotated[
        str | None, typer.Argument(help=NAMED, metavar="[NAME]", autocompletion=policy_offers, show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """The policies by family: what each is, what it must be told, and what else it can be told."""
    _print_specifications(Policy, as_json) if name is None else _print_one(Policy, name, as_json)


@app.command()
def environments(
    name: Annotated[
        str | None, typer.Argument(help=NAMED, metavar="[NAME]", autocompletion=environment_offers, show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """The environments and their parameters.

    Numbers are separated by spaces, rows of them by semicolons: "piecewise:levels=0.1 0.9; 0.9 0.1,change_points=500".
    """
    _print_specifications(Environment, as_json) if name is None else _print_one(Environment, name, as_json)


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
        print_table(family or kind.plural.title(), table)
    for line in (
        *([f"Every one may be told: {_defaults(listed[0], common)}."] if common else []),
        f"Written as name:parameter=value,parameter=value; in Python {kind.__name__}.parse reads the same, "
        "and --json names the classes.",
        f"`driftbandit {kind.plural} NAME` says what each parameter takes.",
    ):
        console().print(line, markup=False, highlight=False)


def _print_one(kind: type[Policy] | type[Environment], name: str, as_json: bool) -> None:
    """What one of them is, and what each of its parameters takes and means."""
    named = name.partition(":")[0].strip() if ".py" not in name else name
    cls: Any = class_in_file(kind, name)[0] if ".py" in name else kind.found(named)
    listed = _listed(cls.name, cls)
    meanings = cls.meanings()
    rows = [
        {
            "parameter": field.name,
            "takes": field.metadata.get("allowed") or "as its class says",
            "default": listed["defaults"].get(field.name),
            "needed": field.name in listed["needs"],
            "means": meanings[field.name],
        }
        for field in dataclasses.fields(cls)
        if field.init
    ]
    if as_json:
        print(json.dumps(listed | {"parameters": rows}, default=str))
        return
    told = [row for row in rows if row["needed"]]
    needed = ":" + ",".join(f"{row['parameter']}=…" for row in told) if told else ""
    for line in (
        f"{cls.name}: {listed['summary']}".rstrip(": "),
        f"written as {cls.name}{needed}; in Python {cls.__name__}",
    ):
        console().print(line, markup=False, highlight=False)
    if rows:
        print_table("", {
            "parameter": [row["parameter"] for row in rows], "takes": [row["takes"] for row in rows],
            "unless told": ["must be told" if row["needed"] else _short(row["default"]) for row in rows],
            "means": [row["means"] for row in rows],
        })  # fmt: skip


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
        "summary": cls.summary(),
        "needs": [field.name for field in fields if field.default is dataclasses.MISSING],
        "defaults": {field.name: field.default for field in fields if field.default is not dataclasses.MISSING},
        "tuned_by": [one.name for one in asked if one.default is one.empty and one.kind is not one.VAR_KEYWORD],
    }


def _short(value: Any) -> str:
    if isinstance(value, bool | None):
        return str(value).lower()
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
