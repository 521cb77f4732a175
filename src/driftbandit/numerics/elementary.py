"""Logarithm, exponential and the sine pair as short polynomials.

A compiled loop that calls the C library for `log` or `sin` is not vectorised. These are: they use only additions,
multiplications, one division and bit operations, and agree with `math` to a few units in the last place
(tests/test_elementary.py says how many). The polynomials are minimax fits on the reduced interval.

On a GPU the engine replaces them by the card's own functions.
"""

import numpy as np

real = np.float64
"""The number type of a rule; the engine replaces it by `np.float32` where single precision is asked for."""

LN2_HIGH = 0.6931471803691238  # the first 33 bits of ln 2, so that a product with an exponent is exact
LN2_LOW = 1.9082149292705877e-10
SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
MANTISSA_BITS = np.int64(52)
EXPONENT_BIAS = np.int64(1023)


def fma(x: float, y: float, z: float) -> float:
    """x·y + z; where compiled, with one rounding.

    Written out rather than left to the compiler, which may fuse a vectorised loop and not its remainder: the
    result of a run would then depend on its place in the block.
    """
    return x * y + z


def split(x: float) -> tuple[float, float]:
    """The whole number e and the number m in [√½, √2) of which a positive normal number is 2^e·m."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits - SQRT_HALF_BITS) >> MANTISSA_BITS
    return real(exponent), np.int64(bits - (exponent << MANTISSA_BITS)).view(np.float64)


def power_of_two(n: float) -> float:
    """2^n for a whole number n from −1022 to 1024, the last of which is infinite."""
    return np.int64((np.int64(n) + EXPONENT_BIAS) << MANTISSA_BITS).view(np.float64)


def log(x: float) -> float:
    """Natural logarithm of a positive normal number.

    With x = 2^e·m it is e·ln 2 + ln m, and ln m = 2·artanh(s) for s = (m − 1)/(m + 1).
    """
    e, m = split(x)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = fma(z, 0.07321814300954899, 0.07664750377102089)
    p = fma(z, p, 0.09091478304031729)
    p = fma(z, p, 0.11111105099632106)
    p = fma(z, p, 0.14285714315882167)
    p = fma(z, p, 0.19999999999943308)
    p = fma(z, p, 0.3333333333333335)
    return fma(e, LN2_HIGH, fma(e, LN2_LOW, 2.0 * fma(s, z * p, s)))


def exp(x: float) -> float:
    """Exponential; 0 below −708, where the result would not be a normal number, and capped above 709."""
    y = min(max(x, -708.0), 709.0)
    n = np.floor(fma(y, 1.4426950408889634, 0.5))
    r = fma(n, -LN2_LOW, fma(n, -LN2_HIGH, y))
    p = fma(r, 2.0916212837493853e-09, 2.5107353767261877e-08)
    p = fma(r, p, 2.7557269903215795e-07)
    p = fma(r, p, 2.755725016302918e-06)
    p = fma(r, p, 2.4801587328555858e-05)
    p = fma(r, p, 0.00019841269879033045)
    p = fma(r, p, 0.001388888888888287)
    p = fma(r, p, 0.008333333333324906)
    p = fma(r, p, 0.04166666666666667)
    p = fma(r, p, 0.1666666666666667)
    p = fma(r, p, 0.5)
    result = power_of_two(n) * (1.0 + fma(r * r, p, r))
    return result if x >= -708.0 else 0.0


def cos_sin(turn: float) -> tuple[float, float]:
    """Cosine and sine of 2π·turn for a turn in [0, 1]."""
    quarters = 4.0 * turn
    nearest = np.floor(quarters + 0.5)
    r = quarters - nearest
    z = r * r
    p = fma(z, 5.633910598053464e-08, -3.59864319355575e-06)
    p = fma(z, p, 0.00016044115070141775)
    p = fma(z, p, -0.004681754132336218)
    p = fma(z, p, 0.07969262624604276)
    p = fma(z, p, -0.6459640975062443)
    sine = r * fma(z, p, 1.5707963267948966)
    p = fma(z, 4.655274077362189e-07, -2.5200133743820763e-05)
    p = fma(z, p, 0.0009192599496528008)
    p = fma(z, p, -0.02086348073490119)
    p = fma(z, p, 0.25366950789986237)
    p = fma(z, p, -1.2337005501361513)
    cosine = fma(z, p, 1.0)
    quadrant = np.int64(nearest) & np.int64(3)
    swapped = (quadrant & np.int64(1)) != 0
    x = sine if swapped else cosine
    y = cosine if swapped else sine
    x = -x if quadrant == 1 or quadrant == 2 else x
    y = -y if quadrant >= 2 else y
    return x, y
