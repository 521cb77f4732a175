"""Any number of arms: the probability that each has the largest sample.

    p_k = ∫ f_k·∏_{j≠k} F_j dt                                                     Thompson sampling
    p_k = ∫_M f_k·∏_{j≠k} F_j dt + [mean_k = M]·∏_j F_j(M)/ties                      optimistic, M the largest mean

over the log odds t. Every integrand is log-concave. Panels go from the right to the left on one grid for all arms, and
end where ∏F, which bounds all that is left, cannot count any more.
"""

import math

import numpy as np

from driftbandit.exact.beta_cdf import DEGREE, log_cdf, prepare_cdf
from driftbandit.exact.beta_density import (
    CDF_END,
    COLUMNS,
    DENSITY_END,
    LOG_PEAK,
    MEAN,
    PLACE,
    PLACE_LOW,
    REST,
    WIDTH,
    A,
    Array,
    B,
    N,
    describe,
    deviance,
    slope,
    upper_end,
)
from driftbandit.exact.legendre import NODES
from driftbandit.exact.pair import CDF_LEVEL, MOST_PANELS, NEGLIGIBLE, ROWS, both
from driftbandit.exact.panels import (
    ERROR,
    density_on_nodes,
    few_bits,
    integrate,
    longest,
    next_factor,
    place_nodes,
    rounded_edge,
)

# Columns of an arm's sums.
MASS, TOP = 0, 1  # the probability so far is MASS·e^TOP
VALUE, PEAK = 2, 3  # the present panel adds VALUE·e^PEAK
GUESS = 4  # logarithm of a probability that is expected at least
ROUGHNESS = 5  # of the present panel, for the length of the next
SUMS = 6

SMALLEST_LOG = -716.0  # ln of what no probability above 1e-310 can be changed by
ATTEMPTS = 8
LEAST_FALL = 20.0  # powers of e that a density falls from the largest mean to its end, at least
CAUTION = 4.0  # how far, in powers of e, a guessed probability is lowered before it is relied on


def selection(parameters: Array, optimistic: bool, out: Array) -> None:
    """out[s, k] = probability that arm k is selected in state s, whose arms are Beta(parameters[s, k])."""
    states, n_arms = out.shape
    arms = np.empty((max(n_arms, 2), COLUMNS))
    coefficients = np.empty((max(n_arms, 2), DEGREE))
    work = np.empty((ROWS, NODES))
    log_density = np.empty((n_arms, NODES))
    log_height = np.empty((n_arms, NODES))
    sums = np.empty((n_arms, SUMS))
    for s in range(states):
        if n_arms == 1:
            out[s, 0] = 1.0
        elif n_arms == 2 and not optimistic:
            a1, b1, a2, b2 = parameters[s, 0, 0], parameters[s, 0, 1], parameters[s, 1, 0], parameters[s, 1, 1]
            out[s, 0], out[s, 1] = both(a1, b1, a2, b2, arms, coefficients[0], work)
        else:
            best = set_up(parameters[s], arms, coefficients)
            guess(best, optimistic, arms, sums)
            set_ends(best, arms, sums)
            for _ in range(ATTEMPTS):
                march(best, optimistic, arms, coefficients, log_density, log_height, work, sums)
                if not again(arms, sums):
                    break
            for k in range(n_arms):
                out[s, k] = sums[k, MASS] * math.exp(sums[k, TOP]) if sums[k, MASS] > 0.0 else 0.0


def set_up(parameters: Array, arms: Array, coefficients: Array) -> int:
    """Describe all arms; the arm with the largest mean."""
    n_arms = parameters.shape[0]
    best = 0
    for k in range(n_arms):
        describe(parameters[k, 0], parameters[k, 1], arms[k])
        prepare_cdf(arms[k], coefficients[k])
        if parameters[k, 0] / parameters[k, 1] > parameters[best, 0] / parameters[best, 1]:
            best = k
    return best


def guess(best: int, optimistic: bool, arms: Array, sums: Array) -> None:
    """A rough logarithm of each probability, so that panels are not refined for what will not count.

    The integrand of arm k is taken near its peak: at its mean, or at the pooled mean of it and the best arm. A guess
    that proves too high is replaced and the work is done again.
    """
    n_arms = sums.shape[0]
    top = arms[best]
    for k in range(n_arms):
        arm = arms[k]
        t = top[PLACE]
        if not optimistic and k != best:
            t = math.log((arm[A] + top[A]) / (arm[B] + top[B]))
        height = arm[LOG_PEAK] - deviance(t - arm[PLACE], arm[A], arm[B], arm[MEAN], arm[REST])
        for j in range(n_arms):
            if j != k:
                other = arms[j]
                delta = min(0.0, t - other[PLACE])
                fall = other[LOG_PEAK] - deviance(delta, other[A], other[B], other[MEAN], other[REST])
                lean = slope(delta, other[N], other[MEAN], other[REST])
                height += min(-0.7, fall - math.log(lean + 0.8 / other[WIDTH]))
        sums[k, GUESS] = height + math.log(min(arm[WIDTH], top[WIDTH])) - CAUTION


def set_ends(best: int, arms: Array, sums: Array) -> None:
    """Where, coming from the right, each arm begins to matter: its distribution function, and its density."""
    for k in range(sums.shape[0]):
        arm = arms[k]
        arm[CDF_END] = arm[PLACE] + upper_end(0.0, CDF_LEVEL, arm)
        shift = max(0.0, (arms[best, PLACE] - arm[PLACE]) + (arms[best, PLACE_LOW] - arm[PLACE_LOW]))
        start = max(shift, 3.0 * arm[WIDTH])
        lean = slope(start, arm[N], arm[MEAN], arm[REST])
        level = arm[LOG_PEAK] - math.log(-lean) - max(sums[k, GUESS], SMALLEST_LOG) + NEGLIGIBLE
        least = deviance(shift, arm[A], arm[B], arm[MEAN], arm[REST]) + LEAST_FALL
        arm[DENSITY_END] = arm[PLACE] + upper_end(shift, max(level, least), arm)


def again(arms: Array, sums: Array) -> bool:
    """Whether a guess was too high, or an arm has density above its end that counts; both are then mended."""
    needed = False
    for k in range(sums.shape[0]):
        found = SMALLEST_LOG
        if sums[k, MASS] > 0.0:
            found = max(found, math.log(sums[k, MASS]) + sums[k, TOP])
        if sums[k, GUESS] > found:
            sums[k, GUESS] = found - CAUTION
            needed = True
        arm = arms[k]
        delta = arm[DENSITY_END] - arm[PLACE]
        left = deviance(delta, arm[A], arm[B], arm[MEAN], arm[REST])
        beyond = arm[LOG_PEAK] - left - math.log(-slope(delta, arm[N], arm[MEAN], arm[REST]))
        excess = beyond - (found - NEGLIGIBLE)
        if excess > 0.0 and found > SMALLEST_LOG:
            arm[DENSITY_END] = arm[PLACE] + upper_end(delta, left + excess + 1.0, arm)
            needed = True
    return needed


def march(
    best: int,
    optimistic: bool,
    arms: Array,
    coefficients: Array,
    log_density: Array,
    log_height: Array,
    work: Array,
    sums: Array,
) -> None:
    """Add up the panels from the right; p_k is then MASS·e^TOP."""
    n_arms = sums.shape[0]
    distance, growth, theta, rest, lean = work[0], work[1], work[2], work[3], work[4]
    ratio, cdf, product = work[5], work[6], work[7]
    edge = -np.inf
    for k in range(n_arms):
        sums[k, MASS] = 0.0
        sums[k, TOP] = -np.inf
        edge = max(edge, arms[k, DENSITY_END])
    stop = arms[best, PLACE]
    length = panel_length(edge, 0.5 * (edge - stop), arms)
    edge = rounded_edge(edge, length)
    for _ in range(MOST_PANELS):
        length = panel_length(edge, length, arms)
        last = optimistic and edge - length <= stop
        if last:
            length = (edge - stop) - arms[best, PLACE_LOW]
        left = edge - length
        place_nodes(edge, length, distance, growth, theta, rest)
        for i in range(NODES):
            product[i] = 0.0
        for k in range(n_arms):
            arm = arms[k]
            if left < max(arm[CDF_END], arm[DENSITY_END]):
                density_on_nodes(arm, edge, 0.0, distance, growth, lean, log_density[k])
                for i in range(NODES):
                    log_height[k, i] = log_density[k, i]
            if left < arm[CDF_END]:
                log_cdf(arm, coefficients[k], edge, distance, theta, rest, lean, log_density[k], ratio, cdf)
                for i in range(NODES):
                    log_height[k, i] -= cdf[i]
                    product[i] += cdf[i]
        error, roughness = 0.0, 0.0
        for k in range(n_arms):
            if left < arms[k, DENSITY_END]:
                for i in range(NODES):
                    log_height[k, i] += product[i]
                error = max(error, weigh_panel(k, length, log_height[k], sums))
                roughness = max(roughness, sums[k, ROUGHNESS])
            else:
                sums[k, VALUE] = 0.0
        if error > ERROR:
            length *= min(0.85, next_factor(error))
            continue
        finished = True
        for k in range(n_arms):
            add(k, sums[k, VALUE], sums[k, PEAK], sums)
            expected = max(sums[k, GUESS], SMALLEST_LOG + NEGLIGIBLE)
            if sums[k, MASS] > 0.0:
                expected = max(expected, math.log(sums[k, MASS]) + sums[k, TOP])
            if product[0] > expected - NEGLIGIBLE:
                finished = False
        if last:
            share_atom(best, arms, coefficients, log_density, work, sums)
            break
        if finished and not optimistic:
            break
        edge = left
        length *= next_factor(roughness)


def panel_length(edge: float, length: float, arms: Array) -> float:
    """The longest panel to the left of the edge that resolves every arm that matters there."""
    sharpest, together = 0.0, 0.0
    for k in range(arms.shape[0]):
        if edge <= max(arms[k, CDF_END], arms[k, DENSITY_END]):
            sharpest = max(sharpest, arms[k, N])
        if edge < arms[k, PLACE]:
            together += arms[k, N]
    if sharpest > 0.0:
        length = longest(edge, length, max(sharpest, together), -1.0)
    for k in range(arms.shape[0]):
        end = max(arms[k, CDF_END], arms[k, DENSITY_END])
        if edge - length < end < edge and arms[k, N] > sharpest:
            resolved = longest(end, length, arms[k, N], -1.0)
            length = min(length, max(edge - end, resolved))
    return few_bits(length)


def weigh_panel(k: int, length: float, log_height: Array, sums: Array) -> float:
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
    peak, value, roughness = integrate(log_height, length)
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


def share_atom(best: int, arms: Array, coefficients: Array, log_density: Array, work: Array, sums: Array) -> None:
    """Share ∏F(M) among the arms whose mean is the largest, M; odds are compared as the policies compute them."""
    n_arms = sums.shape[0]
    distance, growth, theta, rest, lean = work[0], work[1], work[2], work[3], work[4]
    ratio, cdf = work[5], work[6]
    edge, edge_low = arms[best, PLACE], arms[best, PLACE_LOW]
    odds = arms[best, A] / arms[best, B]
    place_nodes(edge, 0.0, distance, growth, theta, rest)
    total = 0.0
    ties = 0
    for k in range(n_arms):
        density_on_nodes(arms[k], edge, edge_low, distance, growth, lean, log_density[k])
        log_cdf(arms[k], coefficients[k], edge, distance, theta, rest, lean, log_density[k], ratio, cdf)
        total += cdf[0]
        if arms[k, A] / arms[k, B] == odds:
            ties += 1
    for k in range(n_arms):
        if arms[k, A] / arms[k, B] == odds:
            add(k, 1.0 / ties, total, sums)
