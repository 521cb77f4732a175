"""Two Beta posteriors: the probability that a sample of one exceeds a sample of the other.

    P(θ_A > θ_B) = ∫ f_A·F_B dt        over the log odds t

A is the arm with more evidence, so that the integrand varies on one scale; where it is not, the roles are exchanged by
(a, b, θ) → (b, a, 1−θ). The integrand is log-concave: panels go outwards from near its peak, until the rest cannot
count.
"""

import math

import numpy as np

from driftbandit.exact.quadrature.beta_cdf import CDF_LEVEL, HIDDEN, hidden_fall, log_cdf_on_nodes, prepare_cdf
from driftbandit.exact.quadrature.beta_density import above_mean, density_on_nodes, describe, deviance, upper_end
from driftbandit.exact.quadrature.double_double import log_ratio
from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.panels import MOST_PANELS, Panel, place_nodes, resolving_length, rounded_edge
from driftbandit.exact.quadrature.records import Array, Records
from driftbandit.exact.quadrature.sums import Sum, take_panel

FIRST_LENGTH = 10.0
MOSTLY = 0.9  # a probability from here on is better taken from the other one
UNDERFLOW = 780.0  # e^−780, times any density of these arms, is below the smallest double


def both_exceedances(one: Array, two: Array, arms: Records, panel: Panel) -> tuple[float, float]:
    """P(θ1 > θ2) and P(θ2 > θ1) for Beta(one) and Beta(two): the smaller by integration, the larger as 1 minus that."""
    if one[0] == two[0] and one[1] == two[1]:
        return 0.5, 0.5
    if one[0] / one[1] < two[0] / two[1]:
        first = exceedance(one, two, arms, panel)
        if first < MOSTLY:
            return first, 1.0 - first
    second = exceedance(two, one, arms, panel)
    if second < MOSTLY:
        return 1.0 - second, second
    first = min(1.0, exceedance(one, two, arms, panel))
    return first, 1.0 - first


def exceedance(one: Array, two: Array, arms: Records, panel: Panel) -> float:
    """P(θ_A > θ_B) for A ~ Beta(one) and B ~ Beta(two), to full relative precision where it is small."""
    a, b, c, d = one[0], one[1], two[0], two[1]
    if a + b < c + d:
        a, b, c, d = d, c, b, a
    first, second = arms[0], arms[1]
    describe(a, b, first)
    describe(c, d, second)
    prepare_cdf(second, panel)
    second.cdf_end = second.place + upper_end(0.0, CDF_LEVEL, second)
    start = first.place
    if (first.place - second.place) + (first.place_low - second.place_low) < 0.0:
        start, start_low = log_ratio(a + c, b + d)
        fall = deviance(above_mean(start, start_low, first), first)
        fall += deviance(above_mean(start, start_low, second), second)
        if fall > UNDERFLOW:
            return 0.0
    start = rounded_edge(start, resolving_length(start, FIRST_LENGTH, first.n + second.n, 1.0))
    total = march_outwards(start, 1.0, Sum(0.0, -np.inf), arms, panel)
    total = march_outwards(start, -1.0, total, arms, panel)
    return total.mass * math.exp(total.top)


def march_outwards(edge: float, direction: float, total: Sum, arms: Records, panel: Panel) -> Sum:
    """Add panels of f_0·F_1 in one direction, until what is left is negligible."""
    first, second = arms[0], arms[1]
    end = NODES - 1 if direction > 0.0 else 0
    neighbour = NODES - 2 if direction > 0.0 else 1
    length = FIRST_LENGTH
    for _ in range(MOST_PANELS):
        sharpness = first.n + second.n if edge < second.cdf_end else first.n
        length = resolving_length(edge, length, sharpness, direction)
        right = edge + length if direction > 0.0 else edge
        place_nodes(right, length, panel)
        density_on_nodes(first, above_mean(right, 0.0, first), panel)
        if right - length < second.cdf_end:
            density_on_nodes(second, above_mean(right, 0.0, second), panel)
            hidden = hidden_fall(second, length)
            if hidden > HIDDEN:
                length *= max(0.25, 0.95 * HIDDEN / hidden)
                continue
            log_cdf_on_nodes(second, panel)
            for i in range(NODES):
                first.log_density[i] += panel.log_cdf[i]
        spacing = abs(panel.distance[neighbour] - panel.distance[end])
        total, outcome = take_panel(total, first.log_density, length, end, spacing)
        if outcome.taken:
            edge += direction * length
        if outcome.finished:
            break
        length *= outcome.factor
    return total
