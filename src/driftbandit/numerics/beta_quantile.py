"""Quantiles of Beta distributions, as scalar code: what Bayes-UCB compares.

In the log odds z = ln(x/(1 − x)) the density of Beta(a, b) is x^a·(1 − x)^b / B(a, b), whose logarithm is concave for
all shapes, and so is that of either tail. Newton's method on the logarithm of the tail therefore finds its way from
anywhere. All derivatives follow from the density, so three more terms cost little, and the first guess is mostly good:
one or two steps do.
"""

import math

from driftbandit.numerics.elementary import exp, log

SMALLEST, LARGEST = 1e-6, 1e9
"""Shapes beyond count as these."""
NEAR = 0.015
"""A step from so near, in the logarithm of the tail, leaves an error of some 1e-11 of the spread."""
MOST_STEPS = 40
"""One or two are usual."""
MOST_TERMS = 4000
"""Of the continued fraction: some ten are usual, a thousand are needed for shapes of 1e6 near their mean."""
ENOUGH, ROUNDING = 1e-14, 1e-16
HUGE = 1e100
LARGE = 10.0
C_1, C_3, C_5, C_7, C_9, C_11 = 1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188, 691 / 360360


def beta_upper(a: float, b: float, tail: float) -> float:
    """The number that a sample of Beta(a, b) exceeds with probability `tail`; 1 for a tail of 0, and 0 for one of 1.

    For shapes from 0.01 to 1e6 and tails from 1e-12 on it is right to ten digits.
    """
    a, b = min(max(a, SMALLEST), LARGEST), min(max(b, SMALLEST), LARGEST)
    if tail >= 1.0:
        return 0.0
    if tail <= 0.0:
        return 1.0
    z = log_odds_above(a, b, tail) if tail <= 0.5 else -log_odds_above(b, a, 1.0 - tail)
    e = exp(-abs(z))
    return (1.0 if z >= 0.0 else e) / (1.0 + e)


def log_odds_above(a: float, b: float, tail: float) -> float:
    """The log odds of the same, for a tail of at most ½."""
    log_beta = log_beta_of(min(a, b), max(a, b))
    log_tail = log(max(tail, 1e-300))
    z = first_guess(a, b, tail, log_tail)
    for _ in range(MOST_STEPS):
        e = exp(-abs(z))
        larger, smaller, rest = 1.0 / (1.0 + e), e / (1.0 + e), math.log1p(e)
        x, y = (larger, smaller) if z >= 0.0 else (smaller, larger)
        log_density = a * (min(z, 0.0) - rest) - b * (max(z, 0.0) + rest) - log_beta
        if y * (a + b + 2.0) <= b + 1.0:
            hazard = fraction(b, a, y, x)  # density over tail
            excess = log_density - log(hazard) - log_tail
        else:
            density = exp(log_density)
            upper = max(1.0 - density / fraction(a, b, x, y), 1e-300)
            hazard = max(density / upper, 1e-300)
            excess = log(upper) - log_tail
        mills, slope = 1.0 / hazard, a * y - b * x
        bend = 1.0 + mills * slope
        if abs(excess) > NEAR:  # Halley's step; from far above Newton's, which never goes too far
            z += excess * mills / max(1.0 + 0.5 * excess * bend, 0.5 if excess > -1.0 else 1.0)
            continue
        fall = (a + b) * x * y
        turn = bend * slope + mills * fall
        third = bend * bend + mills * turn
        more = turn * slope + fall * (2.0 * bend - mills * (y - x))
        fourth = bend * third + mills * (3.0 * bend * turn + mills * more)
        terms = 0.5 * bend - excess * (0.16666666666666666 * third - excess * 0.041666666666666664 * fourth)
        z += excess * mills * (1.0 - excess * terms)
        if abs(excess) <= NEAR * min(hazard, 1.0):
            break
    return z


def first_guess(a: float, b: float, tail: float, log_tail: float) -> float:
    """Log odds near those wanted: by a normal number where both shapes exceed 1 (Abramowitz and Stegun 26.5.22), else
    by powers of x and 1 − x alone, which are what the tails are far out.
    """
    if min(a, b) > 1.0:
        t = math.sqrt(-2.0 * log_tail)
        above = t - (2.973893420 + t * (5.043995585 + t * (0.821622454 + t * 0.013684289))) / (
            1.0 + t * (3.675876457 + t * (2.100174927 + t * (0.191724616 + t * 0.001951123)))
        )
        u, v = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
        h, third = 2.0 / (u + v), (above * above - 3.0) / 6.0
        w = (v - u) * (third + 5.0 / 6.0 - 2.0 / (3.0 * h)) + above * math.sqrt(h + third) / h
        return log(a / b) + 2.0 * w
    low, high = exp(a * log(a / (a + b))) / a, exp(b * log(b / (a + b))) / b
    if (1.0 - tail) * (low + high) < low:
        near = log(a * (low + high) * (1.0 - tail)) / a  # of x
        return near - log(max(1.0 - exp(near), ROUNDING))
    near = log(b * (low + high) * tail) / b  # of 1 − x
    return log(max(1.0 - exp(near), ROUNDING)) - near


def log_beta_of(small: float, large: float) -> float:
    """The logarithm of B; by Stirling's series where a shape is large, as logarithms of Γ nearly cancel there."""
    both = small + large
    if large < LARGE:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(both)
    ratio = (0.5 - large) * math.log1p(small / large) - small * (log(both) - 1.0)
    return math.lgamma(small) + ratio + stirling(large) - stirling(both)


def stirling(x: float) -> float:
    """What Stirling's formula leaves of ln Γ(x), for x of at least 10."""
    w = 1.0 / x
    v = w * w
    return w * (C_1 - v * (C_3 - v * (C_5 - v * (C_7 - v * (C_9 - v * C_11)))))


def fraction(a: float, b: float, x: float, y: float) -> float:
    """x^a·y^b / B(a, b) over the probability that a Beta(a, b) sample is below x = 1 − y, for x below about the mean.

    The continued fraction of Didonato and Morris (1992), by numerators and denominators: a division in every term would
    be what the next one waits for.
    """
    slope, square, twice = a * y - b * x + 1.0, x * x, 2.0 - x
    under = 1.0 / (a + 1.0)
    above, above_before, below, below_before = a * slope * under, 1.0, 1.0, 0.0
    m = 0.0
    for _ in range(MOST_TERMS):
        m += 1.0
        over = m * (b - m) * under
        part = (a + m - 1.0) * (a + b + m - 1.0) * under * over * square
        under = 1.0 / (a + 2.0 * m + 1.0)
        whole = m + over * x + (a + m) * (slope + m * twice) * under
        above, above_before = whole * above + part * above_before, above
        below, below_before = whole * below + part * below_before, below
        if abs(above * below_before - above_before * below) <= ENOUGH * above * below_before:
            break
        if below > HUGE:
            above, above_before = above / HUGE, above_before / HUGE
            below, below_before = below / HUGE, below_before / HUGE
    return above / below
