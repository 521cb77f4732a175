"""Values from a log as figures: what arms and policies would have earned over time, and what others would gain."""

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from driftbandit.figures import BLUE, FAINT, FONT, INK, ORANGE, PAPER, VERMILION, plain

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 3
MOST_PANELS = 12
DATES = 1e8
"""Times beyond are seconds since 1970."""
LONGEST, BROADEST = 34, 92
"""Letters of a name above a panel, and of a line above a whole picture."""


def values_over_time(found: "Sequence[xarray.Dataset]", title: str = "") -> "Figure":
    """A panel for each arm or policy: the mean of each window with its interval, and the mean so far with a band that
    holds at all times at once.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    shown = list(found)[:MOST_PANELS]
    columns = 2 if len(shown) == 4 else min(COLUMNS, len(shown))
    rows = math.ceil(len(shown) / columns)
    size = (max(4.2, 2.75 * columns), 0.75 + 1.9 * rows)
    figure = Figure(figsize=size, facecolor=PAPER, layout=ConstrainedLayoutEngine(w_pad=0.05, h_pad=0.06))
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for place, axes in enumerate(panels.flat):
        if place >= len(shown):
            axes.set_visible(False)
            panels[place // columns - 1, place % columns].tick_params(labelbottom=True)
            continue
        _panel(axes, shown[place])
    low, high = panels[0, 0].get_ylim()
    panels[0, 0].set_ylim(max(low, -0.05), min(high, 1.05))
    for axes in panels[:, 0]:
        axes.set_ylabel("reward", fontsize=FONT, color=INK)
    for place in range(max(0, len(shown) - columns), len(shown)):
        panels.flat[place].set_xlabel("time", fontsize=FONT, color=INK)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=len(labels), frameon=False, fontsize=FONT - 1,
                  labelcolor=INK, handlelength=1.8, columnspacing=1.6)  # fmt: skip
    left_out = len(found) - len(shown)
    said = title + (f" ({left_out} more are not drawn)" if left_out else "")
    figure.suptitle(plain(said), x=0.012, ha="left", fontsize=FONT + 1, color=INK)
    return figure


def _panel(axes: "Axes", data: "xarray.Dataset") -> None:
    middle, end = _times(0.5 * (data["begin"].values + data["end"].values)), _times(data["end"].values)
    mean = data["mean"].values
    reach = np.stack([mean - data["low"].values, data["high"].values - mean])
    axes.errorbar(middle, mean, yerr=reach, fmt="o", markersize=2.2, color=ORANGE, elinewidth=0.7, alpha=0.75,
                  label="in a window, 95%")  # fmt: skip
    axes.fill_between(end, data["so_far_low"].values, data["so_far_high"].values, color=BLUE, alpha=0.16, linewidth=0,
                      label="so far, 95% at all times at once")  # fmt: skip
    axes.plot(end, data["so_far"].values, color=BLUE, linewidth=1.7, label="mean so far")
    name, kind = str(data.attrs["target"]), ", one-step" if data.attrs["kind"] == "one-step" else ""
    name = name if len(name + kind) <= LONGEST else name[: LONGEST - 1 - len(kind)] + "…"
    axes.set_title(plain(name + kind), loc="left", fontsize=FONT, color=INK)
    _framed(axes)


def _times(values: Any) -> Any:
    """Times as an axis shows them."""
    return (values * 1000.0).astype("datetime64[ms]") if values.size and values[0] > DATES else values


def gains(found: Any, title: str = "") -> "Figure":
    """What each candidate of a `Tuning` would gain over the current policy, with intervals that all hold at once."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.ticker import MaxNLocator

    rows = list(found.candidates)
    lines = textwrap.wrap(title or found.advice, BROADEST)
    figure = Figure(figsize=(6.4, 1.25 + 0.25 * len(rows) + 0.17 * len(lines)), facecolor=PAPER,
                    layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06))  # fmt: skip
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        best = row.policy == found.best
        color = VERMILION if best else BLUE if row.low > 0.0 or row.high < 0.0 else INK
        axes.errorbar(row.gain, place, xerr=[[row.gain - row.low], [row.high - row.gain]], fmt="D" if best else "o",
                      color=color, markersize=5 if best else 4, elinewidth=1.3,
                      markerfacecolor=PAPER if row.beyond else color)  # fmt: skip
    axes.axvline(0.0, color=INK, linewidth=1.0)
    axes.set_yticks(range(len(rows)), [plain(str(row.policy)) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    said = f"reward a decision, less that of {found.current}\n(95%, all at once"
    said += "; hollow: remembers longer than the log can judge)" if any(row.beyond for row in rows) else ")"
    axes.set_xlabel(plain(said), fontsize=FONT, color=INK)
    figure.suptitle("\n".join(map(plain, lines)), x=0.012, ha="left", fontsize=FONT, color=INK)
    _framed(axes)
    return figure


def _framed(axes: "Axes") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(colors=INK, labelsize=FONT - 1, width=0.7, length=3)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
