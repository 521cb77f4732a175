"""Integrals that are added up panel by panel: one alone, or one for each arm on the same panels.

A sum is kept as a number times a power of e, so that a probability of 1e-300 is as exact as any other. A panel whose
error is too large is refused, to be tried again with a shorter length. One that is taken says how long the next may be,
and whether the rest can still count.
"""

import math
from typing import NamedTuple

import numpy as np

from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.panels import ERROR, growth_factor, integrate, shrinking_factor
from driftbandit.exact.quadrature.records import Array, Records, record

NEGLIGIBLE = 38.0  # e^−38 of the total is not worth another panel
SMALLEST_LOG = -716.0  # ln of what no probability above 1e-310 can be changed by


class Sum(NamedTuple):
    """One integral so far: mass·e^top."""

    mass: float
    top: float


class ArmSum:
    """The integral of one arm so far, and its integrand on the present panel."""

    mass: float  # the integral so far is mass·e^top
    top: float
    value: float  # the present panel adds value·e^peak
    peak: float
    log_guess: float  # logarithm of a probability that is expected at least; inf: no panel is needed for this arm
    counts: bool  # whether the arm has density that counts on the present panel
    log_height: Array  # logarithm of the integrand there, but for the factor that all arms share


ARM_SUM = record(ArmSum)


class PanelResult(NamedTuple):
    """What came of a panel."""

    taken: bool
    finished: bool  # whether all further panels are negligible
    factor: float  # what the length is multiplied by for the next attempt


def take_panel(total: Sum, log_height: Array, length: float, end: int, spacing: float) -> tuple[Sum, PanelResult]:
    """The sum with a panel added, if that is exact enough.

    `end` is the outermost node, the first or the last, and `spacing` how far it is from its neighbour. Beyond it a
    log-concave integrand falls at least as fast as between these two, which bounds the rest.
    """
    last = log_height[end]
    fall = (log_height[end - 1 if end > 0 else 1] - last) / spacing
    peak, value, roughness = integrate(log_height, length)
    top = max(total.top, peak)
    before = total.mass * math.exp(total.top - top) if total.mass > 0.0 else 0.0
    value *= math.exp(peak - top)
    error = roughness * value / (before + value)
    if error > ERROR:
        return total, PanelResult(False, False, shrinking_factor(error))
    finished = fall > 0.0 and last - math.log(fall) < top + math.log(before + value) - NEGLIGIBLE
    return Sum(before + value, top), PanelResult(True, finished, growth_factor(error))


def clear(sums: Records) -> None:
    """Start all sums with nothing."""
    for k in range(len(sums)):
        sums[k].mass = 0.0
        sums[k].top = -np.inf


def probability(arm_sum: ArmSum) -> float:
    """The sum as a plain number."""
    return arm_sum.mass * math.exp(arm_sum.top) if arm_sum.mass > 0.0 else 0.0


def log_probability(arm_sum: ArmSum) -> float:
    """The logarithm of the sum."""
    return math.log(arm_sum.mass) + arm_sum.top if arm_sum.mass > 0.0 else -np.inf


def add(value: float, peak: float, arm_sum: ArmSum) -> None:
    """Add value·e^peak."""
    if value == 0.0:
        return
    if peak > arm_sum.top:
        if arm_sum.mass > 0.0:
            arm_sum.mass *= math.exp(arm_sum.top - peak)
        arm_sum.top = peak
    arm_sum.mass += value * math.exp(peak - arm_sum.top)


def weigh_panel(length: float, log_product: Array, arm_sum: ArmSum) -> tuple[float, float]:
    """Integrate an arm over the panel; the error relative to all that is expected of the arm, and its roughness."""
    expected = max(arm_sum.log_guess, SMALLEST_LOG, log_probability(arm_sum))
    highest = -np.inf
    for i in range(NODES):
        arm_sum.log_height[i] += log_product[i]
    for i in range(NODES):
        highest = max(highest, arm_sum.log_height[i])
    if highest + math.log(length) < expected - NEGLIGIBLE - 4.0:
        return 0.0, 0.0
    peak, value, roughness = integrate(arm_sum.log_height, length)
    arm_sum.peak = peak
    arm_sum.value = value
    share = value / (value + math.exp(min(expected - peak, 700.0)))
    # an arm that counts little here may count more in the next panel
    return roughness * share, roughness * math.sqrt(share)


def take_panel_for_all(length: float, log_product: Array, sums: Records) -> PanelResult:
    """Add a panel to the sums of all arms, if that is exact enough for each.

    At the left end of the panel ∏F, the factor that all integrands share, bounds what is left for any arm.
    """
    error, roughness = 0.0, 0.0
    for k in range(len(sums)):
        sums[k].value = 0.0
        if sums[k].counts:
            own_error, own_roughness = weigh_panel(length, log_product, sums[k])
            error = max(error, own_error)
            roughness = max(roughness, own_roughness)
    if error > ERROR:
        return PanelResult(False, False, shrinking_factor(error))
    finished = True
    for k in range(len(sums)):
        add(sums[k].value, sums[k].peak, sums[k])
        expected = max(sums[k].log_guess, SMALLEST_LOG + NEGLIGIBLE, log_probability(sums[k]))
        if log_product[0] > expected - NEGLIGIBLE:
            finished = False
    return PanelResult(True, finished, growth_factor(roughness))
