import dataclasses

import numpy as np
import pytest

from driftbandit.engine.estimate import Estimate
from driftbandit.paper.claims import CLAIMS, check, judged, mathematics
from driftbandit.paper.claims.judgement import _judge
from driftbandit.paper.findings import NotRun
from driftbandit.paper.profiles import PUBLISHED, TEXT
from driftbandit.paper.record import Record

BY_ID = {claim.id: claim for claim in CLAIMS}
RUNS = 40
NOISE = np.random.default_rng(0).normal(0, 0.01, (RUNS, 5))


def record(*regret, noise=1.0, start=None):
    """A record with this normalised regret at the last step, and at the others."""
    curve = np.array(regret * 5 if len(regret) == 1 else regret)
    values = curve + noise * NOISE
    steps = np.array([1000, 2000, 3000, 4000, 5000], np.int32)
    return Record(
        steps, values.mean(0), 1.96 * values.std(0) / RUNS**0.5, 1 - curve, 0 * curve, steps, 1 - curve, 0 * curve,
        steps, values, 1 - values[:, -1], 1 - values[:, -1], np.array([0.5]),
    )  # fmt: skip


class Made:
    """Findings that were made up: a record for each policy, the same in every environment and along every axis."""

    profiles = (TEXT,)
    fits: dict = {}  # noqa: RUF012

    def __init__(self, **records):
        self.records = {name.replace("_", "-"): each for name, each in records.items()}

    def record(self, experiment, profile, policy, x=None, y=None):
        found = self.records.get(f"{policy}@{x:g}" if x is not None else policy) or self.records.get(policy)
        if found is None:
            raise NotRun(policy)
        return found

    def curve(self, experiment, profile, policy, y=None):
        found = self.records.get(f"curve {policy}")
        if found is None:
            raise NotRun(policy)
        return found


def verdict(claim, findings):
    return _judge(BY_ID[claim], TEXT, findings).verdict


def test_ids_run_from_c1_to_c22_and_every_rule_is_written_down():
    assert [claim.id for claim in CLAIMS] == [f"C{number}" for number in range(1, 23)]
    assert all(len(claim.rule) > 40 for claim in CLAIMS)


def test_what_was_not_run_is_not_judged():
    assert verdict("C5", Made()) == "not run"
    assert verdict("C12", Made()) == "not run"


@pytest.mark.parametrize(
    ("dts", "dots", "expected"),
    [(0.3, 0.2, "holds"), (0.2, 0.3, "fails"), (0.2, 0.2, "fails")],
)
def test_one_policy_better_than_another(dts, dots, expected):
    assert verdict("C5", Made(dTS=record(dts), dOTS=record(dots))) == expected


def test_an_interval_that_straddles_leaves_a_claim_open():
    noisy = record(0.199)
    noisy = dataclasses.replace(noisy, regret=noisy.regret[::-1].copy())
    assert verdict("C5", Made(dTS=record(0.2), dOTS=noisy)) == "undecided"


def test_one_comparison_that_fails_is_enough():
    rivals = {"TS": record(0.4), "Dynamic TS": record(0.4), "REXP3": record(0.25)}
    good = Made(**rivals, dTS=record(0.2), dOTS=record(0.1))
    assert verdict("C6", good) == "holds"
    assert verdict("C6", Made(**rivals, dTS=record(0.3), dOTS=record(0.1))) == "fails"


@pytest.mark.parametrize(
    ("first", "last", "expected"), [(0.40, 0.41, "holds"), (0.40, 0.30, "fails"), (0.30, 0.40, "fails")]
)
def test_almost_constant_is_ten_per_cent(first, last, expected):
    moving = record(first, first, last, last, last)
    found = Made(**{"Dynamic TS": moving, "REXP3": moving, "dTS": moving, "dOTS": moving})
    assert verdict("C1", found) == expected
    assert verdict("C2", Made(TS=moving)) == ("holds" if last > first else "fails")


def test_a_peak_must_stand_out_on_both_sides():
    curve = {0.9: record(0.15), 0.95: record(0.19), 1.0: record(0.17)}
    assert verdict("C13", Made(**{"curve dTS": curve, "curve dOTS": curve})) == "holds"
    flat = curve | {1.0: record(0.21)}
    assert verdict("C13", Made(**{"curve dTS": flat, "curve dOTS": flat})) == "fails"


def test_one_valley_is_smooth_and_two_are_not():
    valley = {0.2: record(0.3), 0.4: record(0.2), 0.6: record(0.25), 1.0: record(0.4)}
    assert verdict("C12", Made(**{"curve dTS": valley, "curve dOTS": valley})) == "holds"
    noise = np.random.default_rng(1)
    hump = {x: dataclasses.replace(each, regret=each.regret + noise.normal(0, 1e-3, each.regret.shape))
            for x, each in (valley | {0.5: record(0.4)}).items()}  # fmt: skip
    hump = dict(sorted(hump.items()))
    assert verdict("C12", Made(**{"curve dTS": hump, "curve dOTS": hump})) == "fails"


def test_positive_is_open_without_an_interval():
    assert check.positive(Estimate(1.0, float("nan"))) is None
    assert check.positive(Estimate(0.0, 0.0)) is False
    assert check.all_of([True, None]) is None
    assert check.all_of([None, False]) is False


def test_the_expression_is_right_and_its_condition_is_not_needed():
    assert all(check.outcome for check in mathematics.expression_right(Made(), TEXT))
    assert not any(check.outcome for check in mathematics.condition_needed(Made(), TEXT))


def test_the_integrated_density_knows_closed_forms():
    # θ1 ~ Beta(1, b): P(θ2 > θ1) = 1 − E[(1 − θ2)^b]
    from scipy.special import beta

    for b, a2, b2 in ((0.3, 2.5, 0.6), (0.05, 0.4, 0.1)):
        expected = 1 - beta(a2, b2 + b) / beta(a2, b2)
        assert mathematics.integrated_density(1.0, b, a2, b2) == pytest.approx(expected, abs=1e-11)


def test_an_unchosen_arm_keeps_its_mean_under_both_rules():
    for profile in (TEXT, PUBLISHED):
        assert all(check.outcome for check in mathematics.unchosen_arm(Made(), profile))


def test_every_claim_is_judged_under_every_profile():
    found = Made(dTS=record(0.3), dOTS=record(0.2))
    assert len(judged(found)) == len(CLAIMS)
