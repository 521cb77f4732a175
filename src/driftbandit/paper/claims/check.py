"""Comparisons of results: true, false, or open where their interval does not decide."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from driftbandit.engine.estimate import Estimate, estimate
from driftbandit.paper.record import Reals, Record

ALMOST = 0.10
"""How much relative change still counts as almost constant, comparable, or the same."""


class Check(NamedTuple):
    """One comparison that a claim rests on, with its numbers."""

    text: str
    outcome: bool | None
    """None: the interval does not decide."""


def positive(difference: Estimate) -> bool | None:
    """Whether a difference is above 0."""
    if not math.isfinite(difference.ci95):
        return None
    if difference.low > 0:
        return True
    return False if difference.high < 0 or difference.mean == difference.ci95 == 0 else None


def all_of(outcomes: Sequence[bool | None]) -> bool | None:
    """True if all are, False if one is not, else open."""
    if any(outcome is False for outcome in outcomes):
        return False
    return None if any(outcome is None for outcome in outcomes) else True


def less(where: str, name: str, record: Record, other_name: str, other: Record) -> Check:
    """Whether one policy's normalised regret is below another's, paired run by run."""
    difference = estimate(other.regret[:, -1] - record.regret[:, -1])
    text = f"{where}: {name} {_short(record.normalized_regret)} < {other_name} {_short(other.normalized_regret)}"
    return Check(text, positive(difference))


def less_in_mean(where: str, name: str, value: Estimate, other_name: str, other: Estimate) -> Check:
    """The same for two estimates that are not paired."""
    difference = Estimate(other.mean - value.mean, math.hypot(value.ci95, other.ci95))
    return Check(f"{where}: {name} {_short(value)} < {other_name} {_short(other)}", positive(difference))


def close(where: str, name: str, values: Reals, other_name: str, others: Reals, tolerance: float = ALMOST) -> Check:
    """Whether one mean lies between 1 − tolerance and 1 + tolerance times the other."""
    above = positive(estimate(values - (1.0 - tolerance) * others))
    below = positive(estimate((1.0 + tolerance) * others - values))
    text = (
        f"{where}: {name} {_short(estimate(values))} within {tolerance:.0%} of {other_name} {_short(estimate(others))}"
    )
    return Check(text, all_of([above, below]))


def not_above(where: str, name: str, values: Reals, other_name: str, others: Reals, tolerance: float) -> Check:
    """Whether one mean is at most 1 + tolerance times the other."""
    text = f"{where}: {name} {_short(estimate(values))} at most {tolerance:.0%} above {other_name} "
    return Check(text + _short(estimate(others)), positive(estimate((1.0 + tolerance) * others - values)))


def _short(value: Estimate) -> str:
    return f"{value.mean:.4f}±{value.ci95:.4f}" if math.isfinite(value.ci95) else f"{value.mean:.4f}"
