"""Claims about the comparisons of the appendix: C16 to C19."""

from driftbandit.paper.claims.check import Check, close, less
from driftbandit.paper.contenders import PROPOSED
from driftbandit.paper.findings import Findings
from driftbandit.paper.printed import ABRUPT, FAST, SETTINGS, SLOW, Setting
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record


def _in(found: Findings, profile: Profile, rival: str, setting: Setting, name: str) -> Record:
    return found.record(f"{rival.lower()}-{setting.id}", profile, name)


def _beaten(found: Findings, profile: Profile, rival: str, setting: Setting, own: str) -> Check:
    record, other = (_in(found, profile, rival, setting, name) for name in (own, rival))
    return less(setting.id, own, record, rival, other)


def discounted_ucb_beaten(found: Findings, profile: Profile) -> list[Check]:
    """Fast and slow: dTS and dOTS each have less regret than D-UCB at the end of the comparison."""
    return [_beaten(found, profile, "D-UCB", setting, own) for setting in (FAST, SLOW) for own in PROPOSED]


def discounted_ucb_abrupt(found: Findings, profile: Profile) -> list[Check]:
    """Abrupt: the regret of D-UCB is within 10% of that of dTS, and dOTS has less than D-UCB."""
    rival, own = (_in(found, profile, "D-UCB", ABRUPT, name).regret[:, -1] for name in ("D-UCB", "dTS"))
    return [close("abrupt", "D-UCB", rival, "dTS", own), _beaten(found, profile, "D-UCB", ABRUPT, "dOTS")]


def sliding_window_beaten(found: Findings, profile: Profile) -> list[Check]:
    """In every environment, dTS and dOTS each have less regret than SW-UCB at the end of the comparison."""
    return [_beaten(found, profile, "SW-UCB", setting, own) for setting in SETTINGS for own in PROPOSED]


def implicit_exploration_beaten(found: Findings, profile: Profile) -> list[Check]:
    """In every environment, dTS and dOTS each have less regret than EXP3-IX; fast and slow: EXP3-IX has more regret
    than D-UCB, SW-UCB, REXP3, Dynamic TS and TS too, over the same horizon.
    """
    checks = [_beaten(found, profile, "EXP3-IX", setting, own) for setting in SETTINGS for own in PROPOSED]
    for setting in (FAST, SLOW):
        worst = _in(found, profile, "EXP3-IX", setting, "EXP3-IX")
        for name in ("REXP3", "Dynamic TS", "TS"):
            checks.append(less(setting.id, name, _in(found, profile, "EXP3-IX", setting, name), "EXP3-IX", worst))
        for name in ("D-UCB", "SW-UCB"):
            checks.append(less(setting.id, name, _in(found, profile, name, setting, name), "EXP3-IX", worst))
    return checks
