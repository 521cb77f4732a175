"""Quantiles of Beta laws: against 40 digits and SciPy, at the ends, and compiled to the same bits."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy import special

from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.compiling.linking import link
from driftbandit.compiling.target import CPU
from driftbandit.numerics.beta_quantile import beta_upper


def cases(count: int) -> np.ndarray:
    """Shapes from 0.01 to a million and tails from 1e-12 to 1, those of whole numbers of observations among them."""
    rng = np.random.default_rng(4)
    found = 10 ** rng.uniform((-2, -2, -12), (6, 6, 0), size=(count, 3))
    found[::3, :2] = np.ceil(found[::3, :2])
    found[::4, 2] = 1 / rng.integers(1, 10_000, len(found[::4]))
    return found


@pytest.fixture(scope="module")
def found() -> np.ndarray:
    out = np.empty(len(cases(20_000)))
    link(upper_of_all, CPU)(cases(20_000), out)
    return out


def test_quantiles_are_those_of_scipy(found: np.ndarray) -> None:
    """Which is itself off by 2e-9 in one of these."""
    a, b, tail = cases(20_000).T
    np.testing.assert_allclose(found, special.betainccinv(a, b, tail), rtol=1e-8, atol=1e-290)


def test_quantiles_are_right_by_the_integral_of_40_digits(found: np.ndarray) -> None:
    """The tail above what was found is the one asked for, up to what a relative error of 1e-10 of the quantile does."""
    moderate = (cases(20_000)[:, :2].max(axis=1) < 200) & (found > 1e-200) & (found < 1 - 1e-6)
    chosen = np.flatnonzero(moderate)[:60].tolist()
    with mp.workdps(40):
        for i in chosen:
            a, b, tail, x = map(mpf, (*cases(20_000)[i].tolist(), float(found[i])))
            above = mp.betainc(a, b, x, 1, regularized=True)
            density = x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)
            assert abs(above - tail) <= 1e-10 * x * density, (a, b, tail)


def test_simple_laws_have_simple_quantiles() -> None:
    for tail in (0.9, 0.5, 0.1, 1e-3, 1e-9):
        assert beta_upper(1.0, 1.0, tail) == pytest.approx(1 - tail, rel=1e-12)
        assert beta_upper(7.0, 1.0, tail) == pytest.approx((1 - tail) ** (1 / 7), rel=1e-12)
        assert beta_upper(1.0, 7.0, tail) == pytest.approx(-math.expm1(math.log(tail) / 7), rel=1e-11)
    assert beta_upper(3.0, 3.0, 0.5) == pytest.approx(0.5, rel=1e-14)


def test_the_ends_are_exact_and_extreme_shapes_are_answered() -> None:
    for a, b in [(1.0, 1.0), (0.01, 30.0), (1e-100, 1e100), (1e100, 1e-100), (1e100, 1e100), (1e-100, 1e-100)]:
        assert beta_upper(a, b, 1.0) == 0.0
        assert beta_upper(a, b, 0.0) == 1.0
        for tail in (0.9, 0.5, 1e-3, 1e-12, 1e-300):
            assert 0.0 <= beta_upper(a, b, tail) <= 1.0
    assert beta_upper(1e100, 1.0, 0.1) == pytest.approx(1.0)
    assert beta_upper(1.0, 1e100, 0.1) == pytest.approx(0.0, abs=1e-8)
    assert beta_upper(1e100, 1e100, 0.1) == pytest.approx(0.5, abs=1e-4)


def test_a_smaller_tail_and_more_successes_are_further_up() -> None:
    for b in (0.5, 3.0, 400.0):
        over_tails = [beta_upper(5.0, b, 1 / t) for t in range(1, 400)]
        assert over_tails == sorted(over_tails)
        over_shapes = [beta_upper(a, b, 0.01) for a in np.geomspace(0.1, 1e4, 200).tolist()]
        assert over_shapes == sorted(over_shapes)


def test_it_is_the_same_to_the_bit_where_it_is_compiled(found: np.ndarray) -> None:
    out = np.empty(400)
    link(upper_of_all, INTERPRETED)(cases(20_000)[:400], out)
    assert out.tolist() == found[:400].tolist()


def upper_of_all(given, out):
    for i in range(out.size):
        out[i] = beta_upper(given[i, 0], given[i, 1], given[i, 2])
