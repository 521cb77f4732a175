"""The panels of every experiment: one figure for each profile and measure, on axes that its neighbours share."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from driftbandit import figures
from driftbandit.figures import Series, Style
from driftbandit.paper.contenders import PROPOSED, discount_of
from driftbandit.paper.experiment import (
    ByArms,
    ByDiscount,
    DiscountByArms,
    Environments,
    Experiment,
    OverTime,
    PriorMap,
    Rested,
    TwoOracles,
)
from driftbandit.paper.experiments import CANDIDATES
from driftbandit.paper.findings import Findings
from driftbandit.paper.printed import SETTINGS
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (4.2, 2.8)
STYLES = {
    "dTS": figures.STYLES[0],
    "dOTS": figures.STYLES[1],
    "TS": figures.STYLES[6],
    "OTS": figures.STYLES[6],
    "Dynamic TS": figures.STYLES[3],
    "REXP3": figures.STYLES[4],
    "D-UCB": figures.STYLES[2],
    "SW-UCB": figures.STYLES[2],
    "EXP3-IX": figures.STYLES[2],
}
PERIODS_SHOWN = 5
"""More periods than this are a blur: the end of the game is then drawn too, step by step."""


class Panel(NamedTuple):
    """One picture: what it is called, under which profile, its figure, and its content in words."""

    id: str
    measure: str
    profile: Profile | None
    figure: "Figure"
    words: str


def panels_of(experiment: Experiment, found: Findings) -> Iterator[Panel]:
    """The panels of an experiment, measure by measure and profile by profile."""
    match experiment:
        case OverTime():
            yield from _over_time(experiment, found)
        case ByArms():
            yield from _by_arms(experiment, found)
        case ByDiscount():
            yield from _by_discount(experiment, found)
        case DiscountByArms():
            yield from _discount_by_arms(experiment, found)
        case PriorMap():
            yield from _prior_map(experiment, found)
        case Rested():
            yield from _rested(experiment, found)
        case TwoOracles():
            yield from _two_oracles(experiment, found)
        case Environments():
            yield from _environments(experiment)


def _over_time(experiment: OverTime, found: Findings) -> Iterator[Panel]:
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


def _by_arms(experiment: ByArms, found: Findings) -> Iterator[Panel]:
    curves = {
        profile: {name: found.curve(experiment.id, profile, name) for name in experiment.contenders}
        for profile in found.profiles
    }
    top = _top(curve for row in curves.values() for curve in row.values())
    for profile, row in curves.items():
        most = max(experiment.numbers)
        ends = "; ".join(f"{name} {curve[most].normalized_regret.mean:.3f}" for name, curve in row.items())
        figure = figures.regret_by(
            "number of arms", [_line(name, curve) for name, curve in row.items()],
            size=SIZE, title=profile.title, y_limits=(0, top),
        )  # fmt: skip
        figure.axes[0].set_xticks(experiment.numbers)
        words = f"Normalised regret against the number of arms, {experiment.setting.id}, {profile.id}."
        yield Panel(
            f"{experiment.id}-{profile.id}", "Normalised regret", profile, figure, f"{words} With {most} arms: {ends}."
        )


def _by_discount(experiment: ByDiscount, found: Findings) -> Iterator[Panel]:
    name = experiment.policy
    curves = {profile: found.curve(experiment.id, profile, name) for profile in found.profiles}
    top = _top(curves.values())
    for profile, curve in curves.items():
        if profile.fitted:
            curve = {discount: record for discount, record in curve.items() if discount >= min(CANDIDATES)}
        else:
            curve = {discount: record for discount, record in curve.items() if discount in experiment.grid}
        used = discount_of(name, experiment.setting, profile, found.fits)
        best = min(curve, key=lambda discount, curve=curve: curve[discount].normalized_regret.mean)  # type: ignore[misc]
        figure = figures.regret_by(
            "discount", [_line(name, curve)], size=SIZE, title=profile.title, y_limits=(0, top),
            marks=[(used, f"{'fitted' if profile.fitted else 'printed'} {used:g}")],
        )  # fmt: skip
        yield Panel(
            f"{experiment.id}-{profile.id}", "Normalised regret", profile, figure,
            f"Normalised regret of {name} against the discount, {experiment.setting.id}, {profile.id}. Least at "
            f"{best:g}: {curve[best].normalized_regret.mean:.3f}; at {used:g}: "
            f"{found.record(experiment.id, profile, name, used).normalized_regret.mean:.3f}.",
        )  # fmt: skip


def _discount_by_arms(experiment: DiscountByArms, found: Findings) -> Iterator[Panel]:
    curves = {
        (name, profile): {
            arms: found.curve(experiment.id, profile, name, float(arms)) for arms in experiment.numbers
        }
        for name in PROPOSED
        for profile in found.profiles
        if not profile.fitted or len(found.profiles) == 1  # the same games as in the column of the text
    }
    top = _top(curve for row in curves.values() for curve in row.values())
    for (name, profile), row in curves.items():
        best = "; ".join(f"{arms} arms {_least(curve):g}" for arms, curve in row.items())
        figure = figures.regret_by(
            "discount",
            [_line(f"{arms} arms", curve, figures.STYLES[place]) for place, (arms, curve) in enumerate(row.items())],
            size=SIZE, title=f"{name}, {profile.title.lower()}", y_limits=(0, top),
        )  # fmt: skip
        yield Panel(
            f"{experiment.id}-{name.lower()}-{profile.id}", f"Normalised regret of {name}", profile, figure,
            f"Normalised regret of {name} against the discount for several numbers of arms, {experiment.setting.id}, "
            f"{profile.id}. Best discounts: {best}.",
        )  # fmt: skip


def _prior_map(experiment: PriorMap, found: Findings) -> Iterator[Panel]:
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


def _rested(experiment: Rested, found: Findings) -> Iterator[Panel]:
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
            experiment.contenders, [_group(*each) for each in row], x_label="normalised regret", size=SIZE,
            x_limits=(-0.02 * right, right),
        )  # fmt: skip
        numbers = "; ".join(
            f"{name} {free.mean:.3f} restless, {own.mean:.3f} rested"
            for name, free, own in zip(experiment.contenders, row[0][2], row[1][2], strict=True)
        )
        yield Panel(
            f"{experiment.id}-{profile.id}", "Normalised regret", profile, figure,
            f"Normalised regret with restless and rested arms, {experiment.setting.id}, {profile.id}: {numbers}.",
        )  # fmt: skip


def _two_oracles(experiment: TwoOracles, found: Findings) -> Iterator[Panel]:
    for profile in found.profiles:
        records = [found.record(experiment.id, profile, name) for name in experiment.contenders]
        dynamic = [record.normalized_regret for record in records]
        static = [record.static_regret for record in records]
        figure = figures.dots(
            experiment.contenders,
            [_group("dynamic oracle", figures.STYLES[0], dynamic), _group("static oracle", figures.STYLES[1], static)],
            x_label="regret a step", size=SIZE,
        )  # fmt: skip
        numbers = "; ".join(
            f"{name} {one.mean:.3f} dynamic, {other.mean:.3f} static"
            for name, one, other in zip(experiment.contenders, dynamic, static, strict=True)
        )
        yield Panel(
            f"{experiment.id}-{profile.id}", "Regret a step against two oracles", profile, figure,
            f"Regret a step against the dynamic and the static oracle, {experiment.setting.id}, {profile.id}: {numbers}.",
        )  # fmt: skip


def _environments(experiment: Environments) -> Iterator[Panel]:
    for setting in SETTINGS:
        steps = 2 * setting.period
        yield Panel(
            f"{experiment.id}-{setting.id}", "Means of the arms", None,
            figures.environment_means(setting.environment, steps, size=SIZE, title=setting.adjective.capitalize()),
            f"The mean reward of four arms over {steps} steps of the {setting.adjective} environment.",
        )  # fmt: skip


def _series(
    row: dict[str, Record], curve: Callable[[Record], tuple[np.ndarray, ...]], first: int = 0  # type: ignore[type-arg]
) -> list[Series]:
    found = []
    for name, record in row.items():
        x, mean, ci95 = curve(record)
        shown = x > first
        found.append(Series(name, x[shown], mean[shown], ci95[shown], STYLES[name]))
    return found


def _line(label: str, curve: dict[float, Record], style: Style | None = None) -> Series:
    values = [record.normalized_regret for record in curve.values()]
    return Series(
        label, np.array(list(curve)), np.array([value.mean for value in values]),
        np.array([value.ci95 for value in values]), style or STYLES[label],
    )  # fmt: skip


def _group(label: str, style: Style, values: Sequence[figures.Estimate]) -> Series:
    return Series(
        label, np.arange(len(values)), np.array([value.mean for value in values]),
        np.array([value.ci95 for value in values]), style,
    )  # fmt: skip


def _top(curves: Iterable[dict[float, Record]]) -> float:
    return 1.06 * max(record.normalized_regret.mean for curve in curves for record in curve.values())


def _least(curve: dict[float, Record]) -> float:
    return min(curve, key=lambda discount: curve[discount].normalized_regret.mean)


def _power(prior: float) -> str:
    exponent = round(np.log10(prior))
    return "1" if exponent == 0 else f"1e{exponent:d}".replace("-", "−")
