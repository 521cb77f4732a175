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
    "parameter",
    "takes",
    "unless told",
    "means",
    "found",
    "state",
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
    """A table with a title, every column by its name; where its words do not fit side by side, a block for each row."""
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text  # names are no markup

    cells = {name: [str(cell) for cell in column] for name, column in columns.items()}
    lines = {name: [line for cell in each for line in cell.splitlines()] for name, each in cells.items()}
    words = {name: [word for line in each for word in line.split()] for name, each in lines.items()}
    widest = [max(map(cell_len, [name, *each])) for name, each in lines.items()]
    least = [
        max(map(cell_len, [*name.split(), *(words if name in TEXTS else lines)[name]]), default=1) for name in cells
    ]
    room = console().width - 3 * len(cells) - 1
    if sum(least) > room:
        _print_blocks(title, cells)
        return
    table = Table(title=Text(title, style="bold") if title else None, title_justify="left")
    for name, width in zip(cells, fitted(widest, least, room), strict=True):
        table.add_column(name, justify="left" if name in TEXTS else "right", overflow="fold", width=width)
    for row in zip(*cells.values(), strict=True):
        table.add_row(*map(Text, row))
    console().print(table)


def fitted(widest: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """How wide columns are: those that need little get it, and the others share what is left beyond their least.

    >>> fitted([10, 40, 60], [4, 8, 8], 50)
    [10, 20, 20]
    """
    found, left = list(least), room - sum(least)
    order = sorted(range(len(least)), key=lambda place: widest[place] - least[place])
    for rank, place in enumerate(order):
        more = min(widest[place] - least[place], left // (len(order) - rank))
        found[place] += more
        left -= more
    return found


def _print_blocks(title: str, cells: dict[str, list[str]]) -> None:
    """A row after the other: the first cell, and below it each other one with its name."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    out = console()
    if title:
        out.print(Text(title, style="bold"))
    first, *others = cells
    broad = max(map(len, others), default=1)
    for place, head in enumerate(cells[first]):
        out.print(Text(head, style="bold"), overflow="fold")
        grid = Table.grid(padding=(0, 2))
        grid.add_column(width=broad)
        grid.add_column(overflow="fold")
        for name in others:
            if cells[name][place]:
                grid.add_row(Text(name, style="dim"), Text(cells[name][place]))
        out.print(Padding(grid, (0, 0, 0, 2)))


def warn(warnings: Sequence[str]) -> None:
    """Say on standard error what whoever reads the figures should know; of many, some."""
    shown = warnings if len(warnings) <= MOST_WARNINGS + 1 else warnings[:MOST_WARNINGS]
    for warning in shown:
        print(f"driftbandit: warning: {warning}", file=sys.stderr)
    if len(shown) < len(warnings):
        print(f"driftbandit: warning: {len(warnings) - len(shown)} more, which --json lists", file=sys.stderr)
