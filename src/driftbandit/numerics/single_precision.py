"""The sampler's attempts in single precision: twice as many numbers at once, and honest about what they cannot tell.

A choice needs to know which score is the largest, not what the scores are. Wherever a rough attempt claims to know, it
is accepted or rejected as in double precision, and its score is off by at most the bounds below. The engine computes
everything else in double precision: attempts that are not clear, and scores that are too close to be told apart. So
every decision is the one that double precision makes, and rough scores only make it sooner.

Where the bounds come from, with ε = 2^−24, the most that one rounding is off by:

- The logarithm of a uniform number is off by 1.5ε, because the number is, and by 3ε of itself. So a normal number n is
  off by some 6ε of itself, but by up to √ε near 0: a pair whose squares sum to less than `SHORTEST` is not trusted, and
  above small n are off by at most 2e-6.
- The gamma (√d + n/3)³/√d is off by δ/(√d·(1 + n/(3√d))) of itself where n is off by δ, and √d > 0.8. What the
  squeeze proves has 1 + n/(3√d) > 0.04, what is accepted `LEAST`. Near there |n| < 2.4, δ < 9e-7, and a gamma is off
  by less than 2.7e-5; near n = 0 by less than 3e-6. Two gammas stay below `ODDS_BLUR`, most at a hundredth of it.
- ln(U)/a of a shape below 1 is off by at most 3.5e-7·(|ln U| + 0.3)/a. Two of these may cancel; where that makes the
  error more than 2e-4 of the log odds, they are not trusted.
- The full test compares sums of terms up to the size of the shapes: off by less than `DOUBT` times that, over
  1 + n/(3√d).

tests/test_rough.py holds all of them against double precision.
"""

from typing import Any

import numpy as np

from driftbandit.numerics.elementary import fma
from driftbandit.numerics.rng import Words
from driftbandit.numerics.sampling import SQUEEZE_ABOVE, SQUEEZE_BELOW, THIRD

single: Any = np.float32

ODDS_BLUR = 6e-5
"""How far rough odds are off at most, relative to themselves."""
LOG_ODDS_BLUR = 2.5e-4
"""How far rough log odds are off at most, in units of one plus their size."""

SHORTEST = single(1e-3)
LARGEST = single(1e18)  # no product of shapes and normals overflows below
TINY = single(1e-4)
LEAST = single(0.05)
DOUBT = single(4e-6)
ABOVE = single(SQUEEZE_ABOVE * 1.001)
BELOW = single(SQUEEZE_BELOW * 1.001)
ALMOST_ONE = single(1.0 - 5e-7)
PER_WORD = single(2.0**-32)
PER_QUARTER = single(2.0**-30)
LN2 = single(0.6931471805599453)
SQRT_HALF_BITS = np.int32(0x3F3504F3)
MANTISSA_BITS = np.int32(23)
EIGHTH = np.uint64(1 << 29)
QUARTER_BITS = np.uint64(30)
TO_SIGN = np.int32(30)
ONE = np.int32(1)
TWO = np.int32(2)

RoughAttempt = tuple[float, bool, bool, bool]
"""A score; whether the quick test proves the attempt accepted; whether the full test accepts it; and whether that is
clear. The score is within its bound if it is proven, or accepted and clear."""


def rough_log(x: float) -> float:
    """Natural logarithm of a positive normal number: x = 2^e·(1 + f) with 1 + f in [√½, √2)."""
    bits = np.float32(x).view(np.int32)
    exponent = np.int32(np.int32(bits - SQRT_HALF_BITS) >> MANTISSA_BITS)
    f = np.int32(bits - np.int32(exponent << MANTISSA_BITS)).view(np.float32) - single(1.0)
    p = fma(f, single(0.08722357078618471), single(-0.14366843808667526))
    p = fma(f, p, single(0.14952266463792732))
    p = fma(f, p, single(-0.16562392952134578))
    p = fma(f, p, single(0.199568335597928))
    p = fma(f, p, single(-0.25002074075150377))
    p = fma(f, p, single(0.333341856258539))
    p = fma(f, p, single(-0.4999998796410672))
    p = fma(f, p, single(0.999999974189595))
    return fma(single(exponent), LN2, f * p)


def rough_turn(word: np.uint64) -> tuple[Any, Any]:
    """Cosine and sine of word/2³² of a full turn, reduced to the nearest quarter before anything is rounded."""
    nearest = (word + EIGHTH) >> QUARTER_BITS
    r = single(np.int64(word) - np.int64(nearest << QUARTER_BITS)) * PER_QUARTER
    z = r * r
    p = fma(z, single(-0.004601657841042652), single(0.07968003275102566))
    p = fma(z, p, single(-0.64596346023153))
    sine = r * fma(z, p, single(1.570796321708317))
    p = fma(z, single(-0.0204262502712694), single(0.2536063619080788))
    p = fma(z, p, single(-1.233697953969465))
    cosine = fma(z, p, single(1.0))
    quadrant = np.int32(nearest)
    swapped = np.int32(quadrant & ONE) != 0
    x = sine if swapped else cosine
    y = cosine if swapped else sine
    x_sign = np.int32(np.int32(np.int32(quadrant + ONE) & TWO) << TO_SIGN)
    y_sign = np.int32(np.int32(quadrant & TWO) << TO_SIGN)
    return (
        np.int32(np.float32(x).view(np.int32) ^ x_sign).view(np.float32),
        np.int32(np.float32(y).view(np.int32) ^ y_sign).view(np.float32),
    )


def rough_uniform(word: np.uint64) -> Any:
    """A number in (0, 1] from one word."""
    return (single(word) + single(0.5)) * PER_WORD


def rough_odds_attempt(a: float, b: float, words: Words) -> RoughAttempt:
    """Odds for shapes of at least 1."""
    squares = single(-2.0) * rough_log(rough_uniform(words[0]))
    cosine, sine = rough_turn(words[1])
    radius = np.sqrt(squares)
    n = radius * cosine
    m = radius * sine
    c = single(a - THIRD)
    d = single(b - THIRD)
    root_c = np.sqrt(c)
    root_d = np.sqrt(d)
    x = fma(single(THIRD), n, root_c)
    y = fma(single(THIRD), m, root_d)
    odds = (x * x * x * root_d) / (y * y * y * root_c)
    trusted = (squares > SHORTEST) & (c * d < LARGEST)

    n2 = n * n
    m2 = m * m
    s = ABOVE if n > single(0.0) else BELOW
    t = ABOVE if m > single(0.0) else BELOW
    uniform = rough_uniform(words[2])
    proven = (ALMOST_ONE - uniform) * (c * d) > s * n2 * n2 * d + t * m2 * m2 * c

    # The full test, which the compiler leaves out where nobody looks at its result.
    u = x / root_c
    v = y / root_d
    least = min(u, v)
    excess_c = c * (fma(single(3.0), rough_log(max(u, TINY)), single(1.0)) - u * u * u)
    excess_d = d * (fma(single(3.0), rough_log(max(v, TINY)), single(1.0)) - v * v * v)
    spare = single(0.5) * squares + excess_c + excess_d - rough_log(uniform)
    told = abs(spare) > DOUBT * (c + d + single(8.0)) * (single(1.0) + single(1.0) / max(least, TINY))
    rejected = (least < -TINY) | ((least > TINY) & told & (spare < single(0.0)))
    accepted = (least > LEAST) & told & (spare > single(0.0)) & trusted
    return odds, proven & trusted, accepted, accepted | rejected


def rough_log_odds_attempt(a: float, b: float, words: Words, boost: Words) -> RoughAttempt:
    """Log odds for any positive shapes."""
    low_a = a < 1.0
    low_b = b < 1.0
    odds, proven, accepted, clear = rough_odds_attempt(a + 1.0 if low_a else a, b + 1.0 if low_b else b, words)
    over_a = single(1.0) / single(a) if low_a else single(0.0)
    over_b = single(1.0) / single(b) if low_b else single(0.0)
    up = over_a * rough_log(rough_uniform(boost[0]))
    down = over_b * rough_log(rough_uniform(boost[1]))
    value = rough_log(odds if odds > single(0.0) else single(1.0)) + (up - down)
    cancelled = fma(single(0.3), over_a + over_b, -(up + down))
    trusted = (single(0.002) * cancelled < abs(value) + single(0.02)) & (abs(value) < LARGEST)
    return value, proven & trusted, accepted & trusted, clear & (trusted | (not accepted))


def odds_apart(first: float, second: float) -> bool:
    """Whether two odds that are each off by `ODDS_BLUR` are in this order."""
    return first - second > ODDS_BLUR * (first + second)


def log_odds_apart(first: float, second: float) -> bool:
    """Whether two log odds that are each off by `LOG_ODDS_BLUR` are in this order."""
    return first - second > LOG_ODDS_BLUR * (2.0 + abs(first) + abs(second))
