"""Numbers of about 30 digits, as sums of two doubles: high + low.

The log odds of two needles may differ by less than one rounding of either, and yet their difference decides which arm
is chosen. So the log odds of every posterior are kept to about 30 digits.
"""

import math

from driftbandit.numerics.rounding import two_product, two_sum

LN2_HIGH = 0.6931471805599453
LN2_MIDDLE = 2.3190468138462996e-17
HALVINGS = 7
TERMS = 10


def pair_product(x: float, x_low: float, y: float, y_low: float) -> tuple[float, float]:
    """(x + x_low)·(y + y_low), to about 30 digits."""
    product, error = two_product(x, y)
    return two_sum(product, error + (x * y_low + x_low * y))


def pair_sum(x: float, x_low: float, y: float, y_low: float) -> tuple[float, float]:
    """(x + x_low) + (y + y_low), to about 30 digits."""
    total, error = two_sum(x, y)
    return two_sum(total, error + (x_low + y_low))


def exponential(x: float) -> tuple[float, float, int]:
    """e^x as (high + low)·2^k: a Taylor series after ln 2 is taken out k times and the rest is halved."""
    k = math.floor(x / LN2_HIGH + 0.5)
    product, error = two_product(float(k), LN2_HIGH)
    r, r_low = two_sum(x - product, -error - k * LN2_MIDDLE)
    scale = 0.5**HALVINGS
    r, r_low = r * scale, r_low * scale
    # e^r − 1, innermost term first
    e, e_low = r, r_low
    for term in range(TERMS, 1, -1):
        quotient = e / term
        back, error = two_product(quotient, float(term))
        e_low = ((e - back) - error + e_low) / term
        e, e_low = pair_sum(1.0, 0.0, quotient, e_low)
        e, e_low = pair_product(e, e_low, r, r_low)
    for _ in range(HALVINGS):
        square, square_low = pair_product(e, e_low, e, e_low)
        e, e_low = pair_sum(2.0 * e, 2.0 * e_low, square, square_low)
    e, e_low = pair_sum(1.0, 0.0, e, e_low)
    return e, e_low, k


def log_ratio(a: float, b: float) -> tuple[float, float]:
    """ln(a/b) as high + low.

    One Newton step from the rounded logarithm: ln(a/b) = h − ln(b·e^h/a), and the second logarithm is about 1e-16, so
    its first term is enough.
    """
    a_mantissa, a_exponent = math.frexp(a)
    b_mantissa, b_exponent = math.frexp(b)
    shift = float(a_exponent - b_exponent)
    high = math.log(a_mantissa / b_mantissa)
    e, e_low, k = exponential(high)
    scaled = math.ldexp(b_mantissa, k)
    product, error = two_product(scaled, e)
    low = -((product - a_mantissa) + error + scaled * e_low) / a_mantissa
    product, error = two_product(shift, LN2_HIGH)
    total, rest = two_sum(product, high)
    return two_sum(total, rest + error + shift * LN2_MIDDLE + low)
