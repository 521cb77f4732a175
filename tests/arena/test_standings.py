"""Ratios, profiles and summaries, against what a hand computes."""

import math

import numpy as np
import pytest

import driftbandit as db
from driftbandit.arena.entrants import Entrant
from driftbandit.arena.families import Family
from driftbandit.arena.standings import Showing, Standings, geometric_mean, profile, ratio
from driftbandit.arena.world import World
from driftbandit.engine.estimate import Estimate

ONE = Entrant("one", "untold", "one")


def standings(**families: list[float]) -> Standings:
    worlds = {
        Family(name, name, "", lambda _: ()): [World(f"{name}-{n}", db.Fast(), 10) for n in range(len(ratios))]
        for name, ratios in families.items()
    }
    showings = {
        (world, ONE): Showing("one", Estimate(value, 0.0), 5, value)
        for some, ratios in zip(worlds.values(), families.values(), strict=True)
        for world, value in zip(some, ratios, strict=True)
    }
    return Standings(worlds, [ONE], {}, showings)


def test_a_ratio_is_regret_by_regret_and_one_where_nobody_has_any() -> None:
    assert ratio(0.3, 0.2) == pytest.approx(1.5)
    assert ratio(0.0, 0.2) == 0.0
    assert ratio(0.0, 0.0) == 1.0
    assert ratio(0.1, 0.0) == math.inf


def test_the_geometric_mean_is_the_root_of_the_product() -> None:
    assert geometric_mean(np.array([1.0, 4.0, 2.0])) == pytest.approx(2.0)
    assert geometric_mean(np.array([0.0, 4.0])) == pytest.approx(0.2)  # no regret counts as a hundredth
    assert geometric_mean(np.array([math.inf, 4.0])) == math.inf


def test_a_profile_counts_environments_up_to_each_ratio() -> None:
    ratios = np.array([3.0, 0.5, 1.0, 1.0, 40.0, 0.1])
    x, y = profile(ratios, (0.25, 16.0))
    for tau in (0.26, 0.6, 1.5, 2.9, 3.1, 15.9):
        last = np.flatnonzero(x <= tau)[-1]
        assert y[last] == pytest.approx(sum(value <= tau for value in ratios) / 6)
    assert (x[0], y[0], x[-1], y[-1]) == (0.25, pytest.approx(1 / 6), 16.0, pytest.approx(5 / 6))
    assert np.all(np.diff(x) >= 0)
    assert np.all(np.diff(y) >= 0)


def test_a_summary_over_families() -> None:
    summary = standings(a=[1.0, 4.0], b=[2.0, 1.04]).summary(ONE)
    assert summary.geometric_mean == pytest.approx((1 * 4 * 2 * 1.04) ** 0.25)
    assert (summary.worst, summary.worst_world) == (4.0, "a-1")
    assert summary.near == 0.5
    # of two families both are drawn half of the time, and each alone a quarter of it
    assert summary.geometric_mean_interval == pytest.approx((2.08**0.5, 2.0))
    assert summary.worst_interval == (2.0, 4.0)
    assert summary.near_interval == (0.5, 0.5)


def test_one_family_has_no_interval_and_neither_has_what_is_infinite() -> None:
    assert all(map(math.isnan, standings(a=[1.0, 2.0]).summary(ONE).geometric_mean_interval))
    summary = standings(a=[1.0, math.inf], b=[1.0]).summary(ONE)
    assert summary.geometric_mean == summary.worst == math.inf
    assert all(map(math.isnan, summary.geometric_mean_interval))
    assert summary.near == pytest.approx(2 / 3)


def test_intervals_cover_what_families_are_drawn_from() -> None:
    dice = np.random.default_rng(3)
    held = 0
    for _ in range(100):
        families = {f"f{n}": [float(np.exp(dice.normal(0.2, 0.5)))] for n in range(12)}
        low, high = standings(**families).summary(ONE).geometric_mean_interval
        held += low <= math.exp(0.2) <= high
    assert held >= 82  # 92.5 of 100 expected for twelve families, with a standard deviation of 2.6
