"""What a replay found, as a figure: the level of rewards, what each policy gains over time, and how sure that is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftbandit.engine.estimate import Estimate
from driftbandit.figures import FAINT, FONT, INK, PAPER, STYLES, Style
from driftbandit.logs.yardsticks import BEST, ROLLING, UNIFORM

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#7a828c"
YARDSTICKS = {
    UNIFORM: Style(GREY, (0, (1, 1.2)), "x", 1.3),
    BEST: Style(INK, "solid", "", 1.2),
    ROLLING: Style(GREY, (0, (5, 1.5)), "*", 1.4),
}
TICKS = 4
"""Rows that are named along the axis of time."""
MARKERS = 5
"""Markers on a line."""
LONGEST = 22
"""Letters of a policy's name on one line."""


Blocks = Mapping[str, NDArray[np.float64]]
"""The mean reward in every block of time, by policy and by yardstick."""


def replays(
    blocks: Blocks,
    lasts: NDArray[np.int64],
    names: tuple[str, ...],
    gains: Mapping[str, Estimate],
    arm: str,
    title: str,
    size: tuple[float, float],
) -> "Figure":
    """On the left what the yardsticks earn by block, and under it what each policy has gained over the best single arm
    so far; on the right its gain a decision, with its 95% interval.

    `lasts` are the last decisions of the blocks and `names` what they are called, if anything; `arm` is the best one.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=size, facecolor=PAPER, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06))
    grid = figure.add_gridspec(2, 2, width_ratios=(1.35, 1), height_ratios=(1, 2.1))
    above, below, beside = (figure.add_subplot(place) for place in (grid[0, 0], grid[1, 0], grid[:, 1]))
    policies = [label for label in blocks if label not in YARDSTICKS]
    styles = {label: STYLES[place % len(STYLES)] for place, label in enumerate(policies)} | YARDSTICKS
    _levels(above, blocks, lasts)
    _gained(below, {label: blocks[label] for label in (BEST, ROLLING, *policies)}, lasts, styles)
    _differences(beside, {label: gains[label] for label in (*policies, UNIFORM, ROLLING)}, arm, styles)
    for axes in (above, below, beside):
        _framed(axes)
    for axes in (above, below):
        axes.set_xlim(0, lasts[-1])
        if names:
            places = np.unique(np.linspace(-1, len(lasts) - 1, TICKS + 1).astype(int)[1:])
            axes.set_xticks(lasts[places], [_plain(names[place].split(" ")[0]) for place in places], ha="right")
    above.tick_params(labelbottom=False)
    if not names:
        below.set_xlabel("decision", fontsize=FONT, color=INK)
    figure.suptitle(_plain(title), x=0.012, ha="left", fontsize=FONT + 1, color=INK)
    return figure


def _levels(axes: "Axes", blocks: Blocks, lasts: NDArray[np.int64]) -> None:
    """What can be had, by block."""
    for label in (ROLLING, BEST, UNIFORM):
        style, means = YARDSTICKS[label], blocks[label]
        axes.step(np.append(0, lasts), np.append(means[0], means), where="pre", color=style.color,
                  linestyle=style.dashes, linewidth=style.width, label=label)  # fmt: skip
    axes.legend(loc="lower left", bbox_to_anchor=(0, 0.98), ncols=3, frameon=False, fontsize=FONT - 1, labelcolor=INK,
                borderaxespad=0, handlelength=2.2, columnspacing=1.4)  # fmt: skip
    axes.set_ylabel("reward", fontsize=FONT, color=INK)


def _gained(axes: "Axes", blocks: Blocks, lasts: NDArray[np.int64], styles: Mapping[str, Style]) -> None:
    """Rewards so far less those of the best single arm."""
    every = max(1, len(lasts) // MARKERS)
    for place, (label, means) in enumerate(blocks.items()):
        style = styles[label]
        gained = np.cumsum((means - blocks[BEST]) * np.diff(lasts, prepend=0))
        axes.plot(np.append(0, lasts), np.append(0.0, gained), color=style.color, linestyle=style.dashes,
                  linewidth=style.width, marker=style.marker, markersize=4.2, markevery=(1 + place % every, every),
                  clip_on=False)  # fmt: skip
    axes.set_ylabel("rewards gained on that arm", fontsize=FONT, color=INK)


def _differences(axes: "Axes", gains: Mapping[str, Estimate], arm: str, styles: Mapping[str, Style]) -> None:
    """A row for each, with its interval."""
    from matplotlib.ticker import MaxNLocator

    for place, (label, found) in enumerate(gains.items()):
        style = styles[label]
        reach: Any = found.ci95 if np.isfinite(found.ci95) else None
        axes.errorbar(found.mean, place, xerr=reach, fmt=style.marker, color=style.color, markersize=5, linewidth=1.4)
    axes.axvline(0, color=INK, linewidth=1.2)
    told = [label if len(label) <= LONGEST else label.replace(",", ",\n") for label in gains]
    axes.set_yticks(range(len(told)), [_plain(label) for label in told])
    axes.set_ylim(len(told) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], min_n_ticks=3))
    what = f"reward a decision, less that of {_plain(arm)}\n(95%, blocks of time and runs)"
    axes.set_xlabel(what, fontsize=FONT, color=INK)


def _plain(text: str) -> str:
    """A name as it is: between two dollars there would be a formula."""
    return text.replace("$", r"\$")


def _framed(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(colors=INK, labelsize=FONT - 1, width=0.7, length=3)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
