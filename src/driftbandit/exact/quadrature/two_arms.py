"""Two arms: the probability that one sample exceeds another.

    P(θ_A > θ_B) = ∫ f_A·F_B dt        over the log odds t

The density is taken from the arm with more evidence (the roles are exchanged by (a, b, θ) → (b, a, 1−θ)), so that the
integrand varies on one scale. It is log-concave: panels go outwards from near its peak until the rest cannot count.
"""

import math

import numpy as np

from driftbandit.exact.quadrature.beta_cdf import log_cdf, prepare_cdf
from driftbandit.exact.quadrature.beta_density import (
    CDF_END,
    MEAN,
    PLACE,
    PLACE_LOW,
    REST,
    A,
    Array,
    B,
    N,
    describe,
    deviance,
    upper_end,
)
from driftbandit.exact.quadrature.double_double import log_ratio
from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.panels import (
    CDF_LEVEL,
    ERROR,
    HIDDEN,
    NEGLIGIBLE,
    density_on_nodes,
    hidden_fall,
    integrate,
    longest,
    next_factor,
    place_nodes,
    rounded_edge,
    shorter_factor,
)

FIRST_LENGTH = 10.0
MOSTLY = 0.9  # a probability from here on is better taken from the other one
UNDERFLOW = 780.0  # e^−780, times any density of these arms, is below the smallest double
MOST_PANELS = 10000
ROWS = 9  # of numbers on the nodes that are kept while a panel is worked on


def exceeding(
    a: float, b: float, c: float, d: float, arms: Array, coefficients: Array, work: Array, scratch: Array
) -> float:
    """P(θ_A > θ_B) for A ~ Beta(a, b) and B ~ Beta(c, d), to full relative precision where it is small."""
    if a + b < c + d:
        a, b, c, d = d, c, b, a
    describe(a, b, arms[0])
    describe(c, d, arms[1])
    prepare_cdf(arms[1], coefficients)
    arms[1, CDF_END] = arms[1, PLACE] + upper_end(0.0, CDF_LEVEL, arms[1])
    start = arms[0, PLACE]
    if (arms[0, PLACE] - arms[1, PLACE]) + (arms[0, PLACE_LOW] - arms[1, PLACE_LOW]) < 0.0:
        start, start_low = log_ratio(a + c, b + d)
        fall = fall_to(start, start_low, arms[0]) + fall_to(start, start_low, arms[1])
        if fall > UNDERFLOW:
            return 0.0
    length = longest(start, FIRST_LENGTH, arms[0, N] + arms[1, N], 1.0)
    start = rounded_edge(start, length)
    total, top = 0.0, -np.inf
    total, top = outwards(start, 1.0, total, top, arms, coefficients, work, scratch)
    total, top = outwards(start, -1.0, total, top, arms, coefficients, work, scratch)
    return total * math.exp(top)


def fall_to(t: float, t_low: float, arm: Array) -> float:
    """The arm's deviance at these log odds."""
    return deviance((t - arm[PLACE]) + (t_low - arm[PLACE_LOW]), arm[A], arm[B], arm[MEAN], arm[REST])


def outwards(
    edge: float,
    direction: float,
    total: float,
    top: float,
    arms: Array,
    coefficients: Array,
    work: Array,
    scratch: Array,
) -> tuple[float, float]:
    """Add panels to total·e^top in one direction, until what is left is negligible."""
    distance, growth, theta, rest, lean = work[0], work[1], work[2], work[3], work[4]
    log_density, other_density, other_cdf, height = work[5], work[6], work[7], work[8]
    length = FIRST_LENGTH
    for _ in range(MOST_PANELS):
        sharpness = arms[0, N]
        if edge < arms[1, CDF_END]:
            sharpness += arms[1, N]
        length = longest(edge, length, sharpness, direction)
        right = edge
        if direction > 0.0:
            right = edge + length
        place_nodes(right, length, distance, growth, theta, rest)
        density_on_nodes(arms[0], right, 0.0, distance, growth, lean, log_density)
        if right - length < arms[1, CDF_END]:
            density_on_nodes(arms[1], right, 0.0, distance, growth, lean, other_density)
            hidden = hidden_fall(arms[1], length, lean, other_density)
            if hidden > HIDDEN:
                length *= max(0.25, 0.95 * HIDDEN / hidden)
                continue
            log_cdf(arms[1], coefficients, right, distance, theta, rest, lean, other_density, scratch, other_cdf)
            for i in range(NODES):
                log_density[i] += other_cdf[i]
        peak, value, roughness = integrate(log_density, length, height)
        new_top = max(top, peak)
        before = total * math.exp(top - new_top) if total > 0.0 else 0.0
        value *= math.exp(peak - new_top)
        error = roughness * value / (before + value)
        if error > ERROR:
            length *= shorter_factor(error)
            continue
        total = before + value
        top = new_top
        edge += direction * length
        end, inner = 0, 1
        if direction > 0.0:
            end, inner = NODES - 1, NODES - 2
        fall = (log_density[inner] - log_density[end]) / abs(distance[inner] - distance[end])
        if fall > 0.0 and log_density[end] - math.log(fall) < top + math.log(total) - NEGLIGIBLE:
            break
        length *= next_factor(error)
    return total, top


def both(
    a1: float, b1: float, a2: float, b2: float, arms: Array, coefficients: Array, work: Array, scratch: Array
) -> tuple[float, float]:
    """P(θ1 > θ2) and P(θ2 > θ1): the smaller by integration, the larger as what remains of 1."""
    if a1 == a2 and b1 == b2:
        return 0.5, 0.5
    if a1 / b1 < a2 / b2:
        first = exceeding(a1, b1, a2, b2, arms, coefficients, work, scratch)
        if first < MOSTLY:
            return first, 1.0 - first
    second = exceeding(a2, b2, a1, b1, arms, coefficients, work, scratch)
    if second < MOSTLY:
        return 1.0 - second, second
    first = min(1.0, exceeding(a1, b1, a2, b2, arms, coefficients, work, scratch))
    return first, 1.0 - first
