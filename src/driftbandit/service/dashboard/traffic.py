"""How often each arm was chosen, and beside it how often it should have been."""

import math

import numpy as np

from driftbandit.service.dashboard.chart import Plot
from driftbandit.service.dashboard.hues import Hue, hues, legend, ratio
from driftbandit.service.dashboard.looking import Sight
from driftbandit.service.dashboard.markup import Markup, name, shortened, tag
from driftbandit.service.dashboard.stretch import Reals
from driftbandit.service.dashboard.tabular import figure, numbers, table
from driftbandit.service.dashboard.wording import counted, day_time, share

WIDTH, HEIGHT = 520.0, 260.0
THICK = 0.09
"""Of a band, in which there is room for a name."""
LETTERS = 14
LETTER = 7.5
"""How wide one is, about."""


def traffic(sight: Sight) -> Markup:
    """The section."""
    shown, sums = hues(sight), sight.stretch.sums
    made = sums.decisions.sum(axis=0)
    pairs = [
        figure("Share of decisions", stacked(sight, shown, sums.decisions, made, "Share of decisions by arm")),
        figure("Mean of the logged odds", stacked(sight, shown, sums.odds, made, "Mean of the logged odds by arm")),
    ]
    said = "Both must look alike, up to chance: what is logged as the probability of an arm is how often it is chosen."
    return tag(
        "section", tag("h2", "Traffic"), tag("p", said, class_="soft"), legend(shown),
        tag("div", *pairs, class_="pair"), numbers("traffic-numbers", rows(sight, shown)),
        id="traffic", data_fresh=True,
    )  # fmt: skip


def stacked(sight: Sight, shown: list[Hue], values: Reals, made: Reals, title: str) -> Markup:
    """Shares on top of each other, the first arm at the bottom; a point without decisions is a gap."""
    stretch = sight.stretch
    ends = [min(end, sight.now) for end in stretch.ends]
    plot = Plot(WIDTH, HEIGHT, sight.period, (0.0, 1.0))
    below = np.where(made > 0.0, 0.0, np.nan)
    for hue in shown:
        above = below + ratio(hue.of(values), made)
        plot.area(
            [*zip(ends, above.tolist(), strict=True)], [*zip(ends, below.tolist(), strict=True)], hue.label,
            f"area {hue.kind}",
        )  # fmt: skip
        below = above
    plot.vertical(lambda value: f"{value:.0%}")
    plot.times()
    below = np.zeros(len(ends))
    for hue in shown:
        above = below + ratio(hue.of(values), made)
        _label(plot, hue, ends, below, above)
        below = above
    return plot.drawn(f"{title}, {stretch.lookback.said}")


def _label(plot: Plot, hue: Hue, ends: list[float], below: Reals, above: Reals) -> None:
    """A name, where its band is thickest for as long as the name is wide."""
    label = shortened(hue.label, LETTERS)
    inside = [end for end in ends if end >= plot.begin]
    around = math.ceil(LETTER * (len(label) + 1) / 2.0 / ((WIDTH - plot.LEFT - plot.RIGHT) / max(1, len(inside))))
    thickness = np.nan_to_num(above - below)
    least = [thickness[k - around : k + around + 1].min() for k in range(around, len(ends) - around)]
    if not least or max(least) < THICK:
        return
    place = int(np.argmax(least)) + around
    middle = 0.5 * float(above[place] + below[place])
    plot.write(plot.x(ends[place]), plot.y(middle) + 4.0, label, "inside", "middle")


def rows(sight: Sight, shown: list[Hue]) -> Markup:
    """Both as a table."""
    stretch = sight.stretch
    sums, _ = stretch.by_row()
    made = sums.decisions.sum(axis=0)
    parts = [(ratio(hue.of(sums.decisions), made), ratio(hue.of(sums.odds), made)) for hue in shown]
    body = [
        (
            day_time(stretch.begin + start * stretch.lookback.step), counted(made[k]),
            *(f"{share(chosen[k])} · {share(odds[k])}" if made[k] else "–" for chosen, odds in parts),
        )
        for k, start in enumerate(stretch.rows)
    ]  # fmt: skip
    columns = ["From", "Decisions", *(name(shortened(hue.label, 40)) for hue in shown)]
    return table(columns, body, "Share of decisions · mean of the logged odds; times are UTC")
