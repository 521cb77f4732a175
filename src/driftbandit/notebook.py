"""What notebooks show of a value: a heading, a small table, and lines over time, as HTML that stands alone.

No script and nothing from outside; text takes the colour of the page, so light and dark pages are both served, and the
colours of lines stand out on either. Everything that is shown is escaped: names are anybody's.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

MOST_ROWS = 20
LONGEST = 100
"""Letters of a cell."""
COLORS = ("#0072b2", "#d55e00", "#009e73", "#b5528a", "#c98a00", "#2f8fc7")
DASHES = ("", "7 3", "2 2", "9 3 2 3", "12 3", "1 3")
WIDTH, HEIGHT = 560, 220
LEFT, RIGHT, TOP, BELOW = 58, 12, 10, 34
FAINT = "rgba(128,128,128,.35)"
CELL = f"padding:.2em .9em .2em 0;border-top:1px solid {FAINT};vertical-align:top"

TABLE = "border-collapse:collapse;margin:.4em 0;color:inherit;font-size:inherit;border:none"


class Line(NamedTuple):
    """A mean over time, and half the width of its band."""

    x: Sequence[float]
    mean: Sequence[float]
    half: Sequence[float]


def card(title: str, about: str, columns: Mapping[str, Sequence[Any]], lines: str = "", marked: bool = False) -> str:
    """A value: its title, a sentence, a table of columns by heading, and a picture below.

    With `marked`, each row begins with the colour of its line. Of more than a few rows only the first are shown.
    """
    rows = list(zip(*columns.values(), strict=True))
    parts = [f'<div style="font-weight:600;overflow-wrap:anywhere">{_told(title)}</div>']
    if about:
        parts.append(f'<div style="opacity:.8;max-width:46em">{_told(about, 300)}</div>')
    if rows:
        parts.append(_table(list(columns), rows[:MOST_ROWS], marked))
    if len(rows) > MOST_ROWS:
        parts.append(f'<div style="opacity:.8">… and {len(rows) - MOST_ROWS} more</div>')
    return f'<div style="font-size:13px;line-height:1.45;color:inherit">{"".join(parts)}{lines}</div>'


def _told(value: Any, longest: int = LONGEST) -> str:
    text = " ".join(str(value).split())
    return escape(text if len(text) <= longest else text[: longest - 1] + "…")


def _table(headings: Sequence[str], rows: Sequence[Sequence[Any]], marked: bool) -> str:
    """A table; what is no text is at the right."""
    right = [all(not isinstance(row[place], str) or _is_figure(row[place]) for row in rows)
             for place in range(len(headings))]  # fmt: skip
    style = [f"{CELL};text-align:{'right' if each else 'left'};background:none" for each in right]
    head = "".join(
        f'<th scope="col" style="{one};border-top:none;opacity:.8;font-weight:500">{_told(name)}</th>'
        for name, one in zip(headings, style, strict=True)
    )
    body = []
    for place, row in enumerate(rows):
        cells = "".join(f'<td style="{one}">{_told(cell)}</td>' for cell, one in zip(row, style, strict=True))
        body.append(f'<tr style="background:none">{_swatch(place) if marked else ""}{cells}</tr>')
    corner = f'<th style="{CELL};border-top:none;background:none"></th>' if marked else ""
    table = f"<thead><tr>{corner}{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    return f'<table style="{TABLE}">{table}</table>'


def _is_figure(text: str) -> bool:
    return bool(text) and all(part.strip("–-+.%e").isdigit() or part in "±–" for part in text.replace(".", "").split())


def _swatch(place: int) -> str:
    """How a row's line looks, if it has one."""
    line = f'<line x1="0" y1="5" x2="26" y2="5" {_stroke(place)}/>' if place < len(COLORS) else ""
    drawn = f'<svg width="26" height="10" style="vertical-align:middle" aria-hidden="true">{line}</svg>'
    return f'<td style="{CELL};background:none">{drawn}</td>'


def _stroke(place: int) -> str:
    dashes = f' stroke-dasharray="{DASHES[place]}"' if DASHES[place] else ""
    return f'stroke="{COLORS[place]}" stroke-width="2" fill="none"{dashes}'


def curves(lines: Sequence[Line], x_label: str, y_label: str) -> str:
    """Lines with bands from the axis on, as an inline picture; there are colours for the first few."""
    drawn = [line for line in lines[: len(COLORS)] if any(map(math.isfinite, line.mean))]
    if not drawn:
        return ""
    most_x = max(max(line.x) for line in drawn)
    ends = [mean for line in drawn for mean in line.mean if math.isfinite(mean)]
    low, high = min(0.0, *ends), max(*ends, 0.0)
    high = high if high > low else low + 1.0

    def at(x: float, y: float) -> str:
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / most_x
        up = TOP + (HEIGHT - TOP - BELOW) * (high - min(max(y, low), high)) / (high - low)
        return f"{across:.1f},{up:.1f}"

    parts = [_axis(low, high, most_x, x_label, y_label)]
    for place, line in enumerate(drawn):
        points = [each for each in zip(*line, strict=True) if math.isfinite(each[1])]
        if all(math.isfinite(half) for _, _, half in points):
            band = [at(x, mean + half) for x, mean, half in points]
            band += [at(x, mean - half) for x, mean, half in reversed(points)]
            parts.append(f'<polygon points="{" ".join(band)}" fill="{COLORS[place]}" fill-opacity=".18"/>')
        parts.append(f'<polyline points="{" ".join(at(x, mean) for x, mean, _ in points)}" {_stroke(place)}/>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" style="max-width:100%;height:auto" role="img" '
        f'aria-label="{_told(y_label)} by {_told(x_label)}" font-size="11">{"".join(parts)}</svg>'
    )


def _axis(low: float, high: float, most_x: float, x_label: str, y_label: str) -> str:
    """Lines across with their numbers, and what is drawn against what."""
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = TOP + (HEIGHT - TOP - BELOW) * (1.0 - share)
        parts.append(f'<line x1="{LEFT}" y1="{y:g}" x2="{WIDTH - RIGHT}" y2="{y:g}" stroke="{FAINT}"/>')
        parts.append(_text(LEFT - 6, y + 4, "end", f"{low + share * (high - low):.3g}"))
        x, anchor = LEFT + (WIDTH - LEFT - RIGHT) * share, ("start", "middle", "end")[int(2 * share)]
        parts.append(_text(x, HEIGHT - BELOW + 15, anchor, f"{most_x * share:.10g}"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, "middle", x_label))
    middle = TOP + (HEIGHT - TOP - BELOW) / 2
    parts.append(_text(12, middle, "middle", y_label, f' transform="rotate(-90 12 {middle:g})"'))
    return "".join(parts)


def _text(x: float, y: float, anchor: str, words: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="currentColor"{more}>{_told(words)}</text>'
