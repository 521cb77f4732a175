"""How a block of runs chooses arms: the three kinds of selection, with the inner loop over runs.

`score`, `attempt`, `rough`, `apart`, `accepted`, `weigh` and `probability` are slots that `link` fills with a
policy's rule; `own_of` reads an arm's numbers and `shared_of` what the arms of a run share. Every loop over runs that
does arithmetic is free of branches and calls, and reads its numbers in a row, so that it is vectorised; picking out the
few runs that need another attempt is a loop of its own.
"""

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit.engine.cpu.block import VECTOR, Desk, Evidence, Place, Waiting
from driftbandit.engine.step.one_run import LAST
from driftbandit.engine.step.parts import (
    attempted_first,
    draw_more,
    own_of,
    put_shape,
    shape_of,
    shaped,
    shared_of,
    weigh,
)
from driftbandit.engine.step.rule_functions import accepted, apart, attempt, probability, rough, score
from driftbandit.numerics.elementary import exp
from driftbandit.numerics.rng import BOOST, CHOICE, SCORE, Words, draw, uniform
from driftbandit.numerics.single_precision import RoughAttempt

ZERO = np.uint64(0)
ONE = np.uint64(1)
LOWEST = -inf


def choose_sampled(parameters: Any, shared: Any, place: Place, evidence: Evidence, desk: Desk) -> None:
    """The arm with the largest random score.

    Scores are computed roughly first. What that cannot tell is settled in double precision: attempts that are neither
    clearly accepted nor clearly rejected, and all arms of a run whose best two are too close.
    """
    n_arms, _, n = evidence.shape
    first_attempts(parameters, shared, place, evidence, desk)
    left = list_doubtful(desk, n_arms * n)
    unclear = repeat_attempts(parameters, shared, place, evidence, desk, left, attempted_first)
    if unclear > 0:
        for i in range(unclear):
            desk.waiting.place[i] = desk.unclear[i]
        repeat_attempts(parameters, shared, place, evidence, desk, unclear, exactly)
    close = choose_largest(desk)
    if close > 0:
        for k in range(n_arms):
            for i in range(close):
                desk.waiting.place[k * close + i] = k * n + desk.close[i]
        repeat_attempts(parameters, shared, place, evidence, desk, n_arms * close, exactly)
        break_ties(place, desk, close)


def first_attempts(parameters: Any, shared: Any, place: Place, evidence: Evidence, desk: Desk) -> None:
    """One attempt for every arm in every run; those that the quick test does not accept are marked."""
    scores, doubtful, words = desk.scores, desk.doubtful, desk.words
    n_arms, _, n = evidence.shape
    for k in range(n_arms):
        draw_words(place, k, SCORE, words[:4])
        draw_more(place, k, BOOST, words[4:])
        arm = evidence[k]
        row = doubtful[k * n : (k + 1) * n]  # a slice: stores at computed places would not be vectorised
        for r in range(n):
            scores[k, r], sure, _, _ = attempted_first(
                shaped(parameters, shared_of(shared, r), own_of(arm, r)),
                (np.uint64(words[0, r]), np.uint64(words[1, r]), np.uint64(words[2, r]), np.uint64(words[3, r])),
                (np.uint64(words[4, r]), np.uint64(words[5, r]), np.uint64(words[6, r]), np.uint64(words[7, r])),
            )
            row[r] = not sure


def roughly(numbers: Any, words: Words, more: Words) -> RoughAttempt:
    """An attempt in single precision."""
    return rough(numbers, words, more)  # type: ignore[no-any-return]  # a slot


def exactly(numbers: Any, words: Words, more: Words) -> RoughAttempt:
    """An attempt in double precision, which can always tell: the score, whether it is sure, whether it is accepted."""
    value, sure = attempt(numbers, words, more)
    return value, bool(sure), bool(sure) | bool(accepted(numbers, words)), True


def draw_words(place: Place, k: int, purpose: np.uint64, words: NDArray[np.uint32]) -> None:
    """The words of the first attempt for one arm in every run.

    A loop of its own: together with what is made of them it would be too long for a processor to look ahead.
    """
    seed, first_run, step = place
    for r in range(words.shape[1]):
        w = draw(seed, first_run + np.uint64(r), step, np.uint64(k), purpose, ZERO)
        words[0, r] = w[0]
        words[1, r] = w[1]
        words[2, r] = w[2]
        words[3, r] = w[3]


def no_words(place: Place, k: int, purpose: np.uint64, words: NDArray[np.uint32]) -> None:
    """Where nobody looks at them."""


def list_doubtful(desk: Desk, size: int) -> int:
    """The places of all doubtful attempts in a row; how many there are is returned."""
    doubtful, where = desk.doubtful, desk.waiting.place
    left = 0
    for i in range(size):
        where[left] = i
        left += doubtful[i]
    return left


def repeat_attempts(
    parameters: Any, shared: Any, place: Place, evidence: Evidence, desk: Desk, left: int, attempted: Any
) -> int:
    """Repeat the attempts at the listed places until they are accepted, all together.

    Those of which `attempted` cannot tell are listed in `desk.unclear`, and counted. Lists are filled up to whole
    vectors, as a remainder would be computed one by one.
    """
    seed, first_run, step = place
    scores, doubtful, unknown, unclear = desk.scores, desk.doubtful, desk.unknown, desk.unclear
    where, arms, runs, shapes, values = desk.waiting
    n = evidence.shape[2]
    for i in range(left):
        k = where[i] // n
        r = where[i] - k * n
        arms[i] = k
        runs[i] = first_run + np.uint64(r)
        put_shape(shapes, i, shaped(parameters, shared_of(shared, r), own_of(evidence[k], r)))
    tries = ZERO
    found = 0
    while left > 0 and tries <= LAST:  # a score that is NaN would be tried for ever
        for i in range(fill_up(desk.waiting, left)):
            words = draw(seed, runs[i], step, arms[i], SCORE, tries)
            more = draw(seed, runs[i], step, arms[i], BOOST, tries)
            value, _, stands, clear = attempted(shape_of(shapes, i), words, more)
            values[i] = value
            doubtful[i] = clear & (not stands)
            unknown[i] = not clear
        for i in range(left):
            scores[np.int64(arms[i]), np.int64(runs[i] - first_run)] = values[i]
            unclear[found] = where[i]
            found += unknown[i]
        left = keep_doubtful(desk, left)
        tries += ONE
    return found


def keep_doubtful(desk: Desk, left: int) -> int:
    """Drop what is decided from the list; the number that is left is returned."""
    where, arms, runs, shapes, _ = desk.waiting
    still = 0
    for i in range(left):
        where[still] = where[i]
        arms[still] = arms[i]
        runs[still] = runs[i]
        put_shape(shapes, still, shape_of(shapes, i))
        still += desk.doubtful[i]
    return still


def fill_up(waiting: Waiting, left: int) -> int:
    """Repeat the first entry until the list is as long as a multiple of the vector length, which is returned."""
    filled = (left + VECTOR - 1) // VECTOR * VECTOR
    for i in range(left, filled):
        waiting.arms[i] = waiting.arms[0]
        waiting.runs[i] = waiting.runs[0]
        put_shape(waiting.shape, i, shape_of(waiting.shape, 0))
    return filled


def choose_index(parameters: Any, shared: Any, place: Place, evidence: Evidence, desk: Desk) -> None:
    """The arm with the largest score, where scores are not random."""
    scores = desk.scores
    n_arms, _, n = evidence.shape
    for k in range(n_arms):
        arm = evidence[k]
        for r in range(n):
            scores[k, r] = score(parameters, shared_of(shared, r), *own_of(arm, r))
    break_ties(place, desk, choose_largest(desk))


def choose_largest(desk: Desk) -> int:
    """The arm with the largest score in every run; the runs where others are too close are listed and counted."""
    scores, chosen, best, second, close = desk.scores, desk.chosen, desk.best, desk.total, desk.close
    n_arms, n = scores.shape
    for r in range(n):
        best[r] = scores[0, r]
        second[r] = LOWEST
        chosen[r] = 0
    for k in range(1, n_arms):
        for r in range(n):
            value = scores[k, r]
            larger = value > best[r]
            runner_up = best[r] if larger else value
            second[r] = max(second[r], runner_up)
            chosen[r] = k if larger else chosen[r]
            best[r] = value if larger else best[r]
    for r in range(n):
        desk.doubtful[r] = not apart(best[r], second[r])
    found = 0
    for r in range(n):
        close[found] = r
        found += desk.doubtful[r]
    return found


def break_ties(place: Place, desk: Desk, close: int) -> None:
    """In the listed runs, the arm with the largest score; exact ties are broken uniformly at random."""
    seed, first_run, step = place
    scores, chosen = desk.scores, desk.chosen
    n_arms = scores.shape[0]
    for i in range(close):
        r = desk.close[i]
        best = scores[0, r]
        chosen[r] = 0
        ties = 0
        for k in range(1, n_arms):
            if scores[k, r] > best:
                best = scores[k, r]
                chosen[r] = k
                ties = 0
            elif scores[k, r] == best:
                ties += 1
        if ties > 0:
            words = draw(seed, first_run + np.uint64(r), step, ZERO, CHOICE, ZERO)
            skip = int(uniform(words[0], words[1]) * (ties + 1))
            for k in range(n_arms):
                if scores[k, r] == best:
                    if skip == 0:
                        chosen[r] = k
                        break
                    skip -= 1


def choose_weighted(parameters: Any, shared: Any, place: Place, evidence: Evidence, desk: Desk) -> None:
    """An arm by its probability, which follows from its share of all weights."""
    seed, first_run, step = place
    scores, chosen, chance, largest, total, target = (
        desk.scores,
        desk.chosen,
        desk.probability,
        desk.best,
        desk.total,
        desk.target,
    )
    n_arms, _, n = evidence.shape
    arm = evidence[0]
    for r in range(n):
        largest[r] = weigh(parameters, shared_of(shared, r), own_of(arm, r))
        total[r] = 0.0
    for k in range(1, n_arms):
        arm = evidence[k]
        for r in range(n):
            largest[r] = max(largest[r], weigh(parameters, shared_of(shared, r), own_of(arm, r)))
    for k in range(n_arms):
        arm = evidence[k]
        for r in range(n):
            weight = exp(weigh(parameters, shared_of(shared, r), own_of(arm, r)) - largest[r])
            scores[k, r] = weight
            total[r] += weight
    for r in range(n):
        words = draw(seed, first_run + np.uint64(r), step, ZERO, CHOICE, ZERO)
        target[r] = uniform(words[0], words[1])
        total[r] = 1.0 / total[r]
    below = largest  # the probability of all arms before this one
    for r in range(n):
        below[r] = 0.0
    for k in range(n_arms):
        for r in range(n):
            here = probability(parameters, scores[k, r] * total[r])
            reached = (target[r] >= below[r]) & (here > 0.0)
            chosen[r] = k if reached else chosen[r]
            chance[r] = here if reached else chance[r]
            below[r] += here
