"""What arms earn: what is believed of each, beside what its own decisions say."""

import math

import numpy as np

from driftbandit.service.dashboard.chart import Plot, around
from driftbandit.service.dashboard.hues import Hue, hues, ratio
from driftbandit.service.dashboard.looking import Sight
from driftbandit.service.dashboard.markup import Markup, name, shortened, tag
from driftbandit.service.dashboard.stretch import Reals
from driftbandit.service.dashboard.tabular import numbers, table
from driftbandit.service.dashboard.wording import amount, day_time, lasting

WIDTH, HEIGHT = 360.0, 190.0
FEW = 5
"""Rewards below which a point is left out."""


def arms_part(sight: Sight) -> Markup:
    """The section about each arm."""
    shown = [hue for hue in hues(sight) if hue.kind != "rest"]
    half_life = sight.half_life
    memory = "" if half_life is None else f" It forgets half in {lasting(half_life)}."
    said = (
        f"Line and band: the mean that the policy believes, with its 95% interval.{memory} Dots: rewards of the time, "
        f"each weighted by 1/odds, where there are {FEW} at least. Thin lines: the other arms."
    )
    axis = _axis(sight, shown)
    panels = [_panel(sight, shown, hue, axis) for hue in shown]
    return tag(
        "section", tag("h2", "Arms"), tag("p", said, class_="soft"), _means(sight, shown, axis),
        tag("div", *panels, class_="panels"),
        numbers("arms-numbers", _beliefs(sight, shown)), id="arms", data_fresh=True,
    )  # fmt: skip


def _means(sight: Sight, shown: list[Hue], axis: tuple[float, float]) -> Markup:
    """The lines of all arms, drawn once: each panel has all of them."""
    plot = Plot(WIDTH, HEIGHT, sight.period, axis)
    lines = [
        plot.defined(sight.stretch.points(sight.stretch.believed.mean[hue.arms[0]], sight.now), f"mean-{hue.kind}")
        for hue in shown
    ]
    return tag("svg", tag("defs", *lines), class_="lines", aria_hidden="true")


def _panel(sight: Sight, shown: list[Hue], hue: Hue, axis: tuple[float, float]) -> Markup:
    stretch, [arm] = sight.stretch, hue.arms
    believed = stretch.believed
    plot = Plot(WIDTH, HEIGHT, sight.period, axis)
    plot.vertical(_plain, 3)
    plot.times(4)

    def points(values: Reals) -> list[tuple[float, float]]:
        return stretch.points(values, sight.now)

    known = np.isfinite(believed.low[arm]) & np.isfinite(believed.high[arm])
    low, high = (np.where(known, each[arm], np.nan) for each in (believed.low, believed.high))
    plot.area(points(high), points(low), f"{hue.label}: 95% interval", f"band {hue.kind}")
    for other in shown:
        if other is not hue:
            plot.again(f"mean-{other.kind}", other.label, "faint")
    weighted = ratio(stretch.sums.paid[arm], stretch.sums.rewarded[arm])
    weighted[sight.settled(stretch) :] = np.nan
    weighted[stretch.sums.rewards[arm] < FEW] = np.nan
    plot.dots(points(weighted), f"{hue.label}: weighted rewards", hue.kind)
    plot.again(f"mean-{hue.kind}", f"{hue.label}: mean", hue.kind)
    title = tag("i", class_=f"swatch {hue.kind}"), name(hue.label, title=hue.label, class_="arm")
    picture = plot.drawn(f"{hue.label}: what is believed, {stretch.lookback.said}", "chart small")
    return tag("figure", tag("figcaption", *title), picture)


def _axis(sight: Sight, shown: list[Hue]) -> tuple[float, float]:
    """Of all panels, so that they can be compared: nine tenths of all bands fit, and all means."""
    believed, numbers_of = sight.stretch.believed, [hue.arms[0] for hue in shown]
    values: list[float] = []
    for ends, quantile in ((believed.low, 0.1), (believed.high, 0.9)):
        found = ends[numbers_of]
        found = found[np.isfinite(found)]
        values += [float(np.quantile(found, quantile))] if found.size else []
    means = believed.mean[numbers_of]
    return around([*values, *means[np.isfinite(means)].tolist()], *sight.bounds)


def _plain(value: float) -> str:
    return f"{value:.6g}"


def _beliefs(sight: Sight, shown: list[Hue]) -> Markup:
    stretch = sight.stretch
    sums, believed = stretch.by_row()
    settled = sight.settled(stretch)

    def cell(hue: Hue, k: int) -> str:
        [arm] = hue.arms
        mean, low, high = (float(each[arm, k]) for each in believed)
        weighted = ratio(sums.paid[arm], sums.rewarded[arm])[k] if stretch.row_ends[k] <= settled else math.nan
        return f"{amount(mean)} ({amount(low)} to {amount(high)}) · {amount(float(weighted))}"

    body = [
        (day_time(stretch.begin + start * stretch.lookback.step), *(cell(hue, k) for hue in shown))
        for k, start in enumerate(stretch.rows)
    ]
    columns = ["From", *(name(shortened(hue.label, 40)) for hue in shown)]
    return table(columns, body, "Mean at the end (95% interval) · weighted rewards; times are UTC")
