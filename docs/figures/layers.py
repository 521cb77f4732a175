"""Draw the picture of the layers in docs/design.md: `python docs/figures/layers.py`, from anywhere.

Which layer is above which is read from the import contract in pyproject.toml: the picture is what `make check` holds.
"""

import sys
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "layers.svg"
SAYS = {
    "cli": "parse, call, print",
    "paper": "the reproduction: figures, claims, report",
    "arena": "every policy in every environment",
    "service": "decisions over HTTP; the log in a database",
    "client": "programs that ask a service",
    "warming": "kernels compiled beforehand",
    "campaign": "many games, kept; a page about them",
    "checkup": "what works on this machine",
    "figures": "results and live bandits → Matplotlib; never simulates",
    "logs": "what was recorded: values from logs, tables replayed",
    "online": "Bandit: one live decision-maker, its state, files and replicas",
    "gym": "environments for Gymnasium, a step at a time",
    "engine": "simulate: many runs, one Result",
    "exact": "the probability of each arm",
    "datasets": "real tables, each an environment; their cards",
    "policies": "one file each: parameters and a Rule",
    "environments": "one file each: means, or a Path",
    "compiling": "link: plain functions, slots filled, compiled where they will run",
    "numerics": "elementary functions, random numbers",
    "specification": "checked values with a text form",
    "own_files": "a class from a file: mine.py:Mine",
    "files": "written whole or not at all",
    "entries": "values, each checked",
    "crew": "processes side by side",
    "checks": "one line: name, what is allowed, what was given",
    "contract": "what a service is asked and answers",
    "replica": "one of several that decide",
    "notebook": "what notebooks show: tables and lines as HTML",
    "errors": "what is raised",
    "identity": "which driftbandit this is",
}
PARTS = {
    "engine": [
        ("step", "one step, for all"),
        ("cpu", "a block of runs"),
        ("cuda", "a thread a run"),
        ("cluster", "Dask workers"),
    ],
    "exact": [("quadrature", "integrals, panel by panel")],
}
TINTS = {"cli": "#eef1f5", "paper": "#eef1f5", "arena": "#eef1f5", "campaign": "#eef1f5", "figures": "#eef1f5",
         "service": "#fbe9df", "client": "#fbe9df", "contract": "#fbe9df", "logs": "#fbe9df", "replica": "#fbe9df",
         "online": "#fbe9df", "gym": "#e1eef7", "engine": "#e1eef7", "exact": "#e1eef7", "policies": "#e0f2ec",
         "environments": "#e0f2ec", "datasets": "#e0f2ec"}  # fmt: skip
INK, SOFT, LINE, PLAIN = "#22272e", "#4a525c", "#8a929c", "#f5f6f8"
WIDTH, LEFT, ROW, TALL, GAP = 860, 24, 44, 96, 12


def layers() -> list[list[str]]:
    """The packages and modules of each layer, the highest first."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return [layer.split(" | ") for layer in contracts["contracts"][0]["layers"]]


def text(x: float, y: float, words: str, size: int = 13, weight: str = "normal", colour: str = INK) -> str:
    """One line of text."""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="{colour}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, tint: str) -> str:
    """A rounded box."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7" fill="{tint}" stroke="{LINE}"/>'


def package(name: str, x: float, y: float, width: float, height: float) -> list[str]:
    """A package: its name, what it is, and its parts."""
    drawn = [box(x, y, width, height, TINTS.get(name, PLAIN))]
    drawn.append(
        f'<text x="{x + 14:g}" y="{y + 27:g}" fill="{INK}"><tspan font-size="15" font-weight="bold">{name}</tspan>'
        f'<tspan dx="10" font-size="12" fill="{SOFT}">{escape(SAYS[name])}</tspan></text>'
    )
    inner = PARTS.get(name, [])
    each = (width - 28 - 8 * (len(inner) - 1)) / max(len(inner), 1)
    for place, (part, says) in enumerate(inner):
        left = x + 14 + place * (each + 8)
        drawn += [box(left, y + 40, each, height - 50, "#ffffff"), text(left + 10, y + 57, part, 13, "bold")]
        drawn.append(text(left + 10, y + 74, says, 11, colour=SOFT))
    return drawn


def picture() -> str:
    """The SVG."""
    drawn: list[str] = []
    y = 24.0
    for names in layers():
        height = TALL if any(name in PARTS for name in names) else ROW
        wide = WIDTH - 2 * LEFT - 46
        shares = [0.66, 0.34] if names == ["engine", "exact"] else [1 / len(names)] * len(names)
        x = float(LEFT)
        for name, share in zip(names, shares, strict=True):
            width = share * (wide - GAP * (len(names) - 1))
            drawn += package(name, x, y, width, height)
            x += width + GAP
        y += height + GAP
    right, bottom = WIDTH - LEFT - 16, y - GAP
    drawn.append(f'<path d="M{right} 24V{bottom - 8:g}" stroke="{INK}" stroke-width="1.6" marker-end="url(#head)"/>')
    middle = bottom / 2
    drawn.append(
        f'<text x="{right + 16}" y="{middle:g}" font-size="12" fill="{INK}" text-anchor="middle" '
        f'transform="rotate(90 {right + 16} {middle:g})">imports go down only</text>'
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 24:g}" width="{WIDTH}" '
            'font-family="system-ui, -apple-system, \'Segoe UI\', Helvetica, Arial, sans-serif" role="img">',
            "<title>The layers of driftbandit: imports go down only</title>",
            f'<defs><marker id="head" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{INK}"/></marker></defs>',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *drawn,
            "</svg>",
            "",
        ]
    )


def main() -> int:
    """Write the picture; with `--check`, only say whether it is the one that is there."""
    if "--check" in sys.argv:
        return int(PICTURE.read_text(encoding="utf-8") != picture())
    PICTURE.write_text(picture(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
