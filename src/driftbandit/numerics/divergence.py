"""How far Bernoulli laws are apart, and the mean that is just so far away: what kl-UCB and its relatives compare.

kl(p, q) = p·ln(p/q) + (1 − p)·ln((1 − p)/(1 − q))
"""

import math

from driftbandit.numerics.elementary import exp, log, real

LEAST = 1e-30
"""Instead of a probability of 0, whose logarithm is none; the product with it is 0 either way."""
LARGEST = 1e30
"""The reach of a mean of 1."""
DEEP = -60.0
"""Below this logarithm of 1 − q the first term of kl makes no difference."""
STEPS = 4
"""Of Newton's method; from where it starts, these leave an error of some 1e-10."""


def kl(p: float, q: float) -> float:
    """The divergence of a Bernoulli law of mean p, in [0, 1], from one of mean q, in (0, 1) or equal to p."""
    up = real(1.0) - p
    away = p * log(max(p, real(LEAST)) / max(q, real(LEAST)))
    return away + up * log(max(up, real(LEAST)) / max(real(1.0) - q, real(LEAST)))


def kl_upper(p: float, x: float) -> float:
    """The largest q ≤ 1 with kl(p, q) ≤ x; p beyond 0 or 1 counts as 0 or 1."""
    one, zero = real(1.0), real(0.0)
    short, _ = short_of_one(p, max(x, zero))
    q = one - exp(-x) if p <= zero else one - short
    q = one if p >= one else q
    return q if x > zero else min(max(p, zero), one)


def kl_reach(p: float, x: float) -> float:
    """−ln(1 − q) of that q: it orders means as they do, and tells apart those that all round to 1."""
    one, zero = real(1.0), real(0.0)
    short, deep = short_of_one(p, max(x, zero))
    reach = -deep if deep < real(DEEP) else -log(max(short, real(LEAST)))
    reach = max(x, zero) if p <= zero else reach
    return min(reach, real(0.5 * LARGEST)) if p < one else real(LARGEST)


def short_of_one(p: float, x: float) -> tuple[float, float]:
    """1 − q for p in (0, 1), and the logarithm of it where that is far below 0.

    It is found by Newton's method, from the least of three bounds that lie above q: Pinsker's, p + √(x/2); that of a
    Poisson law, p + y + √(y² + 2·p·y) with y = (1 − p)·x; and the one that takes q for 1 in the first logarithm. As
    kl(p, ·) is convex, every step comes nearer from above.
    """
    one, least = real(1.0), real(1e-12)
    inside, rest = min(max(p, least), one), min(max(one - p, least), one)
    level = inside * log(inside) + rest * log(rest) - x
    deep = level / rest
    y = rest * x
    q = min(inside + math.sqrt(real(0.5) * x), inside + y + math.sqrt(y * (y + real(2.0) * inside)))
    short = max(one - q, exp(deep))  # of 1: q itself would round to it
    for _ in range(STEPS):
        short = min(max(short, real(LEAST)), rest)
        q = max(one - short, real(LEAST))  # above 0 even where p is 0, whose answer is another
        slope = max(rest - short, real(LEAST))
        short += (level - inside * log(q) - rest * log(short)) * q * short / slope
    return min(max(short, real(0.0)), rest) if x > real(0.0) else rest, deep
