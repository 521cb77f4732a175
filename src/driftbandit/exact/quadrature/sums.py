"""What is added up for each arm while the panels go by.

A probability is kept as a number times a power of e, so that one of 1e-300 is as exact as any other.
"""

import math

import numpy as np

from driftbandit.exact.quadrature.beta_density import Array
from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.panels import NEGLIGIBLE, integrate

# Columns of an arm's sums.
MASS, TOP = 0, 1  # the probability so far is MASS·e^TOP
VALUE, PEAK = 2, 3  # the present panel adds VALUE·e^PEAK
GUESS = 4  # logarithm of a probability that is expected at least
ROUGHNESS = 5  # of the present panel, for the length of the next
SUMS = 6

SMALLEST_LOG = -716.0  # ln of what no probability above 1e-310 can be changed by


def weigh_panel(k: int, length: float, log_height: Array, height: Array, sums: Array) -> float:
    """Integrate arm k over the panel, as VALUE·e^PEAK; the error, relative to all that is expected of the arm."""
    expected = max(sums[k, GUESS], SMALLEST_LOG)
    if sums[k, MASS] > 0.0:
        expected = max(expected, math.log(sums[k, MASS]) + sums[k, TOP])
    sums[k, VALUE] = 0.0
    sums[k, ROUGHNESS] = 0.0
    highest = -np.inf
    for i in range(NODES):
        highest = max(highest, log_height[i])
    if highest + math.log(length) < expected - NEGLIGIBLE - 4.0:
        return 0.0
    peak, value, roughness = integrate(log_height, length, height)
    sums[k, PEAK] = peak
    sums[k, VALUE] = value
    share = value / (value + math.exp(min(expected - peak, 700.0)))
    # an arm that counts little here may count more in the next panel
    sums[k, ROUGHNESS] = roughness * math.sqrt(share)
    return roughness * share


def add(k: int, value: float, peak: float, sums: Array) -> None:
    """Add value·e^peak to the probability of arm k."""
    if value == 0.0:
        return
    if peak > sums[k, TOP]:
        if sums[k, MASS] > 0.0:
            sums[k, MASS] *= math.exp(sums[k, TOP] - peak)
        sums[k, TOP] = peak
    sums[k, MASS] += value * math.exp(peak - sums[k, TOP])
