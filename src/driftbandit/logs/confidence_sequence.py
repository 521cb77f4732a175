"""Bounds of a mean over time that hold at every look at once: an empirical-Bernstein mixture.

Rewards in [0, 1] have means μ_t that may drift. X_t = w_t·r_t ≥ 0 has the mean μ_t given what came before, as has the
guess m_t ≤ 1 no influence on it. For every λ in (0, 1)

    exp(λ·Σ(X_s − μ_s) − ψ(λ)·V_t),        V_t = Σ(X_s − m_s)²,        ψ(λ) = −ln(1 − λ) − λ

is a supermartingale, since 1 + λy ≥ exp(λy − ψ(λ)y²) for y ≥ −1. So is the mean of it over several λ, which exceeds
1/α anywhere with probability α at most (Ville). With u the root of mean_λ exp(λu − ψ(λ)V_t) = 1/α, the mean over time
is at least (ΣX − u)/t at all t at once. The scale of y is one-sided, so that large weights cost little; what is taken
as an upper end is 1 less the lower end of w_t·(1 − r_t).

References:
    Howard, Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence sequences.
    Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro (2022), Anytime-valid off-policy inference for contextual
    bandits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

RATES = 2.0 ** -np.arange(1.0, 13.0)
"""λ: the smallest suits some 10^8 decisions."""
COSTS = -np.log1p(-RATES) - RATES
"""ψ(λ)."""


def margin(variance: Any, alpha: float) -> Reals:
    """u: how much ΣX exceeds Σμ at most, at all looks at once, with probability 1 − alpha.

    >>> margin([0.0, 100.0, 1e6], 0.025).round(1).tolist()
    [12.2, 39.1, 3443.9]
    """
    seen = np.asarray(variance, np.float64)
    # the mean is at least a 12th of any of its terms, so the root is below the least of theirs; it is found by halving
    enough = np.log(len(RATES) / alpha)
    high = ((enough + COSTS * seen[..., None]) / RATES).min(axis=-1)
    low = np.zeros_like(high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        exponents = RATES * middle[..., None] - COSTS * seen[..., None]
        largest = exponents.max(axis=-1, keepdims=True)
        total = np.log(np.exp(exponents - largest).sum(axis=-1)) + largest[..., 0]
        low, high = np.where(total < enough, middle, low), np.where(total < enough, high, middle)
    return np.asarray(high)


def bounds(paid: Any, unpaid: Any, variances: tuple[Any, Any], count: Any, alpha: float) -> tuple[Reals, Reals]:
    """The lower and the upper end: from Σw·r, Σw·(1 − r), the V of either, and the number of decisions."""
    number = np.maximum(np.asarray(count, np.float64), 1.0)
    low = (np.asarray(paid) - margin(variances[0], alpha / 2)) / number
    high = 1.0 - (np.asarray(unpaid) - margin(variances[1], alpha / 2)) / number
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
