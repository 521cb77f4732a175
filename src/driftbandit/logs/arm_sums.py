"""What would have been earned by always choosing one arm: sums over a log for all arms in one pass.

For arm k the weight w is 1/p where it was chosen and 0 where not, and the guess m is its own mean reward, of which each
observation counts .98 of the next, as its replica knew it when the decision was made. A decision counts for the arms
that it was made among.
"""

from typing import Any, NamedTuple

import numpy as np

from driftbandit.compiling.gears import geared_part
from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.logs.book import Rows
from driftbandit.logs.chunk import Chunk
from driftbandit.logs.terms import Bins, TermSums, put
from driftbandit.online.sleeping import grown

KEPT = 0.98
"""What an observation counts, of the next one of its arm, in the guess of the arm's mean."""
FIRST_GUESS = 0.5
MOST_INTERPRETED = 1 << 17
"""Rows times arms, in all; for more the compiler is waited for."""


class Guesses(NamedTuple):
    """What is known of arms, `[replica, arm]`: the mean, and the sum and the number of which it is made."""

    mean: Reals
    total: Reals
    number: Reals


class OpenDecisions(NamedTuple):
    """What is kept of decisions until their outcomes, by slot."""

    guess: Reals
    weight: Reals


def no_guesses(replicas: int, arms: int) -> Guesses:
    """Nothing is known yet."""
    total, number = np.zeros((2, replicas, arms))
    return Guesses(np.full((replicas, arms), FIRST_GUESS), total, number)


def learn_mean(guesses: Guesses, replica: int, arm: int, reward: float) -> None:
    """A reward that came."""
    guesses.total[replica, arm] = KEPT * guesses.total[replica, arm] + reward
    guesses.number[replica, arm] = KEPT * guesses.number[replica, arm] + 1.0
    guesses.mean[replica, arm] = guesses.total[replica, arm] / guesses.number[replica, arm]


def add_up(rows: Rows, starts: Integers, members: Integers, guesses: Guesses, kept: OpenDecisions, bins: Bins) -> None:
    """Take in some rows."""
    terms = bins.terms
    for i in range(rows.arm.size):
        arm, slot, replica = rows.arm[i], rows.slot[i], rows.replica[i]
        piece = int((rows.time[i] - bins.origin) // bins.width)
        if not rows.outcome[i]:
            among = rows.eligible[i]
            for j in range(starts[among], starts[among + 1]):
                k = members[j]
                m = guesses.mean[replica, k]
                terms.count[piece, k] += 1.0
                terms.others[piece, k] += 1.0
                terms.guess[piece, k] += m
                terms.guess_2[piece, k] += m * m
            m, w = guesses.mean[replica, arm], 1.0 / rows.value[i]
            terms.others[piece, arm] -= 1.0
            terms.guess[piece, arm] -= m
            terms.guess_2[piece, arm] -= m * m
            terms.weight[piece, arm] += w
            terms.weight_2[piece, arm] += w * w
            bins.largest[arm] = max(bins.largest[arm], w)
            kept.guess[slot] = m
            kept.weight[slot] = w
        else:
            reward = rows.value[i]
            put(terms, piece, arm, kept.guess[slot], kept.guess[slot], kept.weight[slot], reward)
            if reward == reward:
                learn_mean(guesses, replica, arm, reward)


class ArmSums:
    """All arms of a log."""

    def __init__(self, sums: TermSums | None = None) -> None:
        self.sums = sums or TermSums(1)
        self._guesses = no_guesses(0, 0)
        self._kept = OpenDecisions(*np.zeros((2, 0)))

    def take(self, chunk: Chunk) -> None:
        """Some rows more."""
        self._make_room(chunk)
        go = geared_part(add_up).within(chunk.size * chunk.arms, MOST_INTERPRETED)
        bins = self.sums.fit(chunk.rows.time)
        go(chunk.rows, chunk.starts, chunk.members, self._guesses, self._kept, bins)

    def _make_room(self, chunk: Chunk) -> None:
        before = self._guesses
        replicas, arms = before.mean.shape
        if chunk.replicas > replicas or chunk.arms > arms:
            self._guesses = no_guesses(max(chunk.replicas, replicas), max(chunk.arms, arms))
            for old, new in zip(before, self._guesses, strict=True):
                new[:replicas, :arms] = old
            self.sums.widen(chunk.arms)
        if chunk.slots > len(self._kept.guess):
            columns: Any = (grown(column, chunk.slots) for column in self._kept)
            self._kept = OpenDecisions(*columns)
