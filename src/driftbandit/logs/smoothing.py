"""The world that a log comes from, as far as it shows: the mean of every arm at every moment.

Rewards of an arm are averaged over a window that looks both ways, each weighted by 1/p, so that moments at which the
arm was liked count no more than others:

    m(t) = Σ w_s·r_s·2^(−|t − s|/h) / Σ w_s·2^(−|t − s|/h),        w_s = 1/p_s

and half a reward of the arm's overall mean is added, for arms that were hardly tried. The half-life h is the one that
predicts rewards best that are left out, squared errors weighted by w; it is the same for all arms.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from driftbandit.engine.cpu.block import Integers, Reals
from driftbandit.errors import InvalidValue
from driftbandit.logs.chunk import Chunk

SHORTEST = 8
"""Decisions: the least half-life."""
PRIOR = 0.5
ROOM = 1 << 24
"""Means at most, over all moments and arms."""


class Smoothed(NamedTuple):
    """Means by moment and arm."""

    means: Reals
    origin: float
    width: float
    half_life: float
    """Of the window, in moments."""


class Seen(NamedTuple):
    """Rewards of one arm: when they came, by moment, and their weights."""

    moments: Integers
    rewards: Reals
    weights: Reals


def smoothed(parts: Sequence[Chunk], n_arms: int) -> Smoothed:
    """The means of all arms over the time of a log."""
    times, arms, rewards, weights = (np.concatenate(column) for column in zip(*map(_observed, parts), strict=True))
    if not len(times):
        raise InvalidValue("log must have rewards among the decisions that are looked at, got none")
    origin, end = float(times.min()), float(times.max())
    count = max(1, min(len(times), ROOM // n_arms))
    width = max((end - origin) / max(count - 1, 1), 1e-9)
    moments = ((times - origin) // width).astype(np.int64).clip(0, count - 1)
    seen = [Seen(moments[arms == k], rewards[arms == k], weights[arms == k]) for k in range(n_arms)]
    half_lives = SHORTEST * 2.0 ** np.arange(1 + max(0.0, np.floor(np.log2(2.0 * count / SHORTEST))))
    errors, found = np.inf, np.zeros((count, n_arms))
    best = float(half_lives[0])
    for half_life in half_lives.tolist():
        columns = [_curve(arm, count, half_life) for arm in seen]
        error = sum(each for _, each in columns)
        if error < errors:
            errors, best, found = error, half_life, np.stack([curve for curve, _ in columns], axis=1)
    return Smoothed(found, origin, width, best)


def _observed(chunk: Chunk) -> tuple[Reals, Integers, Reals, Reals]:
    """When, of which arm, how much, and how much it counts: the rewards of a replica that are known."""
    rows = chunk.rows
    probability = np.zeros(int(rows.number.max()) + 1)
    probability[rows.number[~rows.outcome]] = rows.value[~rows.outcome]
    there = rows.outcome & np.isfinite(rows.value)
    return rows.clock[there], rows.arm[there], rows.value[there], 1.0 / probability[rows.number[there]]


def _curve(arm: Seen, count: int, half_life: float) -> tuple[Reals, float]:
    """The means of an arm over time, and the weighted squared error of each reward's prediction by all others."""
    if not len(arm.moments):
        return np.full(count, 0.5), 0.0
    overall = float(np.average(arm.rewards, weights=arm.weights))
    prior = PRIOR * float(arm.weights.mean())
    paid, all_weights = (
        _both_ways(np.bincount(arm.moments, values, count), half_life) + extra
        for values, extra in ((arm.weights * arm.rewards, prior * overall), (arm.weights, prior))
    )
    left_out = paid[arm.moments] - arm.weights * arm.rewards
    expected = left_out / (all_weights[arm.moments] - arm.weights)
    return paid / all_weights, float(arm.weights @ (arm.rewards - expected) ** 2)


def _both_ways(values: Any, half_life: float) -> Reals:
    """Σ_s x_s·2^(−|t − s|/h) at every t."""
    from scipy import signal  # late: takes a while to import

    kept = 0.5 ** (1.0 / half_life)
    forth = signal.lfilter([1.0], [1.0, -kept], values)
    back = signal.lfilter([1.0], [1.0, -kept], values[::-1])[::-1]
    return np.asarray(forth + back - values)
