"""Change points: when the present run of rewards may have begun, and what was earned since; per arm, or for all.

A *run* is a time since which nothing changed. A few of them are kept, each in a place: its weight, one for every hazard
there may be, and of every arm the successes and failures since then. In an array of weights `[hazard, run]` comes last
the place of the run that has seen no reward yet, counted from 1; 0 where there is none.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.numerics.elementary import exp
from driftbandit.policies.beliefs import Singles


class Runs(NamedTuple):
    """How many runs are kept, how often one begins, and what is believed where one does."""

    places: int
    hazards: NDArray[np.float64]
    stays: NDArray[np.float64]  # [hazard]: the logarithm of its complement
    prior_successes: float
    prior_failures: float


def judge_by_one(
    tables: Runs, common: Singles, beliefs: Singles, arms: Any, pending: Any, luck: float, own: Any, room: Singles
) -> None:
    """The counts of all arms since one beginning, drawn by its weight."""
    run = drawn(tables, common, luck)
    for i in range(arms.size):
        k = arms[i]
        own[k, 0] = beliefs[k, run]
        own[k, 1] = beliefs[k, tables.places + run]


def judge_by_own(
    tables: Runs, common: Singles, beliefs: Singles, arms: Any, pending: Any, luck: Any, own: Any, room: Singles
) -> None:
    """The counts of each arm since a beginning of its own."""
    for i in range(arms.size):
        k = arms[i]
        run = drawn(tables, beliefs[k, 2 * tables.places :], luck[k])
        own[k, 0] = beliefs[k, run]
        own[k, 1] = beliefs[k, tables.places + run]


def drawn(tables: Runs, weights: Singles, luck: float) -> int:
    """A run by its weight."""
    total = 0.0
    for i in range(tables.hazards.size * tables.places):
        total += np.float64(weights[i])
    target, below, run = luck * total, 0.0, 0
    for i in range(tables.places):
        here = weight_of(tables, weights, i)
        if here > 0.0 and target >= below:
            run = i
        below += here
    return run


def weight_of(tables: Runs, weights: Singles, run: int) -> float:
    """Of a run, whatever the hazard."""
    total = 0.0
    for j in range(tables.hazards.size):
        total += np.float64(weights[j * tables.places + run])
    return total


def learn_for_all(tables: Runs, common: Singles, belief: Singles, reward: float, room: Singles) -> None:
    """The weights that all arms share."""
    take_in(tables, common, belief, reward, room)


def learn_for_one(tables: Runs, common: Singles, belief: Singles, reward: float, room: Singles) -> None:
    """The weights of the arm itself."""
    take_in(tables, belief[2 * tables.places :], belief, reward, room)


def take_in(tables: Runs, weights: Singles, counts: Singles, reward: float, room: Singles) -> None:
    """Every run by how likely it made the reward, which then counts in each; weights sum to 1 again."""
    n = tables.places
    successes, failures, fit, a, b = (
        counts[:n],
        counts[n : 2 * n],
        room[:n],
        tables.prior_successes,
        tables.prior_failures,
    )
    for i in range(fit.size):
        won, lost = np.float64(successes[i]) + a, np.float64(failures[i]) + b
        fit[i] = np.float32((reward * won + (1.0 - reward) * lost) / (won + lost))
        successes[i] = np.float32(np.float64(successes[i]) + reward)
        failures[i] = np.float32(np.float64(failures[i]) + (1.0 - reward))
    total = 0.0
    for j in range(tables.hazards.size):
        row = weights[j * n : (j + 1) * n]
        for i in range(row.size):
            row[i] = row[i] * fit[i]
        for i in range(row.size):
            total += np.float64(row[i])
    scale = np.float32(1.0 / max(total, 1e-30))
    row = weights[: tables.hazards.size * n]
    for i in range(row.size):
        row[i] = row[i] * scale
    weights[row.size] = np.float32(0.0)


def move_all(
    tables: Runs, common: Singles, beliefs: Singles, arms: Any, steps: float, chosen: int, room: Singles
) -> None:
    """A run may begin, for all arms together."""
    if steps > 0.0:
        place, new = begun(tables, common, steps)
        if new:
            for i in range(arms.size):
                beliefs[arms[i], place] = np.float32(0.0)
                beliefs[arms[i], tables.places + place] = np.float32(0.0)


def move_each(
    tables: Runs, common: Singles, beliefs: Singles, arms: Any, steps: float, chosen: int, room: Singles
) -> None:
    """A run of each arm may begin."""
    if steps > 0.0:
        for i in range(arms.size):
            belief = beliefs[arms[i]]
            place, new = begun(tables, belief[2 * tables.places :], steps)
            if new:
                belief[place] = np.float32(0.0)
                belief[tables.places + place] = np.float32(0.0)


def begun(tables: Runs, weights: Singles, steps: float) -> tuple[int, bool]:
    """Weights after so many steps, in which a run may have begun; its place, and whether another run was there.

    Beginnings without a reward between them cannot be told apart, so they are one run. Else the new one gets the place
    of the least likely run.
    """
    n, last = tables.places, tables.hazards.size * tables.places
    place = min(int(weights[last]), n) - 1  # a file may say anything
    new = place < 0
    if new:
        place, least = 0, weight_of(tables, weights, 0)
        for i in range(1, n):
            here = weight_of(tables, weights, i)
            if here < least:
                place, least = i, here
    for j in range(tables.hazards.size):
        row = weights[j * n : (j + 1) * n]
        stay = 1.0 - tables.hazards[j] if steps == 1.0 else exp(steps * tables.stays[j])
        total = 0.0
        for i in range(row.size):
            total += np.float64(row[i])
        kept, gain = np.float32(stay), (1.0 - stay) * total
        for i in range(row.size):
            row[i] = row[i] * kept
        row[place] = np.float32(gain if new else gain + np.float64(row[place]))
    weights[last] = np.float32(place + 1)
    return place, new


def pieces_for_all(tables: Runs, common: Singles, beliefs: Singles) -> tuple[NDArray[Any], NDArray[Any]]:
    """The weight of every run, and the counts of every arm since it began."""
    return of_runs(tables, common[None]), np.stack(np.split(beliefs[:, : 2 * tables.places], 2, axis=1), axis=2)


def pieces_of_each(tables: Runs, common: Singles, beliefs: Singles) -> tuple[NDArray[Any], NDArray[Any]]:
    """The weight of every run of every arm, and the counts since it began."""
    counts, weights = np.split(beliefs, [2 * tables.places], axis=1)
    return of_runs(tables, weights), np.stack(np.split(counts, 2, axis=1), axis=2)


def of_runs(tables: Runs, weights: Singles) -> NDArray[np.float64]:
    """Weights of runs, whatever the hazard, that sum to 1."""
    each = weights[:, :-1].reshape(len(weights), tables.hazards.size, tables.places).sum(axis=1, dtype=np.float64)
    return np.asarray(each / each.sum(axis=1, keepdims=True))
