"""What a bandit believes about its arms, as values and as a table."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from driftbandit.errors import InvalidValue
from driftbandit.online.family import beta_of
from driftbandit.online.probabilities import next_probabilities
from driftbandit.online.table import OTHER_DECISIONS, OWN_DECISIONS
from driftbandit.policies import Rule, confidence

if TYPE_CHECKING:
    from rich.table import Table

    from driftbandit.online.bandit import Bandit

TAIL = 0.025


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
    successes: float
    failures: float
    """Of a Beta posterior, the prior included."""


def summarised(bandit: "Bandit", time: float | None = None) -> list[ArmSummary]:
    """The arms with evidence of their own, the most probable first, and then all others as one entry."""
    with bandit._lock:
        ledger, now = bandit._reading(time)
        names = bandit._roster.names
        numbers = ledger.order[0, : ledger.active].tolist()
        seen = ledger.view(now)
        decisions = ledger.table[numbers, OWN_DECISIONS] + ledger.table[numbers, OTHER_DECISIONS]
        asleep = ledger.count - ledger.active
        floor = bandit._floor
        rule = bandit._policy.rule(max(2, ledger.count))
    try:
        awake, each = next_probabilities(bandit._policy, seen[:, :2], asleep)
    except InvalidValue:  # a user's own kind of score
        awake, each = np.full(len(numbers), np.nan), np.nan
    kept = 1.0 - floor * (len(numbers) + asleep)
    rows = [
        _entry(rule, names[k], 1, seen[i], seen, floor + kept * float(awake[i]), int(decisions[i]))
        for i, k in enumerate(numbers)
    ]
    rows.sort(key=lambda row: -row.probability)
    if asleep:
        blank = np.array([*rule.initial, 0.0])
        rows.append(_entry(rule, None, asleep, blank, seen, floor + kept * each, 0))
    return rows


def _entry(rule: Rule, arm: Any, count: int, own: Any, seen: Any, probability: float, decisions: int) -> ArmSummary:
    a, b, observations = own.tolist()
    beta = beta_of(rule)
    mean = low = high = successes = failures = float("nan")
    if beta is not None:
        successes, failures = a + beta.successes, b + beta.failures
        mean, low, high = interval(successes, failures)
    elif rule.score is confidence.index and a > 0.0:
        mean = b / a
        padding = confidence.index(rule.parameters, rule.context(rule.parameters, float(seen[:, 2].sum())), a, b) - mean
        low, high = mean - padding, mean + padding
    return ArmSummary(arm, count, mean, low, high, observations, probability, decisions, successes, failures)


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
