"""Where each arm matters, from a guess of how probable it is; and what to do where the guess was wrong."""

import math

from driftbandit.exact.quadrature.beta_cdf import CDF_LEVEL
from driftbandit.exact.quadrature.beta_density import deviance, log_density, slope, upper_end
from driftbandit.exact.quadrature.records import Records
from driftbandit.exact.quadrature.sums import NEGLIGIBLE, SMALLEST_LOG, log_probability

CAUTION = 4.0  # how far, in powers of e, a guessed probability is lowered before it is relied on
LEAST_FALL = 20.0  # powers of e that a density falls from its likely place to its end, at least


def likely_place(k: int, best: int, optimistic: bool, arms: Records) -> float:
    """About where the integrand of arm k has its peak: at the pooled mean of it and the best arm."""
    if optimistic or k == best:
        return float(arms[best].place)
    return math.log((arms[k].a + arms[best].a) / (arms[k].b + arms[best].b))


def guess_probabilities(best: int, optimistic: bool, arms: Records, sums: Records) -> None:
    """A rough logarithm of each probability, so that panels are not refined for what will not count.

    A guess that proves too high is lowered, and the panels are added up again.
    """
    for k in range(len(sums)):
        arm = arms[k]
        t = likely_place(k, best, optimistic, arms)
        height = log_density(t - arm.place, arm)
        for j in range(len(sums)):
            if j != k:
                other = arms[j]
                fall, rise = other.log_peak, 0.0
                delta = t - other.place
                if delta < 0.0:
                    fall -= deviance(delta, other)
                    rise = slope(delta, other)
                height += min(-0.7, fall - math.log(rise + 0.8 / other.width))
        sums[k].log_guess = height + math.log(min(arm.width, arms[best].width)) - CAUTION


def set_ends(best: int, optimistic: bool, arms: Records, sums: Records) -> None:
    """Where, coming from the right, each arm begins to matter: its distribution function, and its density."""
    for k in range(len(sums)):
        arm = arms[k]
        arm.cdf_end = arm.place + upper_end(0.0, CDF_LEVEL, arm)
        shift = max(0.0, likely_place(k, best, optimistic, arms) - arm.place)
        steepness = -slope(max(shift, 3.0 * arm.width), arm)
        level = arm.log_peak - math.log(steepness) - max(sums[k].log_guess, SMALLEST_LOG) + NEGLIGIBLE
        least = deviance(shift, arm) + LEAST_FALL
        arm.density_end = arm.place + upper_end(shift, max(level, least), arm)


def correct_guesses(arms: Records, sums: Records) -> bool:
    """Lower the guesses that were too high, and raise the ends above which density counts; whether there were any."""
    needed = False
    for k in range(len(sums)):
        arm = arms[k]
        found = max(SMALLEST_LOG, log_probability(sums[k]))
        if sums[k].log_guess > found:
            sums[k].log_guess = found - CAUTION
            needed = True
        delta = arm.density_end - arm.place
        left = deviance(delta, arm)
        beyond = arm.log_peak - left - math.log(-slope(delta, arm))
        excess = beyond - (found - NEGLIGIBLE)
        if excess > 0.0 and found > SMALLEST_LOG:
            arm.density_end = arm.place + upper_end(delta, left + excess + 1.0, arm)
            needed = True
    return needed
