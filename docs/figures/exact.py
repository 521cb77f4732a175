"""Draw the figures of docs/exact.md: `python docs/figures/exact.py`, from the root of the repository."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import driftbandit as db
from driftbandit.exact import alternating_form, expected_path, positive_form, suboptimal_probability
from driftbandit.figures import BLUE, FAINT, INK, VERMILION

IMAGES = Path(__file__).parent.parent / "images"


def framed(axes, title):
    """A title on the left, a faint grid, two spines."""
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def cancellation() -> Figure:
    """The relative error of both 3F2 forms as the parameters of one pair grow."""
    scale = np.geomspace(0.03, 30, 61)
    a1, b1, a2, b2 = (scale * value for value in (30.5, 20.3, 28.2, 25.9))
    exact = suboptimal_probability(a1, b1, a2, b2)
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for form, name, color, dashes in (
        (alternating_form, "as printed", VERMILION, (0, (6, 1.5))),
        (positive_form, "positive terms", BLUE, "solid"),
    ):
        error = np.maximum(np.abs(form(a1, b1, a2, b2) / exact - 1), 1e-17)
        axes.plot(b1, error, color=color, linestyle=dashes, linewidth=1.8)
        inside = error < 1e6  # beyond, the axis ends
        axes.annotate(name, (b1[inside][-1], error[inside][-1]), textcoords="offset points", xytext=(8, 0), color=color)
    axes.axhline(1, color=INK, linewidth=0.8)
    axes.annotate("nothing is right above this line", (0.7, 1), textcoords="offset points", xytext=(0, 4), fontsize=8)
    axes.set(xscale="log", yscale="log", ylim=(1e-17, 1e6), xlim=(0.6, 2000), xlabel="β of the better arm")
    axes.set_ylabel("relative error")
    framed(axes, "P(worse arm sampled above the better one), in double precision")
    return figure


def recursion() -> Figure:
    """The recursion for expected evidence against simulation: where it is good, and where it fails."""
    cases = [
        ("one arm better throughout, dTS γ = 0.95", db.DiscountedThompsonSampling(discount=0.95),
         db.FromMeans(means=[[0.9, 0.1]]), 200),
        ("two arms alike, TS: runs part ways", db.ThompsonSampling(), db.FromMeans(means=[[0.55, 0.5]]), 400),
        ("fast, dTS γ = 0.9", db.DiscountedThompsonSampling(discount=0.9), db.Fast(n_arms=2), 200),
        ("fast, dTS γ = 0.99: late switches", db.DiscountedThompsonSampling(discount=0.99), db.Fast(n_arms=2), 200),
    ]  # fmt: skip
    figure = Figure(figsize=(8.4, 5.2), layout="constrained")
    for axes, (title, policy, environment, horizon) in zip(figure.subplots(2, 2).flat, cases, strict=True):
        path = expected_path(policy, environment, horizon)
        result = db.simulate(policy, environment, horizon=horizon, runs=20_000, seed=1)
        found = result.choice_frequency.values[0, :, 0]
        steps = np.arange(1, horizon + 1)
        band = 1.96 * np.sqrt(found * (1 - found) / result.runs)
        axes.fill_between(steps, found - band, found + band, color=BLUE, alpha=0.3, linewidth=0)
        axes.plot(steps, found, color=BLUE, linewidth=1.4, label="simulated, 20 000 runs")
        axes.plot(steps, path.probabilities[:, 0], color=VERMILION, linestyle=(0, (5, 1.5)), label="recursion")
        axes.set(ylim=(0, 1), xlabel="step", ylabel="P(first arm)")
        framed(axes, title)
        gap = np.abs(found - path.probabilities[:, 0])
        print(f"{title}: off by {gap.mean():.3f} on average, {gap.max():.3f} at most")
    figure.axes[0].legend(loc="lower right", frameon=False, fontsize=8)
    return figure


if __name__ == "__main__":
    for name, figure in (("exact-cancellation", cancellation()), ("exact-recursion", recursion())):
        figure.savefig(IMAGES / f"{name}.svg")
        figure.savefig(IMAGES / f"{name}.png", dpi=110)
