"""Claims that need no simulation: C20 to C22."""

import itertools

import numpy as np

from driftbandit.exact import alternating_form, suboptimal_probability
from driftbandit.paper.claims.check import Check
from driftbandit.paper.contenders import PROPOSED, discount_of
from driftbandit.paper.findings import Findings
from driftbandit.paper.printed import SETTINGS
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Reals

EQUAL = 1e-9
"""Difference between two probabilities below which they are called equal."""
EVIDENCE = (0.3, 1.7, 12.5, 140.0)
"""Values of S and F at which C20 is checked."""
POSTERIORS = ((0.7, 1.3), (2.5, 1.6), (1.9, 4.2), (6.3, 2.4), (3.1, 7.7))
"""All pairs of these are tried for C21. None is a whole number; all are small enough for sums in double precision."""
SMALL_PRIORS = (0.05, 0.1, 0.25, 0.4, 0.45)
"""Values of β0 for C22, all of them below 1/2."""


def unchosen_arm(found: Findings, profile: Profile) -> list[Check]:
    """With the discounts of this column, for S and F from 0.3 to 140: one step on, the mean S/(S+F) of an arm that was
    not chosen is the same to 1e-12, and its variance is at least what it was.
    """
    checks = []
    for setting, name in itertools.product(SETTINGS, PROPOSED):
        if profile.fitted and (setting.id, name) not in found.fits:
            continue
        decay = discount_of(name, setting, profile, found.fits)
        s, f = np.array(list(itertools.product(EVIDENCE, repeat=2))).T
        shift = np.abs(_mean(decay * s, decay * f) - _mean(s, f)).max()
        widening = _variance(decay * s, decay * f) / _variance(s, f)
        drift = np.abs(_mean(decay * s + 1, decay * f + 1) - _mean(s + 1, f + 1)).max()
        where = f"{setting.id}, {name}, an unchosen arm times {decay:g}"
        checks += [
            Check(
                f"{where}: mean moves by {shift:.0e} (with the prior 1, 1 by up to {drift:.3f})", bool(shift < 1e-12)
            ),
            Check(
                f"{where}: variance times {widening.min():.3f} to {widening.max():.3f}",
                bool(widening.min() > 1 - 1e-12),
            ),
        ]
    return checks


def expression_right(found: Findings, profile: Profile) -> list[Check]:
    """For every ordered pair of five posteriors with broken parameters, the printed expression, its series summed term
    by term, and the probability found by quadrature differ by less than 1e-9.
    """
    pairs = np.array([(*first, *second) for first, second in itertools.permutations(POSTERIORS, 2)]).T
    gap = float(np.abs(alternating_form(*pairs) - suboptimal_probability(*pairs)).max())
    return [Check(f"{pairs.shape[1]} pairs: largest difference {gap:.1e}", gap < EQUAL)]


def condition_needed(found: Findings, profile: Profile) -> list[Check]:
    """With β0 from 0.05 to 0.45 and no failures seen, the expression (the paper's density of θ1/θ2 integrated over
    (0, 1)) misses the probability found by quadrature by more than 1e-9 for every β0. Where it does not, the condition
    is not needed.
    """
    checks = []
    for beta in SMALL_PRIORS:
        gap = abs(integrated_density(1.7, beta, 2.4, beta) - float(suboptimal_probability(1.7, beta, 2.4, beta)))
        checks.append(Check(f"β0 = {beta:g}: expression and probability differ by {gap:.1e}", bool(gap > EQUAL)))
    return checks


def integrated_density(a1: float, b1: float, a2: float, b2: float) -> float:
    """P(θ2 > θ1) by integrating the paper's density of θ1/θ2, a 2F1, over (0, 1); for β1 + β2 < 1.

    Euler's transformation takes the singularity at 1 out of the 2F1: it is (1 − ω)^(β1+β2−1), which can be integrated
    whenever β1 + β2 > 0.
    """
    from scipy import special

    t, low, high = _log_odds(min(a1, b1 + b2))
    ratio = np.minimum(low, np.nextafter(1.0, 0.0))
    rest = special.hyp2f1(b2, a1 + a2 + b1 + b2 - 1, a1 + a2 + b2, ratio)
    total = (low**a1 * high ** (b1 + b2) * rest).sum() * (t[1] - t[0])
    return float(special.beta(a1 + a2, b2) / (special.beta(a1, b1) * special.beta(a2, b2)) * total)


def _log_odds(least_power: float) -> tuple[Reals, Reals, Reals]:
    """Nodes t with 1/(1 + e^−t) and 1/(1 + e^t); they reach as far as an integrand of this power matters."""
    from scipy import special

    reach = 40.0 / min(1.0, least_power)
    t = np.arange(-reach, reach, 0.05)
    return t, special.expit(t), special.expit(-t)


def _mean(s: Reals, f: Reals) -> Reals:
    return s / (s + f)


def _variance(s: Reals, f: Reals) -> Reals:
    return s * f / ((s + f) ** 2 * (s + f + 1))
