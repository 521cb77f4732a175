"""The environments of the arena are those that are stated: drawn again here, slowly, from the same uniform numbers."""

import math
import zlib
from statistics import NormalDist

import numpy as np
import pytest

import driftbandit as db
from driftbandit.arena.families import FAMILIES, chosen_families
from driftbandit.arena.world import World

DRAWS = (1, 2)


def uniforms(family: str, number: int, draw: int):
    stream = np.random.Generator(np.random.PCG64([zlib.crc32(family.encode()), number, draw]))
    return lambda: float(stream.random())


def magnitude(u: float, low: float, high: float) -> float:
    return float(f"{low * (high / low) ** u:.3g}")


def worlds(family: str, draw: int) -> list[World]:
    [found] = [list(each.worlds(draw)) for each in FAMILIES if each.id == family]
    return found


def switching(family: str, number: int, draw: int, low: float, high: float, together: bool, top: float):
    u = uniforms(family, number, draw)
    n_arms, hazard = 2 + int(9 * u()), magnitude(u(), low, high)
    events = [[u() < hazard for _ in range(1 if together else n_arms)] for _ in range(4999)]
    fresh = [[round(top * u(), 4) for _ in range(n_arms)] for _ in range(5000)]
    means = [fresh[0]]
    for t in range(1, 5000):
        event = events[t - 1]
        means.append([fresh[t][k] if event[0 if together else k] else means[-1][k] for k in range(n_arms)])
    return means


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    ("family", "low", "high", "together", "top"),
    [
        ("switching-together", 0.0005, 0.02, lambda number: True, 1.0),
        ("switching-alone", 0.0002, 0.01, lambda number: False, 1.0),
        ("switching-low", 0.0002, 0.01, lambda number: number % 2 == 1, 0.3),
    ],
)
def test_switches_come_by_hazard(family, low, high, together, top, draw) -> None:
    found = worlds(family, draw)
    assert len(found) == 4
    for number, world in enumerate(found, 1):
        expected = switching(family, number, draw, low, high, together(number), top)
        np.testing.assert_allclose(world.means, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("draw", DRAWS)
def test_walks_move_normally_and_are_reflected(draw) -> None:
    for number, world in enumerate(worlds("walks", draw), 1):
        u = uniforms("walks", number, draw)
        n_arms, volatility = 2 + int(9 * u()), magnitude(u(), 0.002, 0.05)
        line = [u() for _ in range(n_arms)]
        rows = [list(line)]
        for _ in range(4999):
            line = [place + volatility * NormalDist().inv_cdf(u()) for place in line]
            rows.append(list(line))
        expected = [[1 - abs(1 - place % 2) for place in row] for row in rows]
        np.testing.assert_allclose(world.means, expected, rtol=0, atol=5.1e-5)
        assert np.abs(np.diff(world.means, axis=0)).std() == pytest.approx(volatility * 0.6, rel=0.15)


@pytest.mark.parametrize("draw", DRAWS)
def test_waves_have_periods_phases_and_heights_of_their_own(draw) -> None:
    for number, world in enumerate(worlds("sinusoids", draw), 1):
        u = uniforms("sinusoids", number, draw)
        n_arms = 2 + int(9 * u())
        assert world.n_arms == n_arms
        for k in range(n_arms):
            period, phase, height = magnitude(u(), 50, 5000), 2 * math.pi * u(), 0.1 + 0.3 * u()
            middle = height + (1 - 2 * height) * u()
            expected = [middle + height * math.sin(2 * math.pi * t / period + phase) for t in range(1, 5001)]
            np.testing.assert_allclose(world.means[:, k], expected, rtol=0, atol=5.1e-5)


@pytest.mark.parametrize("draw", DRAWS)
def test_the_sampler_of_kaufmann_moves_arms_at_six_change_points(draw) -> None:
    for world in worlds("kaufmann", draw):
        points = list(world.environment.change_points)
        assert len(points) == 6
        assert min(np.diff([1, *points, 20001])) >= 1000
        moves = np.abs(np.diff(np.array(world.environment.levels), axis=0))
        assert np.all((moves == 0) | ((moves > 0.0499) & (moves < 0.3001)))
        assert 0 < (moves > 0).mean() < 1


@pytest.mark.parametrize("draw", DRAWS)
def test_stationary_means_stay_and_some_are_close(draw) -> None:
    found = worlds("stationary", draw)
    assert [world.n_arms for world in found] == [2, 4, 10, 2, 4, 10]
    for world in found:
        assert world.changes == world.variation == world.single_arm_regret == 0
        assert np.ptp(world.means[0]) <= 0.1001 or not world.id.endswith("close")


def test_the_paper_s_the_published_and_the_recorded_ones_do_not_depend_on_the_draw() -> None:
    for family in FAMILIES[:5]:
        assert [world.environment for world in family.worlds(1)] == [world.environment for world in family.worlds(2)]
    texts = [str(world.environment) for world in worlds("fast", 1)]
    assert texts == ["fast:n_arms=2", "fast", "fast:n_arms=10", "fast:n_arms=50", "fast:rested=true"]
    assert [world.horizon for world in worlds("published", 1)] == [10000, 5000, 5000, 20000, 5000, 1000, 1000, 1000]


def test_recorded_worlds_are_the_tables_of_the_package() -> None:
    hours, days, weather = worlds("recorded", 1)
    assert [(world.horizon, world.n_arms) for world in (hours, days, weather)] == [(5475, 7), (5475, 7), (1461, 2)]
    np.testing.assert_array_equal(hours.means, db.datasets.flights().means.values)
    np.testing.assert_array_equal(days.means, db.datasets.flights(by="day").means.values.repeat(15, axis=0))
    np.testing.assert_array_equal(weather.means, db.datasets.weather().means.values)


def test_a_draw_is_the_same_each_time_and_another_one_differs_everywhere() -> None:
    for family in FAMILIES[5:]:
        for first, again, other in zip(family.worlds(1), family.worlds(1), family.worlds(2), strict=True):
            assert first == again
            assert first.id == other.id
            assert first.environment != other.environment


def test_there_are_some_fifty_and_their_ids_differ() -> None:
    names = [world.id for some in chosen_families(None, 1, ()).values() for world in some]
    assert 50 <= len(names) == len(set(names)) <= 60
    assert not set(names) & {family.id for family in FAMILIES}


def test_what_can_be_told_of_a_world() -> None:
    table = np.array([[0.1, 0.9, 0.5], [0.2, 0.9, 0.5], [0.3, 0.2, 0.5], [0.9, 0.2, 0.5], [0.9, 0.9, 0.5]])
    smooth = World("smooth", db.FromMeans(means=table), 5)
    assert smooth.changes == 2  # the best arm is 1, 1, 2, 0, and 0 again where 1 is as good
    assert smooth.variation == pytest.approx(0.1 + 0.7 + 0.6 + 0.7)
    assert smooth.single_arm_regret == pytest.approx((0.3 + 0.7) / 5)  # of arm 1
    still = World("still", db.Piecewise(levels=[[0.1, 0.9], [0.2, 0.9], [0.8, 0.1]], change_points=[5, 9]), 20)
    assert still.changes == 2
    rested = World("rested", db.FromMeans(means=table, rested=True), 5)
    assert rested.single_arm_regret == pytest.approx((0.3 + 0.3) / 5)  # arm 1 against 0.5, where arm 2 stays


def test_ids_choose_families_and_environments_and_tables_come_last(table) -> None:
    chosen = chosen_families(["walks", "fast-2", "tables"], 1, [table])
    assert {family.id: [world.id for world in some] for family, some in chosen.items()} == {
        "fast": ["fast-2"], "walks": [f"walks-{n}" for n in range(1, 6)], "tables": ["table-my-means"],
    }  # fmt: skip
    [world] = next(some for family, some in chosen.items() if family.id == "tables")
    assert (world.horizon, world.n_arms, world.changes) == (200, 2, 3)
