"""Claims about regret over time: C1 to C6."""

from driftbandit.engine.estimate import estimate
from driftbandit.paper.claims.check import Check, close, less, less_in_mean, positive
from driftbandit.paper.contenders import PROPOSED
from driftbandit.paper.findings import Findings
from driftbandit.paper.printed import FAST, SETTINGS, SLOW, Setting
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record


def _policy(found: Findings, profile: Profile, setting: Setting, name: str) -> Record:
    return found.record(f"regret-{setting.id}", profile, name)


def constant(setting: Setting, name: str, record: Record) -> Check:
    """Whether normalised regret is almost the same at the first and at the last fifth of the horizon."""
    first, last = int(record.checkpoints[0]), int(record.checkpoints[-1])
    return close(f"{setting.id}, {name}", f"at {last}", record.regret[:, -1], f"at {first}", record.regret[:, 0])


def grown(setting: Setting, name: str, record: Record) -> Check:
    """Whether normalised regret is larger at the end than after the first fifth of the horizon."""
    first, last = int(record.checkpoints[0]), int(record.checkpoints[-1])
    outcome = positive(estimate(record.regret[:, -1] - record.regret[:, 0]))
    start, end = estimate(record.regret[:, 0]), estimate(record.regret[:, -1])
    return Check(f"{setting.id}, {name}: at {last} {end.mean:.4f} > at {first} {start.mean:.4f}", outcome)


def constant_regret(found: Findings, profile: Profile) -> list[Check]:
    """In every environment and for each of the four policies, normalised regret at step T is within 10% of that at step
    T/5 (both are whole numbers of periods).
    """
    return [
        constant(setting, name, _policy(found, profile, setting, name))
        for setting in SETTINGS
        for name in ("Dynamic TS", "REXP3", *PROPOSED)
    ]


def growing_thompson(found: Findings, profile: Profile) -> list[Check]:
    """In every environment, the normalised regret of TS at step T is above that at step T/5."""
    return [grown(setting, "TS", _policy(found, profile, setting, "TS")) for setting in SETTINGS]


def low_start(found: Findings, profile: Profile) -> list[Check]:
    """Slow and fast: after a quarter of a period, TS, Dynamic TS, dTS and dOTS are below REXP3; TS and Dynamic TS are
    higher at step T than then; dTS and dOTS are below both of them at step T.
    """
    checks = []
    for setting in (SLOW, FAST):
        early = setting.period // 4
        records = {name: _policy(found, profile, setting, name) for name in ("TS", "Dynamic TS", "REXP3", *PROPOSED)}
        where = f"{setting.id}, step {early}"
        for name in ("TS", "Dynamic TS", *PROPOSED):
            checks.append(less_in_mean(where, name, records[name].at(early), "REXP3", records["REXP3"].at(early)))
        for name in ("TS", "Dynamic TS"):
            record = records[name]
            end = record.normalized_regret
            checks.append(less_in_mean(f"{setting.id}, {name}", f"at {early}", record.at(early), "at the end", end))
            checks += [less(f"{setting.id}, end", own, records[own], name, record) for own in PROPOSED]
    return checks


def restarting_start(found: Findings, profile: Profile) -> list[Check]:
    """Slow and fast: after a quarter of a period REXP3 has the highest regret of the five policies, and its normalised
    regret at step T is within 10% of that at step T/5.
    """
    checks = []
    for setting in (SLOW, FAST):
        early = setting.period // 4
        rival = _policy(found, profile, setting, "REXP3")
        for name in ("TS", "Dynamic TS", *PROPOSED):
            value = _policy(found, profile, setting, name).at(early)
            checks.append(less_in_mean(f"{setting.id}, step {early}", name, value, "REXP3", rival.at(early)))
        checks.append(constant(setting, "REXP3", rival))
    return checks


def optimism_helps(found: Findings, profile: Profile) -> list[Check]:
    """In every environment, dOTS has less regret at step T than dTS."""
    return [
        less(setting.id, "dOTS", _policy(found, profile, setting, "dOTS"), "dTS",
             _policy(found, profile, setting, "dTS"))
        for setting in SETTINGS
    ]  # fmt: skip


def proposed_win(found: Findings, profile: Profile) -> list[Check]:
    """In every environment, dTS and dOTS each have less regret at step T than TS, Dynamic TS and REXP3."""
    return [
        less(setting.id, own, _policy(found, profile, setting, own), rival, _policy(found, profile, setting, rival))
        for setting in SETTINGS
        for own in PROPOSED
        for rival in ("TS", "Dynamic TS", "REXP3")
    ]
