"""The distribution function of a Beta posterior over its log odds, on the nodes of one panel.

F(t) = density(t)·R(t), where R is a continued fraction (`beta_fraction`) that converges fast below the
mean; above it the same fraction gives 1 − F. Both keep full relative precision where the result is small. Close to the
mean of a needle the fraction needs √n steps, so there a Taylor polynomial around the mean is used: the density y(w) of
θ = μ + w satisfies  (μν + (ν−μ)w − w²)·y' = −((ν−μ) + (n−2)w)·y,  which gives its coefficients one after another.
"""

import math

from driftbandit.exact.quadrature.beta_density import (
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
from driftbandit.exact.quadrature.beta_fraction import lower_ratio, ratio_on_nodes
from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.numerics.elementary import exp, log

DEGREE = 40
CENTRAL_FROM = 150.0  # smallest parameter from which the polynomial is used
CENTRAL_REACH = 1.5  # in standard deviations of θ
FEW_FAILURES = 0.3
NEAR_ONE = 0.3  # how far from 1 the expansion for few failures reaches
MOST_TERMS = 100


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
    ratio = lower_ratio(mean + w, -n * w, a, b)
    low = ratio * math.exp(-deviance(delta, a, b, mean, rest))
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


def near_rise(x: float) -> float:
    """1 − e^x for −0.5 ≤ x ≤ 0, to full relative precision: its Taylor series."""
    p = 1.0 + x * (1.0 / 13.0) * (1.0 + x * (1.0 / 14.0) * (1.0 + x * (1.0 / 15.0)))
    p = 1.0 + x * (1.0 / 10.0) * (1.0 + x * (1.0 / 11.0) * (1.0 + x * (1.0 / 12.0) * p))
    p = 1.0 + x * (1.0 / 7.0) * (1.0 + x * (1.0 / 8.0) * (1.0 + x * (1.0 / 9.0) * p))
    p = 1.0 + x * (1.0 / 4.0) * (1.0 + x * (1.0 / 5.0) * (1.0 + x * (1.0 / 6.0) * p))
    return -x * (1.0 + x * 0.5 * (1.0 + x * (1.0 / 3.0) * p))


def few_failures(
    first: int, edge: float, distance: Array, theta: Array, rest: Array, arm: Array, total: Array, out: Array
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
    for i in range(NODES):
        total[i] = 0.0
    for k in range(terms, 0, -1):
        factor = (k - a) / k
        constant = 1.0 / (b + k)
        for i in range(NODES):
            total[i] = factor * rest[i] * (constant + total[i])
    for i in range(NODES):
        y = b * total[i]
        q = 1.0 + y
        x = b * (log(theta[i]) - (edge + distance[i])) + arm[FEW_FAILURES_TERM] + (log(q) - ((q - 1.0) - y) / q)
        value = log(near_rise(x) if x > -0.5 else 1.0 - exp(x))
        out[i] = value if i >= first else out[i]


def log_cdf(
    arm: Array,
    coefficients: Array,
    edge: float,
    distance: Array,
    theta: Array,
    rest: Array,
    lean: Array,
    log_density: Array,
    scratch: Array,
    out: Array,
) -> None:
    """The logarithm of F on the nodes of a panel, which are in ascending order.

    Each way is taken for all nodes at once, so that it is done in full vectors, and kept for the nodes it is meant for.
    """
    ratio = scratch[:NODES]
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
        if low_until < high_from:
            scale = arm[WIDTH] * math.exp(arm[LOG_PEAK])
            for i in range(NODES):
                ratio[i] = 0.0
            for k in range(DEGREE - 1, -1, -1):
                for i in range(NODES):
                    ratio[i] = ratio[i] * (-lean[i] * arm[WIDTH]) + coefficients[k]
            for i in range(NODES):
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
        ratio_on_nodes(low_until - 1, theta, lean, 1.0, a, b, scratch)
        for i in range(NODES):
            value = log_density[i] + log(ratio[i])
            out[i] = value if i < low_until else out[i]
    if high_from < NODES:
        ratio_on_nodes(high_from, rest, lean, -1.0, b, a, scratch)
        for i in range(NODES):
            upper = exp(log_density[i]) * ratio[i]
            q = 1.0 - upper
            value = log(q) - ((q - 1.0) + upper) / q
            out[i] = value if i >= high_from else out[i]
