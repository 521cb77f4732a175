"""The probability that each arm has the largest score, where scores are made of several Beta samples.

    p_k = ∫ h_k·∏_{j≠k} H_j dx,     h_k and H_k the density and distribution function of arm k's score,

by Gauss–Legendre quadrature on panels. A panel is halved until it is short beside every *feature* that it touches: a
place, from a low to a high end, where some density changes over a known scale.

Mixtures and the smaller of two samples are integrated over their log odds, in which densities are smooth whatever
their shapes are. The mean of two samples is integrated over itself, x: its density

    h(x) = ∫ 2·f(u)·g(2x − u) du

is found by an inner quadrature, and its distribution function by adding up the density. For shapes of at least 1 all
of it is continuous; at 0, ½ and 1, where supports end or begin to overlap, it is smooth from either side only.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import legendre
from scipy import special

from driftbandit.checks import reject
from driftbandit.errors import DriftbanditError, InvalidValue
from driftbandit.exact.beta import selection_probabilities
from driftbandit.exact.parameters import Array, numbers, positive

NODES, WEIGHTS = legendre.leggauss(16)
TAIL = 1e-16
"""Beyond these quantiles a sample is not looked for."""
FAR = 600.0
"""Log odds from which on a series needs one term only."""
INNER = 160
"""Nodes of the inner quadrature."""
FLAT = 5
"""Order to which the inner nodes crowd at both ends, where a density may be a broken power."""
LENGTH = 2.0
"""Of a panel, in scales of what it touches."""
NEAREST = 2.0**-8
"""How close panels crowd about singular places, as a part of how long they would be else."""
SHORTEST = 2.0**-30
MOST_PANELS = 1 << 16
SLICE = 256
"""Nodes of which the inner quadrature is in memory at a time."""
AGREEMENT = 1e-9
ROUNDING = 1e-14
"""Of a density, for each unit of its larger shape."""

Density = Callable[[Array], tuple[Array, Array]]
"""Density and distribution function of every arm at some places: `[place, arm]` each."""


class Feature(NamedTuple):
    """Where something changes, and over which scale."""

    low: Array
    high: Array
    scale: Array


def two_beta_probabilities(shapes: Any, law: str) -> Array:
    """The probability of each arm whose score is made of two Beta samples, from shapes (…, K, 4) of at least 1.

    The law is "larger of two betas", "smaller of two betas" or "mean of two betas". The larger is found to the
    precision of `selection_probabilities`, the others to an absolute error of 1e-10.

    >>> two_beta_probabilities([(2, 1, 1, 1), (1, 1, 1, 1)], "larger of two betas").round(6)
    array([0.6, 0.4])
    >>> two_beta_probabilities([(2, 1, 1, 1), (1, 1, 1, 1)], "smaller of two betas").round(6)
    array([0.6, 0.4])
    >>> two_beta_probabilities([(2, 1, 1, 1), (1, 1, 1, 1)], "mean of two betas").round(6)
    array([0.616667, 0.383333])
    """
    allowed = "numbers of at least 1, an array of shape (…, K, 4)"
    array = numbers("shapes", shapes, allowed)
    if array.ndim < 2 or array.shape[-1] != 4 or array.shape[-2] == 0:
        raise reject("shapes", allowed, f"shape {array.shape}")
    if not np.all(np.isfinite(array) & (array >= 1.0 - 1e-9)):
        raise reject("shapes", allowed, array.min())
    if law == "larger of two betas":
        apart = array.reshape(*array.shape[:-2], 2 * array.shape[-2], 2)
        return np.asarray(selection_probabilities(apart).reshape(*array.shape[:-1], 2).sum(axis=-1))
    found = {"smaller of two betas": _smaller, "mean of two betas": _mean}[law]
    states = array.reshape(-1, *array.shape[-2:])
    return np.array([found(state) for state in states]).reshape(array.shape[:-1])


def mixture_probabilities(weights: Any, alphas: Any, betas: Any) -> Array:
    """The probability of each arm whose score is a sample of a mixture of Beta laws.

        h_k = Σ_i w_ki·Beta(α_ki, β_ki) / Σ_i w_ki

    Parameters:
        weights: of each law of each arm, (…, K, R), at least 0, and above 0 for one law of every arm.
        alphas: their first shapes, from 1e-3 to 1e6 for an absolute error of 1e-10.
        betas: their second shapes, likewise.

    >>> mixture_probabilities([[0.5, 0.5], [1, 0]], [[2, 1], [1, 1]], [[1, 2], [1, 1]]).round(6)
    array([0.5, 0.5])
    """
    share = numbers("weights", weights, "numbers of at least 0")
    a, b = positive("alphas", alphas), positive("betas", betas)
    if share.ndim < 2 or share.shape != a.shape or share.shape != b.shape:
        given = f"{share.shape}, {a.shape}, {b.shape}"
        raise InvalidValue(f"weights, alphas and betas must be arrays of one shape (…, K, R), got {given}")
    if not np.all(np.isfinite(share) & (share >= 0.0)) or not np.all(share.sum(axis=-1) > 0.0):
        raise reject("weights", "numbers of at least 0, not all 0 for an arm", share.min())
    share = share / share.sum(axis=-1, keepdims=True)
    states = zip(*(each.reshape(-1, *share.shape[-2:]) for each in (share, a, b)), strict=True)
    return np.array([_mixture(*state) for state in states]).reshape(share.shape[:-1])


def _mixture(weights: Array, a: Array, b: Array) -> Array:
    kept = weights > TAIL

    def density(t: Array) -> tuple[Array, Array]:
        h, below, _ = _beta(t[:, None, None], a, b)
        return (weights * h).sum(axis=-1), (weights * below).sum(axis=-1)

    features = _features_of_log_odds(a, b)
    low = np.where(kept, features.low, np.inf).min(axis=1).max()
    high = np.where(kept, features.high, -np.inf).max()
    return _largest(density, Feature(*(each[kept] for each in features)), (low, high), max(a.max(), b.max()))


def _smaller(shapes: Array) -> Array:
    a, b = shapes[:, ::2], shapes[:, 1::2]

    def density(t: Array) -> tuple[Array, Array]:
        h, below, above = _beta(t[:, None, None], a, b)
        return h[..., 0] * above[..., 1] + h[..., 1] * above[..., 0], _either(below)

    features = _features_of_log_odds(a, b)
    low, high = features.low.min(axis=1).max(), features.high.min(axis=1).max()
    return _largest(density, features, (low, high), shapes.max())


def _either(below: Array) -> Array:
    return np.asarray(below[..., 0] + below[..., 1] - below[..., 0] * below[..., 1])


def _beta(t: Array, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Of log odds: the density, the probability of less, and of more."""
    theta, rest = special.expit(t), special.expit(-t)
    h = np.exp(-a * np.logaddexp(0.0, -t) - b * np.logaddexp(0.0, t) - special.betaln(a, b))
    below = np.where(t > -FAR, special.betainc(a, b, theta), _first_term(t, a, b))
    above = np.where(t < FAR, special.betainc(b, a, rest), _first_term(-t, b, a))
    # theta rounds to 1 where log odds are large, and its rest to 1 where they are small
    return h, np.where(t > 0.0, 1.0 - above, below), np.where(t < 0.0, 1.0 - below, above)


def _first_term(t: Array, a: Array, b: Array) -> Array:
    """The distribution function where a sample is too small for a double."""
    return np.asarray(np.exp(a * np.minimum(t, -FAR) - np.log(a) - special.betaln(a, b)))


def _features_of_log_odds(a: Array, b: Array) -> Feature:
    """Where each Beta law lies, over log odds."""
    scale = np.sqrt(special.polygamma(1, a) + special.polygamma(1, b))
    return Feature(_lowest(a, b), -_lowest(b, a), np.minimum(scale, 4.0))


def _lowest(a: Array, b: Array) -> Array:
    """The quantile of log odds below which a sample is not looked for; a very small one by a series of one term."""
    first = (np.log(TAIL) + np.log(a) + special.betaln(a, b)) / a
    return np.where(first < -40.0, first, special.logit(np.maximum(special.betaincinv(a, b, TAIL), 1e-290)))


def _mean(shapes: Array) -> Array:
    """Arms that are alike are computed once."""
    kinds, kind_of = np.unique(_narrow_first(shapes), axis=0, return_inverse=True)
    kind_of = kind_of.ravel()
    pairs = [_Pair(*kind) for kind in kinds.tolist()]
    features = Feature(*(np.concatenate(each) for each in zip(*(pair.features for pair in pairs), strict=True)))
    low, high = max(pair.low for pair in pairs), max(pair.high for pair in pairs)
    start = np.array([pair.below(low) for pair in pairs])
    edges = _edges(features, low, high, singular=(0.0, 0.5, 1.0))
    half, x = 0.5 * np.diff(edges), _nodes(edges)
    density = np.stack([pair.density(x) for pair in pairs], axis=-1).reshape(len(half), -1, len(pairs))
    within = half[:, None] * np.einsum("n,pnk->pk", WEIGHTS, density)
    before = start + np.concatenate([np.zeros((1, len(pairs))), within.cumsum(axis=0)[:-1]])
    below = before[:, None] + half[:, None, None] * np.einsum("mn,pnk->pmk", _adding_up(), density)
    h, cdf = density.reshape(-1, len(pairs)), below.clip(0.0, 1.0).reshape(-1, len(pairs))
    return _checked(_weighed((half[:, None] * WEIGHTS).ravel(), h[:, kind_of], cdf[:, kind_of]), shapes.max())


def _narrow_first(shapes: Array) -> Array:
    """The law with the smaller deviation first."""
    a, b = shapes[:, ::2], shapes[:, 1::2]
    variance = a * b / ((a + b) ** 2 * (a + b + 1.0))
    return np.where((variance[:, 0] <= variance[:, 1])[:, None], shapes, shapes[:, [2, 3, 0, 1]])


class _Pair:
    """The mean of two Beta samples, the first of them no wider than the second."""

    def __init__(self, a: float, b: float, c: float, d: float) -> None:
        self.shapes = np.array([[a, b], [c, d]])
        first, second = self.shapes.T
        self.ends = np.stack(
            [special.betaincinv(first, second, TAIL), 1.0 - special.betaincinv(second, first, TAIL)], axis=-1
        )
        self.logs = special.betaln(first, second)
        deviations = np.sqrt(first * second / ((first + second) ** 2 * (first + second + 1.0)))
        self.low, self.high = self.ends.mean(axis=0).tolist()
        whole = (self.low, self.high, 0.5 * deviations[1])
        # an end of one law's support, smoothed by the other
        edges = [
            (*(0.5 * (end + self.ends[1 - i])), 0.5 * deviations[1 - i])
            for i in range(2)
            for end in (0.0, 1.0)
            if self.shapes[i, int(end)] < 40.0
        ]
        self.features = Feature(*(np.array(each) for each in zip(whole, *edges, strict=True)))

    def density(self, x: Array) -> Array:
        out = np.zeros(x.size)
        inside = np.flatnonzero((x > self.low) & (x < self.high))
        for first in range(0, inside.size, SLICE):
            at = inside[first : first + SLICE]
            u, rest, v, remainder, measure = self._inner(x[at])
            (a, b), (c, d) = self.shapes
            logs = np.full(u.shape, -self.logs.sum())
            for shape, place in ((a, u), (b, rest), (c, v), (d, remainder)):
                if shape != 1.0:
                    logs += (shape - 1.0) * np.log(np.maximum(place, 1e-300))
            out[at] = 2.0 * (measure * np.exp(logs)).sum(axis=1)
        return out

    def below(self, x: float) -> float:
        """The distribution function at one place: ∫ f(u)·G(2x − u) du, in two parts about what u makes certain."""
        if x <= self.low:
            return 0.0
        if x >= self.high:
            return 1.0
        (a, b), (c, d) = self.shapes
        certain = np.clip(2.0 * x - self.ends[1, 1], 0.0, 1.0)  # for u below it, v is below 2x − u
        u, rest, v, _, measure = self._inner(np.array([x]))
        density = np.exp(special.xlogy(a - 1.0, u) + special.xlogy(b - 1.0, rest) - self.logs[0])
        return float(special.betainc(a, b, certain) + (measure * density * special.betainc(c, d, v)).sum())

    def _inner(self, x: Array) -> tuple[Array, Array, Array, Array, Array]:
        """u, 1 − u, v = 2x − u, 1 − v, and the measure, at nodes between the ends of what both laws allow."""
        (u_low, u_high), (v_low, v_high) = self.ends
        low = np.maximum(u_low, 2.0 * x - v_high)[:, None]
        high = np.minimum(u_high, 2.0 * x - v_low)[:, None]
        share, rest, weights = _crowded()
        length = np.maximum(high - low, 0.0)
        u = low + length * share
        v = (2.0 * x[:, None] - high) + length * rest
        remainder = (1.0 - 2.0 * x[:, None] + low) + length * share
        return u, 1.0 - u, np.maximum(v, 0.0), np.maximum(remainder, 0.0), length * weights


@functools.cache
def _crowded() -> tuple[Array, Array, Array]:
    """Nodes in (0, 1) that crowd at both ends, their distances from 1, and weights: x ↦ I_x(p + 1, p + 1)."""
    nodes, weights = legendre.leggauss(INNER)
    x = 0.5 * (nodes + 1.0)
    order = FLAT + 1.0
    slope = np.exp(FLAT * np.log(x * (1.0 - x)) - special.betaln(order, order))
    return special.betainc(order, order, x), special.betainc(order, order, 1.0 - x), 0.5 * weights * slope


@functools.cache
def _adding_up() -> Array:
    """The matrix that makes of values at the nodes their integral from −1 to each node."""
    values = legendre.legvander(NODES, len(NODES))
    coefficients = ((2 * np.arange(len(NODES)) + 1) / 2)[:, None] * (values[:, :-1].T * WEIGHTS)
    return np.stack([legendre.legval(NODES, legendre.legint(row, lbnd=-1)) for row in coefficients.T], axis=-1)


def _largest(density: Density, features: Feature, ends: tuple[float, float], shape: float) -> Array:
    edges = _edges(Feature(*(each.ravel() for each in features)), *ends)
    total: Array | None = None
    for first in range(0, len(edges) - 1, SLICE):
        part = edges[first : first + SLICE + 1]
        h, below = density(_nodes(part))
        found = _weighed((0.5 * np.diff(part)[:, None] * WEIGHTS).ravel(), h, below)
        total = found if total is None else total + found
    assert total is not None
    return _checked(total, shape)


def _weighed(measure: Array, h: Array, below: Array) -> Array:
    """∫ h_k·∏_{j≠k} H_j."""
    ones = np.ones((len(h), 1))
    before = np.concatenate([ones, below.cumprod(axis=1)[:, :-1]], axis=1)
    after = np.concatenate([below[:, ::-1].cumprod(axis=1)[:, -2::-1], ones], axis=1)
    return np.asarray(measure @ (h * before * after))


def _checked(found: Array, shape: float) -> Array:
    """Of sum 1, as they must nearly be; this is the largest shape."""
    total = float(found.sum())
    if not abs(total - 1.0) < AGREEMENT * max(len(found), 10) + ROUNDING * shape:
        raise DriftbanditError(
            f"probabilities of {len(found)} arms did not converge: their sum is off by {total - 1.0:.1e}"
        )
    return found / total


def _nodes(edges: Array) -> Array:
    return np.asarray((0.5 * (edges[:-1] + edges[1:])[:, None] + 0.5 * np.diff(edges)[:, None] * NODES).ravel())


def _edges(features: Feature, low: float, high: float, singular: tuple[float, ...] = ()) -> Array:
    """Panels, halved until each is short beside what it touches, and beside its distance from singular places."""
    if not low < high:
        low, high = low - 1e-9, high + 1e-9
    points = np.array(singular)
    edges = np.array([low, *(place for place in singular if low < place < high), high])
    while True:
        left, right = edges[:-1], edges[1:]
        width = right - left
        touched = (features.low < right[:, None]) & (features.high > left[:, None])
        limit = np.where(touched, LENGTH * features.scale, np.inf).min(axis=1)
        if points.size:
            away = np.maximum(points - right[:, None], left[:, None] - points).clip(0.0).min(axis=1)
            limit = np.minimum(limit, np.maximum(away, np.minimum(limit, 1.0) * NEAREST))
        long = (width > limit) & (width > SHORTEST * (high - low))
        if not long.any() or len(edges) > MOST_PANELS:
            return edges
        edges = np.sort(np.concatenate([edges, 0.5 * (left + right)[long]]))
