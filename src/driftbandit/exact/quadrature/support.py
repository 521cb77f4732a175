"""Where each arm matters, from a guess of how probable it is; and whether the guess was good."""

import math

from driftbandit.exact.quadrature.beta_density import (
    CDF_END,
    DENSITY_END,
    LOG_PEAK,
    MEAN,
    PLACE,
    REST,
    WIDTH,
    A,
    Array,
    B,
    N,
    deviance,
    slope,
    upper_end,
)
from driftbandit.exact.quadrature.panels import CDF_LEVEL, NEGLIGIBLE
from driftbandit.exact.quadrature.sums import GUESS, MASS, SMALLEST_LOG, TOP

CAUTION = 4.0  # how far, in powers of e, a guessed probability is lowered before it is relied on
LEAST_FALL = 20.0  # powers of e that a density falls from its likely place to its end, at least


def likely_place(k: int, best: int, optimistic: bool, arms: Array) -> float:
    """About where the integrand of arm k has its peak: at the pooled mean of it and the best arm."""
    if optimistic or k == best:
        return float(arms[best, PLACE])
    pooled: float = math.log((arms[k, A] + arms[best, A]) / (arms[k, B] + arms[best, B]))
    return pooled


def guess(best: int, optimistic: bool, arms: Array, sums: Array) -> None:
    """A rough logarithm of each probability, so that panels are not refined for what will not count.

    A guess that proves too high is replaced and the work is done again.
    """
    n_arms = sums.shape[0]
    top = arms[best]
    for k in range(n_arms):
        arm = arms[k]
        t = likely_place(k, best, optimistic, arms)
        height = arm[LOG_PEAK] - deviance(t - arm[PLACE], arm[A], arm[B], arm[MEAN], arm[REST])
        for j in range(n_arms):
            if j != k:
                other = arms[j]
                fall, lean = other[LOG_PEAK], 0.0
                delta = t - other[PLACE]
                if delta < 0.0:
                    fall -= deviance(delta, other[A], other[B], other[MEAN], other[REST])
                    lean = slope(delta, other[N], other[MEAN], other[REST])
                height += min(-0.7, fall - math.log(lean + 0.8 / other[WIDTH]))
        sums[k, GUESS] = height + math.log(min(arm[WIDTH], top[WIDTH])) - CAUTION


def set_ends(best: int, optimistic: bool, arms: Array, sums: Array) -> None:
    """Where, coming from the right, each arm begins to matter: its distribution function, and its density."""
    for k in range(sums.shape[0]):
        arm = arms[k]
        arm[CDF_END] = arm[PLACE] + upper_end(0.0, CDF_LEVEL, arm)
        shift = max(0.0, likely_place(k, best, optimistic, arms) - arm[PLACE])
        start = max(shift, 3.0 * arm[WIDTH])
        lean = slope(start, arm[N], arm[MEAN], arm[REST])
        level = arm[LOG_PEAK] - math.log(-lean) - max(sums[k, GUESS], SMALLEST_LOG) + NEGLIGIBLE
        least = deviance(shift, arm[A], arm[B], arm[MEAN], arm[REST]) + LEAST_FALL
        arm[DENSITY_END] = arm[PLACE] + upper_end(shift, max(level, least), arm)


def again(arms: Array, sums: Array) -> bool:
    """Whether a guess was too high, or an arm has density above its end that counts; both are then mended."""
    needed = False
    for k in range(sums.shape[0]):
        found = SMALLEST_LOG
        if sums[k, MASS] > 0.0:
            found = max(found, math.log(sums[k, MASS]) + sums[k, TOP])
        if sums[k, GUESS] > found:
            sums[k, GUESS] = found - CAUTION
            needed = True
        arm = arms[k]
        delta = arm[DENSITY_END] - arm[PLACE]
        left = deviance(delta, arm[A], arm[B], arm[MEAN], arm[REST])
        beyond = arm[LOG_PEAK] - left - math.log(-slope(delta, arm[N], arm[MEAN], arm[REST]))
        excess = beyond - (found - NEGLIGIBLE)
        if excess > 0.0 and found > SMALLEST_LOG:
            arm[DENSITY_END] = arm[PLACE] + upper_end(delta, left + excess + 1.0, arm)
            needed = True
    return needed
