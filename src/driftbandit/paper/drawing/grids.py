"""Panels that are maps and dots: discount and prior, rested arms, two oracles."""

from collections.abc import Iterator

import numpy as np

from driftbandit import figures
from driftbandit.paper.drawing.panel import SIZE, Panel, group
from driftbandit.paper.experiment import PriorMap, Rested, TwoOracles
from driftbandit.paper.findings import Findings


def prior_map(experiment: PriorMap, found: Findings) -> Iterator[Panel]:
    """Regret over discount and prior as a map, for each rule."""
    for profile in found.profiles:
        if profile.fitted and len(found.profiles) > 1:
            continue  # the same games as in the column of the text
        values = np.array(
            [
                [
                    found.record(experiment.id, profile, experiment.policy, x, y).normalized_regret.mean
                    for x in experiment.grid
                ]
                for y in experiment.priors
            ]
        )
        row, column = np.unravel_index(int(values.argmin()), values.shape)
        best = (experiment.grid[int(column)], experiment.priors[int(row)], values.min())
        figure = figures.regret_map(
            [f"{x:g}".lstrip("0") for x in experiment.grid], [_power(y) for y in experiment.priors], values,
            x_label="discount", y_label="prior", size=SIZE, title=f"{experiment.policy}, {profile.title.lower()}",
        )  # fmt: skip
        yield Panel(
            f"{experiment.id}-{profile.id}", "Normalised regret", profile, figure,
            f"Normalised regret of {experiment.policy} over discount and prior, {experiment.setting.id}, {profile.id}. "
            f"Least at discount {best[0]:g} and prior {best[1]:g}: {best[2]:.3f}; with prior 1 at best "
            f"{values[0].min():.3f}.",
        )  # fmt: skip


def rested(experiment: Rested, found: Findings) -> Iterator[Panel]:
    """Final regret with restless and with rested arms, for each profile."""
    kinds = (("restless", 0.0, figures.STYLES[0]), ("rested", 1.0, figures.STYLES[1]))
    rows = {
        profile: [
            (label, style, [found.record(experiment.id, profile, name, None, y).normalized_regret
                            for name in experiment.contenders])
            for label, y, style in kinds
        ]
        for profile in found.profiles
    }  # fmt: skip
    right = 1.08 * max(value.high if value.ci95 == value.ci95 else value.mean
                       for row in rows.values() for _, _, values in row for value in values)  # fmt: skip
    for profile, row in rows.items():
        figure = figures.dots(
            experiment.contenders, [group(*each) for each in row], x_label="normalised regret",
            size=SIZE, title=profile.title, x_limits=(0, right),
        )  # fmt: skip
        numbers = "; ".join(
            f"{name} {free.mean:.3f} restless, {own.mean:.3f} rested"
            for name, free, own in zip(experiment.contenders, row[0][2], row[1][2], strict=True)
        )
        yield Panel(
            f"{experiment.id}-{profile.id}", "Normalised regret", profile, figure,
            f"Normalised regret with restless and rested arms, {experiment.setting.id}, {profile.id}: {numbers}.",
        )  # fmt: skip


def two_oracles(experiment: TwoOracles, found: Findings) -> Iterator[Panel]:
    """Final regret against the dynamic and the static oracle, for each profile."""
    rows = {
        profile: [found.record(experiment.id, profile, name) for name in experiment.contenders]
        for profile in found.profiles
    }
    dynamic = {profile: [record.normalized_regret for record in records] for profile, records in rows.items()}
    static = {profile: [record.static_regret for record in records] for profile, records in rows.items()}
    every = [value.mean for values in (*dynamic.values(), *static.values()) for value in values]
    margin = 0.06 * (max(every) - min(every))
    for profile in rows:
        figure = figures.dots(
            experiment.contenders,
            [
                group("dynamic oracle", figures.STYLES[0], dynamic[profile]),
                group("static oracle", figures.STYLES[1], static[profile]),
            ],
            x_label="regret a step", size=SIZE, title=profile.title,
            x_limits=(min(every) - margin, max(every) + margin),
        )  # fmt: skip
        numbers = "; ".join(
            f"{name} {one.mean:.3f} dynamic, {other.mean:.3f} static"
            for name, one, other in zip(experiment.contenders, dynamic[profile], static[profile], strict=True)
        )
        yield Panel(
            f"{experiment.id}-{profile.id}", "Regret a step against two oracles", profile, figure,
            f"Regret a step against the two oracles, {experiment.setting.id}, {profile.id}: {numbers}.",
        )  # fmt: skip


def _power(prior: float) -> str:
    exponent = round(np.log10(prior))
    return "1" if exponent == 0 else f"1e{exponent:d}".replace("-", "−")
