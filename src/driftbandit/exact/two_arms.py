"""Two arms: the paper's probability of picking the worse one, and the density of the ratio of two samples."""

from typing import Any

import numpy as np

from driftbandit.compiling.long_kernels import answer
from driftbandit.exact.beta import selection_probabilities
from driftbandit.exact.parameters import Array, broadcast, positive

PAIR, SERIES = 4, 12
"""The work of two arms, as `long_kernels` counts it, and of a sum, which may have many terms."""


def suboptimal_probability(a1: Any, b1: Any, a2: Any, b2: Any) -> Array:
    """P(θ2 > θ1) for θ1 ~ Beta(a1, b1) and θ2 ~ Beta(a2, b2), safe for all parameters.

    Where arm 1 is the better one, this is the probability that Thompson sampling picks the worse. It is the integral
    ∫ f2·F1, by quadrature. Both 3F2 forms, `alternating_form` and `positive_form`, equal it, but only this one is exact
    for all parameters. The arguments are broadcast against each other.

    >>> float(suboptimal_probability(30.5, 20.3, 28.2, 25.9).round(12))
    0.204835998453
    >>> suboptimal_probability(1, 1, [1, 2, 3], 1).round(12)
    array([0.5       , 0.66666667, 0.75      ])
    """
    shape, rows = broadcast(a1=positive("a1", a1), b1=positive("b1", b1), a2=positive("a2", a2), b2=positive("b2", b2))
    return selection_probabilities(rows.reshape(-1, 2, 2))[:, 1].reshape(shape)


def alternating_form(a1: Any, b1: Any, a2: Any, b2: Any) -> Array:
    """P(θ2 > θ1) by the paper's expression, summed in double precision as it is printed.

        B(a1+a2, b2)/(a1·B(a1, b1)·B(a2, b2))·3F2(a1, a1+a2, 1−b1; 1+a1, a1+a2+b2; 1)

    It may be used for b1 ≤ 1, where all terms are positive (slow if b1 + b2 is small), and for b1 up to about 5. For a
    larger b1 the terms alternate up to k ≈ b1 and are much larger than their sum: about b1/3 digits are lost, and from
    b1 ≈ 50 on nothing is left. It is here to show that; use `suboptimal_probability`.

    >>> float(alternating_form(2, 3, 1, 4).round(12)), float(suboptimal_probability(2, 3, 1, 4).round(12))
    (0.214285714286, 0.214285714286)
    """
    return _summed(False, a1, b1, a2, b2)


def positive_form(a1: Any, b1: Any, a2: Any, b2: Any) -> Array:
    """P(θ2 > θ1) by an equal expression with positive terms only.

        B(a1+a2, b1+b2)/(a1·B(a1, b1)·B(a2, b2))·3F2(1, a1+b1, a1+a2; a1+1, a1+b1+a2+b2; 1)

    Nothing cancels, but the terms fall only as k^(−b2−1). May be used for b2 ≥ 2 and parameters up to about 1e4, where
    some thousands of terms are enough; at most two million are summed. For a small b2 exchange the arms, P(θ2 > θ1) =
    1 − P(θ1 > θ2), or turn both round, (a, b, θ) → (b, a, 1−θ).

    >>> float(positive_form(30.5, 20.3, 28.2, 25.9).round(12))
    0.204835998453
    """
    return _summed(True, a1, b1, a2, b2)


def ratio_density(omega: Any, a1: Any, b1: Any, a2: Any, b2: Any) -> Array:
    """The density of θ1/θ2 at ω > 0 for θ1 ~ Beta(a1, b1) and θ2 ~ Beta(a2, b2).

    For 0 < ω ≤ 1 it equals the paper's

        B(a1+a2, b2)/(B(a1, b1)·B(a2, b2))·ω^(a1−1)·2F1(a1+a2, 1−b1; a1+a2+b2; ω),

    and for ω > 1 it is that of θ2/θ1 at 1/ω, divided by ω². It is taken from the integral behind both, which does not
    cancel. At ω = 1 it is infinite if b1 + b2 ≤ 1. The arguments are broadcast against each other.

    >>> ratio_density([0.5, 1, 2], 1, 1, 1, 1).round(12)
    array([0.5  , 0.5  , 0.125])
    """
    shape, rows = broadcast(
        omega=positive("omega", omega),
        a1=positive("a1", a1),
        b1=positive("b1", b1),
        a2=positive("a2", a2),
        b2=positive("b2", b2),
    )
    from driftbandit.exact.quadrature import ratio  # late, as few need it

    out = np.empty(rows.shape[0])
    places, arms = np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1:])
    answer(ratio.density_all, PAIR * out.size, places, arms, out)
    return out.reshape(shape)


def _summed(by_positive_terms: bool, a1: Any, b1: Any, a2: Any, b2: Any) -> Array:
    shape, rows = broadcast(a1=positive("a1", a1), b1=positive("b1", b1), a2=positive("a2", a2), b2=positive("b2", b2))
    from driftbandit.exact.quadrature import series  # late, as few need it

    out = np.empty(rows.shape[0])
    answer(series.sum_all, SERIES * out.size, rows, by_positive_terms, out)
    return out.reshape(shape)
