"""Claims about the number of arms: C7 to C11."""

import math

from driftbandit.engine.estimate import Estimate
from driftbandit.paper.claims.check import ALMOST, Check, close, less, less_in_mean, not_above, positive
from driftbandit.paper.contenders import COMPARED, PROPOSED
from driftbandit.paper.experiments import ARMS
from driftbandit.paper.findings import Findings, lowest
from driftbandit.paper.printed import ABRUPT, FAST, SETTINGS, SLOW, Setting
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record

RIVALS = ("TS", "Dynamic TS", "REXP3")
FEW, USUAL, MANY = ARMS[0], 4, ARMS[-1]


def _at(found: Findings, profile: Profile, setting: Setting, name: str, arms: int) -> Record:
    return found.record(f"arms-{setting.id}", profile, name, float(arms))


def _best_rival(found: Findings, profile: Profile, setting: Setting, arms: int) -> tuple[str, Record]:
    records = {name: _at(found, profile, setting, name, arms) for name in RIVALS}
    best = min(records, key=lambda name: records[name].normalized_regret.mean)
    return best, records[best]


def margin_kept(found: Findings, profile: Profile) -> list[Check]:
    """Slow and fast: at every number of arms dTS and dOTS have less regret than the best of TS, Dynamic TS and REXP3,
    and with the most arms the lead is at least half of what it is with four.
    """
    checks = []
    for setting in (SLOW, FAST):
        for own in PROPOSED:
            leads = {}
            for arms in ARMS:
                name, rival = _best_rival(found, profile, setting, arms)
                record = _at(found, profile, setting, own, arms)
                checks.append(less(f"{setting.id}, {arms} arms", own, record, name, rival))
                ahead, behind = record.normalized_regret, rival.normalized_regret
                leads[arms] = Estimate(behind.mean - ahead.mean, math.hypot(ahead.ci95, behind.ci95))
            many, usual = leads[MANY], leads[USUAL]
            kept = Estimate(many.mean - usual.mean / 2, math.hypot(many.ci95, usual.ci95 / 2))
            text = f"{setting.id}, {own}: lead {many.mean:.4f} with {MANY} arms > half of {usual.mean:.4f} with {USUAL}"
            checks.append(Check(text, positive(kept)))
    return checks


def caught_up(found: Findings, profile: Profile) -> list[Check]:
    """Abrupt: with the most arms, dTS and dOTS are within 10% of the best of TS, Dynamic TS and REXP3, and every policy
    has more regret with the most arms than with the fewest.
    """
    name, rival = _best_rival(found, profile, ABRUPT, MANY)
    checks = []
    for own in PROPOSED:
        record = _at(found, profile, ABRUPT, own, MANY)
        checks.append(close(f"{MANY} arms", own, record.regret[:, -1], name, rival.regret[:, -1]))
    return checks + [_grows(found, profile, ABRUPT, each, FEW) for each in COMPARED]


def thompson_high(found: Findings, profile: Profile) -> list[Check]:
    """Slow and fast: with four arms and more, TS has more regret than Dynamic TS, dTS and dOTS."""
    return [
        less(f"{setting.id}, {arms} arms", name, _at(found, profile, setting, name, arms), "TS",
             _at(found, profile, setting, "TS", arms))
        for setting in (SLOW, FAST)
        for arms in ARMS
        if arms >= USUAL
        for name in ("Dynamic TS", *PROPOSED)
    ]  # fmt: skip


def restarting_suffers(found: Findings, profile: Profile) -> list[Check]:
    """Slow: REXP3 has more regret with the most arms than with four. Abrupt: with the most arms it has more regret than
    each of the others.
    """
    worst = _at(found, profile, ABRUPT, "REXP3", MANY)
    others = [name for name in COMPARED if name != "REXP3"]
    return [
        _grows(found, profile, SLOW, "REXP3", USUAL),
        *(
            less(f"abrupt, {MANY} arms", name, _at(found, profile, ABRUPT, name, MANY), "REXP3", worst)
            for name in others
        ),
    ]


def discount_stays(found: Findings, profile: Profile) -> list[Check]:
    """In every environment, for dTS and dOTS and any number of arms, the discount that is best with four arms costs at
    most 10% more regret than the best one.
    """
    checks = []
    for setting in SETTINGS:
        for name in PROPOSED:
            experiment = f"discount-arms-{setting.id}"
            curves = {arms: found.curve(experiment, profile, name, float(arms)) for arms in (USUAL, 2, 12)}
            best = {arms: lowest(curve) for arms, curve in curves.items()}
            for arms in (2, 12):
                usual, own = curves[arms][best[USUAL]], curves[arms][best[arms]]
                checks.append(
                    not_above(f"{setting.id}, {name}, {arms} arms", f"discount {best[USUAL]:g}", usual.regret[:, -1],
                              f"discount {best[arms]:g}", own.regret[:, -1], ALMOST)
                )  # fmt: skip
    return checks


def _grows(found: Findings, profile: Profile, setting: Setting, name: str, start: int) -> Check:
    few = _at(found, profile, setting, name, start).normalized_regret
    many = _at(found, profile, setting, name, MANY).normalized_regret
    return less_in_mean(f"{setting.id}, {name}", f"{start} arms", few, f"{MANY} arms", many)
