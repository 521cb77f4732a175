"""Results as Matplotlib figures. Nothing here simulates: drawing a figure again costs no simulation.

Every function returns a `matplotlib.figure.Figure` of its own, without the state of pyplot: show it in a notebook, or
write it with `figure.savefig("regret.svg")`. Colours can be told apart by colour-blind readers (Okabe and Ito), and
every line has a dash pattern too.
"""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.checks import counted
from driftbandit.engine.result import Result
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT, PAPER = "#22272e", "#d5d9df", "#ffffff"
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#b5528a", "#c98a00", "#2f8fc7"
FONT = 9.0
LABEL_GAP = 10.5
"""Points between two labels at the end of lines."""
LONGEST_DIRECT_LABEL = 16


@dataclasses.dataclass(frozen=True)
class Style:
    """How a line looks: its colour, its dashes, its marker where it has few points."""

    color: str
    dashes: Any = "solid"
    marker: str = "o"
    width: float = 1.5


STYLES = (
    Style(BLUE, "solid", "o", 1.8),
    Style(VERMILION, (0, (6, 1.5)), "s", 1.8),
    Style(GREEN, (0, (4, 1.2, 1, 1.2)), "^"),
    Style(PURPLE, (0, (2, 1.2)), "D"),
    Style(ORANGE, (0, (8, 1.5, 2, 1.5)), "v"),
    Style(SKY, (0, (1, 1)), "P"),
    Style(INK, (0, (3, 2)), "X"),
)


@dataclasses.dataclass(frozen=True, eq=False)
class Series:
    """A line: its label, its points, and half the width of their 95% intervals."""

    label: str
    x: NDArray[Any]
    mean: NDArray[np.float64]
    ci95: NDArray[np.float64] | None = None
    style: Style | None = None


def regret_over_time(result: Result, **options: Any) -> "Figure":
    """Normalised regret up to each step, by policy, with 95% bands.

    Options: `labels` (a name for each policy), and what `lines` takes: `title`, `size`, `x_limits`, `y_limits`.
    """
    return _over_time(result, result.regret_over_time, "normalised regret", options)


def reward_over_time(result: Result, **options: Any) -> "Figure":
    """Mean reward a step, by policy, with 95% bands; options as for `regret_over_time`."""
    return _over_time(result, result.reward_over_time, "mean reward a step", options)


def _over_time(result: Result, curves: Any, y_label: str, options: dict[str, Any]) -> "Figure":
    labels = options.pop("labels", None) or result.policies
    if len(labels) != len(result.policies):
        raise InvalidValue(f"labels must be {len(result.policies)} names, one a policy, got {checks.shown(labels)}")
    series = [
        Series(str(label), curves["step"].values, curves["mean"].values[row], curves["ci95"].values[row])
        for row, label in enumerate(labels)
    ]
    options.setdefault("x_limits", (0, result.horizon))
    options.setdefault("title", f"{result.environment} ({counted(result.runs, 'run')})")
    return lines(series, x_label="step", y_label=y_label, **options)


def environment_means(environment: Environment, horizon: int, **options: Any) -> "Figure":
    """The mean of every arm over the first steps; options as for `lines`."""
    steps = np.arange(1, checks.whole("horizon", horizon) + 1)
    means = environment.means_at(steps)
    series = [Series(f"arm {arm + 1}", steps, means[:, arm]) for arm in range(environment.n_arms)]
    options = {"title": str(environment), "x_limits": (0, horizon), "y_limits": (-0.03, 1.03)} | options
    return lines(series, x_label="step", y_label="mean reward", **options)


def regret_by(name: str, series: Sequence[Series], **options: Any) -> "Figure":
    """Normalised regret against a parameter, a marker for each value; options as for `lines`."""
    return lines(series, x_label=name, y_label="normalised regret", **({"markers": True} | options))


def lines(
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    size: tuple[float, float] = (6.4, 4.0),
    x_limits: tuple[float, float] | None = None,
    y_limits: tuple[float, float] | None = None,
    markers: bool = False,
    marks: Sequence[tuple[float, str]] = (),
    ratios: bool = False,
    beside: bool = False,
) -> "Figure":
    """Lines with bands. Short labels stand at the ends of their lines, long ones in a legend below.

    `marks` are vertical lines, each with its label. With `ratios`, equal factors are equally wide along the x axis.
    With `beside`, labels are in a legend at the right, in the order of the lines: for many that end together.
    """
    direct = not beside and all(len(one.label) <= LONGEST_DIRECT_LABEL for one in series)
    longest = max((len(one.label) for one in series), default=0)
    right = (12 + 5.2 * longest + 34 * beside) / 72 if direct or beside else 0.15
    below = 0.45 if direct or beside else 0.5 + 0.19 * len(series)
    figure, axes = _figure(size, x_label, y_label, title, right, below)
    for place, one in enumerate(series):
        style = one.style or STYLES[place % len(STYLES)]
        own: dict[str, Any] = {"marker": style.marker, "markersize": 3.2} if markers else {}
        if one.ci95 is not None and np.isfinite(one.ci95).any():
            low, high = one.mean - one.ci95, one.mean + one.ci95
            axes.fill_between(one.x, low, high, color=style.color, alpha=0.18, linewidth=0)
        axes.plot(one.x, one.mean, color=style.color, linestyle=style.dashes, linewidth=style.width,
                  label=plain(one.label), **own)  # fmt: skip
    axes.margins(x=0.02)
    if x_limits:
        axes.set_xlim(x_limits)
    if ratios:
        _by_factors(axes)
    if all(np.min(one.mean) >= 0 for one in series):
        axes.set_ylim(bottom=0)
    if y_limits:
        axes.set_ylim(y_limits)
    for where, label in marks:
        axes.axvline(where, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        if not label:
            continue
        start, end = axes.get_xlim()
        last = start * (end / start) ** 0.6 if ratios else start + 0.6 * (end - start)
        side = -1 if where > last else 1
        axes.annotate(label, (where, 0), (3 * side, 4), xycoords=axes.get_xaxis_transform(), va="bottom",
                      textcoords="offset points", ha="left" if side > 0 else "right", fontsize=FONT - 1,
                      color=INK)  # fmt: skip
    if direct:
        _label_ends(axes, series)
    elif beside:
        axes.legend(loc="upper left", bbox_to_anchor=(1.015, 1), frameon=False, fontsize=FONT - 0.5, labelcolor=INK,
                    borderaxespad=0, handlelength=3, labelspacing=0.55)  # fmt: skip
    else:
        axes.legend(loc="upper left", bbox_to_anchor=(0, -0.42 / (size[1] - below - 0.35)), frameon=False,
                    fontsize=FONT, labelcolor=INK, borderaxespad=0, handlelength=3)  # fmt: skip
    return figure


def regret_map(
    x: Sequence[str], y: Sequence[str], values: NDArray[np.float64], *, x_label: str, y_label: str, title: str = "",
    size: tuple[float, float] = (4.2, 2.9), limits: tuple[float, float] | None = None,
) -> "Figure":  # fmt: skip
    """Normalised regret `[y, x]` as a map with its numbers; the least is framed."""
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    figure, axes = _figure(size, x_label, y_label, title, 0.12, 0.45)
    low, high = limits or (float(np.nanmin(values)), float(np.nanmax(values)))
    shade = np.clip((values - low) / max(high - low, 1e-12), 0.0, 1.0)
    colors = colormaps["cividis_r"]
    for row in range(len(y)):
        for column in range(len(x)):
            color = colors(float(shade[row, column]))
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor=color, edgecolor="none"))
            bright = 0.3 * color[0] + 0.59 * color[1] + 0.11 * color[2] > 0.5
            axes.text(column + 0.5, row + 0.5, f"{values[row, column]:.2f}".lstrip("0"), ha="center", va="center",
                      fontsize=FONT - 2, color="#000001" if bright else "#fffffe")  # fmt: skip
    best = np.unravel_index(int(np.nanargmin(values)), values.shape)
    axes.add_patch(Rectangle((int(best[1]), int(best[0])), 1, 1, facecolor="none", edgecolor=VERMILION, linewidth=2))
    axes.set(xlim=(0, len(x)), ylim=(len(y), 0))
    axes.set_xticks(np.arange(len(x)) + 0.5, x)
    axes.set_yticks(np.arange(len(y)) + 0.5, y)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    return figure


def dots(
    labels: Sequence[str], groups: Sequence[Series], *, x_label: str, title: str = "",
    size: tuple[float, float] = (4.2, 2.9), x_limits: tuple[float, float] | None = None, ratios: bool = False,
) -> "Figure":  # fmt: skip
    """A row a label, a dot with its interval for each group; `mean` of a group has a value for each label, and `ci95`
    one for both sides or, as two rows, one for each.

    With `ratios`, equal factors are equally wide, and a line is drawn at 1.
    """
    figure, axes = _figure(size, x_label, "", title, 0.12, 0.45, left=(10 + 5.4 * max(map(len, labels))) / 72)
    rows = np.arange(len(labels))
    for place, group in enumerate(groups):
        style = group.style or STYLES[place % len(STYLES)]
        drawn = axes.errorbar(group.mean, rows, xerr=group.ci95, fmt=style.marker, color=style.color, markersize=5,
                      linewidth=1.2, label=plain(group.label), clip_on=False,
                      markerfacecolor=style.color if place == 0 else PAPER, markeredgewidth=1.3)  # fmt: skip
        for bar in drawn[2]:
            bar.set_clip_on(x_limits is not None)  # a long interval must not run through the labels
    axes.set_yticks(rows, labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    if any(np.nanmin(group.mean) < 0 for group in groups):
        axes.axvline(0, color=INK, linewidth=0.8)
    if x_limits:
        axes.set_xlim(x_limits)
    if ratios:
        _by_factors(axes)
        axes.axvline(1, color=INK, linewidth=0.8)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(groups), frameon=False, fontsize=FONT - 1,
                labelcolor=INK, borderaxespad=0.1, handletextpad=0.2, columnspacing=1.2)  # fmt: skip
    return figure


def _figure(
    size: tuple[float, float], x_label: str, y_label: str, title: str, right: float, below: float, left: float = 0.56
) -> tuple["Figure", "Axes"]:
    """An empty figure with one pair of axes; margins in inches, so that panels of one size line up."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=size, facecolor=PAPER)
    width, height = size
    axes = figure.add_axes((left / width, below / height, 1 - (left + right) / width, 1 - (below + 0.3) / height))
    axes.set_facecolor("none")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.tick_params(colors=INK, labelsize=FONT - 1, width=0.7, length=3)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(x_label, color=INK, fontsize=FONT)
    axes.set_ylabel(y_label, color=INK, fontsize=FONT)
    axes.set_title(plain(title), color=INK, fontsize=FONT + 1, loc="left", pad=7)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    return figure, axes


def _by_factors(axes: "Axes") -> None:
    """Let equal factors be equally wide along the x axis, with plain numbers for its ticks."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    low, high = axes.get_xlim()
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    powers = [2.0**power for power in range(-10, 20)]
    axes.xaxis.set_major_locator(FixedLocator([power for power in powers if low <= power <= high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _label_ends(axes: "Axes", series: Sequence[Series]) -> None:
    """Write each label beside the end of its line, moved apart where they would touch."""
    low, high = axes.get_ylim()
    points = axes.get_position().height * axes.figure.get_size_inches()[1] * 72 / (high - low)  # type: ignore[union-attr]
    order = sorted(range(len(series)), key=lambda place: (series[place].mean[-1], series[place].mean.mean()))
    heights = [float(np.clip(series[place].mean[-1], low, high) - low) * points for place in order]
    top, last = (high - low) * points, len(series) - 1
    spread = [
        min(max(height, LABEL_GAP * (rank + 0.4)), max(top - LABEL_GAP * (last - rank), LABEL_GAP * (rank + 0.4)))
        for rank, height in enumerate(spread_out(heights, LABEL_GAP))
    ]
    for place, height, wanted in zip(order, spread, heights, strict=True):
        style = series[place].style or STYLES[place % len(STYLES)]
        axes.annotate(
            plain(series[place].label), (1, wanted / points / (high - low)), (7, height - wanted),
            xycoords="axes fraction", textcoords="offset points", va="center", ha="left", fontsize=FONT - 0.5,
            color=style.color,
            arrowprops={"arrowstyle": "-", "color": style.color, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0,
                        "relpos": (0, 0.5)},
        )  # fmt: skip


def plain(text: str) -> str:
    """A name as it is: Matplotlib would take what is between two dollars for a formula."""
    return text.replace("$", r"\$")


def spread_out(heights: Sequence[float], gap: float) -> list[float]:
    """Ascending heights moved as little as makes them at least `gap` apart: crowds are centred where they were.

    >>> spread_out([0, 1, 50], 10)
    [-4.5, 5.5, 50.0]
    """
    groups: list[tuple[float, int]] = []  # the middle of a crowd and its size
    for height in heights:
        middle, size = float(height), 1
        while groups and middle - gap * (size - 1) / 2 - (groups[-1][0] + gap * (groups[-1][1] - 1) / 2) < gap:
            before, count = groups.pop()
            middle, size = (middle * size + before * count) / (size + count), size + count
        groups.append((middle, size))
    return [middle + gap * (place - (size - 1) / 2) for middle, size in groups for place in range(size)]
