"""How a block of runs chooses arms: the three kinds of selection, with the inner loop over runs.

`score`, `accepted` and `probability` are slots that `link` fills with a policy's rule. Every loop over runs that does
arithmetic is free of branches and calls, and reads its numbers in a row, so that it is vectorised; picking out the few
runs that need another attempt is a loop of its own.
"""

from typing import Any

import numpy as np

from driftbandit.elementary import exp
from driftbandit.engine.layout import VECTOR, Desk, Evidence, Place, Waiting, accepted, probability, score
from driftbandit.rng import BOOST, CHOICE, SCORE, draw, uniform

ZERO = np.uint64(0)
ONE = np.uint64(1)


def choose_sampled(parameters: Any, shared: float, place: Place, evidence: Evidence, desk: Desk) -> None:
    """The arm with the largest random score; attempts that are rejected are repeated until all stand."""
    seed, first_run, step = place
    a, b = evidence
    scores, doubtful, waiting = desk.scores, desk.doubtful, desk.waiting
    n_arms, n = a.shape
    for k in range(n_arms):
        arm = np.uint64(k)
        row = doubtful[k * n : (k + 1) * n]  # a slice: stores at computed places would not be vectorised
        for r in range(n):
            run = first_run + np.uint64(r)
            words = draw(seed, run, step, arm, SCORE, ZERO)
            more = draw(seed, run, step, arm, BOOST, ZERO)
            scores[k, r], sure = score(parameters, shared, a[k, r], b[k, r], words, more)
            row[r] = not sure
    left = 0
    for i in range(n_arms * n):
        waiting.place[left] = i
        left += doubtful[i]
    if left > 0:
        repeat_attempts(parameters, shared, place, evidence, desk, left)
    choose_largest(place, desk)


def repeat_attempts(parameters: Any, shared: float, place: Place, evidence: Evidence, desk: Desk, left: int) -> None:
    """Decide the doubtful attempts by the full test, and repeat those that fail it, all arms and runs together.

    Lists are filled up to a multiple of the vector length: what is left over would else be computed one by one.
    """
    seed, first_run, step = place
    a, b = evidence
    scores, doubtful = desk.scores, desk.doubtful
    where, arms, runs, own_a, own_b, values = desk.waiting
    n = a.shape[1]
    for i in range(left):
        k = where[i] // n
        r = where[i] - k * n
        arms[i] = k
        runs[i] = first_run + np.uint64(r)
        own_a[i] = a[k, r]
        own_b[i] = b[k, r]
    attempt = ZERO
    while left > 0:
        for i in range(fill_up(desk.waiting, left)):
            words = draw(seed, runs[i], step, arms[i], SCORE, attempt)
            doubtful[i] = not accepted(parameters, own_a[i], own_b[i], words)
        left = keep_doubtful(desk, left)
        attempt += ONE
        if left > 0:
            for i in range(fill_up(desk.waiting, left)):
                words = draw(seed, runs[i], step, arms[i], SCORE, attempt)
                more = draw(seed, runs[i], step, arms[i], BOOST, attempt)
                values[i], sure = score(parameters, shared, own_a[i], own_b[i], words, more)
                doubtful[i] = not sure
            for i in range(left):
                scores[np.int64(arms[i]), np.int64(runs[i] - first_run)] = values[i]
            left = keep_doubtful(desk, left)


def keep_doubtful(desk: Desk, left: int) -> int:
    """Drop what is decided from the list; the number that is left is returned."""
    _, arms, runs, a, b, _ = desk.waiting
    still = 0
    for i in range(left):
        arms[still] = arms[i]
        runs[still] = runs[i]
        a[still] = a[i]
        b[still] = b[i]
        still += desk.doubtful[i]
    return still


def fill_up(waiting: Waiting, left: int) -> int:
    """Repeat the first entry until the list is as long as a multiple of the vector length, which is returned."""
    filled = (left + VECTOR - 1) // VECTOR * VECTOR
    for i in range(left, filled):
        waiting.arms[i] = waiting.arms[0]
        waiting.runs[i] = waiting.runs[0]
        waiting.a[i] = waiting.a[0]
        waiting.b[i] = waiting.b[0]
    return filled


def choose_index(parameters: Any, shared: float, place: Place, evidence: Evidence, desk: Desk) -> None:
    """The arm with the largest score, where scores are not random."""
    a, b = evidence
    scores = desk.scores
    n_arms, n = a.shape
    for k in range(n_arms):
        for r in range(n):
            scores[k, r] = score(parameters, shared, a[k, r], b[k, r])
    choose_largest(place, desk)


def choose_largest(place: Place, desk: Desk) -> None:
    """The arm with the largest score in every run; exact ties are broken uniformly at random."""
    seed, first_run, step = place
    scores, chosen, ties, best = desk.scores, desk.chosen, desk.tally, desk.best
    n_arms, n = scores.shape
    for r in range(n):
        best[r] = scores[0, r]
        chosen[r] = 0
        ties[r] = 0
    for k in range(1, n_arms):
        for r in range(n):
            value = scores[k, r]
            larger = value > best[r]
            equal = value == best[r]
            best[r] = value if larger else best[r]
            chosen[r] = k if larger else chosen[r]
            ties[r] = 0 if larger else ties[r] + equal
    tied = 0
    for r in range(n):
        tied += ties[r]
    if tied > 0:
        for r in range(n):
            if ties[r] > 0:
                words = draw(seed, first_run + np.uint64(r), step, ZERO, CHOICE, ZERO)
                skip = int(uniform(words[0], words[1]) * (ties[r] + 1))
                for k in range(n_arms):
                    if scores[k, r] == best[r]:
                        if skip == 0:
                            chosen[r] = k
                            break
                        skip -= 1


def choose_weighted(parameters: Any, shared: float, place: Place, evidence: Evidence, desk: Desk) -> None:
    """An arm by its probability, which follows from its share of the weights exp(a)."""
    seed, first_run, step = place
    a, _ = evidence
    scores, chosen, chance, largest, total, target = (
        desk.scores,
        desk.chosen,
        desk.probability,
        desk.best,
        desk.total,
        desk.target,
    )
    n_arms, n = a.shape
    for r in range(n):
        largest[r] = a[0, r]
        total[r] = 0.0
    for k in range(1, n_arms):
        for r in range(n):
            largest[r] = max(largest[r], a[k, r])
    for k in range(n_arms):
        for r in range(n):
            weight = exp(a[k, r] - largest[r])
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
