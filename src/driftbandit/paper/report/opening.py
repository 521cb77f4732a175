"""The picture that opens the report."""

from collections.abc import Iterator

from driftbandit import figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.findings import Findings, NotRun, lowest
from driftbandit.paper.panel import SIZE, line
from driftbandit.paper.printed import SETTINGS
from driftbandit.paper.profiles import PUBLISHED, TEXT


def opening(found: Findings) -> Iterator[Panel]:
    """What was found: regret of dTS against the discount under both rules, with the printed discount marked."""
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
        best = "; ".join(f"{label} discounted: least at {lowest(curve):g}" for label, (curve, _) in curves.items())
        figure = figures.regret_by(
            "discount", [line(label, curve, style) for label, (curve, style) in curves.items()], size=SIZE,
            title=setting.id.capitalize(), marks=[(setting.discount, f"printed {setting.discount:.2f}")],
        )  # fmt: skip
        yield Panel(
            f"opening-{setting.id}", "Normalised regret of dTS", figure,
            f"Normalised regret of dTS against the discount in the {setting.adjective} environment. {best}; the paper "
            f"prints {setting.discount:g}.",
        )  # fmt: skip
