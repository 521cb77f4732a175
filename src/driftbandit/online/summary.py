"""What a bandit believes about its arms, as values and as a table."""

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftbandit.engine.cpu.block import Reals
from driftbandit.errors import InvalidValue
from driftbandit.exact.choice import Surroundings, What, arm_probabilities, pieces_of
from driftbandit.policies import Rule

if TYPE_CHECKING:
    from rich.table import Table

TAIL = 0.025
HEADINGS = ("arm", "mean", "95% interval", "effective sample size", "probability", "decisions")
ENDS = (-1.96, 1.96)
"""Of the 95% interval of a normal posterior, in deviations from its mean."""


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

    def cells(self) -> tuple[str, ...]:
        """A row of a table of arms, below `HEADINGS`."""
        alone, known, likely = self.arm is not None, self.low == self.low, self.probability == self.probability
        return (
            str(self.arm) if alone else f"{self.count} alike, each",
            f"{self.mean:.3f}" if self.mean == self.mean else "–",
            f"{self.low:.3f} – {self.high:.3f}" if known else "–",
            f"{self.observations:.1f}",
            f"{self.probability:.4g}" if likely else "–",
            str(self.decisions) if alone else "–",
        )


class View(NamedTuple):
    """What the next decision would meet; those arms that have evidence are awake."""

    rule: Rule
    name: str
    awake: list[int]
    """Their numbers."""
    seen: Reals
    """What is known of each: the rule's numbers, and the number of observations."""
    eligible: int
    """How many arms there are to choose from; those that are not awake are alike."""
    around: Surroundings
    floor: float
    decisions: list[int]
    """How often each arm awake was chosen."""
    believed: What | None = None
    """What odds are a mixture over."""

    def probabilities(self) -> tuple[Reals, float]:
        """Of each arm that is awake, and of each of the others."""
        asleep, kept = self.eligible - len(self.awake), 1.0 - self.floor * self.eligible
        awake, each = arm_probabilities(self.rule, self.seen[:, :-1], asleep, self.around, self.name, self.believed)
        return self.floor + kept * awake, self.floor + kept * each


def summarised(view: View, names: list[Any]) -> list[ArmSummary]:
    """The arms with evidence of their own, the most probable first, and then all others as one entry."""
    common, total, _ = view.around
    shared = representative(view.rule, total, common)
    try:
        awake, each = view.probabilities()
    except InvalidValue:  # a user's own kind of score
        awake, each = np.full(len(view.awake), np.nan), np.nan
    rows = [
        _entry(view.rule, names[number], 1, seen, shared, chance, decisions)
        for number, seen, chance, decisions in zip(view.awake, view.seen, awake.tolist(), view.decisions, strict=True)
    ]
    if view.believed is not None:
        rows = [_mixed(view.rule, *each) for each in zip(rows, *pieces_of(view.rule, view.believed), strict=True)]
    rows.sort(key=lambda row: -row.probability)
    asleep = view.eligible - len(view.awake)
    if asleep:
        rows.append(_entry(view.rule, None, asleep, np.array([*view.rule.initial, 0.0]), shared, each, 0))
    return rows


def representative(rule: Rule, total: float, common: tuple[float, ...]) -> float:
    """What arms share; where that depends on luck, as it is most often."""
    luck, longest, start = 0.5, 0.0, 0.0
    for end in () if rule.pieces is None else rule.pieces(rule.parameters, total, *common):
        if end - start > longest:
            luck, longest = 0.5 * (start + min(end, 1.0)), end - start
        start = end
    return rule.shared(total, common, luck)


def _entry(
    rule: Rule, arm: Any, count: int, seen: Any, shared: float, probability: float, decisions: int
) -> ArmSummary:
    *own, observations = seen.tolist()
    mean = low = high = float("nan")
    law, shape = "", (mean, mean)
    if rule.interval is not None:
        mean, low, high = rule.interval(rule.parameters, shared, *own)
    elif rule.posterior is not None:
        law, shape = rule.posterior.law, rule.posterior.shape(rule.parameters, shared, *own)
        mean, low, high = interval(*shape) if law != "normal" else (shape[0], *(shape[0] + x * shape[1] for x in ENDS))
    return ArmSummary(arm, count, mean, low, high, observations, probability, decisions, law, shape)


def _mixed(rule: Rule, row: ArmSummary, weights: Reals, numbers: Reals, shapes: Reals) -> ArmSummary:
    """The summary of an arm whose posterior is a mixture of Beta laws."""
    from scipy import optimize, special  # late: takes a while to import

    a, b = shapes.T
    low, high = (
        optimize.brentq(lambda x, tail=tail: float(weights @ special.betainc(a, b, x)) - tail, 0.0, 1.0)
        for tail in (TAIL, 1.0 - TAIL)
    )
    mean = float(weights @ (a / (a + b)))
    count = row.observations
    if rule.observations is not None:
        count = float(
            sum(w * rule.observations(rule.parameters, *own) for w, own in zip(weights, numbers, strict=True))
        )
    nothing = (float("nan"), float("nan"))
    return dataclasses.replace(row, mean=mean, low=low, high=high, observations=count, law="", shape=nothing)


def interval(successes: float, failures: float) -> tuple[float, float, float]:
    """Mean and 95% interval of a Beta posterior.

    >>> [round(value, 3) for value in interval(1.0, 1.0)]
    [0.5, 0.025, 0.975]
    """
    from scipy import special  # late: takes a while to import

    low, high = special.betaincinv(successes, failures, [TAIL, 1.0 - TAIL])
    return successes / (successes + failures), float(low), float(high)


def as_table(rows: list[ArmSummary], title: str, limit: int) -> "Table":
    """A rich table."""
    from rich.table import Table
    from rich.text import Text  # names are shown as they are, not read as markup

    table = Table(title=Text(title), title_justify="left")
    for place, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if place else "left")
    alone = [row for row in rows if row.arm is not None]
    alike = [row for row in rows if row.arm is None]
    for row in alone[:limit] + alike:
        table.add_row(*map(Text, row.cells()))
    if len(alone) > limit:
        table.caption = f"the {limit} most probable of {len(alone)} arms with evidence"
    return table
