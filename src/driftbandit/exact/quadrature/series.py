"""The two hypergeometric series for P(θ2 > θ1), term by term."""

import math

import numpy as np

from driftbandit.exact.quadrature.beta_density import ARM, above_mean, describe, log_density
from driftbandit.exact.quadrature.records import Array, Records

MOST_TERMS = 2_000_000
SMALL = 1e-18
HUGE = 1e250


def log_beta_ratio(a1: float, b1: float, a2: float, b2: float, arms: Records) -> float:
    """ln(B(a1+a2, b1+b2) / (B(a1, b1)·B(a2, b2))), as the product of both densities at the pooled mean."""
    pooled, first, second = arms[0], arms[1], arms[2]
    describe(a1 + a2, b1 + b2, pooled)
    describe(a1, b1, first)
    describe(a2, b2, second)
    total = -pooled.log_peak
    total += log_density(above_mean(pooled.place, pooled.place_low, first), first)
    return float(total + log_density(above_mean(pooled.place, pooled.place_low, second), second))


def positive_sum(a1: float, b1: float, a2: float, b2: float, arms: Records) -> float:
    """B(a1+a2, b1+b2)/(a1·B(a1, b1)·B(a2, b2))·3F2(1, a1+b1, a1+a2; a1+1, a1+b1+a2+b2; 1)."""
    n = a1 + b1 + a2 + b2
    log_scale = log_beta_ratio(a1, b1, a2, b2, arms) - math.log(a1)
    term, total = 1.0, 1.0
    for k in range(MOST_TERMS):
        term *= ((a1 + b1 + k) / (a1 + 1.0 + k)) * ((a1 + a2 + k) / (n + k))
        total += term
        # the terms fall at least as fast as k^(−b2−1) once they fall
        if term * (n + k) < SMALL * b2 * total:
            break
        if total > HUGE:
            total /= HUGE
            term /= HUGE
            log_scale += math.log(HUGE)
    return math.exp(log_scale + math.log(total))


def alternating_sum(a1: float, b1: float, a2: float, b2: float) -> float:
    """B(a1+a2, b2)/(a1·B(a1, b1)·B(a2, b2))·3F2(a1, a1+a2, 1−b1; 1+a1, a1+a2+b2; 1)."""
    a = a1 + a2
    scale = math.lgamma(a) - math.lgamma(a + b2) - math.log(a1)
    scale += math.lgamma(a1 + b1) - math.lgamma(a1) - math.lgamma(b1) + math.lgamma(a2 + b2) - math.lgamma(a2)
    term, total = 1.0, 1.0
    for k in range(MOST_TERMS):
        term *= ((a1 + k) / (a1 + 1.0 + k)) * ((a + k) / (a + b2 + k)) * ((1.0 - b1 + k) / (1.0 + k))
        total += term
        if abs(term) * (a + b2 + k) < SMALL * (b1 + b2) * abs(total):
            break
    return math.exp(scale) * total


def sum_all(parameters: Array, positive: bool, out: Array) -> None:
    """One of the two sums for every row (a1, b1, a2, b2)."""
    arms = np.empty(3, ARM)
    for s in range(out.shape[0]):
        a1, b1, a2, b2 = parameters[s, 0], parameters[s, 1], parameters[s, 2], parameters[s, 3]
        if positive:
            out[s] = positive_sum(a1, b1, a2, b2, arms)
        else:
            out[s] = alternating_sum(a1, b1, a2, b2)
