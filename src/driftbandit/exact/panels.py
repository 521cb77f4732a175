"""One panel of the integral over log odds: the nodes, the densities on them, and how long a panel may be.

A panel hangs from its right edge, and its nodes are kept as distances from that edge. Edges are rounded to few bits,
so that they are exact and adding a panel's length to one is exact too: for a needle one rounding of a node is not small
against its width.
"""

import math

from driftbandit.exact.beta_density import (
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
    gap,
    slope,
)
from driftbandit.exact.legendre import NODES, POINTS

REACH = 4.4  # longest panel, in standard deviations of the sharpest arm
CLEAR = 4.0  # longest panel near the bends of the logistic function
ERROR = 3e-15  # relative error a panel may add
GROWTH = 1.0 / 30.0  # the error of a panel goes about with the 30th power of its length
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
        half = math.cosh(min(0.5 * nearest, 300.0))
        limit = min(2.0 * REACH * half / math.sqrt(sharpness), max(CLEAR, 2.0 * (nearest - bend)))
        if length <= limit:
            break
        length = max(limit, 0.7 * length)
    return few_bits(length)


def next_factor(error: float) -> float:
    """What the length of the next panel is multiplied by, after one with this relative error."""
    if error <= 0.0:
        return 3.0
    return min(3.0, max(0.25, 0.95 * (0.1 * ERROR / error) ** GROWTH))


def place_nodes(edge: float, length: float, distance: Array, theta: Array, rest: Array) -> None:
    """Distances of the nodes from the right edge, and θ and 1 − θ on them."""
    for i in range(NODES):
        distance[i] = -0.5 * length * (1.0 - POINTS[i])
        t = edge + distance[i]
        e = math.exp(-abs(t))
        near = 1.0 / (1.0 + e)
        if t > 0.0:
            theta[i] = near
            rest[i] = e * near
        else:
            theta[i] = e * near
            rest[i] = near


def density_on_nodes(
    arm: Array, edge: float, edge_low: float, distance: Array, lean: Array, log_density: Array
) -> None:
    """The arm's log density and its derivative `lean` = a − n·θ on the nodes."""
    a, b, n = arm[A], arm[B], arm[N]
    mean, rest = arm[MEAN], arm[REST]
    offset = (edge - arm[PLACE]) + (edge_low - arm[PLACE_LOW])
    for i in range(NODES):
        delta = offset + distance[i]
        if -1.0 <= delta <= 1.0:
            growth = math.expm1(delta)
            share = growth / (1.0 + mean * growth)
            lean[i] = -n * mean * rest * share
            log_density[i] = arm[LOG_PEAK] - (a * gap(rest * share) + b * gap(-mean * share))
        else:
            lean[i] = slope(delta, n, mean, rest)
            log_density[i] = arm[LOG_PEAK] - deviance(delta, a, b, mean, rest)
