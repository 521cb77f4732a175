"""What a live bandit believes about its arms, as a figure."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from driftbandit.figures import STYLES
from driftbandit.online.summary import ArmSummary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 600


def posteriors(rows: list[ArmSummary], title: str, limit: int) -> "Figure":
    """A ridge of posterior densities, the most probable arm on top; intervals or probabilities for other policies."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    shown = [row for row in rows if row.arm is not None][:limit] + [row for row in rows if row.arm is None]
    figure = Figure(figsize=(7.0, 1.3 + 0.62 * len(shown)), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    axes = figure.add_subplot()
    places = np.arange(len(shown))[::-1]
    posterior = all(row.law for row in shown)
    means = all(np.isfinite([row.mean, row.low, row.high]).all() for row in shown)
    for place, row in zip(places.tolist(), shown, strict=True):
        colour = STYLES[(len(shown) - 1 - place) % len(STYLES)].color
        if posterior:
            _density(axes, place, row, colour)
        elif means:
            axes.plot([row.low, row.high], [place, place], color=colour, linewidth=3.0, solid_capstyle="round")
            axes.plot([row.mean], [place], "o", color=colour)
        else:
            axes.barh(place, row.probability, color=colour, height=0.6)
    labels = [_label(str(row.arm)) if row.arm is not None else f"{row.count} alike, each" for row in shown]
    axes.set_yticks(places, labels, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.5, len(shown) - 0.05 if posterior else len(shown) - 0.5)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("mean reward" if posterior or means else "probability of the next decision")
    if posterior or means:
        right = axes.secondary_yaxis("right")
        right.set_yticks(places, [f"p = {row.probability:.3g}   n = {row.observations:.1f}" for row in shown])
        right.tick_params(axis="y", length=0, labelsize="small")
        right.spines["right"].set_visible(False)
    if posterior and shown[0].law != "normal":
        axes.set_xlim(0.0, 1.0)
    axes.set_title(title, loc="left", fontsize="medium")
    return figure


def _label(name: str) -> str:
    """A name that leaves room for the figure."""
    name = " ".join(name.split())
    return name if len(name) <= 40 else name[:39] + "…"


def _density(axes: Any, place: int, row: ArmSummary, colour: str) -> None:
    """A density, scaled to the height of its line, with its mean and 95% interval."""
    if row.law == "normal":
        away = np.linspace(-4.0, 4.0, POINTS)
        x = row.shape[0] + row.shape[1] * away
        log_density: Any = -0.5 * away * away
    else:
        successes, failures = row.shape
        x = np.linspace(0.0, 1.0, POINTS)[1:-1]
        near = special.betaincinv(successes, failures, np.linspace(0.0005, 0.9995, POINTS))
        x = np.union1d(x, near[(near > 0.0) & (near < 1.0)])
        log_density = special.xlogy(successes - 1.0, x) + special.xlog1py(failures - 1.0, -x)
    height = np.exp(log_density - log_density.max()) * 0.8
    axes.fill_between(x, place, place + height, color=colour, alpha=0.35, linewidth=0.0)
    axes.plot(x, place + height, color=colour, linewidth=1.4)
    axes.plot([row.low, row.high], [place, place], color=colour, linewidth=3.0, solid_capstyle="round")
    axes.plot([row.mean], [place], "o", color=colour, markersize=5)
