"""The distribution function of a Beta posterior over its log odds, on the nodes of one panel.

F(t) = density(t)·R(t), where R is a continued fraction that converges fast below the mean; above it the same fraction
gives 1 − F with the parameters exchanged. Both keep full relative precision where the result is small. Close to the
mean of a needle the fraction needs √n steps, so there a Taylor polynomial around the mean is used: the density y(w) of
θ = μ + w satisfies  (μν + (ν−μ)w − w²)·y' = −((ν−μ) + (n−2)w)·y,  which gives its coefficients one after another.
"""

import math

import numpy as np

from driftbandit.elementary import exp, log
from driftbandit.exact.beta_density import (
    CENTRAL,
    LOG_PEAK,
    MEAN,
    MIDDLE_CDF,
    REST,
    WIDTH,
    A,
    B,
    N,
    Array,
    deviance,
)
from driftbandit.exact.legendre import NODES

DEGREE = 40
CENTRAL_FROM = 150.0  # smallest parameter from which the polynomial is used
CENTRAL_REACH = 1.5  # in standard deviations of θ
FRACTION_STEPS = 20000
SMALL_FAILURES = 0.05
FAR_REST = 0.01


def fraction_steps(theta: float, lean: float, a: float, b: float) -> int:
    """How many steps the continued fraction needs at this place (modified Lentz, forwards)."""
    n = a + b
    value = a * (lean + 1.0) / (a + 1.0)
    c = value
    d = 0.0
    for m in range(1, FRACTION_STEPS):
        k = float(m)
        odd = a + 2.0 * k - 1.0
        up = ((a + k - 1.0) / odd) * ((n + k - 1.0) / odd) * k * (b - k) * theta * theta
        down = k + k * (b - k) * theta / odd + (a + k) * (lean + 1.0 + k * (2.0 - theta)) / (odd + 2.0)
        d = 1.0 / (down + up * d)
        c = down + up / c
        if abs(c * d - 1.0) < 2e-16:
            return m
    return FRACTION_STEPS


def cdf_ratio(
    first: int, last: int, worst: int, theta: Array, lean: Array, sign: float, a: float, b: float, out: Array
) -> None:
    """R = F/density on the nodes `first` to `last` − 1, all at once so that the divisions are done eight at a time.

    `lean` times `sign` is a − n·θ; `worst` is the node nearest to the mean.
    """
    n = a + b
    steps = fraction_steps(theta[worst], sign * lean[worst], a, b)
    odd = a + 2.0 * steps + 1.0
    for i in range(first, last):
        out[i] = steps + (a + steps) * (sign * lean[i] + 1.0 + steps * (2.0 - theta[i])) / odd
    for m in range(steps, 0, -1):
        k = float(m)
        odd = a + 2.0 * k - 1.0
        up = ((a + k - 1.0) / odd) * ((n + k - 1.0) / odd) * k * (b - k)
        j = k - 1.0
        before = 0.0
        if m > 1:
            before = j * (b - j) / (odd - 2.0)
        share = (a + j) / odd
        for i in range(first, last):
            x = theta[i]
            down = j + before * x + share * (sign * lean[i] + 1.0 + j * (2.0 - x))
            out[i] = down + up * (x * x) / out[i]
    for i in range(first, last):
        out[i] = 1.0 / out[i]


def middle_polynomial(arm: Array, coefficients: Array) -> None:
    """Prepare the polynomial for the middle of a needle, and all else that the distribution function needs."""
    a, b, n = arm[A], arm[B], arm[N]
    mean, rest = arm[MEAN], arm[REST]
    if min(a, b) < CENTRAL_FROM:
        arm[CENTRAL] = 0.0
        return
    arm[CENTRAL] = 1.0
    skew = (rest - mean) * arm[WIDTH]
    before = 0.0
    current = 1.0
    for k in range(DEGREE):
        coefficients[k] = current / (k + 1)
        following = -skew * current - (1.0 - (k + 1) / n) / (k + 1) * before
        before = current
        current = following
    w = -CENTRAL_REACH * mean * rest * arm[WIDTH]
    delta = math.log1p(w / mean) - math.log1p(-w / rest)
    theta = np.empty(1)
    lean = np.empty(1)
    ratio = np.empty(1)
    theta[0] = mean + w
    lean[0] = -n * w
    cdf_ratio(0, 1, 0, theta, lean, 1.0, a, b, ratio)
    low = ratio[0] * math.exp(-deviance(delta, a, b, mean, rest))
    arm[MIDDLE_CDF] = math.exp(arm[LOG_PEAK]) * (low - arm[WIDTH] * polynomial(-CENTRAL_REACH, coefficients))


def polynomial(omega: float, coefficients: Array) -> float:
    """∫ density from the mean, in units of peak·width."""
    total = 0.0
    for k in range(DEGREE - 1, -1, -1):
        total = total * omega + coefficients[k]
    return total * omega


def log_cdf(
    arm: Array,
    coefficients: Array,
    theta: Array,
    rest: Array,
    lean: Array,
    log_density: Array,
    ratio: Array,
    out: Array,
) -> None:
    """ln F on the nodes of a panel, in ascending order, none of them above the arm's CDF_END."""
    a, b, n = arm[A], arm[B], arm[N]
    low_until = 0
    high_from = 0
    if arm[CENTRAL] > 0.0:
        reach = CENTRAL_REACH / arm[WIDTH]
        while low_until < NODES and lean[low_until] > reach:
            low_until += 1
        high_from = low_until
        while high_from < NODES and lean[high_from] >= -reach:
            high_from += 1
        scale = arm[WIDTH] * math.exp(arm[LOG_PEAK])
        for i in range(low_until, high_from):
            ratio[i] = 0.0
        for k in range(DEGREE - 1, -1, -1):
            for i in range(low_until, high_from):
                ratio[i] = ratio[i] * (-lean[i] * arm[WIDTH]) + coefficients[k]
        for i in range(low_until, high_from):
            out[i] = log(arm[MIDDLE_CDF] - scale * ratio[i] * lean[i] * arm[WIDTH])
    else:
        switch = (a + 1.0) / (n + 2.0)
        while low_until < NODES and (
            theta[low_until] <= switch or (b < SMALL_FAILURES and rest[low_until] > FAR_REST)
        ):
            low_until += 1
        high_from = low_until
    if low_until > 0:
        cdf_ratio(0, low_until, low_until - 1, theta, lean, 1.0, a, b, ratio)
        for i in range(low_until):
            out[i] = log_density[i] + log(ratio[i])
    if high_from < NODES:
        cdf_ratio(high_from, NODES, high_from, rest, lean, -1.0, b, a, ratio)
        for i in range(high_from, NODES):
            upper = exp(log_density[i]) * ratio[i]
            q = 1.0 - upper
            out[i] = log(q) - ((q - 1.0) + upper) / q
