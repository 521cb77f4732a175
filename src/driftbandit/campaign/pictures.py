"""Panels as files, and as SVG within a page, in the colours of that page."""

import io
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from driftbandit import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160
THEMED = {
    figures.INK: "--ink",
    figures.FAINT: "--faint",
    figures.PAPER: "--card",
    figures.BLUE: "--blue",
    figures.VERMILION: "--vermilion",
    figures.GREEN: "--green",
    figures.PURPLE: "--purple",
    figures.ORANGE: "--orange",
    figures.SKY: "--sky",
}
"""Colours of figures, and the colours of the page that replace them: those differ between light and dark."""


class Panel(NamedTuple):
    """One picture: its name, what it shows, its figure, and its content in words."""

    id: str
    measure: str
    figure: "Figure"
    words: str


class Picture(NamedTuple):
    """A panel that was written: its name, what it shows, and its SVG for the page."""

    id: str
    measure: str
    svg: str


def written(panel: Panel, folder: Path) -> Picture:
    """Write a panel as SVG and PNG files and return it for the page."""
    import matplotlib

    # the salt makes equal figures equal files; text stays text: sharp, small, and it can be searched
    with matplotlib.rc_context({"svg.hashsalt": panel.id, "svg.fonttype": "none", "path.simplify_threshold": 0.3}):
        text = io.StringIO()
        panel.figure.savefig(text, format="svg", metadata={"Date": None})
        panel.figure.savefig(folder / f"{panel.id}.png", dpi=DPI)
    svg = _lean(text.getvalue())
    (folder / f"{panel.id}.svg").write_text(svg, encoding="utf-8")
    return Picture(panel.id, panel.measure, themed(svg, panel.id, panel.words))


def _lean(svg: str) -> str:
    """The same without comments, metadata, ids that nothing refers to, and digits below 0.01 points."""
    svg = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>|<!DOCTYPE[^>]*>", "", svg, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(|href=")#([\w.-]+)', svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda found: found[0] if found[1] in used else "", svg)
    svg = re.sub(r' d="[^"]*"', lambda found: re.sub(r"-?\d+\.\d{2,}", _rounded, found[0]), svg)
    return re.sub(r"\n\s*\n+", "\n", svg)


def _rounded(number: "re.Match[str]") -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def themed(svg: str, name: str, words: str) -> str:
    """An SVG for the page: with its own ids, in the colours and font of the page, and with its content in words."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' id="([\w.-]+)"', rf' id="{name}-\1"', svg)
    svg = re.sub(r'(url\(|href=")#', rf"\1#{name}-", svg)
    for color, variable in THEMED.items():
        svg = svg.replace(f": {color}", f": var({variable})")
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", svg)
    svg = re.sub(r"font-family: [^;\"]*;?", "", svg)
    view = re.search(r'viewBox="[^"]*"', svg)
    opening = f'<svg {view[0] if view else ""} role="img" aria-label="{escape(words)}"><title>{escape(words)}</title>'
    return re.sub(r"<svg[^>]*>", lambda _: opening, svg, count=1)
