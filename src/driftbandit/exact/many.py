"""Any number of arms: the probability that each has the largest sample.

    p_k = ∫ f_k·∏_{j≠k} F_j dt                                                     Thompson sampling
    p_k = ∫_M f_k·∏_{j≠k} F_j dt + [mean_k = M]·∏_j F_j(M)/ties                      optimistic, M the largest mean

over the log odds t. Every integrand is log-concave. Panels go from the right to the left on one grid for all arms, and
end where ∏F, which bounds all that is left, cannot count any more.
"""

import math

import numpy as np

from driftbandit.exact.beta_cdf import DEGREE, log_cdf, middle_polynomial
from driftbandit.exact.beta_density import (
    CDF_END,
    COLUMNS,
    DENSITY_END,
    LOG_PEAK,
    MEAN,
    PLACE,
    PLACE_LOW,
    REST,
    A,
    Array,
    B,
    N,
    describe,
    deviance,
    slope,
    upper_end,
)
from driftbandit.exact.legendre import LAST_EVEN, LAST_ODD, NODES, WEIGHTS
from driftbandit.exact.pair import CDF_LEVEL, MOST_PANELS, NEGLIGIBLE, both
from driftbandit.exact.panels import (
    ERROR,
    density_on_nodes,
    few_bits,
    longest,
    next_factor,
    place_nodes,
    rounded_edge,
)

SMALLEST_LOG = -716.0  # ln of what no probability above 1e-310 can be changed by
ATTEMPTS = 8


def selection(parameters: Array, optimistic: bool, out: Array) -> None:
    """out[s, k] = probability that arm k is selected in state s, whose arms are Beta(parameters[s, k])."""
    states, n_arms = out.shape
    arms = np.empty((max(n_arms, 2), COLUMNS))
    coefficients = np.empty((max(n_arms, 2), DEGREE))
    work = np.empty((8, NODES))
    log_density = np.empty((n_arms, NODES))
    cdf = np.empty((n_arms, NODES))
    mass = np.empty(n_arms)
    top = np.empty(n_arms)
    for s in range(states):
        if n_arms == 1:
            out[s, 0] = 1.0
        elif n_arms == 2 and not optimistic:
            a1, b1, a2, b2 = (
                parameters[s, 0, 0],
                parameters[s, 0, 1],
                parameters[s, 1, 0],
                parameters[s, 1, 1],
            )
            out[s, 0], out[s, 1] = both(a1, b1, a2, b2, arms, coefficients[0], work)
        else:
            best = set_up(parameters[s], arms, coefficients)
            for _ in range(ATTEMPTS):
                march(best, optimistic, arms, coefficients, log_density, cdf, work, mass, top)
                if not further(arms, mass, top):
                    break
            for k in range(n_arms):
                out[s, k] = mass[k] * math.exp(top[k]) if mass[k] > 0.0 else 0.0


def set_up(parameters: Array, arms: Array, coefficients: Array) -> int:
    """Describe all arms and where each begins to matter; the arm with the largest mean."""
    n_arms = parameters.shape[0]
    best = 0
    for k in range(n_arms):
        describe(parameters[k, 0], parameters[k, 1], arms[k])
        middle_polynomial(arms[k], coefficients[k])
        if parameters[k, 0] / parameters[k, 1] > parameters[best, 0] / parameters[best, 1]:
            best = k
    for k in range(n_arms):
        arm = arms[k]
        shift = max(0.0, (arms[best, PLACE] - arm[PLACE]) + (arms[best, PLACE_LOW] - arm[PLACE_LOW]))
        level = deviance(shift, arm[A], arm[B], arm[MEAN], arm[REST]) + NEGLIGIBLE + 2.0
        arm[DENSITY_END] = arm[PLACE] + upper_end(shift, level, arm)
        arm[CDF_END] = arm[PLACE] + upper_end(0.0, CDF_LEVEL, arm)
    return best


def further(arms: Array, mass: Array, top: Array) -> bool:
    """Whether an arm has density left above its end that counts against its probability; its end is then moved."""
    moved = False
    for k in range(mass.shape[0]):
        arm = arms[k]
        delta = arm[DENSITY_END] - arm[PLACE]
        left = deviance(delta, arm[A], arm[B], arm[MEAN], arm[REST])
        lean = slope(delta, arm[N], arm[MEAN], arm[REST])
        found = SMALLEST_LOG
        if mass[k] > 0.0:
            found = max(found, math.log(mass[k]) + top[k])
        beyond = arm[LOG_PEAK] - left - math.log(-lean)
        excess = beyond - (found - NEGLIGIBLE)
        # what is above the end is at most `beyond`, but counts only as far as the other arms are below it
        if excess > 0.0 and found > SMALLEST_LOG:
            arm[DENSITY_END] = arm[PLACE] + upper_end(delta, left + excess + 1.0, arm)
            moved = True
    return moved


def march(
    best: int,
    optimistic: bool,
    arms: Array,
    coefficients: Array,
    log_density: Array,
    cdf: Array,
    work: Array,
    mass: Array,
    top: Array,
) -> None:
    """Add up the panels from the right; p_k is then mass[k]·e^top[k]."""
    n_arms = mass.shape[0]
    distance, theta, rest, lean, ratio, product = work[0], work[1], work[2], work[3], work[4], work[5]
    edge = arms[0, DENSITY_END]
    for k in range(n_arms):
        mass[k] = 0.0
        top[k] = -np.inf
        edge = max(edge, arms[k, DENSITY_END])
    stop = arms[best, PLACE]
    length = 0.5 * (edge - stop)
    length = panel_length(edge, length, arms, n_arms)
    edge = rounded_edge(edge, length)
    for _ in range(MOST_PANELS):
        length = panel_length(edge, length, arms, n_arms)
        last = optimistic and edge - length <= stop
        right, right_low = edge, 0.0
        if last:
            length = (edge - stop) - arms[best, PLACE_LOW]
        place_nodes(right, length, distance, theta, rest)
        for i in range(NODES):
            product[i] = 0.0
        left = edge - length
        for k in range(n_arms):
            arm = arms[k]
            if left < arm[CDF_END]:
                density_on_nodes(arm, right, right_low, distance, lean, log_density[k])
                log_cdf(arm, coefficients[k], theta, rest, lean, log_density[k], ratio, cdf[k])
                for i in range(NODES):
                    product[i] += cdf[k, i]
            elif left < arm[DENSITY_END]:
                density_on_nodes(arm, right, right_low, distance, lean, log_density[k])
        worst = panel_error(left, length, arms, log_density, cdf, product, mass, top)
        if worst > ERROR:
            length *= min(0.7, next_factor(worst))
            continue
        finished = product[0] < SMALLEST_LOG
        if not finished:
            finished = True
            for k in range(n_arms):
                add_panel(k, left, length, arms, log_density, cdf, product, mass, top)
                if mass[k] == 0.0 or product[0] > math.log(mass[k]) + top[k] - NEGLIGIBLE:
                    finished = False
        else:
            for k in range(n_arms):
                add_panel(k, left, length, arms, log_density, cdf, product, mass, top)
        if last:
            add_atom(best, arms, coefficients, log_density, cdf, work, mass, top)
            break
        if finished and not optimistic:
            break
        edge -= length
        length *= next_factor(worst)


def panel_length(edge: float, length: float, arms: Array, n_arms: int) -> float:
    """The longest panel to the left of the edge that resolves every arm that matters there."""
    sharpest = 0.0
    for k in range(n_arms):
        if edge <= max(arms[k, CDF_END], arms[k, DENSITY_END]):
            sharpest = max(sharpest, arms[k, N])
    if sharpest > 0.0:
        length = longest(edge, length, sharpest, -1.0)
    for k in range(n_arms):
        end = max(arms[k, CDF_END], arms[k, DENSITY_END])
        if edge - length < end < edge and arms[k, N] > sharpest:
            resolved = longest(end, length, arms[k, N], -1.0)
            length = min(length, max(edge - end, resolved))
    return few_bits(length)


def panel_error(
    left: float,
    length: float,
    arms: Array,
    log_density: Array,
    cdf: Array,
    product: Array,
    mass: Array,
    top: Array,
) -> float:
    """The largest relative error that this panel would bring to any probability."""
    worst = 0.0
    for k in range(mass.shape[0]):
        if left >= arms[k, DENSITY_END]:
            continue
        peak, value, tail = arm_panel(k, left, length, arms, log_density, cdf, product)
        if mass[k] > 0.0:
            if peak - top[k] - math.log(mass[k]) < -80.0:
                continue
            share = value / (value + mass[k] * math.exp(top[k] - peak))
        else:
            share = 1.0
        if peak > SMALLEST_LOG - 50.0:
            worst = max(worst, share * (tail / value) * (tail / value))
    return worst


def arm_panel(
    k: int, left: float, length: float, arms: Array, log_density: Array, cdf: Array, product: Array
) -> tuple[float, float, float]:
    """Largest logarithm of arm k's integrand, the integral divided by it, and its last Legendre coefficients."""
    counted = left < arms[k, CDF_END]
    peak = -np.inf
    for i in range(NODES):
        height = log_density[k, i] + product[i]
        if counted:
            height -= cdf[k, i]
        peak = max(peak, height)
    value, even, odd = 0.0, 0.0, 0.0
    for i in range(NODES):
        height = log_density[k, i] + product[i]
        if counted:
            height -= cdf[k, i]
        height = math.exp(height - peak)
        value += WEIGHTS[i] * height
        even += LAST_EVEN[i] * height
        odd += LAST_ODD[i] * height
    return peak, 0.5 * length * value, 0.5 * length * (abs(even) + abs(odd))


def add_panel(
    k: int,
    left: float,
    length: float,
    arms: Array,
    log_density: Array,
    cdf: Array,
    product: Array,
    mass: Array,
    top: Array,
) -> None:
    """Add a panel to the probability of arm k."""
    if left >= arms[k, DENSITY_END]:
        return
    peak, value, _ = arm_panel(k, left, length, arms, log_density, cdf, product)
    if peak > top[k]:
        mass[k] = mass[k] * math.exp(top[k] - peak) if mass[k] > 0.0 else 0.0
        top[k] = peak
    mass[k] += value * math.exp(peak - top[k])


def add_atom(
    best: int,
    arms: Array,
    coefficients: Array,
    log_density: Array,
    cdf: Array,
    work: Array,
    mass: Array,
    top: Array,
) -> None:
    """Share ∏F(M) among the arms whose mean is the largest, M."""
    n_arms = mass.shape[0]
    distance, theta, rest, lean, ratio = work[0], work[1], work[2], work[3], work[4]
    edge = arms[best, PLACE]
    place_nodes(edge, 0.0, distance, theta, rest)
    total = 0.0
    ties = 0
    odds = arms[best, A] / arms[best, B]
    for k in range(n_arms):
        density_on_nodes(arms[k], edge, arms[best, PLACE_LOW], distance, lean, log_density[k])
        log_cdf(arms[k], coefficients[k], theta, rest, lean, log_density[k], ratio, cdf[k])
        total += cdf[k, 0]
        if arms[k, A] / arms[k, B] == odds:
            ties += 1
    for k in range(n_arms):
        if arms[k, A] / arms[k, B] == odds:
            peak = max(top[k], total)
            mass[k] = mass[k] * math.exp(top[k] - peak) if mass[k] > 0.0 else 0.0
            mass[k] += math.exp(total - peak) / ties
            top[k] = peak
