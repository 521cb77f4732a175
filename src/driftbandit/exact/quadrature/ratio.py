"""The density of θ1/θ2 for two Beta posteriors, by quadrature.

For ω ≤ 1 the paper has it as B(a1+a2, b2)/(B(a1, b1)·B(a2, b2))·ω^(a1−1)·2F1(a1+a2, 1−b1; a1+a2+b2; ω), whose terms
alternate. Here the integral behind it is taken over the log odds s of θ2, where every factor is positive:

    g(ω) = (1/ω)·∫ f2(s)·f1(t)·(1 + e^t) ds,     t = ln(ω·e^s / (1 + (1−ω)·e^s)),  the log odds of ω·θ2.
"""

import math

import numpy as np

from driftbandit.exact.quadrature.beta_density import (
    COLUMNS,
    LOG_PEAK,
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
)
from driftbandit.exact.quadrature.legendre import NODES, POINTS
from driftbandit.exact.quadrature.panels import (
    ERROR,
    NEGLIGIBLE,
    integrate,
    longest,
    next_factor,
    rounded_edge,
    shorter_factor,
)

FIRST_LENGTH = 10.0
MOST_PANELS = 3000
BISECTIONS = 80
WIDEST = 1e6  # log odds within which the peak is sought


def softplus(x: float) -> float:
    """ln(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def log_height(s: float, log_omega: float, log_rest: float, arms: Array) -> float:
    """Logarithm of the integrand; `log_rest` is ln(1 − ω)."""
    t = log_omega + s - softplus(s + log_rest)
    total: float = softplus(t)
    first, second = arms[0], arms[1]
    delta = (t - first[PLACE]) - first[PLACE_LOW]
    total += first[LOG_PEAK] - deviance(delta, first[A], first[B], first[MEAN], first[REST])
    delta = (s - second[PLACE]) - second[PLACE_LOW]
    total += second[LOG_PEAK] - deviance(delta, second[A], second[B], second[MEAN], second[REST])
    return total


def rising(s: float, omega: float, log_rest: float, arms: Array) -> bool:
    """Whether the integrand rises at s."""
    theta = 1.0 / (1.0 + math.exp(-s)) if s > -700.0 else 0.0
    rest = 1.0 / (1.0 + math.exp(s)) if s < 700.0 else 0.0
    first, second = arms[0], arms[1]
    bent = math.exp(-softplus(s + log_rest))
    lean: float = second[A] * rest - second[B] * theta + (first[A] + (1.0 - first[N]) * omega * theta) * bent
    return lean > 0.0


def peak_place(omega: float, log_rest: float, arms: Array) -> float:
    """Where the integrand is largest; it rises before and falls after."""
    low, high = -WIDEST, WIDEST
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if rising(middle, omega, log_rest, arms):
            low = middle
        else:
            high = middle
    return low


def density(omega: float, arms: Array, heights: Array) -> float:
    """g(ω) for 0 < ω ≤ 1."""
    if omega == 1.0 and arms[0, B] + arms[1, B] <= 1.0:
        return np.inf
    log_omega = math.log(omega)
    log_rest = math.log1p(-omega) if omega < 1.0 else -np.inf
    start = peak_place(omega, log_rest, arms)
    sharpness = arms[0, N] + arms[1, N]
    start = rounded_edge(start, longest(start, FIRST_LENGTH, sharpness, 1.0))
    total, top = 0.0, -np.inf
    for side in range(2):
        direction = 1.0 if side == 0 else -1.0
        edge = start
        length = FIRST_LENGTH
        for _ in range(MOST_PANELS):
            length = longest(edge, length, sharpness, direction)
            if omega < 1.0:
                length = longest(edge + log_rest, length, sharpness, direction)
            for i in range(NODES):
                along = 0.5 * length * (1.0 + POINTS[i])
                heights[0, i] = log_height(edge + direction * along, log_omega, log_rest, arms)
            peak, value, roughness = integrate(heights[0], length, heights[1])
            new_top = max(top, peak)
            before = total * math.exp(top - new_top) if total > 0.0 else 0.0
            value *= math.exp(peak - new_top)
            error = roughness * value / (before + value)
            if error > ERROR:
                length *= shorter_factor(error)
                continue
            total, top = before + value, new_top
            edge += direction * length
            fall = (heights[0, NODES - 2] - heights[0, NODES - 1]) / (
                0.5 * length * (POINTS[NODES - 1] - POINTS[NODES - 2])
            )
            if fall > 0.0 and heights[0, NODES - 1] - math.log(fall) < top + math.log(total) - NEGLIGIBLE:
                break
            length *= next_factor(error)
    return total * math.exp(top - log_omega)


def density_all(omega: Array, parameters: Array, out: Array) -> None:
    """The density at each ω for parameters[s] = (a1, b1, a2, b2); above 1 by that of θ2/θ1."""
    arms = np.empty((2, COLUMNS))
    heights = np.empty((2, NODES))
    for s in range(out.shape[0]):
        inside = omega[s] <= 1.0
        first = 0 if inside else 1
        describe(parameters[s, 0], parameters[s, 1], arms[first])
        describe(parameters[s, 2], parameters[s, 3], arms[1 - first])
        if inside:
            out[s] = density(omega[s], arms, heights)
        else:
            out[s] = density(1.0 / omega[s], arms, heights) / omega[s] / omega[s]
