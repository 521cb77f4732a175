"""Which policy a log recommends in the place of the one that made it, and whether that is sure."""

import dataclasses
import importlib
import math
from typing import TYPE_CHECKING, NamedTuple

from driftbandit.errors import InvalidValue
from driftbandit.logs.half_lives import discount_of, memory
from driftbandit.logs.rehearsal import Rehearsed
from driftbandit.logs.value import Weights, few
from driftbandit.policies import (
    DiscountedOptimisticThompsonSampling,
    DiscountedThompsonSampling,
    Policy,
    ThompsonSampling,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORTEST = 8
"""Steps: the least half-life of the usual candidates."""
JUDGED = 0.25
"""Of a log, how long a half-life it can judge: it cannot price a drift that is not in it."""
ALPHA = 0.05
MARK, BEYOND = " *", ", which remembers longer than the log can judge"


class Gain(NamedTuple):
    """How much more than the current policy another one would earn a decision; intervals of all hold at once."""

    policy: Policy
    gain: float
    low: float
    high: float
    beyond: bool
    """Whether it remembers longer than the log can judge, as whoever never forgets does in any log: what it loses when
    something changes that did not change in the log is not in these figures.
    """


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What a log recommends."""

    best: Policy
    """The best guess."""
    sure: bool
    """Whether it is surely better than the current one: its interval, of all candidates' at once, is above 0."""
    current: Policy
    candidates: tuple[Gain, ...]
    """The best first; the current policy is not among them."""
    longest_half_life: float
    """In steps: what the log can judge."""
    decisions: int
    notes: tuple[str, ...] = ()
    """What was assumed, and what is odd about the log."""

    def __repr__(self) -> str:
        width = max((len(str(row.policy)) for row in self.candidates), default=0)
        rows = [
            f"{row.policy!s:<{width}}  {row.gain:+.4f}  {row.low:+.4f} to {row.high:+.4f}{MARK * row.beyond}"
            for row in self.candidates
        ]
        return "\n".join([f"current: {self.current}", *rows, self.judged, self.advice, *self.notes])

    @property
    def judged(self) -> str:
        """What the log can judge, and what the mark means."""
        marked = any(row.beyond for row in self.candidates)
        said = f"the log can judge half-lives of up to {self.longest_half_life:.0f} steps"
        return said + f";{MARK} remembers longer" * marked

    def plot(self) -> "Figure":
        """The gains of the candidates with their intervals, as a Matplotlib figure."""
        figures = importlib.import_module("driftbandit.figures.values")  # a layer above: only here, and late
        figure: Figure = figures.gains(self)
        return figure

    @property
    def advice(self) -> str:
        """The recommendation as a sentence."""
        if self.best == self.current:
            return f"best guess: keep {self.current}"
        [row] = [row for row in self.candidates if row.policy == self.best]
        half = row.gain - row.low
        said = [f"best guess: {row.policy} ({row.gain:+.4f} ± {half:.4f}){BEYOND * row.beyond}"]
        if self.sure:
            said.append("sure: yes")
        else:
            more = self.decisions * ((half / row.gain) ** 2 - 1.0)
            said.append(f"sure: no, {rounded(more)} more decisions could tell")
            surely = [other for other in self.candidates if other.low > 0.0][:1]
            said += (
                f"{other.policy}{(BEYOND + ',') * other.beyond} is surely better than the current one"
                for other in surely
            )
        if row.beyond:
            said.append(f"the best guess of what it can judge is {self.best_judged}")
        return "; ".join(said)

    @property
    def best_judged(self) -> Policy:
        """The best guess among those that do not remember longer than the log can judge."""
        gains = [row.policy for row in self.candidates if row.gain > 0.0 and not row.beyond]
        return gains[0] if gains else self.current


def rounded(count: float) -> str:
    """A number as people say it: two digits.

    >>> rounded(12345.6)
    '12 000'
    """
    digits = max(0, math.floor(math.log10(max(count, 1.0))) - 1)
    return f"{round(count / 10**digits) * 10**digits:,}".replace(",", " ")


def usual_candidates(steps: float) -> list[Policy]:
    """Thompson sampling that forgets, with half-lives from 8 steps to what a log of so many can judge; and, to compare
    with, one that never does.

    >>> [str(policy) for policy in usual_candidates(100)]
    ['dts:discount=0.917', 'dts:discount=0.958', 'dots:discount=0.917', 'dots:discount=0.958', 'ts']
    """
    kinds = DiscountedThompsonSampling, DiscountedOptimisticThompsonSampling
    discounts, half_life = [], float(SHORTEST)
    while memory(kinds[0](discount=discount_of(half_life)), 2) <= JUDGED * steps:
        discounts.append(discount_of(half_life))
        half_life *= 2.0
    if not discounts:
        said = f"{SHORTEST / JUDGED:.0f} steps, four of the least half-lives, for the usual candidates"
        raise InvalidValue(f"log must have at least {said}, got {steps:g}")
    return [*(kind(discount=each) for kind in kinds for each in discounts), ThompsonSampling()]


def tuning(
    current: Policy, logged: Rehearsed, others: dict[Policy, Rehearsed], steps: float, n_arms: int, notes: list[str]
) -> Tuning:
    """The recommendation, from what everybody would earn."""
    from scipy import special  # late: takes a while to import

    wide = float(special.ndtri(1.0 - ALPHA / (2.0 * max(1, len(others)))))
    longest = JUDGED * steps
    rows = []
    for policy, found in others.items():
        gain, error = found.gain(logged)
        rows.append(Gain(policy, gain, gain - wide * error, gain + wide * error, memory(policy, n_arms) > longest))
    rows.sort(key=lambda row: -row.gain)
    notes += few(len(logged.terms))
    for policy, found in [(current, logged), *others.items()]:
        notes += (f"{policy}: {said}" for said in Weights.of_each(found.weights).doubts())
    best = rows[0] if rows and rows[0].gain > 0.0 else None
    if best is not None and best.beyond:
        notes.append(
            f"{best.policy} remembers longer than the log can judge, which is a half-life of {longest:.0f} steps: "
            "what it loses when something changes that did not change here is not in these figures"
        )
    return Tuning(
        current if best is None else best.policy, best is not None and best.low > 0.0, current, tuple(rows), longest,
        len(logged.terms), tuple(notes),
    )  # fmt: skip
