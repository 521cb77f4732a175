"""The density of a Beta posterior over its log odds, to a few units in the last place for any parameters.

With t = ln(θ/(1−θ)), θ ~ Beta(a, b), n = a + b and μ = a/n, the density of t is θ^a·(1−θ)^b / B(a, b). Written that way
its logarithm is a difference of terms as large as n. Here the density is peak·exp(−deviance), where

    peak     = (ab/n)·G(n)/(G(a)·G(b)),          G(z) = Γ(1+z)·(e/z)^z  (no cancellation: G(z) → √(2πz)),
    deviance = a·gap((θ−μ)/μ) + b·gap((μ−θ)/(1−μ)),   gap(y) = y − ln(1+y) ≥ 0  (a sum of positive terms),

and θ − μ follows from δ = t − ln(a/b), which is known to full relative precision (`double_double`).
In log odds every density and distribution function is log-concave.
"""

import math

from driftbandit.exact.quadrature.double_double import log_ratio
from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.panels import Panel
from driftbandit.exact.quadrature.records import Array, record
from driftbandit.numerics.elementary import exp, log

STIRLING_FROM = 10.0
FAR = 600.0  # e^δ is safe up to here
TAIL = 30.0  # log odds from which on 1 − θ is e^−t
FEW = 200.0  # evidence on both sides that makes a needle
NEAR = 0.75  # the polynomials of a needle reach this far in log odds
HALF_LOG_TAU = 0.9189385332046727


class Arm:
    """A Beta posterior: its parameters, what follows from them, where it matters, and its values on a panel."""

    a: float
    b: float
    n: float  # a + b
    mu: float  # the mean
    nu: float  # 1 − μ
    place: float  # the log odds of the mean are place + place_low
    place_low: float
    log_peak: float  # logarithm of the density at the mean
    width: float  # standard deviation of the log odds, by the curvature at the mean
    middle_cdf: float  # the distribution function at the mean, where `coefficients` are used
    coefficients: Array  # of a polynomial for the distribution function of a needle
    few_failures_term: float  # ln(Γ(a+b)/(Γ(a)·Γ(1+b))), where b is small
    cdf_end: float  # log odds above which the distribution function is 1
    density_end: float  # log odds above which the arm is chosen with no probability
    log_density: Array
    slope: Array  # of the log density: a − n·θ


DEGREE = 40
ARM = record(Arm, coefficients=DEGREE)


def describe(a: float, b: float, arm: Arm) -> None:
    """Make it the posterior Beta(a, b)."""
    n = a + b
    arm.a = a
    arm.b = b
    arm.n = n
    arm.mu = a / n
    arm.nu = b / n
    arm.place, arm.place_low = log_ratio(a, b)
    arm.log_peak = log_peak(a, b)
    arm.width = 1.0 / math.sqrt(a * (b / n))


def above_mean(t: float, t_low: float, arm: Arm) -> float:
    """How far the log odds t + t_low are above those of the mean: δ."""
    return (t - arm.place) + (t_low - arm.place_low)


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


def deviance(delta: float, arm: Arm) -> float:
    """Minus the logarithm of density/peak at a distance δ in log odds from the mean."""
    a, b, mu, nu = arm.a, arm.b, arm.mu, arm.nu
    if -1.0 <= delta <= 1.0:
        growth = math.expm1(delta)
        share = growth / (1.0 + mu * growth)
        return a * gap(nu * share) + b * gap(-mu * share)
    if mu > 0.5:
        a, b, mu, nu, delta = b, a, nu, mu, -delta
    if delta > FAR:
        return arm.n * math.log(mu + nu * math.exp(-delta)) + b * delta
    return arm.n * math.log1p(mu * math.expm1(delta)) - a * delta


def log_density(delta: float, arm: Arm) -> float:
    """The logarithm of the density at a distance δ in log odds from the mean."""
    return arm.log_peak - deviance(delta, arm)


def slope(delta: float, arm: Arm) -> float:
    """Derivative of the log density: a − n·θ = −n·(θ − μ)."""
    mu, nu = arm.mu, arm.nu
    if delta <= 0.0:
        return -arm.n * mu * nu * math.expm1(delta) / (nu + mu * math.exp(delta))
    return arm.n * mu * nu * math.expm1(-delta) / (mu + nu * math.exp(-delta))


def upper_end(start: float, level: float, arm: Arm) -> float:
    """A distance above the mean, beyond `start`, at which the deviance is at least `level` (and hardly more).

    Newton's method on a convex function: from the second step on it comes from above, so any stop is safe.
    """
    delta = max(start, 6.0 * arm.width)
    for _ in range(200):
        excess = deviance(delta, arm) - level
        step = excess / slope(delta, arm)
        if 0.0 <= excess < 2.0:
            break
        delta += step
    return delta


def density_on_nodes(arm: Arm, offset: float, panel: Panel) -> None:
    """The log density and its slope on the nodes of a panel whose right edge is `offset` above the mean.

    Four ways to the same deviance: sums of positive polynomials for a needle, one logarithm for a posterior with
    little evidence on one side, the same turned over where e^δ would overflow, and node by node in between.
    """
    sign, low, high = 1.0, offset + panel.distance[0], offset
    if arm.mu > 0.5:
        sign, low, high = -1.0, -high, -low
    if min(arm.a, arm.b) > FEW and max(high, -low) < NEAR and panel.distance[0] > -NEAR:
        needle_on_nodes(arm, offset, panel)
    elif high < FAR:
        broad_on_nodes(arm, sign, offset, panel)
    elif low > TAIL + abs(arm.place):
        tail_on_nodes(arm, sign, offset, panel)
    else:
        for i in range(NODES):
            arm.slope[i] = slope(offset + panel.distance[i], arm)
            arm.log_density[i] = log_density(offset + panel.distance[i], arm)


def needle_on_nodes(arm: Arm, offset: float, panel: Panel) -> None:
    """e^δ − 1 from its factors, of which all arms share one; then the two gaps."""
    a, b, mu, nu, peak = arm.a, arm.b, arm.mu, arm.nu, arm.log_peak
    grown = math.expm1(offset)
    scale = -arm.n * mu * nu
    for i in range(NODES):
        e = grown + panel.growth[i] * (1.0 + grown)
        share = e / (1.0 + mu * e)
        arm.slope[i] = scale * share
        arm.log_density[i] = peak - (a * near_gap(nu * share) + b * near_gap(-mu * share))


def broad_on_nodes(arm: Arm, sign: float, offset: float, panel: Panel) -> None:
    """Deviance n·ln(1 + μ·(e^δ − 1)) − a·δ, of θ, or with sign −1 of 1 − θ: the one whose mean is at most ½."""
    a, mu, nu = (arm.a, arm.mu, arm.nu) if sign > 0.0 else (arm.b, arm.nu, arm.mu)
    n, peak = arm.n, arm.log_peak
    scale = -sign * n * mu * nu
    for i in range(NODES):
        delta = sign * (offset + panel.distance[i])
        y = mu * (exp(delta) - 1.0)
        q = 1.0 + y
        arm.slope[i] = scale * (y / mu) / q
        arm.log_density[i] = peak - (n * (log(q) - ((q - 1.0) - y) / q) - a * delta)


def tail_on_nodes(arm: Arm, sign: float, offset: float, panel: Panel) -> None:
    """The same where e^δ may overflow: n·ln(μ + (1 − μ)·e^−δ) + (n − a)·δ."""
    a, mu, nu = (arm.a, arm.mu, arm.nu) if sign > 0.0 else (arm.b, arm.nu, arm.mu)
    n, peak = arm.n, arm.log_peak
    for i in range(NODES):
        delta = sign * (offset + panel.distance[i])
        q = mu + nu * exp(-delta)
        arm.slope[i] = sign * (a - n * (mu / q))
        arm.log_density[i] = peak - (n * log(q) + (n - a) * delta)
