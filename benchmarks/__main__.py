"""`make bench`: all benchmarks in one run, as tables for a person and as JSON for a machine.

make bench                          everything
make bench ARGS="speed exact"       some of it
make bench ARGS=service.starts      a part of a group
make bench ARGS="--out bench.json"  JSON to another file
"""

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from rich.console import Console
from rich.table import Table

GROUPS: dict[str, list[str]] = {
    "speed": ["against_numpy", "over_threads", "over_arms", "million_runs"],
    "start": ["run"],
    "anatomy": ["run"],
    "exact": ["run"],
    "online": ["run"],
    "logs": ["run"],
    "field": ["run"],
    "filter": ["run"],
    "service": ["rates", "two_processes", "starts"],
    "neighbours": ["run"],
    "peers": ["run"],
    "cluster": ["run"],
    "pages": ["run"],
}


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }


def parts() -> list[str]:
    """Of groups that have several."""
    return [f"{group}.{name}" for group, names in GROUPS.items() for name in names if len(names) > 1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench ARGS=", description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, *parts(), []], help="which to run; all unless given")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"), help="where the JSON goes")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 140)
    where = machine()
    console.print(", ".join(f"{name} {value}" for name, value in where.items()))
    report: dict[str, Any] = {"machine": where}
    for asked in options.groups or GROUPS:
        group, _, part = asked.partition(".")
        module = importlib.import_module(f"benchmarks.{group}")
        for name in [part] if part else GROUPS[group]:
            function: Callable[[], list[dict[str, Any]]] = getattr(module, name)
            rows = function()
            report[f"{group}.{name}"] = rows
            show(console, f"{group}: {(function.__doc__ or name).splitlines()[0]}", rows)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    console.print(f"written to {options.out}")


def show(console: Console, title: str, rows: list[dict[str, Any]]) -> None:
    table = Table(title=title, title_justify="left", title_style="bold")
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        table.add_column(name.replace("_", " "), justify="left" if isinstance(rows[0].get(name), str) else "right")
    for row in rows:
        table.add_row(*(written(row.get(name)) for name in names))
    console.print(table)


def written(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
