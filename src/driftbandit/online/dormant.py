"""Arms at their prior: the best of many is drawn in one step.

An arm that was never chosen, or not for long, has exactly the prior Beta(α0, β0) as its posterior. All such arms are
alike. The largest of m samples with distribution function F has distribution function F^m, so with U uniform it is

    F⁻¹(U^{1/m}),        and in the upper tail, where that rounds to 1:   1 − F⁻¹ at   1 − U^{1/m} = −expm1(ln U / m).

Which of the m arms it belongs to is uniform and independent of its value. In the optimistic form a sample counts for no
less than the mean of the prior; either the best sample exceeds that, or all m arms tie at it.
"""

import math

import numpy as np

from driftbandit.numerics.elementary import log
from driftbandit.numerics.rng import CHOICE, draw, uniform

ZERO = np.uint64(0)
DORMANT = np.uint64(3)
"""The attempt number under which this draw is made: `choosing` uses the ones below."""
SMALLEST = 1e-290


def exponential(seed: np.uint64, replica: int, sequence: int) -> float:
    """−ln U of the uniform number that belongs to the dormant arms of a step."""
    words = draw(seed, np.uint64(replica), np.uint64(sequence), ZERO, CHOICE, DORMANT)
    return max(-log(1.0 - uniform(words[0], words[1])), 1e-17)


def best_log_odds(luck: float, count: int, successes: float, failures: float) -> float:
    """Log odds of the largest of `count` samples from Beta(successes, failures), for luck = −ln U.

    >>> round(best_log_odds(0.7, 1_000_000, 1.0, 1.0), 3)  # a sample of about 1 − 0.7e-6
    14.172
    """
    luck /= count
    if failures == 1.0:  # F(x) = x^successes
        return -luck / successes - math.log(-math.expm1(-luck / successes))
    from scipy import special  # late: most priors do not need it

    rest = float(special.betaincinv(failures, successes, -math.expm1(-luck)))
    if rest > 0.5:
        theta = float(special.betaincinv(successes, failures, math.exp(-luck)))
        return _log_quantile(theta, -luck, successes, failures) - math.log1p(-theta)
    return math.log1p(-rest) - _log_quantile(rest, math.log(-math.expm1(-luck)), failures, successes)


def _log_quantile(x: float, log_probability: float, a: float, b: float) -> float:
    """Ln x, from the first term of the series x^a/(a·B(a, b)) = probability where x underflows."""
    if x > SMALLEST:
        return math.log(x)
    from scipy import special

    return (log_probability + math.log(a) + float(special.betaln(a, b))) / a
