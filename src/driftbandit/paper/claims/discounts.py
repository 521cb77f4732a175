"""Claims about the discount: C12 to C15."""

import itertools
import math

import numpy as np

from driftbandit.engine.estimate import Estimate, estimate
from driftbandit.paper.claims.check import Check, not_above, positive
from driftbandit.paper.contenders import PROPOSED
from driftbandit.paper.experiments import UNDISCOUNTED
from driftbandit.paper.findings import Findings, lowest
from driftbandit.paper.printed import ABRUPT, FAST, SETTINGS, SLOW, Setting
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record

SAME = 0.005
"""Difference in normalised regret below which two policies act alike."""
NEAR = 0.05
"""How much above the least regret still counts as near the best."""


def discount_curve(found: Findings, profile: Profile, setting: Setting, name: str) -> dict[float, Record]:
    """Records by discount, in ascending order."""
    return found.curve(f"discount-{name.lower()}-{setting.id}", profile, name)


def smooth(found: Findings, profile: Profile) -> list[Check]:
    """Slow and fast: regret falls up to one discount and rises from there; a step in the wrong direction counts only
    beyond its interval, widened for the number of steps (Bonferroni), and leaves the claim open beyond a plain one.
    """
    return [_one_valley(found, profile, setting, name) for setting in (SLOW, FAST) for name in PROPOSED]


def _one_valley(found: Findings, profile: Profile, setting: Setting, name: str) -> Check:
    from scipy import special

    curve = discount_curve(found, profile, setting, name)
    discounts, best = list(curve), lowest(curve)
    steps = len(discounts) - 1
    wider = float(special.ndtri(1 - 0.025 / steps) / special.ndtri(0.975))
    outcome: bool | None = True
    worst = 0.0
    for left, right in itertools.pairwise(discounts):
        rise = estimate(curve[right].regret[:, -1] - curve[left].regret[:, -1])
        wrong = Estimate(rise.mean if right <= best else -rise.mean, rise.ci95)
        worst = max(worst, wrong.mean)
        if not math.isfinite(wrong.ci95) or (wrong.low > 0 and outcome):
            outcome = None
        if wrong.mean > wider * wrong.ci95:
            outcome = False
    least = curve[best].normalized_regret.mean
    text = f"{setting.id}, {name}: one valley, at {best:g} ({least:.4f}); largest step against it {worst:.4f}"
    return Check(text, outcome)


def abrupt_peak(found: Findings, profile: Profile) -> list[Check]:
    """Abrupt: on discounts 0.05 apart, regret at 0.95 is above that at 0.90 and above that at 1, for dTS and dOTS."""
    checks = []
    for name in PROPOSED:
        curve = discount_curve(found, profile, ABRUPT, name)
        peak = curve[0.95].regret[:, -1]
        for other in (0.90, 1.0):
            difference = estimate(peak - curve[other].regret[:, -1])
            value = curve[other].normalized_regret.mean
            text = f"{name}: at 0.95 {np.mean(peak):.4f} > at {other:g} {value:.4f} (by {difference})"
            checks.append(Check(text, positive(difference)))
    return checks


def undiscounted(found: Findings, profile: Profile) -> list[Check]:
    """In every environment, the regret of dTS with discount 1 differs from that of TS by less than 0.005, and that of
    dOTS from that of OTS.
    """
    checks = []
    for setting in SETTINGS:
        for name, alone in UNDISCOUNTED.items():
            record = discount_curve(found, profile, setting, name)[1.0]
            plain = found.record(f"discount-{name.lower()}-{setting.id}", profile, alone)
            difference = estimate(record.regret[:, -1] - plain.regret[:, -1])
            outcome: bool | None = None
            if abs(difference.mean) + difference.ci95 < SAME:
                outcome = True
            elif abs(difference.mean) - difference.ci95 > SAME:
                outcome = False
            checks.append(Check(f"{setting.id}: {name} at 1 − {alone} = {difference}", outcome))
    return checks


def printed_best(found: Findings, profile: Profile) -> list[Check]:
    """In every environment, for dTS and dOTS, the regret at the printed discount is at most 5% above the least regret
    along the curve.
    """
    checks = []
    for setting in SETTINGS:
        for name in PROPOSED:
            curve = discount_curve(found, profile, setting, name)
            discount = setting.discount
            best = lowest(curve)
            checks.append(
                not_above(f"{setting.id}, {name}", f"discount {discount:g}", curve[discount].regret[:, -1],
                          f"discount {best:g}", curve[best].regret[:, -1], NEAR)
            )  # fmt: skip
    return checks
