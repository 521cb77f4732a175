"""How the means of the environments that are known beforehand move."""

import math

import numpy as np
import pytest

import driftbandit as db
import naive

CLOCK = np.arange(1, 2001)


@pytest.mark.parametrize("n_arms", [2, 4, 5, 7])
@pytest.mark.parametrize(
    "make",
    [
        lambda k: db.Sinusoidal(period=100, n_arms=k),
        lambda k: db.Sinusoidal(period=77.7, n_arms=k),
        lambda k: db.Slow(n_arms=k),
        lambda k: db.Fast(n_arms=k),
        lambda k: db.Abrupt(n_arms=k),
        lambda k: db.Abrupt(period=33.5, n_arms=k),
    ],
)
def test_means_are_those_of_the_definition(make, n_arms: int) -> None:
    environment = make(n_arms)
    count, mean = naive.ENVIRONMENTS[environment.name](**environment.parameters())
    expected = [[mean(k, int(t)) for k in range(count)] for t in CLOCK]
    found = environment.means_at(CLOCK)
    assert found.shape == (len(CLOCK), n_arms)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-13)
    assert np.all((found >= 0) & (found <= 1))


def test_the_paper_s_abrupt_environment_has_its_levels_and_change_points() -> None:
    means = db.Abrupt().means_at(np.arange(1, 1001))
    for arm, (level, jump) in enumerate([(0.10, 50), (0.37, 100), (0.63, 150), (0.90, 200)]):
        assert set(means[:, arm]) == {0.0, level}
        ups = [t for t in range(1, 1000) if means[t - 1, arm] < means[t, arm]]
        downs = [t for t in range(1, 1000) if means[t - 1, arm] > means[t, arm]]
        assert [t + 1 for t in ups] == [jump, jump + 250, jump + 500, jump + 750]
        assert [t + 1 for t in downs] == [250, 500, 750, 1000]


@pytest.mark.parametrize(
    "environment", [db.Fast(), db.Slow(), db.Abrupt(), db.Sinusoidal(period=7), db.Abrupt(period=90, n_arms=7)], ids=str
)
def test_a_cycle_is_exact_to_the_bit(environment: db.Environment) -> None:
    cycle = environment.cycle
    assert cycle is not None
    first = environment.means_at(np.arange(1, cycle + 1))
    for later in (1, 2, 1000):
        np.testing.assert_allclose(first, environment.means_at(np.arange(1, cycle + 1) + later * cycle), atol=1e-12)


@pytest.mark.parametrize("environment", [db.Sinusoidal(period=7.5), db.Abrupt(period=90.1)], ids=str)
def test_a_period_that_is_no_whole_number_has_no_cycle(environment: db.Environment) -> None:
    assert environment.cycle is None


def test_far_out_on_the_clock_means_stay_right() -> None:
    t = 10**9 + 25
    assert db.Sinusoidal(period=100).means_at(np.array([t]))[0, 0] == pytest.approx(1.0)
    assert db.Sinusoidal(period=1e300).means_at(np.array([t]))[0, 0] == pytest.approx(0.5)


def test_slow_and_fast_are_the_sinusoids_of_the_paper() -> None:
    for environment, period in ((db.Slow(n_arms=6), 1000), (db.Fast(n_arms=6), 100)):
        same = db.Sinusoidal(period=period, n_arms=6)
        assert np.array_equal(environment.means_at(CLOCK), same.means_at(CLOCK))


@pytest.mark.parametrize(
    ("environment", "horizon", "changes"),
    [
        (db.EnvA(), 10000, [3001, 5001]),
        (db.Besson(problem=1), 5000, [1001, 2001, 3001, 4001]),
        (db.Besson(problem=2), 5000, [1001, 2001, 3001, 4001]),
        (db.Besson(problem=3), 20000, [2223, 4445, 6667, 8889, 11112, 13334, 15556, 17778]),
        (db.Besson(problem=4), 5000, [2501, 3126, 3751, 4376]),
        (db.FDSW(test=1), 1000, [252, 502]),
        (db.FDSW(test=2), 1000, [252, 502]),
        (db.FDSW(test=3), 1000, []),
    ],
    ids=str,
)
def test_published_problems_are_as_published(environment: db.Environment, horizon: int, changes: list[int]) -> None:
    assert environment.usual_horizon == horizon
    clock = np.arange(1, horizon + 1)
    count, mean = naive.ENVIRONMENTS[environment.name](**environment.parameters())
    found = environment.means_at(clock)
    assert found.tolist() == [[mean(k, int(t)) for k in range(count)] for t in clock]
    assert (1 + clock[:-1][np.any(found[1:] != found[:-1], axis=1)]).tolist() == changes
    assert environment.means_at(np.array([10 * horizon]))[0].tolist() == found[-1].tolist()


@pytest.mark.parametrize("number", [0, 1, 2, 2**32 - 1])
def test_a_random_problem_is_as_defined_and_its_changes_are_apart(number: int) -> None:
    environment = db.RandomPiecewise(number=number, changes=4, apart=50, length=600, n_arms=6)
    clock = np.arange(1, 601)
    _, mean = naive.ENVIRONMENTS["random-piecewise"](**environment.parameters())
    found = environment.means_at(clock)
    np.testing.assert_allclose(found, [[mean(k, int(t)) for k in range(6)] for t in clock], rtol=0, atol=1e-15)
    points = np.array([1, *environment.schedule.change_points, 601])
    assert np.all(np.diff(points) >= 50)
    steps = np.abs(np.diff(np.array(environment.schedule.levels), axis=0))
    assert np.all((steps == 0) | ((steps > 0.05 - 1e-12) & (steps < 0.3 + 1e-12)))
    assert np.all((found >= 0) & (found <= 1))
    assert environment.usual_horizon == 600


def test_random_problems_change_half_of_the_arms_in_both_directions() -> None:
    steps = np.concatenate([np.diff(db.RandomPiecewise(number=i).schedule.levels, axis=0).ravel() for i in range(300)])
    changed = steps[steps != 0]
    assert abs(len(changed) / len(steps) - 0.5) < 4 * 0.5 / math.sqrt(len(steps))
    assert abs(np.abs(changed).mean() - 0.175) < 4 * 0.25 / math.sqrt(12 * len(changed))
    assert 0.4 < (changed > 0).mean() < 0.6


def test_a_random_problem_must_have_room_for_its_changes() -> None:
    with pytest.raises(db.InvalidValue, match=r"^length must be more than apart·\(changes \+ 1\) = 7000, got 7000$"):
        db.RandomPiecewise(length=7000)


def test_what_is_stationary_stays() -> None:
    environment = db.Stationary(best=0.75, gap=0.25, n_arms=5)
    assert environment.means_at(np.array([1, 10**9])).tolist() == [[0.75, 0.5, 0.5, 0.5, 0.5]] * 2
    with pytest.raises(db.InvalidValue, match=r"^gap must be at most best, which is 0\.1, got 0\.2$"):
        db.Stationary(best=0.1, gap=0.2)


def test_a_table_has_as_many_steps_as_rows_and_most_others_any_number() -> None:
    assert db.FromMeans(means=[[0.1, 0.2]] * 7).usual_horizon == 7
    assert db.Fast().usual_horizon is db.Brownian().usual_horizon is None


def test_piecewise_levels_hold_between_change_points() -> None:
    environment = db.Piecewise(levels=[[0, 1], [0.5, 0.25], [1, 0]], change_points=[3, 5])
    found = environment.means_at(np.arange(1, 8)).tolist()
    assert found == [[0, 1]] * 2 + [[0.5, 0.25]] * 2 + [[1, 0]] * 3


def test_piecewise_needs_one_change_point_fewer_than_rows() -> None:
    with pytest.raises(db.InvalidValue, match=r"^change_points must be one fewer than the 2 rows of levels, got \[\]$"):
        db.Piecewise(levels=[[0, 1], [1, 0]])


def test_a_row_lasts_as_often_as_it_is_repeated() -> None:
    table = np.random.default_rng(1).random((5, 3)).tolist()
    environment = db.FromMeans(means=table, repeat=4)
    assert environment.usual_horizon == 20
    _, mean = naive.ENVIRONMENTS["from-means"](**environment.parameters())
    clock = np.arange(1, 30)
    assert environment.means_at(clock).tolist() == [[mean(k, int(t)) for k in range(3)] for t in clock]
    assert str(db.datasets.flights(by="day", repeat=15)) == "flights:repeat=15,by=day"


def test_given_means_stay_at_their_last_row_and_cannot_be_changed_from_outside() -> None:
    table = np.array([[0.25, 0.5], [0.75, 1.0]])
    environment = db.FromMeans(means=table)
    table[:] = 0.0
    assert environment.means_at(np.array([1, 2, 3, 10**9])).tolist() == [[0.25, 0.5]] + [[0.75, 1.0]] * 3
    assert environment.n_arms == 2
    assert math.isclose(environment.parameters()["means"][1][0], 0.75)
    assert environment == db.FromMeans(means=[[0.25, 0.5], [0.75, 1.0]])
    assert environment != db.FromMeans(means=[[0.25, 0.5], [0.75, 0.9]])
