"""Panels of regret against the number of arms or the discount."""

from collections.abc import Iterator

from driftbandit import figures
from driftbandit.paper.contenders import PROPOSED, discount_of
from driftbandit.paper.drawing.panel import SIZE, Panel, ceiling, least, line
from driftbandit.paper.experiment import ByArms, ByDiscount, DiscountByArms
from driftbandit.paper.experiments import CANDIDATES
from driftbandit.paper.findings import Findings, NotRun
from driftbandit.paper.printed import SETTINGS
from driftbandit.paper.profiles import PUBLISHED, TEXT


def by_arms(experiment: ByArms, found: Findings) -> Iterator[Panel]:
    """Regret against the number of arms, for each profile."""
    curves = {
        profile: {name: found.curve(experiment.id, profile, name) for name in experiment.contenders}
        for profile in found.profiles
    }
    top = ceiling(curve for row in curves.values() for curve in row.values())
    for profile, row in curves.items():
        most = max(experiment.numbers)
        ends = "; ".join(f"{name} {curve[most].normalized_regret.mean:.3f}" for name, curve in row.items())
        figure = figures.regret_by(
            "number of arms", [line(name, curve) for name, curve in row.items()],
            size=SIZE, title=profile.title, y_limits=(0, top),
        )  # fmt: skip
        figure.axes[0].set_xticks(experiment.numbers)
        words = f"Normalised regret against the number of arms, {experiment.setting.id}, {profile.id}."
        yield Panel(
            f"{experiment.id}-{profile.id}", "Normalised regret", profile, figure, f"{words} With {most} arms: {ends}."
        )


def by_discount(experiment: ByDiscount, found: Findings) -> Iterator[Panel]:
    """Regret against the discount; the fitted column looks closely at where the candidates are."""
    name = experiment.policy
    curves = {profile: found.curve(experiment.id, profile, name) for profile in found.profiles}
    top = ceiling(curves.values())
    for profile, curve in curves.items():
        if profile.fitted:
            curve = {discount: record for discount, record in curve.items() if discount >= min(CANDIDATES)}
        else:
            curve = {discount: record for discount, record in curve.items() if discount in experiment.grid}
        used = discount_of(name, experiment.setting, profile, found.fits)
        best = least(curve)
        figure = figures.regret_by(
            "discount", [line(name, curve)], size=SIZE, title=profile.title, y_limits=(0, top),
            marks=[(used, f"fitted {used:g}" if profile.fitted else f"printed {used:.2f}")],
        )  # fmt: skip
        yield Panel(
            f"{experiment.id}-{profile.id}", "Normalised regret", profile, figure,
            f"Normalised regret of {name} against the discount, {experiment.setting.id}, {profile.id}. Least at "
            f"{best:g}: {curve[best].normalized_regret.mean:.3f}; at {used:g}: "
            f"{found.record(experiment.id, profile, name, used).normalized_regret.mean:.3f}.",
        )  # fmt: skip


def discount_by_arms(experiment: DiscountByArms, found: Findings) -> Iterator[Panel]:
    """Regret against the discount, a line for each number of arms."""
    curves = {
        (name, profile): {arms: found.curve(experiment.id, profile, name, float(arms)) for arms in experiment.numbers}
        for name in PROPOSED
        for profile in found.profiles
        if not profile.fitted or len(found.profiles) == 1  # the same games as in the column of the text
    }
    top = ceiling(curve for row in curves.values() for curve in row.values())
    for (name, profile), row in curves.items():
        best = "; ".join(f"{arms} arms {least(curve):g}" for arms, curve in row.items())
        figure = figures.regret_by(
            "discount",
            [line(f"{arms} arms", curve, figures.STYLES[place]) for place, (arms, curve) in enumerate(row.items())],
            size=SIZE, title=f"{name}, {profile.title.lower()}", y_limits=(0, top),
        )  # fmt: skip
        yield Panel(
            f"{experiment.id}-{name.lower()}-{profile.id}", f"Normalised regret of {name}", profile, figure,
            f"Normalised regret of {name} against the discount for several numbers of arms, {experiment.setting.id}, "
            f"{profile.id}. Best discounts: {best}.",
        )  # fmt: skip


def opening(found: Findings) -> Iterator[Panel]:
    """What was found, in one picture: dTS against the discount under both rules, and where the paper's discount is."""
    rules = [("every arm", TEXT, figures.STYLES[0]), ("chosen arm", PUBLISHED, figures.STYLES[1])]
    for setting in SETTINGS:
        experiment = f"discount-dts-{setting.id}"
        try:
            curves = {
                label: (found.curve(experiment, profile, "dTS"), style)
                for label, profile, style in rules
                if profile in found.profiles
            }
        except NotRun:
            continue
        if not curves:
            continue
        best = "; ".join(f"{label} discounted: least at {least(curve):g}" for label, (curve, _) in curves.items())
        figure = figures.regret_by(
            "discount", [line(label, curve, style) for label, (curve, style) in curves.items()], size=SIZE,
            title=setting.id.capitalize(), marks=[(setting.discount, f"printed {setting.discount:.2f}")],
        )  # fmt: skip
        yield Panel(
            f"opening-{setting.id}", "Normalised regret of dTS", None, figure,
            f"Normalised regret of dTS against the discount in the {setting.adjective} environment. {best}; the paper "
            f"prints {setting.discount:g}.",
        )  # fmt: skip
