"""Any number of arms: the probability that each has the largest sample.

    p_k = ∫ f_k·∏_{j≠k} F_j dt                                                     Thompson sampling
    p_k = ∫_M f_k·∏_{j≠k} F_j dt + [mean_k = M]·∏_j F_j(M)/ties                      optimistic, M the largest mean

over the log odds t. Every integrand is log-concave. Panels go from the right to the left on one grid for all arms, and
end where ∏F, which bounds all that is left, cannot count any more.
"""

import math

import numpy as np

from driftbandit.exact.quadrature.beta_cdf import DEGREE, log_cdf, prepare_cdf
from driftbandit.exact.quadrature.beta_density import (
    CDF_END,
    COLUMNS,
    DENSITY_END,
    PLACE,
    PLACE_LOW,
    A,
    Array,
    B,
    N,
    describe,
)
from driftbandit.exact.quadrature.beta_fraction import SCRATCH
from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.panels import (
    ERROR,
    HIDDEN,
    NEGLIGIBLE,
    density_on_nodes,
    few_bits,
    hidden_fall,
    longest,
    next_factor,
    place_nodes,
    rounded_edge,
    shorter_factor,
)
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
from driftbandit.exact.quadrature.support import again, guess, set_ends
from driftbandit.exact.quadrature.two_arms import MOST_PANELS, ROWS, both

ATTEMPTS = 8


def selection(parameters: Array, optimistic: bool, out: Array) -> None:
    """out[s, k] = probability that arm k is selected in state s, whose arms are Beta(parameters[s, k])."""
    states, n_arms = out.shape
    arms = np.empty((max(n_arms, 2), COLUMNS))
    coefficients = np.empty((max(n_arms, 2), DEGREE))
    work = np.empty((ROWS, NODES))
    scratch = np.empty(SCRATCH)
    lean = np.empty((n_arms, NODES))
    log_density = np.empty((n_arms, NODES))
    log_height = np.empty((n_arms, NODES))
    sums = np.empty((n_arms, SUMS))
    for s in range(states):
        if n_arms == 1:
            out[s, 0] = 1.0
        elif n_arms == 2 and not optimistic:
            a1, b1, a2, b2 = parameters[s, 0, 0], parameters[s, 0, 1], parameters[s, 1, 0], parameters[s, 1, 1]
            out[s, 0], out[s, 1] = both(a1, b1, a2, b2, arms, coefficients[0], work, scratch)
        else:
            best = set_up(parameters[s], arms, coefficients)
            guess(best, optimistic, arms, sums)
            set_ends(best, optimistic, arms, sums)
            for _ in range(ATTEMPTS):
                march(best, optimistic, arms, coefficients, lean, log_density, log_height, work, scratch, sums)
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


def march(
    best: int,
    optimistic: bool,
    arms: Array,
    coefficients: Array,
    lean: Array,
    log_density: Array,
    log_height: Array,
    work: Array,
    scratch: Array,
    sums: Array,
) -> None:
    """Add up the panels from the right; p_k is then MASS·e^TOP."""
    n_arms = sums.shape[0]
    distance, growth, theta, rest = work[0], work[1], work[2], work[3]
    cdf, product, height = work[5], work[6], work[7]
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
        hidden = 0.0
        for k in range(n_arms):
            arm = arms[k]
            if left < max(arm[CDF_END], arm[DENSITY_END]):
                density_on_nodes(arm, edge, 0.0, distance, growth, lean[k], log_density[k])
            if left < arm[CDF_END]:
                hidden += hidden_fall(arm, length, lean[k], log_density[k])
        if hidden > HIDDEN:
            length *= max(0.25, 0.95 * HIDDEN / hidden)
            continue
        for k in range(n_arms):
            for i in range(NODES):
                log_height[k, i] = log_density[k, i]
            if left < arms[k, CDF_END]:
                log_cdf(arms[k], coefficients[k], edge, distance, theta, rest, lean[k], log_density[k], scratch, cdf)
                for i in range(NODES):
                    log_height[k, i] -= cdf[i]
                    product[i] += cdf[i]
        error, roughness = 0.0, 0.0
        for k in range(n_arms):
            if left < arms[k, DENSITY_END]:
                for i in range(NODES):
                    log_height[k, i] += product[i]
                error = max(error, weigh_panel(k, length, log_height[k], height, sums))
                roughness = max(roughness, sums[k, ROUGHNESS])
            else:
                sums[k, VALUE] = 0.0
        if error > ERROR:
            length *= shorter_factor(error)
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
            share_atom(best, arms, coefficients, log_density, work, scratch, sums)
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


def share_atom(
    best: int, arms: Array, coefficients: Array, log_density: Array, work: Array, scratch: Array, sums: Array
) -> None:
    """Share ∏F(M) among the arms whose mean is the largest, M; odds are compared as the policies compute them."""
    n_arms = sums.shape[0]
    distance, growth, theta, rest, lean = work[0], work[1], work[2], work[3], work[4]
    cdf = work[5]
    edge, edge_low = arms[best, PLACE], arms[best, PLACE_LOW]
    odds = arms[best, A] / arms[best, B]
    place_nodes(edge, 0.0, distance, growth, theta, rest)
    total = 0.0
    ties = 0
    for k in range(n_arms):
        density_on_nodes(arms[k], edge, edge_low, distance, growth, lean, log_density[k])
        log_cdf(arms[k], coefficients[k], edge, distance, theta, rest, lean, log_density[k], scratch, cdf)
        total += cdf[0]
        if arms[k, A] / arms[k, B] == odds:
            ties += 1
    for k in range(n_arms):
        if arms[k, A] / arms[k, B] == odds:
            add(k, 1.0 / ties, total, sums)
