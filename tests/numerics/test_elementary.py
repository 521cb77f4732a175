"""The polynomials agree with `math` to a few units in the last place.

Found on the grids below: log 1.8 and exp 1.0 units in the last place of the true value, cosine and sine 0.8 units in
the last place of 1 (near their zeros the absolute error is what normal numbers need).
"""

import math

import mpmath
import numpy as np
import pytest

from driftbandit.compiling.linking import link
from driftbandit.compiling.slot import OPEN
from driftbandit.numerics import elementary

RANDOM = np.random.default_rng(7)


def each(function, arguments, outputs=1):
    """The compiled function at every argument."""
    compiled = link({1: over_all, 2: over_all_pairs}[outputs], value_of=function)
    out = np.empty((outputs, len(arguments)))
    compiled(np.asarray(arguments, float), *out)
    return out if outputs > 1 else out[0]


value_of = OPEN


def over_all(arguments, out):
    for i in range(arguments.size):
        out[i] = value_of(arguments[i])


def over_all_pairs(arguments, first, second):
    for i in range(arguments.size):
        first[i], second[i] = value_of(arguments[i])


def ulps(values, arguments, exact):
    """The largest error in units of the last place of the exact value."""
    worst = 0.0
    with mpmath.workdps(40):
        for value, argument in zip(values.tolist(), arguments.tolist(), strict=True):
            truth = exact(mpmath.mpf(argument))
            worst = max(worst, abs(float((mpmath.mpf(value) - truth) / math.ulp(float(truth)))))
    return worst


def positive_numbers():
    return np.concatenate(
        [
            np.exp2(RANDOM.uniform(-1022, 1023.99, 4000)),
            RANDOM.uniform(0.5, 2.0, 4000),
            1.0 + RANDOM.uniform(-1, 1, 2000) * np.exp2(RANDOM.uniform(-52, -1, 2000)),
            [2.0**-1022, 2.0**-33, math.sqrt(0.5), math.sqrt(2), np.nextafter(1, 0), np.nextafter(1, 2), 1e300],
        ]
    )


def test_log_is_right_to_two_units_in_the_last_place():
    x = positive_numbers()
    assert ulps(each(elementary.log, x), x, mpmath.log) < 2.0
    assert each(elementary.log, [1.0])[0] == 0.0


def test_log_differs_from_math_by_at_most_two_units_in_the_last_place():
    x = positive_numbers()
    reference = np.array([math.log(value) for value in x])
    assert np.max(np.abs(each(elementary.log, x) - reference) / np.spacing(np.abs(reference))) <= 2.0


def test_exp_is_right_to_two_units_in_the_last_place():
    x = np.concatenate([RANDOM.uniform(-708, 709, 5000), RANDOM.uniform(-1, 1, 3000), [-708.0, 709.0, 0.0, -1e-300]])
    assert ulps(each(elementary.exp, x), x, mpmath.exp) < 2.0
    assert each(elementary.exp, [0.0])[0] == 1.0


def test_exp_is_0_far_below_and_capped_far_above():
    low, high, lowest, highest = each(elementary.exp, [-709.0, 800.0, -math.inf, math.inf])
    assert low == lowest == 0.0
    assert high == highest == each(elementary.exp, [709.0])[0]


@pytest.mark.parametrize("exact", [(mpmath.cospi, mpmath.sinpi)])
def test_the_sine_pair_is_right_to_two_units_in_the_last_place_of_1(exact):
    turns = np.concatenate([RANDOM.uniform(0, 1, 4000), np.arange(0, 65) / 64, [1.0 - 2.0**-32, 2.0**-32]])
    for values, function in zip(each(elementary.cos_sin, turns, outputs=2), exact, strict=True):
        with mpmath.workdps(40):
            truth = [function(2 * mpmath.mpf(turn)) for turn in turns.tolist()]
            errors = [abs(float(mpmath.mpf(v) - w)) for v, w in zip(values.tolist(), truth, strict=True)]
        assert max(errors) < 2.0 * math.ulp(1.0)


def test_the_sine_pair_is_exact_at_quarter_turns():
    cosine, sine = each(elementary.cos_sin, [0.0, 0.25, 0.5, 0.75, 1.0], outputs=2)
    assert cosine.tolist() == [1.0, 0.0, -1.0, 0.0, 1.0]
    assert sine.tolist() == [0.0, 1.0, 0.0, -1.0, 0.0]


def test_plain_python_agrees_with_the_compiled_form():
    for x in [0.3, 1.0, 7.5]:
        assert elementary.log(x) == pytest.approx(each(elementary.log, [x])[0], rel=1e-15, abs=1e-16)
        assert elementary.exp(x) == pytest.approx(each(elementary.exp, [x])[0], rel=1e-15)
        assert elementary.cos_sin(x / 10) == pytest.approx(each(elementary.cos_sin, [x / 10], 2)[:, 0], abs=1e-15)
