"""One panel of an integral: how long it may be, where its nodes are, and its integral.

A panel hangs from its right edge, and its nodes are kept as distances from that edge. Edges are rounded to few bits, so
that an edge plus the length of a panel is exact: against the width of a needle, one rounding of a node is not small.
"""

import math

import numpy as np

from driftbandit.exact.quadrature.legendre import LAST_EVEN, LAST_ODD, NODES, POINTS, WEIGHTS
from driftbandit.exact.quadrature.records import Array, record
from driftbandit.numerics.elementary import exp

REACH = 9.0  # longest panel, in standard deviations of the sharpest arm
CLEAR = 8.0  # longest panel near the bends of the logistic function
ERROR = 3e-10  # square of the last Legendre coefficients of a panel; its relative error is far smaller
GROWTH = 1.0 / 60.0  # the error of a panel goes about with the 60th power of its length
SHRINKAGE = 1.0 / 18.0  # before that, while it is large, with a lower one
MOST_GROWTH = 10.0
NOISE = 1e-24  # a roughness that is all rounding says nothing about how much longer a panel may be
FEW_BITS = 64.0
MOST_PANELS = 10000


class Panel:
    """What is known on the nodes of the present panel, which are in ascending order."""

    distance: Array  # from the right edge, so at most 0
    growth: Array  # e^distance − 1
    log_odds: Array
    theta: Array
    rest: Array  # 1 − θ
    log_cdf: Array  # of the arm that is worked on
    log_product: Array  # ln ∏F, the factor that the integrands of all arms share
    # the continued fraction of `beta_fraction`: its arguments, its value, its last two numerators and denominators
    argument: Array
    argument_slope: Array
    ratio: Array
    top: Array
    bottom: Array
    old_top: Array
    old_bottom: Array


PANEL = record(Panel)


def place_nodes(edge: float, length: float, panel: Panel) -> None:
    """Put the nodes on the panel to the left of the edge."""
    for i in range(NODES):
        panel.distance[i] = -0.5 * length * (1.0 - POINTS[i])
        panel.growth[i] = math.expm1(panel.distance[i])
    for i in range(NODES):
        t = edge + panel.distance[i]
        e = exp(-abs(t))
        near = 1.0 / (1.0 + e)
        far = e * near
        panel.log_odds[i] = t
        panel.theta[i] = near if t > 0.0 else far
        panel.rest[i] = far if t > 0.0 else near


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


def resolving_length(edge: float, length: float, sharpness: float, direction: float) -> float:
    """The given length, shortened to what resolves an arm with a + b = `sharpness`.

    That is REACH standard deviations; the curvature of the log density is (a + b)·θ·(1 − θ). A panel must also stand
    well clear of the singularities of the logistic function at ±iπ. Their weight is (a + b)·e^−|t|, so that they fade
    beyond |t| = ln(a + b).
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


def growth_factor(error: float) -> float:
    """What the length of the next panel is multiplied by, after one with this relative error."""
    if error < NOISE:
        return MOST_GROWTH
    factor: float = min(MOST_GROWTH, max(0.25, 0.95 * (ERROR / error) ** GROWTH))
    return factor


def shrinking_factor(error: float) -> float:
    """What the length of a panel is multiplied by when its relative error is too large."""
    factor: float = min(0.85, max(0.25, (ERROR / error) ** SHRINKAGE))
    return factor


def integrate(log_height: Array, length: float) -> tuple[float, float, float]:
    """A panel's integral as value·e^peak, and its roughness: the square of the last Legendre coefficients, relative.

    The logarithms of the heights are replaced by the heights over e^peak.
    """
    peak = -np.inf
    for i in range(NODES):
        peak = max(peak, log_height[i])
    for i in range(NODES):
        log_height[i] = exp(log_height[i] - peak)
    value, even, odd = 0.0, 0.0, 0.0
    for i in range(NODES):
        value += WEIGHTS[i] * log_height[i]
        even += LAST_EVEN[i] * log_height[i]
        odd += LAST_ODD[i] * log_height[i]
    tail = (abs(even) + abs(odd)) / value
    return peak, 0.5 * length * value, tail * tail
