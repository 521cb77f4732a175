"""What must hold for any posteriors, and agreement with ten million draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import driftbandit as db
from driftbandit.exact import ratio_density, selection_probabilities, suboptimal_probability

SHAPES = st.floats(-6.9, 13.8).map(np.exp)
ARMS = st.lists(st.tuples(SHAPES, SHAPES), min_size=2, max_size=6)


@settings(max_examples=60)
@given(ARMS, st.booleans())
def test_probabilities_sum_to_one_and_none_is_negative(arms, optimistic):
    found = selection_probabilities(arms, optimistic=optimistic)
    assert np.all(found >= 0)
    assert abs(found.sum() - 1) <= 1e-12


@settings(max_examples=40)
@given(ARMS, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_the_arms_does_not_matter(arms, optimistic, source):
    order = list(range(len(arms)))
    source.shuffle(order)
    found = selection_probabilities(arms, optimistic=optimistic)
    shuffled = selection_probabilities([arms[i] for i in order], optimistic=optimistic)
    assert shuffled == pytest.approx(found[order], rel=1e-11, abs=1e-300)


@settings(max_examples=40)
@given(SHAPES, SHAPES, SHAPES, SHAPES)
def test_exchanging_and_turning_round_two_arms_agree(a1, b1, a2, b2):
    found = float(suboptimal_probability(a1, b1, a2, b2))
    assert float(suboptimal_probability(a2, b2, a1, b1)) == pytest.approx(1 - found, rel=1e-12, abs=1e-12)
    assert float(suboptimal_probability(b2, a2, b1, a1)) == pytest.approx(found, rel=1e-11, abs=1e-300)


@settings(max_examples=30)
@given(SHAPES, SHAPES, SHAPES, SHAPES)
def test_a_success_more_never_lowers_an_arms_probability(a1, b1, a2, b2):
    before = selection_probabilities([(a1, b1), (a2, b2)])[0]
    after = selection_probabilities([(a1 + 1, b1), (a2, b2)])[0]
    assert after >= before * (1 - 1e-12)


@pytest.mark.parametrize("optimistic", [False, True])
@pytest.mark.parametrize(
    "arms",
    [
        [(1, 1), (1, 1)],
        [(1, 1), (5000, 300)],
        [(30.5, 20.3), (28.2, 25.9), (10, 9)],
        [(0.3, 0.2), (2, 5), (50, 60), (0.5, 0.5)],
        [(1.5, 1), (1, 1), (1, 1), (1, 1), (1, 1)],
    ],
)
def test_a_million_draws_agree(arms, optimistic):
    """With the ten states, ten million draws in all; within 4.5 standard errors."""
    draws = 1_000_000
    rng = np.random.default_rng(11)
    shapes = np.array(arms, dtype=float)
    theta = rng.beta(shapes[:, 0], shapes[:, 1], size=(draws, len(arms)))
    if optimistic:
        theta = np.maximum(theta, shapes[:, 0] / shapes.sum(axis=1))
    best = theta == theta.max(axis=1, keepdims=True)
    found = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    expected = selection_probabilities(arms, optimistic=optimistic)
    assert np.all(np.abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / draws) + 1e-12)


def test_one_arm_is_certain_and_extremes_do_not_break_it():
    assert selection_probabilities([(3, 4)]).tolist() == [1.0]
    for arms in ([(1e-9, 1e-9), (1, 1)], [(1e9, 1), (1, 1e9)], [(1e12, 1e12), (1e12, 1e12)], [(1e-6, 1e6), (1, 1)]):
        found = selection_probabilities(arms)
        assert np.all(np.isfinite(found))
        assert abs(found.sum() - 1) <= 1e-9


@pytest.mark.parametrize(
    "parameters",
    [[], [()], [(1, 1, 1)], [(0, 1), (1, 1)], [(-1, 1), (1, 1)], [(np.nan, 1), (1, 1)], [(np.inf, 1), (1, 1)],
     "text", None, 3, [[1, 2], [3]], [("a", "b")], [(True, 1), (None, 2)]],
)  # fmt: skip
def test_wrong_parameters_are_answered_in_one_line(parameters):
    with pytest.raises(db.InvalidValue, match="parameters must be") as error:
        selection_probabilities(parameters)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, "x"])
def test_wrong_values_of_the_two_armed_functions_name_the_parameter(value):
    with pytest.raises(db.InvalidValue, match="a2 must be"):
        suboptimal_probability(1, 1, value, 1)
    with pytest.raises(db.InvalidValue, match="omega must be"):
        ratio_density(value, 1, 1, 1, 1)
