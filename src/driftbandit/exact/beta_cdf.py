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
    FEW_FAILURES_TERM,
    LOG_PEAK,
    MEAN,
    MIDDLE_CDF,
    REST,
    STIRLING_FROM,
    WIDTH,
    A,
    Array,
    B,
    N,
    deviance,
    stirling_series,
)
from driftbandit.exact.legendre import NODES

DEGREE = 40
CENTRAL_FROM = 150.0  # smallest parameter from which the polynomial is used
CENTRAL_REACH = 1.5  # in standard deviations of θ
FRACTION_STEPS = 20000
FEW_FAILURES = 0.3
NEAR_ONE = 0.3  # how far from 1 the expansion for few failures reaches
MOST_TERMS = 100


def fraction_steps(theta: float, lean: float, a: float, b: float) -> int:
    """How many steps the continued fraction needs at this place (modified Lentz, forwards)."""
    n = a + b
    value = a * (lean + 1.0) / (a + 1.0)
    c = value
    d = 0.0
    for m in range(1, FRACTION_STEPS):
        k = float(m)
        odd = a + 2.0 * k - 1.0
        up = ((a + (k - 1.0)) / odd) * ((n + (k - 1.0)) / odd) * k * (b - k) * theta * theta
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
        up = ((a + (k - 1.0)) / odd) * ((n + (k - 1.0)) / odd) * k * (b - k)
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


def prepare_cdf(arm: Array, coefficients: Array) -> None:
    """Fill in what the distribution function needs: a polynomial for the middle of a needle, a term for a small b."""
    a, b, n = arm[A], arm[B], arm[N]
    mean, rest = arm[MEAN], arm[REST]
    arm[FEW_FAILURES_TERM] = 0.0
    if b < FEW_FAILURES:
        arm[FEW_FAILURES_TERM] = log_rising(a, b) - log_rising(1.0, b)
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


def log_rising(a: float, b: float) -> float:
    """ln(Γ(a + b)/Γ(a)) for a small b, of which it is a multiple, to full relative precision."""
    total = 0.0
    while a < STIRLING_FROM:
        total -= math.log1p(b / a)
        a += 1.0
    return total + (
        (a - 0.5) * math.log1p(b / a) + b * (math.log(a + b) - 1.0) + (stirling_series(a + b) - stirling_series(a))
    )


def few_failures(
    first: int, edge: float, distance: Array, theta: Array, rest: Array, arm: Array, work: Array, out: Array
) -> None:
    """The logarithm of F near θ = 1 when b is small, on the nodes from `first` on.

    There F is itself a small multiple of b, so 1 − F would lose its digits. With r = 1 − θ,

        ln(1 − F) = b·ln r + ln(Γ(a+b)/(Γ(a)·Γ(1+b))) + ln(1 + b·Σ_k (1−a)_k/(k!·(b+k))·r^k)

    is a small multiple of b term by term, and F = 1 − e^that.
    """
    a, b = arm[A], arm[B]
    terms = 0
    size = 1.0
    while size > 1e-18 and terms < MOST_TERMS:
        terms += 1
        size *= abs(terms - a) / terms * rest[first]
    for i in range(first, NODES):
        work[i] = 0.0
    for k in range(terms, 0, -1):
        for i in range(first, NODES):
            work[i] = (k - a) / k * rest[i] * (1.0 / (b + k) + work[i])
    for i in range(first, NODES):
        y = b * work[i]
        q = 1.0 + y
        x = b * (log(theta[i]) - (edge + distance[i])) + arm[FEW_FAILURES_TERM] + (log(q) - ((q - 1.0) - y) / q)
        near = 1.0
        for k in range(15, 1, -1):
            near = 1.0 + near * x / k
        out[i] = log(-x * near if x > -0.5 else 1.0 - exp(x))


def log_cdf(
    arm: Array,
    coefficients: Array,
    edge: float,
    distance: Array,
    theta: Array,
    rest: Array,
    lean: Array,
    log_density: Array,
    ratio: Array,
    out: Array,
) -> None:
    """The logarithm of F on the nodes of a panel, which are in ascending order."""
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
    elif b < FEW_FAILURES:
        high_from = NODES
        while low_until < NODES and (rest[low_until] > NEAR_ONE or a * rest[low_until] > 1.0):
            low_until += 1
        if low_until < NODES:
            few_failures(low_until, edge, distance, theta, rest, arm, ratio, out)
    else:
        switch = (a + 1.0) / (n + 2.0)
        while low_until < NODES and theta[low_until] <= switch:
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
