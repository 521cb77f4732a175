"""kl and its inverse, against 40 digits, at the ends, and compiled to the same bits."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from driftbandit.compiling.linking import link
from driftbandit.compiling.target import CPU
from driftbandit.numerics.divergence import kl, kl_reach, kl_upper


def exact_kl(p: float, q: float) -> mpf:
    first = mpf(p) * mp.log(mpf(p) / mpf(q)) if p > 0 else mpf(0)
    return first + ((1 - mpf(p)) * mp.log((1 - mpf(p)) / (1 - mpf(q))) if p < 1 else mpf(0))


def exact_upper(p: float, x: float) -> float:
    low, high = mpf(p), mpf(1)
    for _ in range(100):
        middle = (low + high) / 2
        if exact_kl(p, middle) <= x:
            low = middle
        else:
            high = middle
    return float(low)


def points(count: int) -> list[tuple[float, float]]:
    """Means everywhere and near both ends, and levels of all sizes."""
    rng = np.random.default_rng(1)
    means = [
        (rng.uniform(), 10 ** rng.uniform(-9, -0.01), 1 - 10 ** rng.uniform(-9, -0.01))[i % 3] for i in range(count)
    ]
    return [(float(p), float(10 ** rng.uniform(-9, 2))) for p in means]


def test_the_divergence_is_right_to_rounding() -> None:
    with mp.workdps(40):
        for p, q in [(0.3, 0.7), (0.0, 0.4), (1.0, 0.4), (0.5, 0.5), (1e-6, 0.9), (0.999, 0.2)]:
            assert kl(p, q) == pytest.approx(float(exact_kl(p, q)), rel=1e-14, abs=1e-16)


def test_the_upper_mean_is_right_to_nine_digits_everywhere() -> None:
    with mp.workdps(40):
        for p, x in points(300):
            assert kl_upper(p, x) == pytest.approx(exact_upper(p, x), abs=5e-10), (p, x)


def test_the_ends_are_exact() -> None:
    for x in (1e-6, 0.3, 5.0, 40.0):
        assert kl_upper(0.0, x) == pytest.approx(-math.expm1(-x), rel=1e-9)
        assert kl_upper(1.0, x) == kl_upper(1.5, x) == 1.0
        assert kl_upper(-0.5, x) == kl_upper(0.0, x)
    for p in (0.0, 0.2, 1.0):
        assert kl_upper(p, 0.0) == kl_upper(p, -1.0) == p
    assert kl_upper(0.3, 1e5) == 1.0


def test_the_upper_mean_grows_with_both() -> None:
    grid = np.linspace(0, 1, 41).tolist()
    for x in (1e-3, 0.1, 2.0):
        values = [kl_upper(p, x) for p in grid]
        assert values == sorted(values)
        assert all(value >= p for value, p in zip(values, grid, strict=True))
    for p in grid:
        values = [kl_upper(p, 10**power) for power in np.linspace(-8, 2, 60)]
        assert values == sorted(values)


def test_the_reach_orders_means_where_they_round_to_1() -> None:
    with mp.workdps(40):
        for p, x in points(200):
            room = 1 - mpf(exact_upper(p, x))
            if room > 1e-6:
                assert kl_reach(p, x) == pytest.approx(float(-mp.log(room)), rel=1e-8, abs=1e-9), (p, x)
    reaches = [kl_reach(0.4, float(x)) for x in np.linspace(0.01, 500, 3000)]
    assert reaches == sorted(set(reaches))
    assert kl_reach(0.4, 300.0) == pytest.approx((300 - 0.4 * math.log(0.4) - 0.6 * math.log(0.6)) / 0.6, rel=1e-12)
    assert kl_reach(0.0, 3.5) == kl_reach(-1.0, 3.5) == 3.5
    assert kl_reach(1.0, 0.1) == kl_reach(2.0, 9.0) > kl_reach(0.999, 1e6)
    assert kl_reach(0.3, 0.0) == pytest.approx(-math.log(0.7), rel=1e-9)


def test_it_is_the_same_to_the_bit_where_it_is_compiled() -> None:
    compiled = link(upper_of_all, CPU)
    cases = np.array([*points(200), (0.0, 0.3), (1.0, 0.3), (0.4, 0.0)])
    found = np.empty(len(cases))
    compiled(cases, found)
    assert [kl_upper(np.float64(p), np.float64(x)) for p, x in cases] == found.tolist()


def upper_of_all(cases, found):
    for i in range(found.size):
        found[i] = kl_upper(cases[i, 0], cases[i, 1])
