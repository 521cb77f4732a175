"""Gauss–Legendre quadrature on one panel, with the two last Legendre coefficients as a measure of its error."""

import numpy as np
from numpy.polynomial import legendre

NODES = 32
_points = np.asarray(legendre.leggauss(NODES)[0], dtype=np.longdouble)
_basis = np.eye(NODES + 1, dtype=np.longdouble)
for _ in range(2):  # Newton's method in extended precision: every sum here has these weights in it
    _value, _before = legendre.legval(_points, _basis[NODES]), legendre.legval(_points, _basis[NODES - 1])
    _derivative = NODES * (_before - _points * _value) / (1 - _points * _points)
    _points = _points - _value / _derivative
POINTS = _points.astype(np.float64)
WEIGHTS = (2 / ((1 - _points * _points) * _derivative**2)).astype(np.float64)
LAST_EVEN = WEIGHTS * legendre.legval(POINTS, np.eye(NODES)[NODES - 2]) * (NODES - 1.5)
LAST_ODD = WEIGHTS * legendre.legval(POINTS, np.eye(NODES)[NODES - 1]) * (NODES - 0.5)
