"""The probability that each arm has the largest score, where scores are samples of Normal distributions.

    p_k = ∫ φ((x−m_k)/s_k)/s_k · ∏_{j≠k} Φ((x−m_j)/s_j) dx

Every integrand is log-concave and analytic everywhere, so the only thing to get right is scale. Panels go from the
right to the left on one grid for all arms. None is longer than a few deviations of any arm whose distribution function
is not yet 1 there, which resolves needles beside flat arms; the last Legendre coefficients say where it must be
shorter. They end where ∏Φ, which bounds all that is left, cannot count any more. An arm with s = 0 is a point: the
panels end there, and the product of the others at that place is its share.

A needle may be narrower than one rounding of its mean, or of the edge of a panel. So an edge is kept as its distance
from the mean of the sharpest arm that matters there, its anchor, and a panel that meets a sharper arm ends exactly
where that arm begins to matter and is anchored there.
"""

import math
from typing import Any

import numpy as np

from driftbandit.compiling.long_kernels import compiled
from driftbandit.exact.parameters import Array, normals
from driftbandit.exact.quadrature.double_double import two_sum
from driftbandit.exact.quadrature.legendre import NODES, POINTS
from driftbandit.exact.quadrature.normal_cdf import cdf_on_nodes, density_on_nodes, log_cdf, scaled_tail, standardised
from driftbandit.exact.quadrature.panels import ERROR, NEGLIGIBLE, next_factor, shorter_factor
from driftbandit.exact.quadrature.sums import (
    GUESS,
    MASS,
    PEAK,
    ROUGHNESS,
    SMALLEST_LOG,
    SUMS,
    TOP,
    VALUE,
    add,
    weigh_panel,
)
from driftbandit.numerics.elementary import exp, log

# Columns that describe an arm whose score is random.
MEAN, DEVIATION = 0, 1
LOG_DEVIATION = 2
END = 3  # deviations above the mean from where on the density cannot count; −inf for an arm without a chance
OFFSET = 4  # of the right edge of the present panel from the mean
LOG_CDF, LOG_TAIL = 5, 6  # ln Φ and ln(1 − Φ) at the place that is looked at
COLUMNS = 7

CDF_END = 8.5  # deviations above the mean from where on Φ is 1 in double precision
REACH = 9.0  # longest panel, in deviations of the sharpest arm
HOPELESS = 37.7  # Φ(−37.7) is below 1e-310
LOG_ROOT = 0.9189385332046728  # ln √(2π)
ROOT = 0.3989422804014327  # 1/√(2π)
HALF_ROOT = 0.7071067811865476
HUGE, LESS = 1e290, 2.0**-40  # a state with a number above HUGE is scaled by LESS
SHARPEST = 1e-275
STEPS = 12
MIDDLE = -0.7  # about where the distribution of the largest score has its median, in ln ∏Φ
NEAR_MIDDLE = -1.2
MOST_PANELS = 10000


def normal_probabilities(parameters: Any) -> Array:
    """The exact probability that each arm has the largest score, a sample of Normal(mean, deviation²).

        p_k = ∫ φ((x−m_k)/s_k)/s_k · ∏_{j≠k} Φ((x−m_j)/s_j) dx

    For two arms that is Φ((m_1−m_2)/√(s_1²+s_2²)). Samples are continuous, so random scores never tie. A deviation of
    exactly 0 makes a score certain: of the certain arms only those with the largest mean M can be selected; they share
    evenly the probability ∏_j Φ((M−m_j)/s_j) that every random score is below M.

    Parameters:
        parameters: the mean and the standard deviation of each arm's score, of shape (…, K, 2): many states at once.

    Returns:
        An array of shape (…, K). The relative error is below 1e-11 for every probability above 1e-250 when the means
        are from −1e6 to 1e6 and the deviations from 1e-6 to 1e6. Deviations between 0 and 1e-275 count as 1e-275.

    >>> normal_probabilities([(0.5, 0.1), (0.4, 0.2)]).round(6)
    array([0.67264, 0.32736])
    >>> normal_probabilities([(0, 1), (0, 1), (0, 0)]).round(6)
    array([0.375, 0.375, 0.25 ])
    """
    array = normals(parameters)
    n_arms = array.shape[-2]
    states = np.ascontiguousarray(array.reshape(-1, n_arms, 2))
    out = np.empty((states.shape[0], n_arms))
    compiled(largest)(states, out)
    return out.reshape(array.shape[:-1])


def largest(parameters: Array, out: Array) -> None:
    """out[s, k] = probability that arm k has the largest score in state s."""
    states, n_arms = out.shape
    state = np.empty((n_arms, 2))
    arms = np.empty((n_arms, COLUMNS))
    which = np.empty(n_arms, np.int64)
    sums = np.empty((n_arms, SUMS))
    log_height = np.empty((n_arms, NODES))
    work = np.empty((4, NODES))
    for s in range(states):
        rescale(parameters[s], state)
        certain, ties, count = sort_out(state, arms, which)
        if count == 0:
            atom = 1.0
        elif count == 1 and ties == 0:
            atom = 0.0
            out[s, which[0]] = 1.0
        elif count == 1:
            z = (arms[0, MEAN] - certain) / arms[0, DEVIATION]
            atom = 0.5 * math.erfc(z * HALF_ROOT)
            out[s, which[0]] = 0.5 * math.erfc(-z * HALF_ROOT)
        elif count == 2 and ties == 0:
            atom = 0.0
            z = (arms[0, MEAN] - arms[1, MEAN]) / math.hypot(arms[0, DEVIATION], arms[1, DEVIATION])
            out[s, which[0]] = 0.5 * math.erfc(-z * HALF_ROOT)
            out[s, which[1]] = 0.5 * math.erfc(z * HALF_ROOT)
        else:
            atom = integrals(certain, ties > 0, count, arms, log_height, work, sums)
            for i in range(count):
                out[s, which[i]] = sums[i, MASS] * math.exp(sums[i, TOP]) if sums[i, MASS] > 0.0 else 0.0
        for k in range(n_arms):
            if state[k, 1] == 0.0:
                out[s, k] = atom / ties if state[k, 0] == certain else 0.0


def rescale(parameters: Array, state: Array) -> None:
    """Copy the means and deviations, within limits between which nothing that is computed overflows."""
    top = 0.0
    for k in range(parameters.shape[0]):
        top = max(top, abs(parameters[k, 0]), parameters[k, 1])
    scale = LESS if top > HUGE else 1.0
    for k in range(parameters.shape[0]):
        state[k, 0] = scale * parameters[k, 0]
        state[k, 1] = scale * max(parameters[k, 1], SHARPEST) if parameters[k, 1] > 0.0 else 0.0


def sort_out(state: Array, arms: Array, which: Any) -> tuple[float, int, int]:
    """Keep the random arms in the first rows; the largest certain score, how many arms have it, and how many rows."""
    certain, ties, count = -np.inf, 0, 0
    for k in range(state.shape[0]):
        mean, deviation = state[k, 0], state[k, 1]
        if deviation > 0.0:
            arms[count, MEAN] = mean
            arms[count, DEVIATION] = deviation
            which[count] = k
            count += 1
        elif mean > certain:
            certain, ties = mean, 1
        elif mean == certain:
            ties += 1
    return certain, ties, count


def integrals(
    certain: float, limited: bool, count: int, arms: Array, log_height: Array, work: Array, sums: Array
) -> float:
    """Sums of the first `count` arms, p = MASS·e^TOP, over x > certain; the probability that all are below."""
    for k in range(count):
        arms[k, LOG_DEVIATION] = math.log(arms[k, DEVIATION])
        sums[k, MASS] = 0.0
        sums[k, TOP] = -np.inf
    guess(certain, count, arms, sums)
    set_ends(certain, limited, count, arms, sums)
    march(certain, limited, count, arms, log_height, work, sums)
    if not limited:
        return 0.0
    total = 0.0
    for k in range(count):
        total += log_cdf(standardised(certain - arms[k, MEAN], arms[k, DEVIATION]))
    return math.exp(total)


def guess(certain: float, count: int, arms: Array, sums: Array) -> None:
    """A lower bound of each log probability, so that panels are not refined for what will not count.

    For any place c not below a certain score, p_k ≥ P(arm k is above c, all others are below). The places are those of
    Newton's method on its way from the largest mean to the median of the largest score; ln ∏Φ is increasing and
    concave, so it comes from the left and never jumps too far.
    """
    place = certain
    for k in range(count):
        place = max(place, arms[k, MEAN])
        sums[k, GUESS] = -np.inf
    for _ in range(STEPS):
        total, slope = 0.0, 0.0
        for k in range(count):
            z = standardised(place - arms[k, MEAN], arms[k, DEVIATION])
            half = 0.5 * z * z
            fall = exp(-half)
            w = scaled_tail(z)
            below = 1.0 - fall * w
            arms[k, LOG_CDF] = log(below)
            arms[k, LOG_TAIL] = log(w) - half
            total += arms[k, LOG_CDF]
            slope += ROOT * fall / (below * arms[k, DEVIATION])
        for k in range(count):
            sums[k, GUESS] = max(sums[k, GUESS], total - arms[k, LOG_CDF] + arms[k, LOG_TAIL])
        if total > NEAR_MIDDLE:
            break
        place += (MIDDLE - total) / slope


def set_ends(certain: float, limited: bool, count: int, arms: Array, sums: Array) -> None:
    """Where, coming from the right, the density of each arm begins to count: 1 − Φ(z) is below e^(−z²/2).

    An arm is without a chance when it is above one other with a probability of less than 1e-310.
    """
    highest, firmest = 0, 0
    for k in range(count):
        if arms[k, MEAN] > arms[highest, MEAN]:
            highest = k
        if higher(arms[k], -HOPELESS, arms[firmest], -HOPELESS):
            firmest = k
    for k in range(count):
        arms[k, END] = math.sqrt(2.0 * (NEGLIGIBLE - max(sums[k, GUESS], SMALLEST_LOG)))
        mean, deviation = arms[k, MEAN], arms[k, DEVIATION]
        for other in (highest, firmest):
            if mean - arms[other, MEAN] < -HOPELESS * math.hypot(deviation, arms[other, DEVIATION]):
                arms[k, END] = -np.inf
        if limited and mean - certain < -HOPELESS * deviation:
            arms[k, END] = -np.inf


def march(certain: float, limited: bool, count: int, arms: Array, log_height: Array, work: Array, sums: Array) -> None:
    """Add up the panels from the right."""
    distance, cdf, product, height = work[0], work[1], work[2], work[3]
    anchor = -1
    for k in range(count):
        if arms[k, END] > 0.0 and (anchor < 0 or higher(arms[k], arms[k, END], arms[anchor], arms[anchor, END])):
            anchor = k
    if anchor < 0:
        return
    edge = arms[anchor, END] * arms[anchor, DEVIATION]
    length = REACH * arms[anchor, DEVIATION]
    for _ in range(MOST_PANELS):
        length = panel_length(anchor, edge, length, count, arms)
        last = False
        if limited:
            most = gap(arms[anchor, MEAN], edge, certain)
            if most <= 0.0:
                break
            last = length >= most
            length = min(length, most)
            for k in range(count):
                # a needle between the edge and the certain score, too near to that to be told from it so far away
                if last and arms[k, OFFSET] - reach(arms[k]) == most and arms[k, MEAN] - certain > -reach(arms[k]):
                    last = False
        log_length = math.log(length) - LOG_ROOT
        for i in range(NODES):
            distance[i] = -0.5 * length * (1.0 - POINTS[i])
            product[i] = 0.0
        for k in range(count):
            offset, deviation = arms[k, OFFSET], arms[k, DEVIATION]
            counts = offset - length < arms[k, END] * deviation
            if counts:
                density_on_nodes(offset, distance, deviation, log_length - arms[k, LOG_DEVIATION], log_height[k])
            if offset - length < CDF_END * deviation:
                cdf_on_nodes(offset, distance, deviation, cdf)
                for i in range(NODES):
                    product[i] += cdf[i]
                if counts:
                    for i in range(NODES):
                        log_height[k, i] -= cdf[i]
        error, roughness = 0.0, 0.0
        for k in range(count):
            sums[k, VALUE] = 0.0
            if arms[k, OFFSET] - length < arms[k, END] * arms[k, DEVIATION]:
                for i in range(NODES):
                    log_height[k, i] += product[i]
                error = max(error, weigh_panel(k, 1.0, log_height[k], height, sums))
                roughness = max(roughness, sums[k, ROUGHNESS])
        if error > ERROR:
            length *= shorter_factor(error)
            continue
        finished = True
        for k in range(count):
            if arms[k, END] > 0.0:
                add(k, sums[k, VALUE], sums[k, PEAK], sums)
                expected = max(sums[k, GUESS], SMALLEST_LOG + NEGLIGIBLE)
                if sums[k, MASS] > 0.0:
                    expected = max(expected, math.log(sums[k, MASS]) + sums[k, TOP])
                if product[0] > expected - NEGLIGIBLE:
                    finished = False
        if last or finished:
            break
        anchor, edge = next_edge(anchor, edge, length, count, arms)
        length *= next_factor(roughness)


def higher(arm: Array, z: float, other: Array, z_other: float) -> bool:
    """Whether z deviations above the mean of the arm is more than z_other deviations above the mean of the other."""
    return bool((arm[MEAN] - other[MEAN]) + (z * arm[DEVIATION] - z_other * other[DEVIATION]) > 0.0)


def gap(mean: float, edge: float, place: float) -> float:
    """How far the edge, given by its distance from a mean, is above a place: as exact as a double can be."""
    total, error = two_sum(mean, -place)
    return total + (error + edge)


def reach(arm: Array) -> float:
    """How far above its mean the arm begins to matter, by its density or its distribution function."""
    distance: float = max(CDF_END, arm[END]) * arm[DEVIATION]
    return distance


def panel_length(anchor: int, edge: float, length: float, count: int, arms: Array) -> float:
    """The longest panel to the left of the edge that resolves every arm that matters there."""
    for k in range(count):
        arms[k, OFFSET] = gap(arms[anchor, MEAN], edge, arms[k, MEAN])
        beyond = arms[k, OFFSET] - reach(arms[k])
        if length > beyond:
            length = min(length, max(beyond, REACH * arms[k, DEVIATION]))
    return length


def next_edge(anchor: int, edge: float, length: float, count: int, arms: Array) -> tuple[int, float]:
    """The left end of the panel: its anchor, and its distance from the mean of that.

    Of several arms that seem to begin just there the first to come is the anchor: its panels may be short enough to
    tell the others apart. An arm that began inside the panel is not much sharper than the panel is long.
    """
    ends, inside = -1, -1
    for k in range(count):
        beyond = arms[k, OFFSET] - reach(arms[k])
        if 0.0 < beyond <= length and arms[k, DEVIATION] < arms[anchor, DEVIATION]:
            z = max(CDF_END, arms[k, END])
            if beyond == length and (ends < 0 or higher(arms[k], z, arms[ends], max(CDF_END, arms[ends, END]))):
                ends = k
            if inside < 0 or arms[k, DEVIATION] < arms[inside, DEVIATION]:
                inside = k
    if ends >= 0:
        return ends, reach(arms[ends])
    if inside >= 0:
        return inside, arms[inside, OFFSET] - length
    return anchor, edge - length
