"""Selection probabilities against an independent oracle at 50 digits (tests/exact/oracle.py)."""

import json
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy import special
from tests.exact import oracle

from driftbandit.exact import (
    alternating_form,
    positive_form,
    ratio_density,
    selection_probabilities,
    suboptimal_probability,
)

REFERENCE = json.loads((Path(__file__).parent / "data" / "reference.json").read_text(encoding="utf-8"))
KINDS = sorted({(row["kind"], len(row["parameters"])) for row in REFERENCE})


def relative_errors(row):
    found = selection_probabilities(row["parameters"], optimistic=row["optimistic"])
    with mp.workdps(50):
        for mine, exact in zip(found, map(mp.mpf, row["probabilities"]), strict=True):
            if exact > mp.mpf("1e-300"):
                yield float(abs(mp.mpf(float(mine)) - exact) / exact)


@pytest.mark.parametrize(("kind", "n_arms"), KINDS)
def test_every_probability_above_1e_300_is_right_to_1e_12(kind, n_arms):
    rows = [row for row in REFERENCE if row["kind"] == kind and len(row["parameters"]) == n_arms]
    errors = [error for row in rows for error in relative_errors(row)]
    assert errors
    assert max(errors) <= 1e-12


def test_the_reference_holds_what_it_should():
    assert {len(row["parameters"]) for row in REFERENCE} >= {2, 3, 10}
    assert {row["optimistic"] for row in REFERENCE} == {True, False}
    smallest = min(mp.mpf(p) for row in REFERENCE for p in row["probabilities"] if mp.mpf(p) > 0)
    assert smallest < mp.mpf("1e-100")
    with mp.workdps(50):
        for row in REFERENCE:
            assert abs(mp.fsum(map(mp.mpf, row["probabilities"])) - 1) < mp.mpf("1e-20")


def test_the_oracle_agrees_with_itself_and_with_closed_forms():
    """For whole numbers P(θ2 > θ1) is a finite sum; one state of the file is computed anew."""
    a1, b1, a2, b2 = 7, 3, 4, 5
    with mp.workdps(50):
        closed = mp.fsum(
            mp.beta(a1 + i, b1 + b2) / ((b2 + i) * mp.beta(1 + i, b2) * mp.beta(a1, b1)) for i in range(a2)
        )
        found = oracle.probabilities([(a1, b1), (a2, b2)])[1]
        assert abs(found - closed) < mp.mpf("1e-40")
    assert float(suboptimal_probability(a1, b1, a2, b2)) == pytest.approx(float(closed), rel=1e-13)


def test_a_thousand_arms_sum_to_one():
    shapes = np.exp(np.random.default_rng(5).uniform(np.log(1e-2), np.log(1e4), size=(1000, 2)))
    for optimistic in (False, True):
        found = selection_probabilities(shapes, optimistic=optimistic)
        assert np.all(found >= 0)
        assert abs(found.sum() - 1) <= 1e-12


def test_the_printed_form_fails_where_the_facts_say_and_the_positive_form_does_not():
    exact = 0.2048360
    assert float(suboptimal_probability(30.5, 20.3, 28.2, 25.9)) == pytest.approx(exact, abs=1e-7)
    assert float(positive_form(30.5, 20.3, 28.2, 25.9)) == pytest.approx(exact, abs=1e-7)
    assert abs(float(alternating_form(30.5, 20.3, 28.2, 25.9)) - exact) > 1e-8  # eight digits are gone
    assert abs(float(alternating_form(305, 203, 282, 259))) > 1e100
    assert float(suboptimal_probability(305, 203, 282, 259)) == pytest.approx(
        float(positive_form(305, 203, 282, 259)), rel=1e-11
    )


def test_the_density_of_the_ratio_is_the_papers_where_its_2f1_is_safe():
    a1, b1, a2, b2 = 2.5, 1.7, 3.2, 2.1
    omega = np.array([0.1, 0.4, 0.9, 1.0])
    printed = (
        special.beta(a1 + a2, b2) / (special.beta(a1, b1) * special.beta(a2, b2)) * omega ** (a1 - 1)
        * special.hyp2f1(a1 + a2, 1 - b1, a1 + a2 + b2, omega)
    )  # fmt: skip
    assert ratio_density(omega, a1, b1, a2, b2) == pytest.approx(printed, rel=1e-10)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    below = np.sum(weights / 2 * ratio_density((nodes + 1) / 2, a1, b1, a2, b2))
    assert below == pytest.approx(float(suboptimal_probability(a1, b1, a2, b2)), rel=1e-9)
