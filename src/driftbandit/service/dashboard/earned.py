"""What decisions earned, how many have got a reward, and how long that took."""

import math

import numpy as np

from driftbandit.service.dashboard.chart import Plot, around
from driftbandit.service.dashboard.hues import ratio
from driftbandit.service.dashboard.looking import SAMPLE, Sight
from driftbandit.service.dashboard.markup import Markup, tag
from driftbandit.service.dashboard.stretch import PointSums, Reals
from driftbandit.service.dashboard.tabular import facts, figure, numbers, table
from driftbandit.service.dashboard.wording import amount, counted, day_time, lasting, share

WIDTH, HEIGHT = 520.0, 240.0
UNSETTLED = "Rewards of these decisions may still come"
KEYS = (
    ("earned", "as it was decided"), ("alike", "every arm as often as any other, estimated"),
    ("area given", "with a reward"), ("area default", "with the default reward"),
)  # fmt: skip


def earned_part(sight: Sight) -> Markup:
    """The section."""
    said = (
        "What choosing any arm would have earned is estimated from the same decisions, each weighted by 1/odds; it has "
        "gaps where an arm got no reward. The first line should lie above the second."
    )
    keys = [
        tag("li", tag("i", class_=f"{'swatch' if 'area' in kind else 'stroke'} {kind.removeprefix('area ')}"), words)
        for kind, words in KEYS
        if "default" not in kind or sight.view.default_reward is not None
    ]
    return tag(
        "section", tag("h2", "Rewards"), tag("p", said, class_="soft"), tag("ul", *keys, class_="legend"),
        tag("div", _means(sight), _shares(sight), class_="pair"), facts(_waits(sight)),
        numbers("rewards-numbers", _rows(sight)), id="rewards", data_fresh=True,
    )  # fmt: skip


def compared(sums: PointSums) -> tuple[Reals, Reals]:
    """By point: the mean reward, and the mean of what each arm that could be chosen then earned."""
    earned = ratio(sums.reward.sum(axis=0), sums.rewards.sum(axis=0))
    there = sums.odds > 0.0
    total = np.where(there, ratio(sums.paid, sums.rewarded), 0.0).sum(axis=0)
    return earned, ratio(total, there.sum(axis=0).astype(np.float64))


def _means(sight: Sight) -> Markup:
    stretch, settled = sight.stretch, sight.settled(sight.stretch)
    ends = [min(end, sight.now) for end in stretch.ends]
    earned, _ = compared(stretch.sums)
    earned[settled:] = np.nan
    _, alike = compared(stretch.by_row()[0])  # in longer parts: few rewards of a seldom arm weigh much
    alike[[end > settled for end in stretch.row_ends]] = np.nan
    parts = [ends[end - 1] for end in stretch.row_ends]
    plot = Plot(WIDTH, HEIGHT, sight.period, around([*earned.tolist(), *alike.tolist()], *sight.bounds))
    plot.shade(_settled_at(sight), UNSETTLED)
    plot.vertical(lambda value: f"{value:.6g}")
    plot.times()
    plot.line([*zip(parts, alike.tolist(), strict=True)], "Every arm as often as any other", "alike")
    plot.line([*zip(ends, earned.tolist(), strict=True)], "As it was decided", "earned")
    return figure("Mean reward of a decision", plot.drawn(f"Mean reward of a decision, {stretch.lookback.said}"))


def _settled_at(sight: Sight) -> float:
    settled = sight.settled(sight.stretch)
    return sight.stretch.ends[settled - 1] if settled else sight.stretch.begin


def _shares(sight: Sight) -> Markup:
    stretch, sums = sight.stretch, sight.stretch.sums
    ends = [min(end, sight.now) for end in stretch.ends]
    made, defaults, rewards = (each.sum(axis=0) for each in (sums.decisions, sums.defaults, sums.rewards))
    given, all_of = ratio(rewards - defaults, made), ratio(rewards, made)
    plot = Plot(WIDTH, HEIGHT, sight.period, (0.0, 1.0))
    plot.shade(_settled_at(sight), UNSETTLED)
    bottom = np.where(np.isfinite(given), 0.0, np.nan)
    for low, high, title, kind in (
        (bottom, given, "With a reward", "given"), (given, all_of, "With the default reward", "default"),
    ):  # fmt: skip
        lower, upper = ([*zip(ends, each.tolist(), strict=True)] for each in (low, high))
        plot.area(upper, lower, title, f"area {kind}")
    plot.vertical(lambda value: f"{value:.0%}")
    plot.times()
    return figure("Decisions with a reward, by when they were made", plot.drawn(
        f"Share of decisions with a reward, by when they were made, {stretch.lookback.said}"
    ))  # fmt: skip


def _waits(sight: Sight) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = [("pending", counted(sight.view.pending))]
    stretch = sight.stretch
    left = (stretch.sums.decisions - stretch.sums.rewards).sum(axis=0)
    young = [k for k, end in enumerate(stretch.ends) if sight.view.wait is None or end > sight.now - sight.view.wait]
    waiting = [k for k in young if left[k] > 0.0]
    if waiting:
        age = sight.now - (stretch.ends[waiting[0]] - stretch.lookback.step)
        longest = math.inf if sight.view.wait is None else sight.view.wait
        found.append(("the oldest" if waiting[0] else "the oldest, or older", f"up to {lasting(min(age, longest))}"))
    if sight.view.wait is not None:
        found.append(("a decision waits", lasting(sight.view.wait)))
    if sight.delays:
        parts = [lasting(sight.delays[int(part * (len(sight.delays) - 1))]) for part in (0.1, 0.5, 0.9)]
        said = f"10% within {parts[0]}, half within {parts[1]}, 90% within {parts[2]}"
        found.append((f"the latest {counted(len(sight.delays))} rewards came", said))
    else:
        found.append(("delays", f"none among the latest {counted(SAMPLE)} rewards of a process"))
    return found


def _rows(sight: Sight) -> Markup:
    stretch, settled = sight.stretch, sight.settled(sight.stretch)
    sums, _ = stretch.by_row()
    earned, alike = compared(sums)
    made, given, defaults = (each.sum(axis=0) for each in (sums.decisions, sums.rewards - sums.defaults, sums.defaults))

    def said(values: Reals, k: int) -> str:
        return amount(float(values[k])) if stretch.row_ends[k] <= settled else "–"

    body = [
        (day_time(stretch.begin + start * stretch.lookback.step), counted(made[k]),
         share(given[k] / made[k]) if made[k] else "–", share(defaults[k] / made[k]) if made[k] else "–",
         said(earned, k), said(alike, k))
        for k, start in enumerate(stretch.rows)
    ]  # fmt: skip
    columns = ["From", "Decisions", "With a reward", "With the default", "Mean reward", "Every arm alike"]
    return table(columns, body, "Rewards by when decisions were made; times are UTC")
