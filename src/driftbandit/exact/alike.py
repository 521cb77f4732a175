"""Exact probabilities where many arms are alike: a kind of arm is integrated once, however many there are of it.

    p_k = ∫ f_k·F_k^{m_k − 1}·∏_{j≠k} F_j^{m_j} dt                     for one arm of kind k, of which there are m_k

over the log odds t, with the optimistic forms as in `driftbandit.exact`: the integral starts at the largest mean, and
the mass below it is shared by the arms that have that mean. The panels are halved until nothing changes and Σ m_k·p_k
is 1.
"""

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy import special

from driftbandit.errors import DriftbanditError

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
NODES, WEIGHTS = legendre.leggauss(16)
NEGLIGIBLE = 1e-40
TOLERANCE = 1e-12
AGREEMENT = 1e-11
ROUNDING = 1e-15
"""How far a density is off, relative to itself, for each unit of its shapes: logarithms of that size cancel."""
MOST_PANELS = 1 << 13
NARROW = 1024
"""Even panels find a density whose deviation is at least this part of their range."""
WIDTH = 12.0
"""Deviations from its centre up to which a density counts."""
SLICE = 64  # panels in memory at a time


def grouped_probabilities(shapes: Reals, counts: Integers, optimistic: bool) -> Reals:
    """The probability that one arm of each kind is chosen; `shapes` is `[kind, (successes, failures)]`.

    >>> grouped_probabilities(np.array([[1.0, 1.0]]), np.array([1_000_000]), False).round(12)
    array([1.e-06])
    """
    a, b = shapes[:, 0], shapes[:, 1]
    low, high = _range(a, b, counts)
    below = 0.0
    share = np.zeros(len(a))
    if optimistic:
        odds = a / b
        tied = odds == odds.max()
        low = float(np.log(odds.max()))
        below = float(np.exp(np.sum(counts * _log_cdf(low, a, b))))
        share = np.where(tied, below / counts[tied].sum(), 0.0)
        high = max(high, low)
    panels = 16
    before = np.zeros(len(a))
    rounding = ROUNDING * (a + b)
    while panels <= MOST_PANELS:
        result = _integrate(_edges(low, high, panels, a, b), a, b, counts) + share
        total = float(counts @ result)
        agree = np.abs(result - before) <= (AGREEMENT + rounding) * before + NEGLIGIBLE
        if abs(total - 1.0) < TOLERANCE + rounding.max() and agree.all():
            return result / total
        before = result
        panels *= 2
    raise DriftbanditError(
        f"probabilities of {counts.sum()} arms did not converge: their sum is off by {total - 1.0:.1e}"
    )


def _range(a: Reals, b: Reals, counts: Integers) -> tuple[float, float]:
    """Log odds between which the largest sample lies, up to a negligible probability."""
    top = special.betaincinv(b, a, NEGLIGIBLE / counts.sum())
    high = float(np.max(np.log1p(-top) - np.log(np.maximum(top, 1e-300))))
    bottom = special.betaincinv(a, b, np.maximum(NEGLIGIBLE ** (1.0 / counts), 1e-300))
    rest = special.betaincinv(b, a, -np.expm1(np.log(NEGLIGIBLE) / counts))
    upper = np.log1p(-np.minimum(rest, 0.5)) - np.log(np.maximum(rest, 1e-300))
    low = np.where(rest < 0.5, upper, special.logit(np.maximum(bottom, 1e-300)))
    return float(np.max(low)), high


def _log_cdf(t: float, a: Reals, b: Reals) -> Reals:
    theta = special.expit(t)
    with np.errstate(divide="ignore"):
        return np.where(
            theta < a / (a + b),
            np.log(special.betainc(a, b, theta)),
            np.log1p(-special.betainc(b, a, special.expit(-t))),
        )


def _edges(low: float, high: float, panels: int, a: Reals, b: Reals) -> Reals:
    """Of panels that are even, and of as many more about each density that would be lost between those."""
    deviation = np.sqrt(1.0 / a + 1.0 / b)
    narrow = deviation < (high - low) / NARROW
    centres = np.log(a[narrow] / b[narrow])
    about = centres[:, None] + deviation[narrow, None] * np.linspace(-WIDTH, WIDTH, panels + 1)
    return np.union1d(np.linspace(low, high, panels + 1), about.clip(low, high))


def _integrate(edges: Reals, a: Reals, b: Reals, counts: Integers) -> Reals:
    total = np.zeros(len(a))
    for first in range(0, len(edges) - 1, SLICE):
        left, right = edges[first : first + SLICE], edges[first + 1 : first + SLICE + 1]
        left = left[: len(right)]
        half = 0.5 * (right - left)
        t = ((left + right) * 0.5)[:, None] + half[:, None] * NODES
        measure = (half[:, None] * WEIGHTS).ravel()
        t = t.ravel()[:, None]
        log_cdf = _log_cdf(t, a, b)  # type: ignore[arg-type]  # a column of places, a row of arms
        log_density = -a * np.logaddexp(0.0, -t) - b * np.logaddexp(0.0, t) - special.betaln(a, b)
        with np.errstate(invalid="ignore"):
            product = (counts * log_cdf).sum(axis=1, keepdims=True)
            height = np.where(np.isneginf(product), -np.inf, log_density + product - log_cdf)
        total += measure @ np.exp(height)
    return total
