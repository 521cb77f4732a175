"""One panel of the integral over log odds: the nodes, the densities on them, and how long a panel may be.

A panel hangs from its right edge, and its nodes are kept as distances from that edge. Edges are rounded to few bits,
so that they are exact and adding a panel's length to one is exact too: for a needle one rounding of a node is not small
against its width.
"""

import math

import numpy as np

from driftbandit.exact.quadrature.beta_density import (
    FAR,
    LOG_PEAK,
    MEAN,
    PLACE,
    PLACE_LOW,
    REST,
    A,
    Array,
    B,
    N,
    deviance,
    near_gap,
    slope,
)
from driftbandit.exact.quadrature.legendre import LAST_EVEN, LAST_ODD, NODES, POINTS, WEIGHTS
from driftbandit.numerics.elementary import exp, log

REACH = 9.0  # longest panel, in standard deviations of the sharpest arm
CLEAR = 8.0  # longest panel near the bends of the logistic function
ERROR = 3e-10  # square of the last Legendre coefficients of a panel; its relative error is far smaller
NEGLIGIBLE = 38.0  # e^−38 of the total is not worth another panel
CDF_LEVEL = 43.0  # e^−43 is below half a unit in the last place of 1
HIDDEN = 80.0  # powers of e that the tails may fall on a panel without showing
TAIL = 30.0  # log odds from which on 1 − θ is e^−t
FEW = 200.0  # evidence on both sides that makes a needle
NEAR = 0.75  # the polynomials reach this far in log odds
GROWTH = 1.0 / 60.0  # the error of a panel goes about with the 60th power of its length
SHRINKAGE = 1.0 / 18.0  # before that, while it is large, with a lower one
MOST_GROWTH = 10.0
NOISE = 1e-24  # a roughness that is all rounding says nothing about how much longer a panel may be
FEW_BITS = 64.0


def few_bits(length: float) -> float:
    """The length rounded down to 7 bits."""
    mantissa, exponent = math.frexp(length)
    return math.ldexp(math.floor(mantissa * FEW_BITS) / FEW_BITS, exponent)


def rounded_edge(edge: float, length: float) -> float:
    """A number near `edge` to which panels of about this length can be added exactly."""
    unit = few_bits(length) / FEW_BITS
    if abs(edge) / unit > 1e14:
        return edge
    _, exponent = math.frexp(unit)
    unit = math.ldexp(1.0, exponent)
    return math.floor(edge / unit) * unit


def longest(edge: float, length: float, sharpness: float, direction: float) -> float:
    """The given length, shortened to what resolves an arm with a + b = `sharpness`.

    That is REACH standard deviations (the curvature of its log density is (a + b)·θ·(1 − θ)), and no more than makes
    a panel stand well clear of the logistic function's singularities at ±iπ, whose weight (a + b)·e^−|t| fades beyond
    |t| = ln(a + b).
    """
    bend = math.log(max(sharpness, 1.0))
    for _ in range(100):
        far = edge + direction * length
        nearest = 0.0
        if edge > 0.0 and far > 0.0:
            nearest = min(edge, far)
        elif edge < 0.0 and far < 0.0:
            nearest = min(-edge, -far)
        beyond = max(nearest - bend, 0.0)
        clear = beyond * (3.0 + 0.005 * beyond * beyond)
        half = math.cosh(min(0.5 * nearest, 300.0))
        limit = min(2.0 * REACH * half / math.sqrt(sharpness), max(CLEAR, clear))
        if length <= limit:
            break
        length = max(limit, 0.7 * length)
    return few_bits(length)


def next_factor(error: float) -> float:
    """What the length of the next panel is multiplied by, after one with this relative error."""
    if error < NOISE:
        return MOST_GROWTH
    factor: float = min(MOST_GROWTH, max(0.25, 0.95 * (ERROR / error) ** GROWTH))
    return factor


def shorter_factor(error: float) -> float:
    """What the length of a panel is multiplied by when its relative error is too large."""
    factor: float = min(0.85, max(0.25, (ERROR / error) ** SHRINKAGE))
    return factor


def hidden_fall(arm: Array, length: float, lean: Array, log_density: Array) -> float:
    """By how many powers of e the upper tail of an arm falls on a panel, as far as that is not too deep to count.

    Above the mean F is 1 minus something that falls by −lean a unit, and is e^−depth at the left end. Where that is
    small the Legendre coefficients do not show whether a fast fall is resolved; in a product of many F the falls add.
    """
    depth = arm[LOG_PEAK] - log_density[0]
    fall: float = max(0.0, -lean[0] * length - depth)
    return fall


def integrate(log_height: Array, length: float, height: Array) -> tuple[float, float, float]:
    """A panel's integral as value·e^peak, and its roughness: the square of the last Legendre coefficients, relative."""
    peak = -np.inf
    for i in range(NODES):
        peak = max(peak, log_height[i])
    for i in range(NODES):
        height[i] = exp(log_height[i] - peak)
    value, even, odd = 0.0, 0.0, 0.0
    for i in range(NODES):
        value += WEIGHTS[i] * height[i]
        even += LAST_EVEN[i] * height[i]
        odd += LAST_ODD[i] * height[i]
    tail = (abs(even) + abs(odd)) / value
    return peak, 0.5 * length * value, tail * tail


def place_nodes(edge: float, length: float, distance: Array, growth: Array, theta: Array, rest: Array) -> None:
    """Distances of the nodes from the right edge, e^distance − 1, and θ and 1 − θ."""
    for i in range(NODES):
        distance[i] = -0.5 * length * (1.0 - POINTS[i])
        growth[i] = math.expm1(distance[i])
    for i in range(NODES):
        t = edge + distance[i]
        e = exp(-abs(t))
        near = 1.0 / (1.0 + e)
        far = e * near
        theta[i] = near if t > 0.0 else far
        rest[i] = far if t > 0.0 else near


def density_on_nodes(
    arm: Array, edge: float, edge_low: float, distance: Array, growth: Array, lean: Array, log_density: Array
) -> None:
    """The arm's log density and its derivative `lean` = a − n·θ on the nodes.

    Several ways to the same deviance: sums of positive polynomials for a needle, one logarithm for a posterior with
    little evidence on one side, the same turned over where e^δ would overflow, and a call a node in between.
    """
    offset = (edge - arm[PLACE]) + (edge_low - arm[PLACE_LOW])
    sign, a, mean, rest = 1.0, arm[A], arm[MEAN], arm[REST]
    low, high = offset + distance[0], offset
    if mean > 0.5:
        sign, a, mean, rest = -1.0, arm[B], rest, mean
        low, high = -high, -low
    if min(arm[A], arm[B]) > FEW and max(high, -low) < NEAR and distance[0] > -NEAR:
        needle_on_nodes(arm, offset, growth, lean, log_density)
    elif high < FAR:
        broad_on_nodes(a, mean, rest, sign, arm, offset, distance, lean, log_density)
    elif low > TAIL + abs(arm[PLACE]):
        tail_on_nodes(a, mean, rest, sign, arm, offset, distance, lean, log_density)
    else:
        for i in range(NODES):
            lean[i] = slope(offset + distance[i], arm[N], arm[MEAN], arm[REST])
            log_density[i] = arm[LOG_PEAK] - deviance(offset + distance[i], arm[A], arm[B], arm[MEAN], arm[REST])


def needle_on_nodes(arm: Array, offset: float, growth: Array, lean: Array, log_density: Array) -> None:
    """e^δ − 1 from its factors, which all arms share; then the two gaps."""
    a, b, mean, rest, peak = arm[A], arm[B], arm[MEAN], arm[REST], arm[LOG_PEAK]
    grown = math.expm1(offset)
    scale = -arm[N] * mean * rest
    for i in range(NODES):
        e = grown + growth[i] * (1.0 + grown)
        share = e / (1.0 + mean * e)
        lean[i] = scale * share
        log_density[i] = peak - (a * near_gap(rest * share) + b * near_gap(-mean * share))


def broad_on_nodes(
    a: float,
    mean: float,
    rest: float,
    sign: float,
    arm: Array,
    offset: float,
    distance: Array,
    lean: Array,
    log_density: Array,
) -> None:
    """n·ln(1 + μ·(e^δ − 1)) − a·δ, from the side on which the mean is at most ½."""
    n, peak = arm[N], arm[LOG_PEAK]
    scale = -sign * n * mean * rest
    for i in range(NODES):
        delta = sign * (offset + distance[i])
        y = mean * (exp(delta) - 1.0)
        q = 1.0 + y
        lean[i] = scale * (y / mean) / q
        log_density[i] = peak - (n * (log(q) - ((q - 1.0) - y) / q) - a * delta)


def tail_on_nodes(
    a: float,
    mean: float,
    rest: float,
    sign: float,
    arm: Array,
    offset: float,
    distance: Array,
    lean: Array,
    log_density: Array,
) -> None:
    """The same where e^δ may overflow: n·ln(μ + (1 − μ)·e^−δ) + (n − a)·δ."""
    n, peak = arm[N], arm[LOG_PEAK]
    for i in range(NODES):
        delta = sign * (offset + distance[i])
        q = mean + rest * exp(-delta)
        lean[i] = sign * (a - n * (mean / q))
        log_density[i] = peak - (n * log(q) + (n - a) * delta)
