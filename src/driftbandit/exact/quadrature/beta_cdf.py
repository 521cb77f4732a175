"""The distribution function of a Beta posterior over its log odds, on the nodes of one panel.

Below the mean F(t) = density(t)·R(t), where R is a continued fraction (`beta_fraction`) that converges fast there.
Above the mean the same fraction gives 1 − F. So the smaller of the two has its full relative precision. Close to the
mean of a needle, a posterior with much evidence, the fraction needs √n steps. There a Taylor polynomial around the mean
is used: with ν = 1 − μ the density y(w) of θ = μ + w satisfies

    (μν + (ν−μ)w − w²)·y' = −((ν−μ) + (n−2)w)·y,        which gives its coefficients one after another.
"""

import math

from driftbandit.exact.quadrature.beta_density import DEGREE, STIRLING_FROM, Arm, deviance, stirling_series
from driftbandit.exact.quadrature.beta_fraction import ratio_on_nodes
from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.panels import Panel
from driftbandit.exact.quadrature.records import Array
from driftbandit.numerics.elementary import exp, log

CENTRAL_FROM = 150.0  # smallest parameter from which the polynomial is used
CENTRAL_REACH = 1.5  # in standard deviations of θ
FEW_FAILURES = 0.3
NEAR_ONE = 0.3  # how far from 1 the expansion for few failures reaches
MOST_TERMS = 100
CDF_LEVEL = 43.0  # e^−43 is below half a unit in the last place of 1
HIDDEN = 80.0  # powers of e that the tails may fall on a panel without showing


def prepare_cdf(arm: Arm, panel: Panel) -> None:
    """Fill in what the distribution function needs: for a needle a polynomial, for a small b a term."""
    if is_needle(arm):
        prepare_needle(arm, panel)
    elif arm.b < FEW_FAILURES:
        arm.few_failures_term = log_rising(arm.a, arm.b) - log_rising(1.0, arm.b)


def is_needle(arm: Arm) -> bool:
    """Whether the distribution function is a polynomial around the mean."""
    return min(arm.a, arm.b) >= CENTRAL_FROM


def prepare_needle(arm: Arm, panel: Panel) -> None:
    """The polynomial around the mean, and the distribution function there, by the fraction at the polynomial's end."""
    n, mu, nu, width = arm.n, arm.mu, arm.nu, arm.width
    skew = (nu - mu) * width
    before = 0.0
    current = 1.0
    for k in range(DEGREE):
        arm.coefficients[k] = current / (k + 1)
        following = -skew * current - (1.0 - (k + 1) / n) / (k + 1) * before
        before = current
        current = following
    w = -CENTRAL_REACH * mu * nu * width
    delta = math.log1p(w / mu) - math.log1p(-w / nu)
    panel.argument[0] = mu + w
    panel.argument_slope[0] = -n * w
    ratio_on_nodes(1, 0, arm.a, arm.b, panel)
    low = panel.ratio[0] * math.exp(-deviance(delta, arm))
    arm.middle_cdf = math.exp(arm.log_peak) * (low - width * polynomial(-CENTRAL_REACH, arm.coefficients))


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


def one_minus_exp(x: float) -> float:
    """1 − e^x for −0.5 ≤ x ≤ 0, to full relative precision: its Taylor series."""
    p = 1.0 + x * (1.0 / 13.0) * (1.0 + x * (1.0 / 14.0) * (1.0 + x * (1.0 / 15.0)))
    p = 1.0 + x * (1.0 / 10.0) * (1.0 + x * (1.0 / 11.0) * (1.0 + x * (1.0 / 12.0) * p))
    p = 1.0 + x * (1.0 / 7.0) * (1.0 + x * (1.0 / 8.0) * (1.0 + x * (1.0 / 9.0) * p))
    p = 1.0 + x * (1.0 / 4.0) * (1.0 + x * (1.0 / 5.0) * (1.0 + x * (1.0 / 6.0) * p))
    return -x * (1.0 + x * 0.5 * (1.0 + x * (1.0 / 3.0) * p))


def few_failures(first: int, arm: Arm, panel: Panel) -> None:
    """The logarithm of F near θ = 1 when b is small, on the nodes from `first` on.

    There F is itself a small multiple of b, so 1 − F would lose its digits. With r = 1 − θ,

        ln(1 − F) = b·ln r + ln(Γ(a+b)/(Γ(a)·Γ(1+b))) + ln(1 + b·Σ_k (1−a)_k/(k!·(b+k))·r^k)

    is a small multiple of b term by term, and F = 1 − e^that.
    """
    a, b, constant_term = arm.a, arm.b, arm.few_failures_term
    terms = 0
    size = 1.0
    while size > 1e-18 and terms < MOST_TERMS:
        terms += 1
        size *= abs(terms - a) / terms * panel.rest[first]
    for i in range(NODES):
        panel.ratio[i] = 0.0
    for k in range(terms, 0, -1):
        factor = (k - a) / k
        constant = 1.0 / (b + k)
        for i in range(NODES):
            panel.ratio[i] = factor * panel.rest[i] * (constant + panel.ratio[i])
    for i in range(NODES):
        y = b * panel.ratio[i]
        q = 1.0 + y
        x = b * (log(panel.theta[i]) - panel.log_odds[i]) + constant_term + (log(q) - ((q - 1.0) - y) / q)
        value = log(one_minus_exp(x) if x > -0.5 else 1.0 - exp(x))
        panel.log_cdf[i] = value if i >= first else panel.log_cdf[i]


def log_cdf_on_nodes(arm: Arm, panel: Panel) -> None:
    """The logarithm of F on the nodes of a panel, on which the density is already known.

    There are several ways, each meant for some of the nodes. Each is taken for all nodes, in full vectors, and its
    results are kept where they are meant to be.
    """
    low_until = 0
    high_from = 0
    if is_needle(arm):
        width, middle = arm.width, arm.middle_cdf
        reach = CENTRAL_REACH / width
        while low_until < NODES and arm.slope[low_until] > reach:
            low_until += 1
        high_from = low_until
        while high_from < NODES and arm.slope[high_from] >= -reach:
            high_from += 1
        if low_until < high_from:
            scale = width * math.exp(arm.log_peak)
            for i in range(NODES):
                panel.argument[i] = -arm.slope[i] * width
                panel.ratio[i] = 0.0
            for k in range(DEGREE - 1, -1, -1):
                coefficient = arm.coefficients[k]
                for i in range(NODES):
                    panel.ratio[i] = panel.ratio[i] * panel.argument[i] + coefficient
            for i in range(NODES):
                panel.log_cdf[i] = log(middle - scale * panel.ratio[i] * arm.slope[i] * width)
    elif arm.b < FEW_FAILURES:
        high_from = NODES
        while low_until < NODES and (panel.rest[low_until] > NEAR_ONE or arm.a * panel.rest[low_until] > 1.0):
            low_until += 1
        if low_until < NODES:
            few_failures(low_until, arm, panel)
    else:
        switch = (arm.a + 1.0) / (arm.n + 2.0)
        while low_until < NODES and panel.theta[low_until] <= switch:
            low_until += 1
        high_from = low_until
    if low_until > 0:
        for i in range(NODES):
            panel.argument[i] = panel.theta[i]
            panel.argument_slope[i] = arm.slope[i]
        ratio_on_nodes(NODES, low_until - 1, arm.a, arm.b, panel)
        for i in range(NODES):
            value = arm.log_density[i] + log(panel.ratio[i])
            panel.log_cdf[i] = value if i < low_until else panel.log_cdf[i]
    if high_from < NODES:
        for i in range(NODES):
            panel.argument[i] = panel.rest[i]
            panel.argument_slope[i] = -arm.slope[i]
        ratio_on_nodes(NODES, high_from, arm.b, arm.a, panel)
        for i in range(NODES):
            upper = exp(arm.log_density[i]) * panel.ratio[i]
            q = 1.0 - upper
            value = log(q) - ((q - 1.0) + upper) / q
            panel.log_cdf[i] = value if i >= high_from else panel.log_cdf[i]


def hidden_fall(arm: Arm, length: float) -> float:
    """By how many powers of e the upper tail of an arm falls on a panel, as far as that is not too deep to count.

    Above the mean F is 1 minus something that falls by −slope a unit, and is e^−depth at the left end. Where that is
    small the Legendre coefficients do not show whether a fast fall is resolved; in a product of many F the falls add.
    """
    depth = arm.log_peak - arm.log_density[0]
    return float(max(0.0, -arm.slope[0] * length - depth))
