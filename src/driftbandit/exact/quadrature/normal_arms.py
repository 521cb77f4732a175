"""Any number of Normal distributions: the probability that each has the largest sample.

    p_k = ∫ φ((x−m_k)/s_k)/s_k · ∏_{j≠k} Φ((x−m_j)/s_j) dx

Every integrand is log-concave and analytic everywhere, so the only thing to get right is scale. Panels go from the
right to the left on one grid for all arms. None is longer than a few deviations of any arm whose distribution function
is not yet 1 there: so needles beside flat arms are resolved. The last Legendre coefficients say where a panel must be
shorter still. Panels end where ∏Φ, which bounds all that is left, cannot count any more. An arm with s = 0 is a point:
the panels end there, and the product of the others at that place is its probability.

A needle may be narrower than one rounding of its mean, or of the edge of a panel. So an edge is kept as its distance
from the mean of the sharpest arm that matters there, its anchor. A panel that meets a sharper arm ends exactly where
that arm begins to matter, and this edge has the sharper arm as its anchor.
"""

import math
from typing import NamedTuple

import numpy as np

from driftbandit.exact.quadrature.legendre import NODES, POINTS
from driftbandit.exact.quadrature.normal_cdf import cdf_on_nodes, density_on_nodes, log_cdf, scaled_tail, standardised
from driftbandit.exact.quadrature.panels import MOST_PANELS, PANEL, Panel
from driftbandit.exact.quadrature.records import Array, Records, record
from driftbandit.exact.quadrature.sums import (
    ARM_SUM,
    NEGLIGIBLE,
    SMALLEST_LOG,
    clear,
    probability,
    take_panel_for_all,
)
from driftbandit.numerics.elementary import exp, log
from driftbandit.numerics.rounding import two_sum

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


class Score:
    """An arm whose score is random."""

    arm: int  # its number in the state
    mu: float
    sigma: float
    log_sigma: float
    end: float  # deviations above the mean from where on the density cannot count; −inf for an arm without a chance
    offset: float  # of the right edge of the present panel from the mean
    log_cdf: float  # ln Φ and ln(1 − Φ) at the place that is looked at
    log_tail: float


SCORE = record(Score)


class Edge(NamedTuple):
    """An edge of a panel."""

    anchor: int  # the score from whose mean the distance is taken
    distance: float


def largest(parameters: Array, out: Array) -> None:
    """out[s, k] = probability that arm k has the largest score in state s."""
    states, n_arms = out.shape
    state = np.empty((n_arms, 2))
    scores = np.empty(n_arms, SCORE)
    sums = np.empty(n_arms, ARM_SUM)
    panels = np.empty(1, PANEL)
    for s in range(states):
        rescale(parameters[s], state)
        certain, ties, count = split_scores(state, scores)
        if count == 0:
            atom = 1.0
        elif count == 1 and ties == 0:
            atom = 0.0
            out[s, scores[0].arm] = 1.0
        elif count == 1:
            z = (scores[0].mu - certain) / scores[0].sigma
            atom = 0.5 * math.erfc(z * HALF_ROOT)
            out[s, scores[0].arm] = 0.5 * math.erfc(-z * HALF_ROOT)
        elif count == 2 and ties == 0:
            atom = 0.0
            z = (scores[0].mu - scores[1].mu) / math.hypot(scores[0].sigma, scores[1].sigma)
            out[s, scores[0].arm] = 0.5 * math.erfc(-z * HALF_ROOT)
            out[s, scores[1].arm] = 0.5 * math.erfc(z * HALF_ROOT)
        else:
            atom = integrals(certain, scores[:count], panels[0], sums[:count])
            for i in range(count):
                out[s, scores[i].arm] = probability(sums[i])
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


def split_scores(state: Array, scores: Records) -> tuple[float, int, int]:
    """Put the random scores first; the largest certain one or −inf, how many arms have it, and how many are random."""
    certain, ties, count = -np.inf, 0, 0
    for k in range(state.shape[0]):
        mu, sigma = state[k, 0], state[k, 1]
        if sigma > 0.0:
            scores[count].arm = k
            scores[count].mu = mu
            scores[count].sigma = sigma
            count += 1
        elif mu > certain:
            certain, ties = mu, 1
        elif mu == certain:
            ties += 1
    return certain, ties, count


def integrals(certain: float, scores: Records, panel: Panel, sums: Records) -> float:
    """Add up the integral of each random score over x > certain; the probability that all are below."""
    clear(sums)
    bound_probabilities(certain, scores, sums)
    set_ends(certain, scores, sums)
    march(certain, scores, panel, sums)
    if certain == -np.inf:
        return 0.0
    total = 0.0
    for k in range(len(scores)):
        total += log_cdf(standardised(certain - scores[k].mu, scores[k].sigma))
    return math.exp(total)


def bound_probabilities(certain: float, scores: Records, sums: Records) -> None:
    """A lower bound of each log probability, so that panels are not refined for what will not count.

    For any place c not below a certain score, p_k ≥ P(arm k is above c, all others are below). The places are those of
    Newton's method on its way from the largest mean to the median of the largest score; ln ∏Φ is increasing and
    concave, so it comes from the left and never jumps too far.
    """
    place = certain
    for k in range(len(scores)):
        place = max(place, scores[k].mu)
        sums[k].log_guess = -np.inf
    for _ in range(STEPS):
        total, slope = 0.0, 0.0
        for k in range(len(scores)):
            score = scores[k]
            z = standardised(place - score.mu, score.sigma)
            half = 0.5 * z * z
            fall = exp(-half)
            w = scaled_tail(z)
            below = 1.0 - fall * w
            score.log_cdf = log(below)
            score.log_tail = log(w) - half
            total += score.log_cdf
            slope += ROOT * fall / (below * score.sigma)
        for k in range(len(scores)):
            sums[k].log_guess = max(sums[k].log_guess, total - scores[k].log_cdf + scores[k].log_tail)
        if total > NEAR_MIDDLE:
            break
        place += (MIDDLE - total) / slope


def set_ends(certain: float, scores: Records, sums: Records) -> None:
    """Where, coming from the right, the density of each score begins to count: 1 − Φ(z) is below e^(−z²/2).

    An arm is without a chance when it is above one other with a probability of less than 1e-310.
    """
    highest, firmest = scores[0], scores[0]
    for k in range(len(scores)):
        if scores[k].mu > highest.mu:
            highest = scores[k]
        if above(scores[k], -HOPELESS, firmest, -HOPELESS):
            firmest = scores[k]
    for k in range(len(scores)):
        score = scores[k]
        score.log_sigma = math.log(score.sigma)
        score.end = math.sqrt(2.0 * (NEGLIGIBLE - max(sums[k].log_guess, SMALLEST_LOG)))
        hopeless = score.mu - certain < -HOPELESS * score.sigma
        for other in (highest, firmest):
            if score.mu - other.mu < -HOPELESS * math.hypot(score.sigma, other.sigma):
                hopeless = True
        if hopeless:
            score.end = -np.inf
            sums[k].log_guess = np.inf


def march(certain: float, scores: Records, panel: Panel, sums: Records) -> None:
    """Add up the panels from the right."""
    edge = first_edge(scores)
    if edge.anchor < 0:
        return
    length = REACH * scores[edge.anchor].sigma
    for _ in range(MOST_PANELS):
        length = panel_length(edge, length, scores)
        last = False
        if certain > -np.inf:
            most = height_above(scores[edge.anchor].mu, edge.distance, certain)
            if most <= 0.0:
                break
            last = length >= most and not hides_needle(certain, most, scores)
            length = min(length, most)
        set_heights(length, scores, panel, sums)
        outcome = take_panel_for_all(1.0, panel.log_product, sums)
        if outcome.taken:
            if last or outcome.finished:
                break
            edge = next_edge(edge, length, scores)
        length *= outcome.factor


def set_heights(length: float, scores: Records, panel: Panel, sums: Records) -> None:
    """The logarithms of all integrands, times the length of the panel but without ∏Φ, and of ∏Φ."""
    log_length = math.log(length) - LOG_ROOT
    for i in range(NODES):
        panel.distance[i] = -0.5 * length * (1.0 - POINTS[i])
        panel.log_product[i] = 0.0
    for k in range(len(scores)):
        score, log_height = scores[k], sums[k].log_height
        counts = score.offset - length < score.end * score.sigma
        sums[k].counts = counts
        if counts:
            density_on_nodes(score.offset, panel.distance, score.sigma, log_length - score.log_sigma, log_height)
        if score.offset - length < CDF_END * score.sigma:
            cdf_on_nodes(score.offset, panel.distance, score.sigma, panel.log_cdf)
            for i in range(NODES):
                panel.log_product[i] += panel.log_cdf[i]
            if counts:
                for i in range(NODES):
                    log_height[i] -= panel.log_cdf[i]


def first_edge(scores: Records) -> Edge:
    """The highest place at which any density begins to count; anchor −1 where no arm has a chance."""
    anchor = -1
    for k in range(len(scores)):
        if scores[k].end > 0.0 and (anchor < 0 or above(scores[k], scores[k].end, scores[anchor], scores[anchor].end)):
            anchor = k
    return Edge(anchor, scores[anchor].end * scores[anchor].sigma)


def hides_needle(certain: float, most: float, scores: Records) -> bool:
    """Whether a needle begins between the edge and the certain score, too near to that to be told from it so far away.

    The edge is `most` above the certain score.
    """
    for k in range(len(scores)):
        score = scores[k]
        if score.offset - reach(score) == most and score.mu - certain > -reach(score):
            return True
    return False


def above(score: Score, z: float, other: Score, z_other: float) -> bool:
    """Whether z deviations above the mean of a score is more than z_other deviations above the mean of the other."""
    return (score.mu - other.mu) + (z * score.sigma - z_other * other.sigma) > 0.0


def height_above(mu: float, distance: float, place: float) -> float:
    """How far an edge, given by its distance from a mean, is above a place, to the last digit of a double."""
    total, error = two_sum(mu, -place)
    return total + (error + distance)


def reach(score: Score) -> float:
    """How far above its mean a score begins to matter, by its density or its distribution function."""
    return max(CDF_END, score.end) * score.sigma


def panel_length(edge: Edge, length: float, scores: Records) -> float:
    """The longest panel to the left of the edge that resolves every score that matters there."""
    for k in range(len(scores)):
        score = scores[k]
        score.offset = height_above(scores[edge.anchor].mu, edge.distance, score.mu)
        beyond = score.offset - reach(score)
        if length > beyond:
            length = min(length, max(beyond, REACH * score.sigma))
    return length


def next_edge(edge: Edge, length: float, scores: Records) -> Edge:
    """The left end of the panel.

    Of several scores that seem to begin just there the first to come is the anchor: its panels may be short enough to
    tell the others apart. A score that began inside the panel is not much sharper than the panel is long.
    """
    ends, inside = -1, -1
    for k in range(len(scores)):
        score = scores[k]
        beyond = score.offset - reach(score)
        if 0.0 < beyond <= length and score.sigma < scores[edge.anchor].sigma:
            if beyond == length and (
                ends < 0 or above(score, max(CDF_END, score.end), scores[ends], max(CDF_END, scores[ends].end))
            ):
                ends = k
            if inside < 0 or score.sigma < scores[inside].sigma:
                inside = k
    if ends >= 0:
        return Edge(ends, reach(scores[ends]))
    if inside >= 0:
        return Edge(inside, scores[inside].offset - length)
    return Edge(edge.anchor, edge.distance - length)
