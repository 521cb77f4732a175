"""Sums over the decisions of a log, by target (an arm, or a policy) and time, in bounded memory.

Whatever is said of a value is made of some sums over decisions: over all of them, over a window of time, or up to a
moment. So a log is gone through once, in as many pieces of equal time as there is room for; where a log turns out to be
longer, neighbouring pieces become one. Where somebody asks for windows that are not made of such pieces, and how long
the log is is known by then, the pieces are these windows.

A decision was made with a probability p for an arm with the reward r; a target would have chosen that arm with the
probability π. With w = π/p and a guess m of the arm's mean, made before the decision (its *direct* term d is what the
target is guessed to earn: m where it is an arm, the mean of the guesses weighted by π where it is a policy), the terms
are

    IPS    w·r                     any drift, any logger: its mean is that of the target
    SNIPS  Σw·r / Σw
    DR     d + w·(r − m)           the same mean for any guess; far less noise

Where a reward is missing, its guess stands for it; for bounds that hold anywhere, the worst it could be does.
"""

from typing import Any, NamedTuple

import numpy as np

from driftbandit import checks
from driftbandit.engine.cpu.block import Reals

ROOM = 1 << 22
"""Numbers that all sums may be together, unless there are very many targets."""
MOST, FEWEST = 2048, 8
"""Pieces of time."""
FINEST = 2.0**-20
"""The shortest piece, in seconds or steps."""


class Terms(NamedTuple):
    """What decisions add up to: arrays `[piece, target]`, or over windows or all time."""

    count: Any
    """Decisions in which the target could have been chosen; of these Σw and Σw²."""
    weight: Any
    weight_2: Any
    others: Any
    """Those for another arm than the one that is the target; of these Σm and Σm²."""
    guess: Any
    guess_2: Any
    term: Any
    """Of all others the DR terms, and their squares."""
    term_2: Any
    known: Any
    """Where the reward is known: Σw, Σw², Σw·r, Σw²·r, Σw²·r²."""
    known_2: Any
    paid: Any
    paid_w: Any
    paid_2: Any
    below: Any
    """What bounds look at: Σ(w·r − d)², and the same for 1 − r."""
    above: Any


class Bins(NamedTuple):
    """Sums as kernels take them, by piece of time and target."""

    terms: Terms
    largest: Reals
    """By target, the largest weight."""
    origin: float
    width: float


def put(terms: Terms, piece: int, target: int, direct: float, guess: float, w: float, reward: float) -> None:
    """A decision of which the reward is known, or is NaN: then it could be 0, and it could be 1."""
    if reward != reward:
        terms.term[piece, target] += direct
        terms.term_2[piece, target] += direct * direct
        terms.below[piece, target] += direct * direct
        terms.above[piece, target] += (1.0 - direct) * (1.0 - direct)
        return
    term, paid = direct + w * (reward - guess), w * reward
    terms.term[piece, target] += term
    terms.term_2[piece, target] += term * term
    terms.known[piece, target] += w
    terms.known_2[piece, target] += w * w
    terms.paid[piece, target] += paid
    terms.paid_w[piece, target] += w * paid
    terms.paid_2[piece, target] += paid * paid
    terms.below[piece, target] += (paid - direct) * (paid - direct)
    terms.above[piece, target] += (w - paid - (1.0 - direct)) * (w - paid - (1.0 - direct))


def room(targets: int) -> int:
    """Pieces that there is room for."""
    return max(FEWEST, ROOM // (len(Terms._fields) * max(1, targets)))


class TermSums:
    """Sums by target and time."""

    def __init__(self, targets: int, count: int = 0, reach: tuple[float, float] | None = None) -> None:
        self._count = count or min(MOST, room(targets)) // 2 * 2
        terms: Any = np.zeros((len(Terms._fields), self._count, targets))
        self.bins = Bins(Terms(*terms), np.zeros(targets), 0.0 if reach is None else reach[0], FINEST)
        self._reach = reach
        """The earliest and the latest time."""

    def in_windows(self, window: float, targets: int) -> "TermSums":
        """Room for the same decisions in windows of exactly this length, of which the first begins with the first."""
        assert self._reach is not None
        most = room(targets)
        if self.length / window >= most:
            least = f"at least {self.length / (most - 1):.6g}, for {most} windows in the time of the log at most"
            raise checks.reject("window", least, window)
        found = TermSums(targets, int(self.length // window) + 1, self._reach)
        found.bins = found.bins._replace(width=window)
        return found

    def is_made_of(self, window: float) -> bool:
        """Whether windows of exactly this length, from the first decision on, are some pieces each."""
        return self._reach is not None and self.bins.origin == self._reach[0] and window % self.bins.width == 0.0

    def fit(self, times: Reals) -> Bins:
        """What decisions at these times can be added to."""
        if len(times):
            low, high = float(times.min()), float(times.max())
            if self._reach is None:
                self._reach = low, low
                self.bins = self.bins._replace(origin=low)
            self._reach = low, high = min(low, self._reach[0]), max(high, self._reach[1])
            while self._piece(high) + 1 - min(0, self._piece(low)) > self._count:
                self._coarsen()
            if low < self.bins.origin:
                self._move(-self._piece(low))
        return self.bins

    def widen(self, targets: int) -> None:
        """Room for so many targets."""
        more = targets - len(self.bins.largest)
        if more > 0:
            self._count = min(MOST, room(targets)) // 2 * 2
            while self._reach is not None and self._piece(self._reach[1]) >= self._count:
                self._coarsen()
            terms = Terms(*(np.pad(each[: self._count], ((0, 0), (0, more))) for each in self.bins.terms))
            self.bins = self.bins._replace(terms=terms, largest=np.pad(self.bins.largest, (0, more)))

    def _piece(self, time: float) -> int:
        return int((time - self.bins.origin) // self.bins.width)

    def _coarsen(self) -> None:
        """Two pieces become one."""
        for each in self.bins.terms:
            half = each[0::2] + each[1::2]
            each[: len(half)], each[len(half) :] = half, 0.0
        self.bins = self.bins._replace(width=2.0 * self.bins.width)

    def _move(self, pieces: int) -> None:
        """Room for so many pieces before the first."""
        for each in self.bins.terms:
            each[pieces:] = each[:-pieces].copy()
            each[:pieces] = 0.0
        self.bins = self.bins._replace(origin=self.bins.origin - pieces * self.bins.width)

    def total(self, target: int) -> Terms:
        """Over all decisions."""
        return Terms(*(float(each[:, target].sum()) for each in self.bins.terms))

    def over_time(self, target: int, window: float) -> tuple[Any, Any, Terms]:
        """Where windows begin and end, and the sums in each: as many whole pieces as come nearest to this length."""
        assert self._reach is not None
        width, origin = self.bins.width, self.bins.origin
        each, pieces = max(1.0, float(round(window / width))), self._piece(self._reach[1]) + 1
        starts = np.arange(0, pieces, int(min(each, pieces)))
        terms = Terms(*(np.add.reduceat(column[:, target], starts) for column in self.bins.terms))
        return origin + starts * width, origin + (starts + each) * width, terms

    @property
    def length(self) -> float:
        """How much time there is between the first and the last decision."""
        return 0.0 if self._reach is None else self._reach[1] - self._reach[0]
