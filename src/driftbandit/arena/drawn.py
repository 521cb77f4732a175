"""The pictures of the arena: the profile of every policy over all environments, and one picture a family."""

import math
from collections.abc import Sequence

import numpy as np

from driftbandit import figures
from driftbandit.arena.entrants import Entrant
from driftbandit.arena.families import Family
from driftbandit.arena.standings import Standings, geometric_mean, profile
from driftbandit.campaign.pictures import Panel
from driftbandit.engine.estimate import Estimate
from driftbandit.figures import Series, Style

OPENING_SIZE = (7.0, 4.6)
WIDTH = 8.6
LONGEST_LABEL = figures.LONGEST_DIRECT_LABEL
LOWEST, HIGHEST = 0.25, 16.0
"""Where the axis of ratios ends, at most."""
COLOURS = {"told": figures.GREEN, "fitted": figures.INK, "oracle": figures.PURPLE}
"""Of the columns whose policies are told apart by their dashes alone."""
BRIGHT = (figures.BLUE, figures.VERMILION, figures.ORANGE, figures.SKY)
DASHES = ("solid", (0, (6, 1.5)), (0, (2, 1.2)), (0, (4, 1.2, 1, 1.2)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
UNPICTURED = ("ots", "bayes-ucb", "ucb-tuned", "moss", "uniform")
"""Not in the pictures: near another one, or far from all."""
TOLD_PICTURED = 4
"""Of those that are told, so many of the best are in the first picture."""


def opening(found: Standings) -> Panel:
    """The share of environments in which a policy has at most so many times the regret of the best fitted one."""
    order = sorted(found.entrants, key=lambda one: (one.column == "oracle", geometric_mean(found.ratios(one))))
    worse = [one for one in order if one.column == "told"][TOLD_PICTURED:]
    order = [one for one in order if one.label not in UNPICTURED and one not in worse]
    limits = _limits(found, order)
    series, words = [], []
    every = styles(order)
    for entrant in order:
        ratios = found.ratios(entrant)
        x, y = profile(ratios, limits)
        series.append(Series(_short(entrant.label), x, y, style=every[entrant]))
        words.append(
            f"{entrant.label}: at most 1 in {(ratios <= 1).mean():.0%}, at most 2 in {(ratios <= 2).mean():.0%}"
        )
    figure = figures.lines(
        series, x_label="regret relative to the best fitted policy, at most", y_label="share of environments",
        size=OPENING_SIZE, x_limits=limits, y_limits=(0.0, 1.02), marks=[(1.0, "")],
        ratios=True, beside=True,
    )  # fmt: skip
    return Panel(
        "profile", "Performance profile", figure,
        f"Performance profile: share of {len(found.worlds)} environments by regret relative to the best fitted policy. "
        + "; ".join(words) + ".",
    )  # fmt: skip


def panel_of(family: Family, found: Standings) -> Panel:
    """The ratio to the best fitted policy in each environment of a family."""
    worlds = found.families[family]
    shown = [one for one in found.entrants if one.column in {"untold", "yours"} and one.label not in UNPICTURED]
    told = [one for one in found.entrants if one.column == "told"]
    oracle = [one for one in found.entrants if one.column == "oracle"]
    limits = _limits(found, [*shown, *told, *oracle])
    every = styles([*shown, *oracle])
    groups = []
    for place, entrant in enumerate([*shown, *oracle]):
        showings = [found.showings[world, entrant] for world in worlds]
        ratios = np.clip([showing.ratio for showing in showings], *limits)
        widths = np.array([_width(showing.regret) for showing in showings]) * ratios
        ends = np.clip([ratios - widths, ratios + widths], *limits)  # nothing is drawn beyond the axes
        style = Style(every[entrant].color, marker=MARKERS[place % len(MARKERS)])
        groups.append(Series(_short(entrant.label), np.arange(len(worlds)), ratios, np.abs(ends - ratios), style))
    best = np.clip([min(found.showings[world, one].ratio for one in told) for world in worlds], *limits)
    groups.append(Series("best told", np.arange(len(worlds)), best, None, Style(figures.GREEN, marker="X")))
    figure = figures.dots(
        [world.id for world in worlds], groups, x_label="regret relative to the best fitted policy",
        size=(WIDTH, 0.85 + 0.3 * max(len(worlds), 2)), x_limits=limits, ratios=True,
    )  # fmt: skip
    numbers = "; ".join(
        f"{world.id} " + ", ".join(f"{one.label} {found.showings[world, one].ratio:.2f}" for one in [*shown, *oracle])
        for world in worlds
    )
    return Panel(
        f"family-{family.id}", "Regret relative to the best fitted policy", figure,
        f"Regret relative to the best fitted policy, {family.title}: {numbers}.",
    )  # fmt: skip


def styles(shown: Sequence[Entrant]) -> dict[Entrant, Style]:
    """How each one's line looks: those who know nothing are bright, the others have the colour of their column."""
    bright, count = 0, dict.fromkeys(COLOURS, 0)
    chosen = {}
    for entrant in shown:
        if entrant.column in COLOURS:
            place = count[entrant.column]
            count[entrant.column] += 1
            chosen[entrant] = Style(COLOURS[entrant.column], DASHES[place % len(DASHES)], width=1.1)
        else:
            chosen[entrant] = Style(
                BRIGHT[bright % len(BRIGHT)], DASHES[bright // len(BRIGHT) % len(DASHES)], width=2.0
            )
            bright += 1
    return chosen


def _limits(found: Standings, entrants: list[Entrant]) -> tuple[float, float]:
    """Powers of 2 that hold all ratios, up to some."""
    ratios = np.concatenate([found.ratios(entrant) for entrant in entrants])
    ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
    low, high = (float(ratios.min()), float(ratios.max())) if len(ratios) else (0.5, 2.0)
    return max(LOWEST, min(0.5, 2.0 ** np.floor(np.log2(low)))), min(HIGHEST, max(2.0, 2.0 ** np.ceil(np.log2(high))))


def _width(regret: Estimate) -> float:
    """Half the width of the interval, as a share; 0 where there is none."""
    return regret.ci95 / regret.mean if regret.mean > 0 and math.isfinite(regret.ci95) else 0.0


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"
