"""The density of a Beta posterior over its log odds, to a few units in the last place for any parameters.

With t = ln(θ/(1−θ)), θ ~ Beta(a, b), n = a + b and μ = a/n, the density of t is θ^a·(1−θ)^b / B(a, b). Written that way
it is a difference of terms as large as n. Here it is peak·exp(−deviance), where

    peak     = (ab/n)·G(n)/(G(a)·G(b)),          G(z) = Γ(1+z)·(e/z)^z  (no cancellation: G(z) → √(2πz)),
    deviance = a·gap((θ−μ)/μ) + b·gap((μ−θ)/(1−μ)),   gap(y) = y − ln(1+y) ≥ 0  (a sum of positive terms),

and θ − μ follows from δ = t − ln(a/b), which is known to full relative precision (`double_double`).
In log odds every density and distribution function is log-concave.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driftbandit.exact.quadrature.double_double import log_ratio

Array = NDArray[np.float64]

# Columns of an arm's row of numbers.
A, B, N = 0, 1, 2
MEAN, REST = 3, 4  # μ and 1 − μ
PLACE, PLACE_LOW = 5, 6  # the log odds of the mean, as high + low
LOG_PEAK = 7
WIDTH = 8  # standard deviation of the log odds, by curvature at the mean
CENTRAL = 9  # 1 where the middle of the distribution function is a polynomial
MIDDLE_CDF = 10  # distribution function at the mean, where CENTRAL
CDF_END = 11  # log odds above which the distribution function is 1
DENSITY_END = 12  # log odds above which the arm is chosen with no probability
FEW_FAILURES_TERM = 13  # ln(Γ(a+b)/(Γ(a)·Γ(1+b))), where b is small
COLUMNS = 14

STIRLING_FROM = 10.0
FAR = 600.0  # e^δ is safe up to here
HALF_LOG_TAU = 0.9189385332046727


def stirling_series(z: float) -> float:
    """What Stirling's formula lacks: ln Γ(1+z) − ½·ln(2πz) − z·ln(z/e), for a large z."""
    r = 1.0 / z
    s = r * r
    series = 1.0 / 1188.0 + s * (-691.0 / 360360.0 + s * (1.0 / 156.0))
    series = 1.0 / 12.0 + s * (-1.0 / 360.0 + s * (1.0 / 1260.0 + s * (-1.0 / 1680.0 + s * series)))
    return r * series


def log_stirling_ratio(z: float) -> float:
    """The logarithm of G(z), where G(z) = Γ(1+z)·(e/z)^z."""
    if z < STIRLING_FROM:
        return math.lgamma(1.0 + z) + (z - z * math.log(z))
    return (HALF_LOG_TAU + 0.5 * math.log(z)) + stirling_series(z)


def log_peak(a: float, b: float) -> float:
    """Logarithm of the density of the log odds at the mean."""
    n = a + b
    large = max(a, b)
    small = min(a, b)
    # Γ-ratios of the larger parameter and the sum nearly cancel: their difference is formed first
    return (
        math.log(small * (large / n)) + (log_stirling_ratio(n) - log_stirling_ratio(large)) - log_stirling_ratio(small)
    )


def near_gap(y: float) -> float:
    """The gap for −0.53 ≤ y ≤ 1.12; with s = y/(2+y) it is s·y − 2·(s³/3 + s⁵/5 + …), without cancellation."""
    s = y / (2.0 + y)
    z = s * s
    p = 1.0 / 35.0 + z * (1.0 / 37.0 + z * (1.0 / 39.0 + z * (1.0 / 41.0)))
    p = 1.0 / 27.0 + z * (1.0 / 29.0 + z * (1.0 / 31.0 + z * (1.0 / 33.0 + z * p)))
    p = 1.0 / 19.0 + z * (1.0 / 21.0 + z * (1.0 / 23.0 + z * (1.0 / 25.0 + z * p)))
    p = 1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0 + z * p)))
    p = 1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * p)))
    return s * (y - 2.0 * z * p)


def gap(y: float) -> float:
    """The difference y − ln(1 + y), to full relative precision."""
    if -0.53 <= y <= 1.12:
        return near_gap(y)
    return y - math.log1p(y)


def deviance(delta: float, a: float, b: float, mean: float, rest: float) -> float:
    """Minus the logarithm of density/peak at a distance δ in log odds from the mean."""
    if -1.0 <= delta <= 1.0:
        growth = math.expm1(delta)
        share = growth / (1.0 + mean * growth)
        return a * gap(rest * share) + b * gap(-mean * share)
    if mean > 0.5:
        a, b, mean, rest, delta = b, a, rest, mean, -delta
    if delta > FAR:
        return (a + b) * math.log(mean + rest * math.exp(-delta)) + b * delta
    return (a + b) * math.log1p(mean * math.expm1(delta)) - a * delta


def slope(delta: float, n: float, mean: float, rest: float) -> float:
    """Derivative of the log density: a − n·θ = −n·(θ − μ)."""
    if delta <= 0.0:
        return -n * mean * rest * math.expm1(delta) / (rest + mean * math.exp(delta))
    return n * mean * rest * math.expm1(-delta) / (mean + rest * math.exp(-delta))


def upper_end(start: float, level: float, arm: Array) -> float:
    """A distance above the mean, beyond `start`, at which the deviance is at least `level` (and hardly more).

    Newton's method on a convex function: from the second step on it comes from above, so any stop is safe.
    """
    delta: float = max(start, 6.0 * arm[WIDTH])
    for _ in range(200):
        excess = deviance(delta, arm[A], arm[B], arm[MEAN], arm[REST]) - level
        step = excess / slope(delta, arm[N], arm[MEAN], arm[REST])
        if 0.0 <= excess < 2.0:
            break
        delta += step
    return delta


def describe(a: float, b: float, arm: Array) -> None:
    """Fill an arm's row with everything that depends on its parameters only."""
    n = a + b
    arm[A] = a
    arm[B] = b
    arm[N] = n
    arm[MEAN] = a / n
    arm[REST] = b / n
    place, place_low = log_ratio(a, b)
    arm[PLACE] = place
    arm[PLACE_LOW] = place_low
    arm[LOG_PEAK] = log_peak(a, b)
    arm[WIDTH] = 1.0 / math.sqrt(a * (b / n))
