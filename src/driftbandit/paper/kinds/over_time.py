"""Regret and reward over time."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit import figures
from driftbandit.campaign.html_table import html_table
from driftbandit.campaign.pictures import Panel
from driftbandit.figures import Series
from driftbandit.paper.contenders import COMPARED, Discounts, contender
from driftbandit.paper.experiment import InSetting, Section
from driftbandit.paper.findings import Findings, NotRun
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.panel import SIZE, STYLES
from driftbandit.paper.printed import HORIZON, MAIN_RUNS, SETTINGS
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record

READING_STYLES = {"text": figures.STYLES[5], "published": figures.STYLES[1], "fitted": figures.STYLES[0]}
PERIODS_SHOWN = 5
"""With more periods than this, the mean reward is a blur: its end is then drawn too, step by step."""


@dataclasses.dataclass(frozen=True)
class OverTime(InSetting):
    """Mean reward and normalised regret over time."""

    contenders: tuple[str, ...]
    horizon: int = HORIZON
    runs: int = MAIN_RUNS
    beside: tuple[str, ...] = ()
    """Policies that a claim compares with, and that the paper's figure does not show."""
    section = Section(
        "over-time",
        "Regret and reward over time",
        "Normalised regret is regret against the dynamic oracle up to a step, divided by that step. Bands are 95% "
        "intervals of the mean over runs. Columns share their axes.",
    )
    axes = ("step",)

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        policies = [(name, contender(name, self.setting, profile, fits)) for name in (*self.contenders, *self.beside)]
        where = (self.setting.environment, self.horizon, self.runs)
        return [Entry(name, scale.game(policy, *where)) for name, policy in policies]

    def place(self, entry: Entry) -> tuple[int]:
        return (self.horizon,)

    def rows(self, entry: Entry, record: Record) -> Iterator[tuple[Any, ...]]:
        """Both curves, step by step."""
        for measure, means, widths in (
            ("normalized_regret", record.regret_mean, record.regret_ci95),
            ("mean_reward", record.reward_mean, record.reward_ci95),
        ):
            for step, mean, ci95 in zip(record.steps, means, widths, strict=True):
                yield int(step), measure, float(mean), float(ci95)

    def panels(self, found: Findings) -> Iterator[Panel]:
        """Normalised regret, mean reward, and the last two periods of the mean reward if it is a blur."""
        where = f"in the {self.setting.adjective} environment"
        records = {
            profile: {name: found.record(self.id, profile, name) for name in self.contenders}
            for profile in found.profiles
        }
        every = [record for row in records.values() for record in row.values()]
        top = 1.05 * max(float((record.regret_mean + np.nan_to_num(record.regret_ci95)).max()) for record in every)
        for profile, row in records.items():
            ends = "; ".join(f"{name} {record.normalized_regret.mean:.3f}" for name, record in row.items())
            yield Panel(
                f"{self.id}-regret-{profile.id}", "Normalised regret",
                figures.lines(
                    _series(row, lambda r: (r.steps, r.regret_mean, r.regret_ci95)),
                    x_label="step", y_label="normalised regret", size=SIZE, title=profile.title,
                    x_limits=(0, self.horizon), y_limits=(0, top),
                ),
                f"Normalised regret over {self.horizon} steps {where}, {profile.id}. At the end: {ends}.",
            )  # fmt: skip
        for profile, row in records.items():
            earned = "; ".join(f"{name} {record.mean_reward.mean:.3f}" for name, record in row.items())
            yield Panel(
                f"{self.id}-reward-{profile.id}", "Instantaneous mean reward",
                figures.lines(
                    _series(row, lambda r: (r.steps, r.reward_mean, r.reward_ci95)),
                    x_label="step", y_label="mean reward", size=SIZE, title=profile.title,
                    x_limits=(0, self.horizon), y_limits=(0, 1.02),
                ),
                f"Mean reward a step over {self.horizon} steps {where}, {profile.id}. On average: {earned}.",
            )  # fmt: skip
        if self.horizon <= PERIODS_SHOWN * self.setting.period:
            return
        for profile, row in records.items():
            first = max(self.horizon - 2 * self.setting.period, int(every[0].late_steps[0]) - 1)
            yield Panel(
                f"{self.id}-reward-end-{profile.id}", "Instantaneous mean reward, the last two periods",
                figures.lines(
                    _series(row, lambda r: (r.late_steps, r.late_mean, r.late_ci95), first),
                    x_label="step", y_label="mean reward", size=SIZE, title=profile.title,
                    x_limits=(first, self.horizon), y_limits=(0, 1.02),
                ),
                f"Mean reward at each of the last {self.horizon - first} steps {where}, {profile.id}.",
            )  # fmt: skip

    @staticmethod
    def tables(found: Findings) -> str:
        """Normalised regret at the end of the main comparison, by environment and profile."""
        rows = []
        for setting in SETTINGS:
            for name in COMPARED:
                try:
                    records = [found.record(f"regret-{setting.id}", profile, name) for profile in found.profiles]
                except NotRun:
                    continue
                rows.append((f"{setting.id}, {name}", *(str(record.normalized_regret) for record in records)))
        columns = [("Policy", ""), *((profile.title, "number") for profile in found.profiles)]
        return html_table(columns, rows) if rows else ""

    @staticmethod
    def overview(found: Findings) -> Iterator[Panel]:
        """Regret over time of dTS under all profiles in one figure, with TS and Dynamic TS to compare."""
        for setting in SETTINGS:
            experiment = f"regret-{setting.id}"
            try:
                own = {
                    f"dTS {profile.title.lower()}": found.record(experiment, profile, "dTS")
                    for profile in found.profiles
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
                f"readings-{setting.id}", "dTS, read in three ways",
                figures.lines(
                    series, x_label="step", y_label="normalised regret", size=SIZE, x_limits=(0, HORIZON),
                    title=f"{setting.adjective.capitalize()} environment",
                ),
                "Normalised regret over time of dTS as written, as published and fitted, and of TS and Dynamic TS, in "
                f"the {setting.adjective} environment. At the end: {ends}.",
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
