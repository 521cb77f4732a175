"""What commands print: tables, and numbers as JSON can hold them."""

import math
import os
import sys
from collections.abc import Sequence
from typing import Any

TEXTS = {
    "policy",
    "posterior",
    "name",
    "what it is",
    "must be told",
    "may be told",
    "arm or policy",
    "95% interval",
    "what",
}
"""Columns that are no numbers."""
MOST_WARNINGS = 5


def finite(value: float) -> float | None:
    """JSON has no NaN: one run has no interval."""
    return value if math.isfinite(value) else None


def console() -> Any:
    """Standard output, as wide as it is, or wide enough where it is no terminal."""
    from rich.console import Console

    told = sys.stdout.isatty() or "COLUMNS" in os.environ  # how wide a line may be
    return Console(width=None if told else 160)


def print_table(title: str, columns: dict[str, Any]) -> None:
    """A table with a title; every column by its name."""
    from rich.table import Table
    from rich.text import Text  # names are no markup

    table = Table(title=Text(title, style="bold"), title_justify="left")
    for name in columns:
        numeric = name not in TEXTS
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(Text(str(cell)) for cell in row))
    console().print(table)


def warn(warnings: Sequence[str]) -> None:
    """Say on standard error what whoever reads the figures should know; of many, some."""
    shown = warnings if len(warnings) <= MOST_WARNINGS + 1 else warnings[:MOST_WARNINGS]
    for warning in shown:
        print(f"driftbandit: warning: {warning}", file=sys.stderr)
    if len(shown) < len(warnings):
        print(f"driftbandit: warning: {len(warnings) - len(shown)} more, which --json lists", file=sys.stderr)
