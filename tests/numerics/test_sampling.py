"""The Beta sampler has the right law for every shape, never returns NaN, and never gets stuck."""

import math

import numpy as np
import pytest
from scipy import special, stats

import driftbandit as db
from driftbandit.compiling.linking import link
from driftbandit.numerics.rng import BOOST, SCORE, draw
from driftbandit.numerics.sampling import (
    SQUEEZE_ABOVE,
    SQUEEZE_BELOW,
    log_odds_accepted,
    log_odds_attempt,
    odds_accepted,
    odds_attempt,
)

ZERO = np.uint64(0)
ONE = np.uint64(1)
DRAWS = 20_000
SHAPES = [1e-6, 1e-3, 0.1, 0.5, 0.999, 1.0, 1.001, 2.5, 30.5, 1e3, 1e6]
MOST_ATTEMPTS = 100


def draw_log_odds(a, b, seed, values, attempts):
    """Log odds of one sample a step, with the number of attempts that each took."""
    for i in range(values.size):
        step = np.uint64(i + 1)
        attempt = ZERO
        while True:
            words = draw(seed, ZERO, step, ZERO, SCORE, attempt)
            more = draw(seed, ZERO, step, ZERO, BOOST, attempt)
            value, sure = log_odds_attempt(a, b, words, more)
            attempt += ONE
            if sure or log_odds_accepted(a, b, words) or attempt >= np.uint64(100):
                break
        values[i] = value
        attempts[i] = attempt


def draw_odds(a, b, seed, values, attempts):
    """The same for the odds themselves; shapes of at least 1."""
    for i in range(values.size):
        step = np.uint64(i + 1)
        attempt = ZERO
        while True:
            words = draw(seed, ZERO, step, ZERO, SCORE, attempt)
            value, sure = odds_attempt(a, b, words)
            attempt += ONE
            if sure or odds_accepted(a, b, words) or attempt >= np.uint64(100):
                break
        values[i] = value
        attempts[i] = attempt


def contradictions(shapes, normals_seed, found):
    """How often the quick test accepts what the full test rejects."""
    for i in range(shapes.size):
        for j in range(shapes.size):
            for n in range(2000):
                words = draw(normals_seed, np.uint64(i), np.uint64(n + 1), np.uint64(j), SCORE, ZERO)
                _, sure = odds_attempt(shapes[i], shapes[j], words)
                if sure and not odds_accepted(shapes[i], shapes[j], words):
                    found[0] += 1
                found[1] += sure


def sampled(a: float, b: float, draws: int = DRAWS, seed: int = 11) -> np.ndarray:
    values, attempts = np.empty(draws), np.empty(draws, np.uint64)
    link(draw_log_odds)(a, b, np.uint64(seed), values, attempts)
    assert attempts.max() < MOST_ATTEMPTS
    return values


def log_odds_cdf(x: np.ndarray, a: float, b: float) -> np.ndarray:
    """P(ln(θ/(1 − θ)) ≤ x) for θ ~ Beta(a, b), also where θ itself would round to 0 or 1.

    From the incomplete beta function where θ is a normal number, and from its leading term θ^a / (a·B(a, b)), or
    that of the other tail, beyond.
    """
    theta, rest = special.expit(x), special.expit(-x)
    left = np.where(theta < 0.5, special.betainc(a, b, theta), special.betaincc(b, a, rest))
    log_front = math.log(a) + special.betaln(a, b)
    left = np.where(x < -300, np.exp(np.minimum(a * x - log_front, 0.0)), left)
    log_back = math.log(b) + special.betaln(a, b)
    return np.where(x > 300, -np.expm1(np.minimum(-b * x - log_back, 0.0)), left)


@pytest.mark.parametrize("b", SHAPES)
@pytest.mark.parametrize("a", SHAPES)
def test_samples_follow_the_beta_law(a: float, b: float) -> None:
    values = sampled(a, b)
    assert np.all(np.isfinite(values))
    uniform = log_odds_cdf(values, a, b)
    # one bound for all 121 pairs: a false alarm at one in a million each
    assert stats.kstest(uniform, "uniform").pvalue > 1e-6
    assert stats.cramervonmises(uniform, "uniform").pvalue > 1e-6


@pytest.mark.parametrize(("a", "b"), [(1e-3, 1e-3), (0.3, 0.7), (1.0, 1.0), (30.5, 20.3), (1e6, 1.0), (2e4, 1e6)])
def test_many_samples_follow_the_beta_law(a: float, b: float) -> None:
    values = sampled(a, b, draws=300_000, seed=3)
    assert stats.kstest(log_odds_cdf(values, a, b), "uniform").pvalue > 1e-4


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 50.0), (1e6, 1e6), (7.5, 1e3)])
def test_odds_have_the_same_law_as_their_logarithm(a: float, b: float) -> None:
    values, attempts = np.empty(DRAWS), np.empty(DRAWS, np.uint64)
    link(draw_odds)(a, b, np.uint64(5), values, attempts)
    assert attempts.max() < MOST_ATTEMPTS
    assert np.all((values > 0) & np.isfinite(values))
    np.testing.assert_allclose(np.log(values), sampled(a, b, seed=5), rtol=1e-12, atol=1e-12)
    assert stats.kstest(values / (1 + values), stats.beta(a, b).cdf).pvalue > 1e-6


def test_the_law_used_as_reference_is_that_of_scipy_where_scipy_can_tell() -> None:
    for a, b in [(0.4, 0.2), (3.0, 8.0), (1.0, 1e3)]:
        x = np.linspace(-12, 8, 50)
        np.testing.assert_allclose(log_odds_cdf(x, a, b), stats.beta(a, b).cdf(special.expit(x)), rtol=1e-9, atol=1e-15)
    far = np.array([-299.0, -301.0, 299.0, 301.0])
    near = log_odds_cdf(far, 1e-3, 2e-3)
    assert near[0] == pytest.approx(near[1] * math.exp(2e-3), rel=1e-6)
    assert 1 - near[2] == pytest.approx((1 - near[3]) * math.exp(4e-3), rel=1e-6)


@pytest.mark.parametrize("a", [1e-300, 1e-100, 1e-12, 1e-6, 1.0, 1e6, 1e12, 1e100])
@pytest.mark.parametrize("b", [1e-300, 1e-100, 1e-12, 1e-6, 1.0, 1e6, 1e12, 1e100])
def test_extreme_shapes_give_no_nan_and_need_few_attempts(a: float, b: float) -> None:
    values = sampled(a, b, draws=2000)
    assert not np.any(np.isnan(values))


def test_the_squeeze_is_a_lower_bound_of_the_acceptance_probability() -> None:
    # With u = n/(3√d), the log of the probability is d·(4.5u² − 3u − 3u² − u³ + 3·ln(1 + u)), and the bound is
    # 1 − s·81·d·u⁴. Products of two bounds are at least one minus the sum, so one gamma at a time is enough.
    u = np.concatenate([-np.geomspace(1e-4, 1 - 1e-9, 4000), np.geomspace(1e-4, 50, 4000)])
    d = np.geomspace(2 / 3, 1e7, 60)[:, None]
    exponent = d * (1.5 * u**2 - 3 * u - u**3 + 3 * np.log1p(u))
    bound = 1 - np.where(u > 0, SQUEEZE_ABOVE, SQUEEZE_BELOW) * 81 * d * u**4
    assert np.all(np.exp(exponent) >= bound - 1e-9 * d * np.abs(u) ** 3 - 1e-12)
    assert np.all(1 - SQUEEZE_BELOW * 81 * d * 1.0 < 0), "a gamma that would not be positive must never be proven"


def test_the_quick_test_never_accepts_what_the_full_test_rejects_and_settles_most() -> None:
    found = np.zeros(2, np.int64)
    shapes = np.array([1.0, 1.2, 1.7, 3.0, 10.0, 100.0, 1e4, 1e6])
    link(contradictions)(shapes, np.uint64(23), found)
    wrong, settled = found
    assert wrong == 0
    assert settled > 0.8 * shapes.size**2 * 2000


@pytest.mark.parametrize("optimistic", [False, True])
def test_a_tiny_prior_after_long_disuse_still_lets_every_arm_be_chosen(optimistic: bool) -> None:
    kind = db.DiscountedOptimisticThompsonSampling if optimistic else db.DiscountedThompsonSampling
    policy = kind(discount=0.5, prior_successes=1e-12, prior_failures=1e-12)
    means = [[0.9, 0.0, 0.0]] * 3000 + [[0.0, 0.0, 0.9]]  # 3000 steps: evidence underflows to 0 exactly
    result = db.simulate(policy, db.FromMeans(means=means), horizon=6000, runs=40, seed=2)
    choices = result.dataset["choices"].values[0]
    assert choices.sum() == 6000 * 40
    assert choices[2000:3000, 0].mean() > 20
    assert choices[4000:, 2].mean() > 20
