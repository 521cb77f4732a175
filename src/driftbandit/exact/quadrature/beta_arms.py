"""Any number of Beta posteriors: the probability that each has the largest sample.

    p_k = ∫ f_k·∏_{j≠k} F_j dt                                                     Thompson sampling
    p_k = ∫_M f_k·∏_{j≠k} F_j dt + [mean_k = M]·∏_j F_j(M)/ties                      optimistic, M the largest mean

over the log odds t. Every integrand is log-concave. Panels go from the right to the left on one grid for all arms, and
end where ∏F, which bounds all that is left, cannot count any more.
"""

import numpy as np

from driftbandit.exact.quadrature.beta_cdf import HIDDEN, hidden_fall, log_cdf_on_nodes, prepare_cdf
from driftbandit.exact.quadrature.beta_density import ARM, above_mean, density_on_nodes, describe
from driftbandit.exact.quadrature.beta_pair import both_exceedances
from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.panels import (
    MOST_PANELS,
    PANEL,
    Panel,
    few_bits,
    place_nodes,
    resolving_length,
    rounded_edge,
)
from driftbandit.exact.quadrature.records import Array, Records
from driftbandit.exact.quadrature.sums import ARM_SUM, add, clear, probability, take_panel_for_all
from driftbandit.exact.quadrature.support import correct_guesses, guess_probabilities, set_ends

ATTEMPTS = 8


def selection(parameters: Array, optimistic: bool, out: Array) -> None:
    """out[s, k] = probability that arm k is selected in state s, whose arms are Beta(parameters[s, k])."""
    states, n_arms = out.shape
    arms = np.empty(n_arms, ARM)
    sums = np.empty(n_arms, ARM_SUM)
    panels = np.empty(1, PANEL)
    for s in range(states):
        if all_alike(parameters[s]):
            for k in range(n_arms):
                out[s, k] = 1.0 / n_arms
        elif n_arms == 2 and not optimistic:
            out[s, 0], out[s, 1] = both_exceedances(parameters[s, 0], parameters[s, 1], arms, panels[0])
        else:
            best = describe_all(parameters[s], arms, panels[0])
            guess_probabilities(best, optimistic, arms, sums)
            set_ends(best, optimistic, arms, sums)
            for _ in range(ATTEMPTS):
                march(best, optimistic, arms, panels[0], sums)
                if optimistic:
                    share_atom(best, arms, panels[0], sums)
                if not correct_guesses(arms, sums):
                    break
            for k in range(n_arms):
                out[s, k] = probability(sums[k])


def all_alike(parameters: Array) -> bool:
    """Whether all arms have the same posterior."""
    for k in range(1, len(parameters)):
        if parameters[k, 0] != parameters[0, 0] or parameters[k, 1] != parameters[0, 1]:
            return False
    return True


def describe_all(parameters: Array, arms: Records, panel: Panel) -> int:
    """Describe all arms; the one with the largest mean."""
    best = 0
    for k in range(len(arms)):
        describe(float(parameters[k, 0]), float(parameters[k, 1]), arms[k])
        prepare_cdf(arms[k], panel)
        if arms[k].a / arms[k].b > arms[best].a / arms[best].b:
            best = k
    return best


def march(best: int, optimistic: bool, arms: Records, panel: Panel, sums: Records) -> None:
    """Add up the panels from the right; the optimistic ones down to the largest mean."""
    place, place_low = arms[best].place, arms[best].place_low
    clear(sums)
    edge = -np.inf
    for k in range(len(arms)):
        edge = max(edge, arms[k].density_end)
    length = panel_length(edge, 0.5 * (edge - place), arms)
    edge = rounded_edge(edge, length)
    for _ in range(MOST_PANELS):
        length = panel_length(edge, length, arms)
        last = optimistic and edge - length <= place
        if last:
            length = (edge - place) - place_low
        left = edge - length
        place_nodes(edge, length, panel)
        hidden = 0.0
        for k in range(len(arms)):
            arm = arms[k]
            if left < max(arm.cdf_end, arm.density_end):
                density_on_nodes(arm, above_mean(edge, 0.0, arm), panel)
            if left < arm.cdf_end:
                hidden += hidden_fall(arm, length)
        if hidden > HIDDEN:
            length *= max(0.25, 0.95 * HIDDEN / hidden)
            continue
        set_heights(left, arms, panel, sums)
        outcome = take_panel_for_all(length, panel.log_product, sums)
        if outcome.taken:
            if last or (outcome.finished and not optimistic):
                break
            edge = left
        length *= outcome.factor


def set_heights(left: float, arms: Records, panel: Panel, sums: Records) -> None:
    """The logarithms of all integrands f_k/F_k·∏F, and of ∏F, on the panel whose left end is given."""
    for i in range(NODES):
        panel.log_product[i] = 0.0
    for k in range(len(arms)):
        arm, arm_sum = arms[k], sums[k]
        arm_sum.counts = left < arm.density_end
        for i in range(NODES):
            arm_sum.log_height[i] = arm.log_density[i]
        if left < arm.cdf_end:
            log_cdf_on_nodes(arm, panel)
            for i in range(NODES):
                arm_sum.log_height[i] -= panel.log_cdf[i]
                panel.log_product[i] += panel.log_cdf[i]


def panel_length(edge: float, length: float, arms: Records) -> float:
    """The longest panel to the left of the edge that resolves every arm that matters there."""
    sharpest, together = 0.0, 0.0
    for k in range(len(arms)):
        arm = arms[k]
        if edge <= max(arm.cdf_end, arm.density_end):
            sharpest = max(sharpest, arm.n)
        if edge < arm.place:
            together += arm.n
    if sharpest > 0.0:
        length = resolving_length(edge, length, max(sharpest, together), -1.0)
    for k in range(len(arms)):
        arm = arms[k]
        end = max(arm.cdf_end, arm.density_end)
        if edge - length < end < edge and arm.n > sharpest:
            resolved = resolving_length(end, length, arm.n, -1.0)
            length = min(length, max(edge - end, resolved))
    return few_bits(length)


def share_atom(best: int, arms: Records, panel: Panel, sums: Records) -> None:
    """Share ∏F(M) among the arms whose mean is the largest, M; odds are compared as the policies compute them."""
    place, place_low = arms[best].place, arms[best].place_low
    odds = arms[best].a / arms[best].b
    place_nodes(place, 0.0, panel)
    total = 0.0
    ties = 0
    for k in range(len(arms)):
        arm = arms[k]
        density_on_nodes(arm, above_mean(place, place_low, arm), panel)
        log_cdf_on_nodes(arm, panel)
        total += panel.log_cdf[0]
        if arm.a / arm.b == odds:
            ties += 1
    for k in range(len(arms)):
        if arms[k].a / arms[k].b == odds:
            add(1.0 / ties, total, sums[k])
