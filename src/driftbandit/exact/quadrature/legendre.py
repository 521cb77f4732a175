"""Gauss–Legendre quadrature on one panel, with the two last Legendre coefficients as a measure of its error."""

from typing import Any

import numpy as np
from numpy.polynomial import legendre

NODES = 32


def _polynomials(x: Any) -> list[Any]:
    """P_0(x), P_1(x), …, P_NODES(x) by their recurrence, in the precision of x."""
    values = [x**0, x]
    for k in range(1, NODES):
        values.append(((2 * k + 1) * x * values[k] - k * values[k - 1]) / (k + 1))
    return values


_x = legendre.leggauss(NODES)[0].astype(np.longdouble)
for _ in range(3):  # Newton's method in extended precision, where there is one: the weights are in every result
    _p = _polynomials(_x)
    _slope = NODES * (_p[NODES - 1] - _x * _p[NODES]) / (1 - _x * _x)
    _x = _x - _p[NODES] / _slope
POINTS = _x.astype(np.float64)
WEIGHTS = (2 / ((1 - _x * _x) * _slope**2)).astype(np.float64)
LAST_EVEN = WEIGHTS * (_p[NODES - 2] * (NODES - 1.5)).astype(np.float64)
LAST_ODD = WEIGHTS * (_p[NODES - 1] * (NODES - 0.5)).astype(np.float64)
