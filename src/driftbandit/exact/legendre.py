"""Gauss–Legendre quadrature on one panel, with the two last Legendre coefficients as a measure of its error."""

import numpy as np
from numpy.polynomial import legendre

NODES = 16
POINTS, WEIGHTS = legendre.leggauss(NODES)
LAST_EVEN = WEIGHTS * legendre.legval(POINTS, np.eye(NODES)[NODES - 2]) * (NODES - 1.5)
LAST_ODD = WEIGHTS * legendre.legval(POINTS, np.eye(NODES)[NODES - 1]) * (NODES - 0.5)
