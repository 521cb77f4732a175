"""What a policy, or always the same arm, would have earned: an estimate with an interval, made of sums."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from driftbandit.engine.cpu.block import Reals
from driftbandit.logs.confidence_sequence import bounds
from driftbandit.logs.rehearsal import Rehearsed
from driftbandit.logs.terms import Terms

NORMAL = 1.959963984540054
"""Deviations from the mean that a normal law stays within with a probability of 95%."""
ALPHA = 0.05
DOUBT = 3.0
"""Standard errors by which weights may be off their mean of 1."""
FEWEST = 2
"""Decisions of which an interval can be made."""
FEW_DECISIONS, FEW_EFFECTIVE, LARGE_SHARE = 200, 30.0, 0.1


@dataclasses.dataclass(frozen=True)
class Value:
    """What somebody else than the logged policy would have earned a decision.

    kind says what is meant: "arm", always that arm; "one-step", a policy that had decided alone at each moment, from
    what the logged policy had seen (not what it would have seen itself); "live", a policy in the place of the logged
    one.
    """

    target: str
    mean: float
    """Doubly robust: nearly without bias whatever drifted; cut to [0, 1], where rewards lie."""
    low: float
    high: float
    """The ends of a 95% interval, as far as rewards lie there; 0 and 1 of fewer than two decisions."""
    kind: str
    decisions: int
    """How many it is a mean over."""
    effective_size: float
    """(Σw)²/Σw²: how many decisions of the target itself would tell as much."""
    largest_weight: float
    snips: float
    """The mean of rewards, weighted by 1/probability: a simpler estimate, to be compared with. NaN for a live value."""
    anytime: bool = False
    """Whether the interval holds at every look at a growing log at once."""
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.mean:.4f} ({self.low:.4f} to {self.high:.4f})"


def means(terms: Terms) -> tuple[Any, Any]:
    """DR means, and half the widths of their intervals for one look; NaN where the target was never chosen."""
    count = np.maximum(terms.count, 1.0)
    mean = (terms.guess + terms.term) / count
    spread = np.maximum((terms.guess_2 + terms.term_2) / count - mean * mean, 0.0)
    nothing = np.where(np.asarray(terms.count - terms.others) > 0.0, 0.0, np.nan)
    return mean + nothing, NORMAL * np.sqrt(spread / count) + nothing


def one_look(terms: Terms) -> tuple[Any, Any, Any]:
    """Means, and the ends of their intervals for one look, cut to where rewards lie; 0 and 1 where too little is known.

    NaN where the target was never chosen.
    """
    mean, half = means(terms)
    half = np.where(np.asarray(terms.count) < FEWEST, half + np.inf, half)
    return np.clip(mean, 0.0, 1.0), *_within(mean, half)


def _within(mean: Any, half: Any) -> tuple[Any, Any]:
    """The ends of an interval, as far as rewards lie there."""
    return np.clip(mean - half, 0.0, 1.0), np.clip(mean + half, 0.0, 1.0)


def sequence(terms: Terms) -> tuple[Any, Any]:
    """Bounds that hold at every look at once; the terms are summed up to each look."""
    below = terms.guess_2 + terms.below
    above = terms.others - 2.0 * terms.guess + terms.guess_2 + terms.above
    return bounds(terms.paid, terms.known - terms.paid, (below, above), terms.count, ALPHA)


def snips(terms: Terms) -> tuple[float, float]:
    """The mean of rewards weighted by 1/p, and its standard error."""
    if terms.known == 0.0:
        return math.nan, math.nan
    mean = terms.paid / terms.known
    spread = terms.paid_2 - 2.0 * mean * terms.paid_w + mean * mean * terms.known_2
    return mean, math.sqrt(max(spread, 0.0)) / terms.known


class Weights(NamedTuple):
    """What the weights of a target add up to."""

    eligible: float
    """Decisions in which it could have been chosen."""
    chosen: float
    """Those for it, of an arm; all, of a policy."""
    total: float
    squares: float
    largest: float

    @classmethod
    def of(cls, terms: Terms, largest: float) -> Self:
        """Those of an arm, or of a policy one step at a time."""
        return cls(terms.count, terms.count - terms.others, terms.weight, terms.weight_2, float(largest))

    @classmethod
    def of_each(cls, weights: Reals) -> Self:
        """Those of a policy, by decision."""
        return cls(len(weights), len(weights), float(weights.sum()), float(weights @ weights), float(weights.max()))

    @property
    def effective_size(self) -> float:
        """(Σw)²/Σw²."""
        return self.total**2 / self.squares if self.squares > 0.0 else 0.0

    @property
    def mean(self) -> tuple[float, float]:
        """The mean, which is 1 where probabilities are right, and its standard error."""
        count = max(self.eligible, 1.0)
        mean = self.total / count
        return mean, math.sqrt(max(self.squares / count - mean * mean, 0.0) / count)

    def doubts(self) -> Iterator[str]:
        """What whoever reads a value should know."""
        mean, error = self.mean
        if self.chosen >= FEW_EFFECTIVE and abs(mean - 1.0) > DOUBT * error:
            tiny = "odds are so small that chance has not shown what they weigh, or " if mean < 1.0 else ""
            yield (
                f"the mean weight is {mean:.3f} ± {NORMAL * error:.3f} where it should be 1: "
                f"{tiny}probabilities, masks or arms are missing from the log"
            )
        if self.effective_size < FEW_EFFECTIVE:
            size = round(self.effective_size)
            yield (
                f"the log tells as much of it as {size} decision{'s' * (size != 1)} of its own"
                if self.squares
                else "the log tells nothing of it: no decision was for it"
            )
        elif self.largest > LARGE_SHARE * self.total:
            yield f"one decision has {self.largest / self.total:.0%} of all weight"


def few(decisions: float) -> Iterator[str]:
    """The same, where there are few decisions."""
    if decisions < FEW_DECISIONS:
        yield "1 decision is few" if decisions == 1 else f"{decisions:.0f} decisions are few"


def valued(
    target: Any, terms: Terms, largest: float, kind: str, anytime: bool = False, doubts: Sequence[str] = ()
) -> Value:
    """A value, with what whoever reads it should know."""
    mean, low, high = (float(number) for number in one_look(terms))
    if anytime:
        low, high = sequence(terms)
    elif mean != mean:
        low, high = 0.0, 1.0
    weights = Weights.of(terms, largest)
    return Value(
        str(target), mean, float(low), float(high), kind, int(terms.count), weights.effective_size, weights.largest,
        snips(terms)[0], anytime, (*_doubts(target, weights), *doubts),
    )  # fmt: skip


def live_value(target: Any, found: Rehearsed, notes: Sequence[str]) -> Value:
    """What a policy would earn in the place of the logged one."""
    mean, half, weights = found.value, NORMAL * found.error, Weights.of_each(found.weights)
    low, high = _within(mean, half if weights.eligible >= FEWEST else np.inf)
    return Value(
        str(target), min(max(mean, 0.0), 1.0), float(low), float(high), "live", int(weights.eligible),
        weights.effective_size, weights.largest, math.nan, warnings=(*_doubts(target, weights), *notes),
    )  # fmt: skip


def _doubts(target: Any, weights: Weights) -> tuple[str, ...]:
    return tuple(f"{target}: {said}" for said in (*few(weights.eligible), *weights.doubts()))
