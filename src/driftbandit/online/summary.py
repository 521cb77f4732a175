"""What a bandit believes about its arms, as values and as a table."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from driftbandit.errors import InvalidValue
from driftbandit.online.probabilities import next_probabilities, representative
from driftbandit.policies import Rule

if TYPE_CHECKING:
    from rich.table import Table

    from driftbandit.online.bandit import Bandit

TAIL = 0.025
DEVIATIONS = 1.96
"""Of a normal posterior, on either side of its mean: 95%."""


@dataclasses.dataclass(frozen=True, slots=True)
class ArmSummary:
    """One arm; what a policy does not know is NaN."""

    arm: Any
    """Its name, or None for all arms that are alike at their prior."""
    count: int
    """How many arms this stands for."""
    mean: float
    """Of the posterior, or of the rewards."""
    low: float
    high: float
    """The 95% interval of a posterior, or the confidence interval of an index."""
    observations: float
    """Effective sample size: rewards, each counted as much as it has not faded."""
    probability: float
    """That the next decision chooses it."""
    decisions: int
    law: str
    """Of the posterior, or nothing where there is none."""
    shape: tuple[float, float]
    """The two numbers of that law."""


def summarised(bandit: "Bandit", time: float | None = None) -> list[ArmSummary]:
    """The arms with evidence of their own, the most probable first, and then all others as one entry."""
    with bandit._lock:
        ledger, now = bandit._reading(time)
        names = bandit._roster.names
        numbers = ledger.order[0, : ledger.active].tolist()
        seen = ledger.view(now)
        decisions = ledger.table[numbers, ledger.at.decisions] + ledger.table[numbers, ledger.at.other_decisions]
        asleep = ledger.count - ledger.active
        floor = bandit._floor
        rule = bandit._chooser.rule_for(ledger.count)
        common, total = ledger.common(), ledger.total_of(seen)
        around = (common, total, bandit._chooser.sequence + 1.0)
    shared = representative(rule, total, common)
    try:
        awake, each = next_probabilities(rule, seen[:, :-1], asleep, around, bandit._policy.name)
    except InvalidValue:  # a user's own kind of score
        awake, each = np.full(len(numbers), np.nan), np.nan
    kept = 1.0 - floor * (len(numbers) + asleep)
    rows = [
        _entry(rule, names[k], 1, seen[i], shared, floor + kept * float(awake[i]), int(decisions[i]))
        for i, k in enumerate(numbers)
    ]
    rows.sort(key=lambda row: -row.probability)
    if asleep:
        blank = np.array([*rule.initial, 0.0])
        rows.append(_entry(rule, None, asleep, blank, shared, floor + kept * each, 0))
    return rows


def _entry(
    rule: Rule, arm: Any, count: int, seen: Any, shared: float, probability: float, decisions: int
) -> ArmSummary:
    *own, observations = seen.tolist()
    mean = low = high = float("nan")
    law, shape = "", (mean, mean)
    if rule.posterior is not None:
        law, shape = rule.posterior.law, rule.posterior.shape(rule.parameters, shared, *own)
        mean, low, high = interval(*shape) if law != "normal" else normal_interval(*shape)
    elif rule.interval is not None:
        mean, low, high = rule.interval(rule.parameters, shared, *own)
    return ArmSummary(arm, count, mean, low, high, observations, probability, decisions, law, shape)


def normal_interval(mean: float, deviation: float) -> tuple[float, float, float]:
    """Mean and 95% interval of a normal posterior."""
    return mean, mean - DEVIATIONS * deviation, mean + DEVIATIONS * deviation


def interval(successes: float, failures: float) -> tuple[float, float, float]:
    """Mean and 95% interval of a Beta posterior.

    >>> [round(value, 3) for value in interval(1.0, 1.0)]
    [0.5, 0.025, 0.975]
    """
    low, high = special.betaincinv(successes, failures, [TAIL, 1.0 - TAIL])
    return successes / (successes + failures), float(low), float(high)


def as_table(bandit: "Bandit", limit: int) -> "Table":
    """A rich table."""
    from rich.table import Table

    rows = summarised(bandit)
    table = Table(title=f"{bandit._policy} · {len(bandit)} arms · {bandit.decisions} decisions", title_justify="left")
    table.add_column("arm")
    for heading in ("mean", "95% interval", "effective sample size", "probability", "decisions"):
        table.add_column(heading, justify="right")
    alone = [row for row in rows if row.arm is not None]
    alike = [row for row in rows if row.arm is None]
    for row in alone[:limit] + alike:
        name = str(row.arm) if row.arm is not None else f"{row.count} alike, each"
        known = row.low == row.low
        table.add_row(
            name,
            f"{row.mean:.3f}" if row.mean == row.mean else "–",
            f"{row.low:.3f} – {row.high:.3f}" if known else "–",
            f"{row.observations:.1f}",
            f"{row.probability:.4g}" if row.probability == row.probability else "–",
            str(row.decisions) if row.arm is not None else "–",
        )
    if len(alone) > limit:
        table.caption = f"the {limit} most probable of {len(alone)} arms with evidence"
    return table
