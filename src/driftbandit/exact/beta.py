"""The probability that each arm has the largest sample, where samples are of Beta posteriors: Thompson sampling."""

from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.compiling.long_kernels import answer
from driftbandit.exact.parameters import Array, posteriors

SMALLEST, LARGEST = 1e-30, 1e12  # beyond, the log odds of a sample or their spacing leave what a double can hold


def selection_probabilities(parameters: Any, optimistic: bool = False) -> Array:
    """The exact probability that each arm is selected by (discounted) Thompson sampling.

        p_k = ∫ f_k·∏_{j≠k} F_j dθ,     f_k and F_k the density and distribution function of Beta(α_k, β_k).

    The optimistic form takes the larger of a sample and its posterior mean. With M the largest mean,

        p_k = ∫_M^1 f_k·∏_{j≠k} F_j dθ + [mean_k = M]·∏_j F_j(M),

    where arms that share the largest mean share the last term evenly. Means are compared as the policies compare
    them, by the odds α/β in double precision.

    Parameters:
        parameters: the (α, β) of each arm's Beta posterior, of shape (…, K, 2): many states at once.
        optimistic: whether a sample counts for at least its posterior mean.

    Returns:
        An array of shape (…, K). The relative error is below 1e-12 for every probability above 1e-300 when the
        parameters are from 1e-3 to 1e6. Parameters below 1e-30 count as 1e-30, and those above 1e12 as 1e12.

    >>> selection_probabilities([(30.5, 20.3), (28.2, 25.9)])
    array([0.795164, 0.204836])
    >>> selection_probabilities([(1, 1), (1, 1), (2, 1)], optimistic=True).round(6)
    array([0.200617, 0.200617, 0.598765])
    """
    from driftbandit.exact.quadrature import beta_arms  # late, as few need it

    array = posteriors(parameters)
    checks.flag("optimistic", optimistic)
    n_arms = array.shape[-2]
    states = np.ascontiguousarray(array.reshape(-1, n_arms, 2).clip(SMALLEST, LARGEST))
    out = np.empty((states.shape[0], n_arms))
    answer(beta_arms.selection, out.size * n_arms, states, optimistic, out)
    return out.reshape(array.shape[:-1])
