"""Selection probabilities of scores that are made of several Beta samples: fractions, another quadrature, draws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import driftbandit as db
from driftbandit.exact import selection_probabilities
from driftbandit.exact.scores import mixture_probabilities, two_beta_probabilities

COMBINED = {
    "larger of two betas": np.maximum,
    "smaller of two betas": np.minimum,
    "mean of two betas": lambda x, y: (x + y) / 2,
}
STATES = [
    [(2, 1, 1, 1), (1, 1, 1, 1)],
    [(1.05, 3.2, 2.5, 1), (1.4, 1.4, 1, 1.9), (7, 2, 1.01, 1.02)],
    [(1, 1, 800, 200), (500, 150, 1, 1), (3, 1.5, 30, 9), (1, 1, 1, 1)],
    [(40, 3, 1, 1.5), (90, 20, 12, 4), (35, 9, 21, 5), (1, 1, 1, 60), (300, 40, 1, 1)],
]
SHAPES = st.floats(1.0, 1e4) | st.floats(1.0, 3.0) | st.integers(1, 40)
ARMS = st.lists(st.tuples(SHAPES, SHAPES, SHAPES, SHAPES), min_size=2, max_size=4)


def polynomial(a, b):
    """The coefficients of a Beta density with whole shapes."""
    scale = Fraction(math.factorial(a + b - 1), math.factorial(a - 1) * math.factorial(b - 1))
    return {a - 1 + i: scale * math.comb(b - 1, i) * (-1) ** i for i in range(b)}


def product(first, second):
    out = {}
    for (i, x), (j, y) in itertools.product(first.items(), second.items()):
        out[i + j] = out.get(i + j, Fraction()) + x * y
    return out


def integral(polynomial):
    return {i + 1: x / (i + 1) for i, x in polynomial.items()}


def lower_half(a, b, c, d):
    """The density of a sum of two samples, up to 1: a polynomial."""
    out = {}
    for (i, x), (j, y) in itertools.product(polynomial(a, b).items(), polynomial(c, d).items()):
        share = Fraction(math.factorial(i) * math.factorial(j), math.factorial(i + j + 1))
        out[i + j + 1] = out.get(i + j + 1, Fraction()) + x * y * share
    return out


def beats(first, second):
    """The probability that the sum of the first two samples is above that of the second two, as a fraction.

    Beyond 1 both are turned round: what is above there is 2 less a sum below 1 of samples with exchanged shapes.
    """
    turned = [(b, a, d, c) for a, b, c, d in (first, second)]
    below = product(lower_half(*first), integral(lower_half(*second)))
    above = product(lower_half(*turned[0]), integral(lower_half(*turned[1])))
    mass_above = sum(integral(lower_half(*turned[0])).values())
    return sum(integral(below).values()) + mass_above - sum(integral(above).values())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((2, 1, 1, 1), (1, 1, 1, 1)),
        ((3, 2, 1, 1), (2, 5, 4, 1)),
        ((9, 4, 1, 1), (6, 3, 12, 7)),
        ((30, 11, 2, 1), (1, 1, 1, 1)),
    ],
)
def test_the_mean_of_two_samples_with_whole_shapes_agrees_with_fractions(first, second):
    exact = float(beats(first, second))
    found = two_beta_probabilities([first, second], "mean of two betas")
    assert found == pytest.approx([exact, 1 - exact], abs=1e-12)


def double_exponential(step=0.06):
    """Nodes between 0 and 1, how far they are from 1, and weights (Takahasi and Mori 1974)."""
    t = np.arange(-3.6, 3.6, step)
    inner = np.pi / 2 * np.sinh(t)
    return special.expit(2 * inner), special.expit(-2 * inner), step * np.pi / 4 * np.cosh(t) / np.cosh(inner) ** 2


def mean_by_another_quadrature(arms):
    """All arms at the same places, by double-exponential quadrature inside and outside; H as ∫ f(u)·G(2x − u) du."""
    share, rest, weights = double_exponential()
    total = np.zeros(len(arms))
    for upper in (False, True):
        near = 0.5 * share[:, None]  # x below ½, or 1 − x above it
        u, v = 2 * near * share, 2 * near * rest
        far_u, far_v = (rest[:, None] + 2 * near * each for each in (rest, share))  # 1 − u and 1 − v
        h, below = [], []
        for a, b, c, d in arms:
            if upper:  # turned round: 1 − u and 1 − v are what is near 0
                a, b, c, d = b, a, d, c
            f = np.exp((a - 1) * np.log(u) + (b - 1) * np.log(far_u) - special.betaln(a, b))
            g = np.exp((c - 1) * np.log(v) + (d - 1) * np.log(far_v) - special.betaln(c, d))
            h.append(2 * (2 * near[:, 0]) * (weights * f * g).sum(axis=1))
            cdf = (2 * near[:, 0]) * (weights * f * special.betainc(c, d, v)).sum(axis=1)
            below.append(1 - cdf if upper else cdf)
        for k in range(len(arms)):
            others = np.prod([below[j] for j in range(len(arms)) if j != k], axis=0)
            total[k] += (0.5 * weights * h[k] * others).sum()
    return total


@pytest.mark.parametrize("arms", [STATES[0], STATES[1], [(1.3, 1, 9.5, 4), (6, 2.2, 1, 1.1), (2, 1, 1.7, 1)]])
def test_the_mean_of_two_samples_agrees_with_another_quadrature(arms):
    assert two_beta_probabilities(arms, "mean of two betas") == pytest.approx(
        mean_by_another_quadrature(arms), abs=1e-10
    )


@pytest.mark.parametrize("arms", STATES)
def test_the_smaller_of_two_samples_is_the_larger_turned_round(arms):
    """With two arms: the smaller of 1 − θ is 1 less the larger, and who has the larger has not the smaller."""
    for first, second in itertools.combinations(arms, 2):
        turned = [(b, a, d, c) for a, b, c, d in (first, second)]
        found = two_beta_probabilities(turned, "smaller of two betas")
        assert found == pytest.approx(two_beta_probabilities([first, second], "larger of two betas")[::-1], abs=1e-12)


@pytest.mark.parametrize("law", COMBINED)
@pytest.mark.parametrize("arms", STATES)
def test_half_a_million_draws_agree(law, arms):
    """Within 4.5 standard errors."""
    draws, shapes, rng = 500_000, np.array(arms, float), np.random.default_rng(7)
    x, y = (rng.beta(shapes[:, i], shapes[:, i + 1], size=(draws, len(arms))) for i in (0, 2))
    found = np.bincount(COMBINED[law](x, y).argmax(axis=1), minlength=len(arms)) / draws
    expected = two_beta_probabilities(arms, law)
    assert expected.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / draws) + 1e-9)


@settings(max_examples=25, deadline=None)
@given(ARMS, st.sampled_from(["smaller of two betas", "mean of two betas"]))
def test_the_order_of_arms_and_of_their_samples_does_not_matter(arms, law):
    found = two_beta_probabilities(arms, law)
    assert np.all(found >= 0)
    assert two_beta_probabilities([(c, d, a, b) for a, b, c, d in reversed(arms)], law) == pytest.approx(
        found[::-1], abs=1e-9
    )


@pytest.mark.parametrize("law", COMBINED)
def test_arms_that_are_alike_share_evenly_and_states_are_answered_one_by_one(law):
    alike = two_beta_probabilities([(3, 2, 1, 4)] * 40, law)
    assert alike == pytest.approx(np.full(40, 1 / 40), abs=1e-12)
    states = 1 + np.random.default_rng(3).uniform(0, 9, size=(2, 3, 4, 4))
    found = two_beta_probabilities(states, law)
    assert found.shape == (2, 3, 4)
    assert found[1, 2] == pytest.approx(two_beta_probabilities(states[1, 2], law), abs=1e-14)


@pytest.mark.parametrize("scale", [1e-3, 0.05, 1.0, 30.0, 1e5])
def test_a_mixture_of_one_law_is_that_law(scale):
    shapes = np.random.default_rng(2).uniform(0.5, 2, size=(5, 2)) * scale
    a, b = shapes[:, :1], shapes[:, 1:]
    expected = selection_probabilities(shapes)
    assert mixture_probabilities(np.ones((5, 1)), a, b) == pytest.approx(expected, abs=1e-11)
    twice = [np.repeat(each, 2, axis=1) for each in (np.full((5, 1), 0.3), a, b)]
    assert mixture_probabilities(*twice) == pytest.approx(expected, abs=1e-11)


def test_a_mixture_is_the_mixture_of_all_combinations_of_its_laws():
    rng = np.random.default_rng(4)
    weights, a, b = rng.uniform(size=(3, 3)), rng.uniform(0.3, 40, size=(3, 3)), rng.uniform(0.3, 40, size=(3, 3))
    weights[1, 2] = 0.0
    shares = weights / weights.sum(axis=1, keepdims=True)
    expected = np.zeros(3)
    for chosen in itertools.product(range(3), repeat=3):
        arms = [(a[k, i], b[k, i]) for k, i in enumerate(chosen)]
        expected += np.prod([shares[k, i] for k, i in enumerate(chosen)]) * selection_probabilities(arms)
    assert mixture_probabilities(weights, a, b) == pytest.approx(expected, abs=1e-12)
    many = mixture_probabilities(*(np.stack([each, each]) for each in (weights, a, b)))
    assert many == pytest.approx(np.stack([expected, expected]), abs=1e-12)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: two_beta_probabilities([(1, 1, 0.5, 1)] * 2, "mean of two betas"), "shapes must be numbers of at le"),
        (lambda: two_beta_probabilities([(1, 1)], "mean of two betas"), "shapes must be numbers of at least 1"),
        (lambda: mixture_probabilities([[0.0]], [[1]], [[1]]), "weights must be numbers of at least 0, not all 0"),
        (lambda: mixture_probabilities([[1.0]], [[1, 2]], [[1]]), "weights, alphas and betas must be arrays of one"),
        (lambda: mixture_probabilities([[1.0]], [[-1]], [[1]]), "alphas must be positive finite numbers"),
    ],
)
def test_what_makes_no_sense_is_answered_in_one_line(call, told):
    with pytest.raises(db.InvalidValue, match=f"^{told}") as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("size", [50, 1000, 60_000])
@pytest.mark.parametrize("law", ["mean of two betas", "smaller of two betas"])
def test_two_laws_that_are_equally_narrow_are_integrated_too(size: float, law: str) -> None:
    shapes = [(0.4 * size, 0.6 * size) * 2, (0.41 * size, 0.59 * size) * 2]
    found = two_beta_probabilities(shapes, law)
    rng = np.random.default_rng(1)
    draws = np.stack([rng.beta(a, b, (2, 200_000)) for a, b, _, _ in shapes])
    score = draws.mean(axis=1) if law.startswith("mean") else draws.min(axis=1)
    assert abs(found[0] - (score[0] > score[1]).mean()) < 5 * 0.5 / np.sqrt(200_000)


def test_millions_of_counts_are_not_too_many() -> None:
    for law in ("mean of two betas", "smaller of two betas"):
        found = two_beta_probabilities([(5e6, 5e6, 3e4, 3e4), (5e6 + 1000, 5e6, 3e4, 3e4)], law)
        assert found.sum() == pytest.approx(1.0)
    mixed = mixture_probabilities([[0.5, 0.5], [1, 0]], [[1e7, 1], [1, 1]], [[1e7, 1], [1, 1]])
    assert mixed[0] == pytest.approx(0.5, abs=1e-6)
