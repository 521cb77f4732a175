"""Selection probabilities of Normal scores: an independent oracle at 50 digits, symmetries, certain scores, draws."""

import json
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.exact import oracle

import driftbandit as db
from driftbandit.exact.normal import normal_probabilities
from driftbandit.exact.quadrature.normal_cdf import log_cdf

REFERENCE = json.loads((Path(__file__).parent / "data" / "normal_reference.json").read_text(encoding="utf-8"))
KINDS = sorted({(row["kind"], len(row["parameters"])) for row in REFERENCE})
MEANS = st.floats(-1e6, 1e6) | st.floats(-1, 1)
DEVIATIONS = st.floats(-13.8, 13.8).map(np.exp) | st.just(0.0)
ARMS = st.lists(st.tuples(MEANS, DEVIATIONS), min_size=1, max_size=6)


def relative_errors(row):
    found = normal_probabilities(row["parameters"])
    with mp.workdps(50):
        for mine, exact in zip(found, map(mp.mpf, row["probabilities"]), strict=True):
            if exact > mp.mpf("1e-300"):
                yield float(abs(mp.mpf(float(mine)) - exact) / exact)
            else:
                assert mine <= 1e-299


@pytest.mark.parametrize(("kind", "n_arms"), KINDS)
def test_every_probability_above_1e_300_is_right_to_1e_12(kind, n_arms):
    rows = [row for row in REFERENCE if row["kind"] == kind and len(row["parameters"]) == n_arms]
    errors = [error for row in rows for error in relative_errors(row)]
    assert errors
    assert max(errors) <= 1e-12


def test_the_reference_holds_what_it_should():
    assert {len(row["parameters"]) for row in REFERENCE} == {2, 3, 10}
    assert any(0 < mp.mpf(p) < mp.mpf("1e-200") for row in REFERENCE for p in row["probabilities"])
    deviations = [s for row in REFERENCE for _, s in row["parameters"]]
    assert {0.0, 1e-6, 1e6} <= set(deviations)
    with mp.workdps(50):
        for row in REFERENCE:
            assert abs(mp.fsum(map(mp.mpf, row["probabilities"])) - 1) < mp.mpf("1e-20")


def test_the_oracle_agrees_with_the_closed_form_of_two_arms():
    with mp.workdps(50):
        low, _ = oracle.normal_probabilities([(-30, 3), (0, 4)], count=30)
        assert abs(low / (mp.erfc(6 / mp.sqrt(2)) / 2) - 1) < mp.mpf("1e-25")


def test_the_logarithm_of_the_distribution_function_is_right_in_both_tails():
    for z in np.concatenate([np.linspace(-40, 10, 401), [-1e5, -1e3, 0.0, 1e3]]):
        with mp.workdps(40):
            exact = mp.log(mp.erfc(-mp.mpf(float(z)) / mp.sqrt(2)) / 2)
            assert abs(float(mp.mpf(float(log_cdf(z))) - exact)) <= 4e-16 * max(1.0, abs(float(exact)))


def test_a_thousand_arms_sum_to_one():
    rng = np.random.default_rng(5)
    means = rng.normal(size=(4, 1000)) * np.array([0, 1, 1e3, 1e6])[:, None]
    deviations = np.exp(rng.uniform(np.log(1e-6), np.log(1e6), size=(4, 1000)))
    deviations[0] = 1
    found = normal_probabilities(np.stack([means, deviations], axis=-1))
    assert np.all(found >= 0)
    assert np.all(np.abs(found.sum(axis=-1) - 1) <= 1e-12)
    assert found[0] == pytest.approx(np.full(1000, 1e-3), rel=1e-12)


@settings(max_examples=100)
@given(ARMS)
def test_probabilities_sum_to_one_and_none_is_negative(arms):
    found = normal_probabilities(arms)
    assert np.all(found >= 0)
    assert abs(found.sum() - 1) <= 1e-12


@settings(max_examples=60)
@given(ARMS, st.randoms(use_true_random=False))
def test_the_order_of_the_arms_does_not_matter(arms, source):
    order = list(range(len(arms)))
    source.shuffle(order)
    assert normal_probabilities([arms[i] for i in order]) == pytest.approx(
        normal_probabilities(arms)[order], rel=1e-11, abs=1e-300
    )


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(-100, 100), st.integers(0, 50)), min_size=1, max_size=6), st.integers(-20, 20))
def test_a_common_shift_and_a_common_scale_change_nothing(arms, shift):
    """Whole numbers, so that nothing is rounded on the way in."""
    state = np.array(arms, dtype=float)
    found = normal_probabilities(state)
    moved = normal_probabilities(state + np.array([shift * 2.0**20, 0]))
    assert moved == pytest.approx(found, rel=1e-11, abs=1e-300)
    assert normal_probabilities(state * 2.0**shift) == pytest.approx(found, rel=1e-11, abs=1e-300)


def test_turning_two_arms_round_exchanges_them():
    state = np.array([(0.3, 2.0), (-1.7, 0.5)])
    assert normal_probabilities(state * [-1, 1]).tolist() == normal_probabilities(state)[::-1].tolist()


def test_certain_scores_are_points():
    half, tail = 0.5, float(mp.erfc(3 / mp.sqrt(2)) / 2)
    assert normal_probabilities([(0, 0), (0, 1)]).tolist() == [half, half]
    assert normal_probabilities([(2, 0), (2, 0), (1, 0)]).tolist() == [0.5, 0.5, 0]
    assert normal_probabilities([(-0.0, 0), (0.0, 0)]).tolist() == [0.5, 0.5]
    # two share what is below 3, a third is never the largest
    found = normal_probabilities([(3, 0), (0, 1), (3, 0), (2, 0)])
    assert found == pytest.approx([(1 - tail) / 2, tail, (1 - tail) / 2, 0], rel=1e-13)
    # two random scores above 0 or not: ¼ for the point, the rest evenly; and far below, and far above
    assert normal_probabilities([(0, 1), (0, 0), (0, 1)]) == pytest.approx([0.375, 0.25, 0.375], rel=1e-13)
    assert normal_probabilities([(0, 1), (-60, 0), (0, 1)]) == pytest.approx([0.5, 0, 0.5], rel=1e-13)
    assert normal_probabilities([(0, 1), (60, 0), (0, 1)]).tolist() == [0, 1, 0]


def test_a_narrow_score_is_nearly_a_certain_one():
    certain = normal_probabilities([(1, 0), (0, 1), (0.5, 2)])
    assert normal_probabilities([(1, 1e-9), (0, 1), (0.5, 2)]) == pytest.approx(certain, rel=1e-8)


def test_one_arm_is_selected():
    assert normal_probabilities([(3, 4)]).tolist() == [1.0]
    assert normal_probabilities([(3, 0)]).tolist() == [1.0]


def test_many_states_at_once_are_the_states_one_by_one():
    rng = np.random.default_rng(2)
    states = np.stack([rng.normal(size=(2, 3, 5)), rng.uniform(0, 1, size=(2, 3, 5))], axis=-1)
    states[0, 1, :2, 1] = 0
    found = normal_probabilities(states)
    assert found.shape == (2, 3, 5)
    for i in np.ndindex(2, 3):
        assert found[i].tolist() == normal_probabilities(states[i]).tolist()
    assert normal_probabilities(np.empty((0, 3, 2))).shape == (0, 3)


@pytest.mark.parametrize(
    "arms",
    [
        [(1.7e308, 1.7e308), (-1.7e308, 1.7e308), (0, 1)],
        [(0, 1e-200), (0, 1e200), (0, 1)],
        [(0, 5e-324), (0, 1), (0, 0)],
        [(1e6, 1e-30), (1e6, 2e-30), (1e6, 1e-50)],
        [(1, 0), (1, 1e-250), (0, 1e250), (1, 1)],
    ],
)
def test_extremes_do_not_break_it(arms):
    found = normal_probabilities(arms)
    assert np.all(found >= 0)
    assert abs(found.sum() - 1) <= 1e-12


@pytest.mark.parametrize(
    "arms",
    [
        [(0, 1), (0.5, 2)],
        [(0.5, 0.1), (0.45, 0.2), (0.3, 0.4)],
        [(0, 1), (0, 0.01), (-1, 3), (0.2, 0)],
        [(0.1 * k, 1 + 0.1 * k) for k in range(10)],
    ],
)
def test_half_a_million_draws_agree(arms):
    """Within 4.5 standard errors."""
    draws = 500_000
    means, deviations = np.array(arms, dtype=float).T
    scores = np.random.default_rng(11).normal(means, deviations, size=(draws, len(arms)))
    found = np.bincount(scores.argmax(axis=1), minlength=len(arms)) / draws
    expected = normal_probabilities(arms)
    assert np.all(np.abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / draws))


@pytest.mark.parametrize(
    "parameters",
    [[], [()], [(1, 1, 1)], [(0, -1), (1, 1)], [(np.nan, 1), (1, 1)], [(1, np.nan)], [(np.inf, 1), (1, 1)],
     [(1, np.inf)], "text", None, 3, [1, 2], [[1, 2], [3]], [("a", "b")], [(True, 1), (None, 2)], [(1j, 1)],
     np.empty((2, 0, 2))],
)  # fmt: skip
def test_wrong_parameters_are_answered_in_one_line(parameters):
    allowed = r"parameters must be pairs of a finite mean and a deviation of at least 0, an array of shape \(…, K, 2\)"
    with pytest.raises(db.InvalidValue, match=f"^{allowed}, got ") as error:
        normal_probabilities(parameters)
    assert "\n" not in str(error.value)
