"""Panels over time: regret, reward, and the environments themselves."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit import figures
from driftbandit.figures import Series
from driftbandit.paper.drawing.panel import SIZE, STYLES, Panel
from driftbandit.paper.experiment import Environments, OverTime
from driftbandit.paper.findings import Findings, NotRun
from driftbandit.paper.printed import HORIZON, SETTINGS
from driftbandit.paper.record import Record

READING_STYLES = {"text": figures.STYLES[5], "published": figures.STYLES[1], "fitted": figures.STYLES[0]}
PERIODS_SHOWN = 5
"""More periods than this are a blur: the end of the game is then drawn too, step by step."""


def over_time(experiment: OverTime, found: Findings) -> Iterator[Panel]:
    """Normalised regret, mean reward, and where that is a blur its last two periods, for each profile."""
    where = f"in the {experiment.setting.adjective} environment"
    records = {
        profile: {name: found.record(experiment.id, profile, name) for name in experiment.contenders}
        for profile in found.profiles
    }
    every = [record for row in records.values() for record in row.values()]
    top = 1.05 * max(float((record.regret_mean + np.nan_to_num(record.regret_ci95)).max()) for record in every)
    for profile, row in records.items():
        ends = "; ".join(f"{name} {record.normalized_regret.mean:.3f}" for name, record in row.items())
        yield Panel(
            f"{experiment.id}-regret-{profile.id}", "Normalised regret", profile,
            figures.lines(
                _series(row, lambda r: (r.steps, r.regret_mean, r.regret_ci95)),
                x_label="step", y_label="normalised regret", size=SIZE, title=profile.title,
                x_limits=(0, experiment.horizon), y_limits=(0, top),
            ),
            f"Normalised regret over {experiment.horizon} steps {where}, {profile.id}. At the end: {ends}.",
        )  # fmt: skip
    for profile, row in records.items():
        earned = "; ".join(f"{name} {record.mean_reward.mean:.3f}" for name, record in row.items())
        yield Panel(
            f"{experiment.id}-reward-{profile.id}", "Instantaneous mean reward", profile,
            figures.lines(
                _series(row, lambda r: (r.steps, r.reward_mean, r.reward_ci95)),
                x_label="step", y_label="mean reward", size=SIZE, title=profile.title,
                x_limits=(0, experiment.horizon), y_limits=(0, 1.02),
            ),
            f"Mean reward a step over {experiment.horizon} steps {where}, {profile.id}. On average: {earned}.",
        )  # fmt: skip
    if experiment.horizon <= PERIODS_SHOWN * experiment.setting.period:
        return
    for profile, row in records.items():
        first = max(experiment.horizon - 2 * experiment.setting.period, int(every[0].late_steps[0]) - 1)
        yield Panel(
            f"{experiment.id}-reward-end-{profile.id}", "Instantaneous mean reward, the last two periods", profile,
            figures.lines(
                _series(row, lambda r: (r.late_steps, r.late_mean, r.late_ci95), first),
                x_label="step", y_label="mean reward", size=SIZE, title=profile.title,
                x_limits=(first, experiment.horizon), y_limits=(0, 1.02),
            ),
            f"Mean reward at each of the last {experiment.horizon - first} steps {where}, {profile.id}.",
        )  # fmt: skip


def readings(found: Findings) -> Iterator[Panel]:
    """Regret over time of the three readings of dTS side by side, with TS and Dynamic TS to compare them with."""
    for setting in SETTINGS:
        experiment = f"regret-{setting.id}"
        try:
            own = {
                f"dTS {profile.title.lower()}": found.record(experiment, profile, "dTS") for profile in found.profiles
            }
            rivals = {name: found.record(experiment, found.profiles[0], name) for name in ("TS", "Dynamic TS")}
        except NotRun:
            continue
        records = own | rivals
        styles = [*(READING_STYLES[profile.id] for profile in found.profiles), STYLES["TS"], STYLES["Dynamic TS"]]
        series = [
            Series(label, record.steps, record.regret_mean, record.regret_ci95, style)
            for (label, record), style in zip(records.items(), styles, strict=True)
        ]
        ends = "; ".join(f"{label} {record.normalized_regret.mean:.3f}" for label, record in records.items())
        yield Panel(
            f"readings-{setting.id}", "Normalised regret of dTS, read in three ways", None,
            figures.lines(
                series, x_label="step", y_label="normalised regret", size=SIZE, x_limits=(0, HORIZON),
                title=f"{setting.adjective.capitalize()} environment",
            ),
            "Normalised regret over time of dTS as written, as published and fitted, and of TS and Dynamic TS, in the "
            f"{setting.adjective} environment. At the end: {ends}.",
        )  # fmt: skip


def environments(experiment: Environments) -> Iterator[Panel]:
    """The means of the arms over two periods."""
    for setting in SETTINGS:
        steps = 2 * setting.period
        yield Panel(
            f"{experiment.id}-{setting.id}", "Means of the arms", None,
            figures.environment_means(setting.environment, steps, size=SIZE, title=setting.adjective.capitalize()),
            f"The mean reward of four arms over {steps} steps of the {setting.adjective} environment.",
        )  # fmt: skip


def _series(
    row: dict[str, Record], curve: Callable[[Record], tuple[NDArray[Any], ...]], first: int = 0
) -> list[Series]:
    found = []
    for name, record in row.items():
        x, mean, ci95 = curve(record)
        shown = x > first
        found.append(Series(name, x[shown], mean[shown], ci95[shown], STYLES[name]))
    return found
