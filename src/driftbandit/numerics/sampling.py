"""Draws from the Beta distribution: one attempt at a time, so that a whole block of runs can try together.

A Beta(a, b) sample is X/(X + Y) with X ~ Gamma(a) and Y ~ Gamma(b). Only the odds X/Y are ever computed: they order
arms as the sample does, and near 0 and 1, where the sample itself would round to a tie, they still tell arms apart.

Each gamma is the cube of a shifted normal (Marsaglia and Tsang 2000): with d = a − 1/3,

    X = (√d + n/3)³ / √d,   accepted with probability exp(n²/2 + d − X + d·ln(X/d)).

The pair is accepted together, with one uniform number against the product of both probabilities: the accepted pair
has the same law, and a Box–Muller pair gives n₁² + n₂² for nothing. The product is never below
1 − (s₁·n₁⁴/d₁ + s₂·n₂⁴/d₂) with s = 0.0093 for positive and 0.0221 for negative n (tests/test_sampling.py checks
it), a bound that needs no logarithm and settles most attempts.

A shape below 1 is drawn as Gamma(a + 1)·U^{1/a}. That power underflows for small a, so where shapes may be below 1
the *logarithm* of the odds is computed instead.
"""

from math import sqrt

import numpy as np

from driftbandit.numerics.elementary import cos_sin, log, real
from driftbandit.numerics.rng import Words, open_uniform

THIRD = 0.3333333333333333
SQUEEZE_ABOVE = 0.0093
SQUEEZE_BELOW = 0.0221


def normal_pair(first: np.uint64, second: np.uint64) -> tuple[float, float, float]:
    """Two standard normal numbers and the sum of their squares (Box and Muller 1958)."""
    squares = -2.0 * log(open_uniform(first))
    cosine, sine = cos_sin(real(second) * 2.3283064365386963e-10)
    radius = sqrt(squares)
    return radius * cosine, radius * sine, squares


def odds_attempt(a: float, b: float, words: Words) -> tuple[float, bool]:
    """Odds X/Y for shapes of at least 1, and whether the quick test proves the attempt accepted."""
    n, m, _ = normal_pair(words[0], words[1])
    c = a - THIRD
    d = b - THIRD
    root_c = sqrt(c)
    root_d = sqrt(d)
    x = root_c + THIRD * n
    y = root_d + THIRD * m
    n2 = n * n
    m2 = m * m
    s = SQUEEZE_ABOVE if n > 0.0 else SQUEEZE_BELOW
    t = SQUEEZE_ABOVE if m > 0.0 else SQUEEZE_BELOW
    proven = (1.0 - open_uniform(words[2])) * (c * d) > s * n2 * n2 * d + t * m2 * m2 * c
    return (x * x * x * root_d) / (y * y * y * root_c), proven


def odds_accepted(a: float, b: float, words: Words) -> bool:
    """Whether the attempt with these words is accepted: the full test, for shapes of at least 1."""
    n, m, squares = normal_pair(words[0], words[1])
    c = a - THIRD
    d = b - THIRD
    u = 1.0 + THIRD * n / sqrt(c)
    v = 1.0 + THIRD * m / sqrt(d)
    positive = (u > 0.0) & (v > 0.0)
    u = u if positive else 1.0
    v = v if positive else 1.0
    exponent = 0.5 * squares + c * (1.0 - u * u * u + 3.0 * log(u)) + d * (1.0 - v * v * v + 3.0 * log(v))
    return positive & (log(open_uniform(words[2])) < exponent)


def log_odds_attempt(a: float, b: float, words: Words, boost: Words) -> tuple[float, bool]:
    """Log odds for any positive shapes, and whether the quick test proves the attempt accepted."""
    odds, proven = odds_attempt(a + 1.0 if a < 1.0 else a, b + 1.0 if b < 1.0 else b, words)
    value = log(odds if odds > 0.0 else 1.0)  # not positive only where the attempt is rejected
    value += log(open_uniform(boost[0])) / a if a < 1.0 else 0.0
    value -= log(open_uniform(boost[1])) / b if b < 1.0 else 0.0
    return value, proven


def log_odds_accepted(a: float, b: float, words: Words) -> bool:
    """The full test for any positive shapes."""
    return odds_accepted(a + 1.0 if a < 1.0 else a, b + 1.0 if b < 1.0 else b, words)
