"""The paper's recursion for expected evidence, against its first steps by hand and against simulation."""

import dataclasses

import numpy as np
import pytest

import driftbandit as db
from driftbandit.exact import expected_path
from rules import Given

POLICIES = [
    db.ThompsonSampling(),
    db.OptimisticThompsonSampling(),
    db.DiscountedThompsonSampling(discount=0.9),
    db.DiscountedOptimisticThompsonSampling(discount=0.9),
    db.DiscountedThompsonSampling(discount=0.9, discounted_arms="played"),
]


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_the_first_two_steps_are_exact(policy):
    """At the first step the evidence is known; at the second the recursion's expectations are still exact."""
    environment = db.FromMeans(means=[[0.8, 0.3]])
    path = expected_path(policy, environment, 2)
    assert path.probabilities[0] == pytest.approx([0.5, 0.5], abs=1e-14)
    assert path.successes[1] == pytest.approx([0.4, 0.15], abs=1e-14)
    assert path.failures[1] == pytest.approx([0.1, 0.35], abs=1e-14)


def test_it_is_near_the_simulation_where_evidence_stays_close_to_its_mean():
    """With arms that differ and a fair memory, choice frequencies are within 0.05 of the recursion after a while."""
    environment = db.FromMeans(means=[[0.9, 0.1, 0.2]])
    policy = db.DiscountedThompsonSampling(discount=0.95)
    path = expected_path(policy, environment, 200)
    result = db.simulate(policy, environment, horizon=200, runs=4000, seed=3)
    found = result.choice_frequency.values[0]
    assert np.abs(found[50:] - path.probabilities[50:]).max() < 0.05
    assert path.regret[-1] == pytest.approx(
        (path.means.max(axis=1) - (path.means * found).sum(axis=1))[-20:].mean(), abs=0.03
    )


@pytest.mark.parametrize(
    ("policy", "environment", "horizon", "message"),
    [
        (db.UCB1(), db.Fast(), 5, "policy must be one of"),
        (db.DynamicThompsonSampling(threshold=5), db.Fast(), 5, "policy must be one of"),
        ("ucb1", db.Fast(), 5, "policy must be one of"),
        (3, db.Fast(), 5, "policy must be one of"),
        (db.ThompsonSampling(), db.Fast(rested=True), 5, "environment must be restless"),
        (db.ThompsonSampling(), db.Brownian(), 5, "environment must be restless"),
        (db.ThompsonSampling(), "brownian", 5, "environment must be restless"),
        (db.ThompsonSampling(), 3, 5, "environment must be restless"),
        (db.ThompsonSampling(), db.Fast(), 0, "horizon must be a whole number"),
    ],
)
def test_what_it_cannot_do_is_said_in_one_line(policy, environment, horizon, message):
    with pytest.raises(db.InvalidValue, match=message):
        expected_path(policy, environment, horizon)


@pytest.mark.parametrize(
    "change",
    [
        {"drift": (5.0, 0.0)},
        {"explore": 0.1},
        {"learn": lambda p, a, b, reward, q: (min(a + reward, 3.0), b + (1.0 - reward))},
        {"common": (1.0,)},
        {"alarm": lambda p, a, b: a > 3.0},
        {"restart": 7},
    ],
)
def test_rules_that_the_recursion_does_not_describe_are_refused(change) -> None:
    rule = dataclasses.replace(db.ThompsonSampling().rule(2), **change)
    with pytest.raises(db.InvalidValue, match="policy must be one of ts, ots, dts and dots"):
        db.expected_path(Given(given=rule), db.FromMeans(means=[[0.9, 0.1]]), 5)
