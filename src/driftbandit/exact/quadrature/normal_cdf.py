"""The logarithms of the normal density and distribution function, with their full precision in both tails.

Everything rests on Q(y)·e^(y²/2) for y ≥ 0, with Q = 1 − Φ: it falls slowly, from ½ as 1/(y·√(2π)), and one polynomial
gives it everywhere. Then ln Φ(−y) = ln(Q·e^(y²/2)) − y²/2 never underflows, and ln Φ(y) = ln(1 − Q) loses nothing.
No branches and no calls of the C library, so that a loop over nodes is vectorised.
"""

from driftbandit.exact.quadrature.legendre import NODES
from driftbandit.exact.quadrature.records import Array
from driftbandit.numerics.elementary import exp, fma, log

CENTRE = 4.5  # y from 0 to infinity becomes t = (y − CENTRE)/(y + CENTRE) from −1 to 1
FARTHEST = 1e5  # standard deviations; beyond, all is e^−5e9 and the square must not overflow


def scaled_tail(y: float) -> float:
    """Q(y)·e^(y²/2) for y ≥ 0; times y + CENTRE it is a polynomial in t (Chebyshev series to 3e-17, as powers)."""
    inverse = 1.0 / (y + CENTRE)
    t = (y - CENTRE) * inverse
    p = fma(t, 1.0440252036819998e-09, 2.662280765855698e-10)
    p = fma(t, p, -1.1251292724707997e-08)
    p = fma(t, p, -6.170870319722238e-09)
    p = fma(t, p, 7.060212865222912e-08)
    p = fma(t, p, 6.605207817943098e-08)
    p = fma(t, p, -3.7926071995466557e-07)
    p = fma(t, p, -5.037449540432435e-07)
    p = fma(t, p, 2.1426759805083802e-06)
    p = fma(t, p, 3.192063301118266e-06)
    p = fma(t, p, -1.423571236638514e-05)
    p = fma(t, p, -1.59337294151542e-05)
    p = fma(t, p, 0.00011204260719214357)
    p = fma(t, p, 6.381295655218961e-06)
    p = fma(t, p, -0.0009177464773392233)
    p = fma(t, p, 0.0017488305479398012)
    p = fma(t, p, 0.004223613376799493)
    p = fma(t, p, -0.033871326175605156)
    p = fma(t, p, 0.11138259657043223)
    p = fma(t, p, -0.2531417999510249)
    p = fma(t, p, 0.4464525170556733)
    p = fma(t, p, -0.6402577602526165)
    p = fma(t, p, 0.7632305289702032)
    return p * inverse


def standardised(distance: float, deviation: float) -> float:
    """The distance in standard deviations, no more than FARTHEST either way."""
    return min(max(distance / deviation, -FARTHEST), FARTHEST)


def log_cdf(z: float) -> float:
    """The logarithm of Φ(z)."""
    half = 0.5 * z * z
    w = scaled_tail(abs(z))
    inner = 1.0 - exp(-half) * w if z > 0.0 else w
    outer = 0.0 if z > 0.0 else half
    return log(inner) - outer


def density_on_nodes(offset: float, distance: Array, deviation: float, log_peak: float, log_density: Array) -> None:
    """The log density on nodes that lie offset + distance from the mean."""
    for i in range(NODES):
        z = standardised(offset + distance[i], deviation)
        log_density[i] = log_peak - 0.5 * z * z


def cdf_on_nodes(offset: float, distance: Array, deviation: float, cdf: Array) -> None:
    """The logarithm of Φ on nodes that lie offset + distance from the mean."""
    for i in range(NODES):
        cdf[i] = log_cdf(standardised(offset + distance[i], deviation))
