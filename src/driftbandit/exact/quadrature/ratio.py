"""The density of θ1/θ2 for two Beta posteriors, by quadrature.

For ω ≤ 1 the paper has it as B(a1+a2, b2)/(B(a1, b1)·B(a2, b2))·ω^(a1−1)·2F1(a1+a2, 1−b1; a1+a2+b2; ω), whose terms
alternate. Here the integral behind it is taken over the log odds s of θ2, where every factor is positive:

    g(ω) = (1/ω)·∫ f2(s)·f1(t)·(1 + e^t) ds,     t = ln(ω·e^s / (1 + (1−ω)·e^s)),  the log odds of ω·θ2.
"""

import math
from typing import NamedTuple

import numpy as np

from driftbandit.exact.quadrature.beta_density import ARM, Arm, above_mean, describe, log_density
from driftbandit.exact.quadrature.legendre import NODES, POINTS
from driftbandit.exact.quadrature.panels import resolving_length, rounded_edge
from driftbandit.exact.quadrature.records import Array
from driftbandit.exact.quadrature.sums import Sum, take_panel

FIRST_LENGTH = 10.0
MOST_PANELS = 3000
BISECTIONS = 80
WIDEST = 1e6  # log odds within which the peak is sought


def softplus(x: float) -> float:
    """ln(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


class Ratio(NamedTuple):
    """The place ω at which the density is asked."""

    omega: float
    log_omega: float
    log_rest: float  # ln(1 − ω)


def log_height(s: float, ratio: Ratio, first: Arm, second: Arm) -> float:
    """Logarithm of the integrand at s."""
    t = ratio.log_omega + s - softplus(s + ratio.log_rest)
    total = softplus(t)
    total += log_density(above_mean(t, 0.0, first), first)
    return total + log_density(above_mean(s, 0.0, second), second)


def rising(s: float, ratio: Ratio, first: Arm, second: Arm) -> bool:
    """Whether the integrand rises at s."""
    theta = 1.0 / (1.0 + math.exp(-s)) if s > -700.0 else 0.0
    rest = 1.0 / (1.0 + math.exp(s)) if s < 700.0 else 0.0
    bent = math.exp(-softplus(s + ratio.log_rest))
    slope = second.a * rest - second.b * theta + (first.a + (1.0 - first.n) * ratio.omega * theta) * bent
    return slope > 0.0


def peak_place(ratio: Ratio, first: Arm, second: Arm) -> float:
    """Where the integrand is largest; it rises before and falls after."""
    low, high = -WIDEST, WIDEST
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if rising(middle, ratio, first, second):
            low = middle
        else:
            high = middle
    return low


def density(omega: float, first: Arm, second: Arm, log_heights: Array) -> float:
    """g(ω) for 0 < ω ≤ 1."""
    if omega == 1.0 and first.b + second.b <= 1.0:
        return np.inf
    ratio = Ratio(omega, math.log(omega), math.log1p(-omega) if omega < 1.0 else -np.inf)
    start = peak_place(ratio, first, second)
    sharpness = first.n + second.n
    start = rounded_edge(start, resolving_length(start, FIRST_LENGTH, sharpness, 1.0))
    total = Sum(0.0, -np.inf)
    for side in range(2):
        direction = 1.0 if side == 0 else -1.0
        edge = start
        length = FIRST_LENGTH
        for _ in range(MOST_PANELS):
            length = resolving_length(edge, length, sharpness, direction)
            if omega < 1.0:
                length = resolving_length(edge + ratio.log_rest, length, sharpness, direction)
            for i in range(NODES):
                along = 0.5 * length * (1.0 + POINTS[i])
                log_heights[i] = log_height(edge + direction * along, ratio, first, second)
            spacing = 0.5 * length * (POINTS[NODES - 1] - POINTS[NODES - 2])
            total, outcome = take_panel(total, log_heights, length, NODES - 1, spacing)
            if outcome.taken:
                edge += direction * length
            if outcome.finished:
                break
            length *= outcome.factor
    return total.mass * math.exp(total.top - ratio.log_omega)


def density_all(omega: Array, parameters: Array, out: Array) -> None:
    """The density at each ω for parameters[s] = (a1, b1, a2, b2); above 1 by that of θ2/θ1."""
    arms = np.empty(2, ARM)
    log_heights = np.empty(NODES)
    for s in range(out.shape[0]):
        describe(parameters[s, 0], parameters[s, 1], arms[0])
        describe(parameters[s, 2], parameters[s, 3], arms[1])
        if omega[s] <= 1.0:
            out[s] = density(omega[s], arms[0], arms[1], log_heights)
        else:
            out[s] = density(1.0 / omega[s], arms[1], arms[0], log_heights) / omega[s] / omega[s]
