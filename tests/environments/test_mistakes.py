"""A mistake in a user's own environment is answered in one line, before anything is played."""

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np
import pytest

import driftbandit as db
import own_environments
from driftbandit.engine.cpu import shard
from driftbandit.environments import validation
from driftbandit.numerics.rng import uniform


@pytest.fixture(autouse=True)
def names_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.Environment, "known", dict(db.Environment.known))


def constant(clock):
    return np.full((len(clock), 3), 0.5)


def environment_with(**parts: Any) -> db.Environment:
    """An environment of a user, with these parts instead of right ones."""

    def given(part: str, right: Any) -> Any:
        return parts.get(part, right)

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(db.Environment):
        name: ClassVar[str] = "mine"

        @property
        def n_arms(self):
            return given("n_arms", 3)

        @property
        def cycle(self):
            found = given("cycle", None)
            return found() if callable(found) else found

        def means_at(self, clock):
            return given("means_at", constant)(clock)

        def path(self):
            found = given("path", None)
            return found() if callable(found) else found

    return Mine(rested=parts.get("rested", False))


def answer(environment: db.Environment, horizon: int = 50) -> str:
    with pytest.raises(db.InvalidValue) as error:
        db.simulate(db.UCB1(), environment, horizon=horizon, runs=2, progress=False)
    assert "\n" not in str(error.value)
    return str(error.value)


def with_value(value, clock_of, column):
    """Means of 0.5 but for one, at one reading of the clock."""

    def means_at(clock):
        means = constant(clock)
        means[clock == clock_of, column] = value
        return means

    return means_at


def parity(clock):
    return np.repeat(clock[:, None] % 2, 3, axis=1)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"means_at": lambda clock: np.full((3, len(clock)), 0.5)},
         "means_at of Mine must return a row a reading and a column an arm, (50, 3), got shape (3, 50)"),
        ({"means_at": lambda clock: np.full((len(clock), 2), 0.5)}, "(50, 3), got shape (50, 2)"),
        ({"means_at": lambda clock: np.full((len(clock) - 1, 3), 0.5)}, "(50, 3), got shape (49, 3)"),
        ({"means_at": lambda clock: 0.5}, "(50, 3), got shape ()"),
        ({"means_at": lambda clock: None}, "means_at of Mine must return an array of numbers, got None"),
        ({"means_at": lambda clock: [["a"] * 3] * len(clock)}, "must return an array of numbers, got [['a'"),
        ({"means_at": lambda clock: [[0.5], [0.5, 0.5]]}, "must return an array of numbers, got [[0.5], [0.5, 0.5]]"),
        ({"means_at": lambda clock: constant(clock) * 1j}, "must return an array of numbers, got array("),
        ({"means_at": with_value(1.5, 7, 1)},
         "means_at of Mine must return means in [0, 1], got 1.5 at clock 7, column 2"),
        ({"means_at": with_value(math.nan, 50, 2)}, "got nan at clock 50, column 3"),
        ({"means_at": with_value(-1e-9, 1, 0)}, "got -1e-09 at clock 1, column 1"),
        ({"means_at": with_value(math.inf, 51, 0), "rested": True}, "got inf at clock 51, column 1"),
        ({"means_at": lambda clock: 1 // 0}, "means_at of Mine fails for clock 1 to 50: ZeroDivisionError: "),
        ({"means_at": lambda: None}, "means_at of Mine fails for clock 1 to 50: TypeError: "),
        ({"n_arms": 1}, "n_arms of Mine must be a whole number from 2 to 16777216, got 1"),
        ({"n_arms": 3.0}, "n_arms of Mine must be a whole number, got 3.0"),
        ({"n_arms": None}, "n_arms of Mine must be a whole number from 2 to 16777216, got None"),
        ({"n_arms": True}, "n_arms of Mine must be a whole number from 2 to 16777216, got True"),
        ({"cycle": 0}, "cycle of Mine must be a whole number of at least 1, got 0"),
        ({"cycle": 2.5}, "cycle of Mine must be a whole number of at least 1, got 2.5"),
        ({"cycle": 2.0}, "cycle of Mine must be a whole number, got 2.0"),
        ({"cycle": lambda: {}["no"]}, "cycle of Mine fails: KeyError: 'no'"),
        ({"means_at": parity, "cycle": 3},
         "cycle of Mine must be after how many steps the means repeat, got 3, but those at clock 1 and 4 differ"),
        ({"path": 5}, "path of Mine must return a Path or None, got 5"),
        ({"path": lambda: 1 // 0}, "path of Mine fails: ZeroDivisionError: "),
    ],
)  # fmt: skip
def test_a_mistake_is_answered_in_one_line(parts, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "kernel_for", lambda *_: pytest.fail("something is played"))
    assert message in answer(environment_with(**parts))


def test_the_whole_game_is_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = []

    def means_at(clock):
        lengths.append(len(clock))
        return with_value(2.0, 150_000, 2)(clock)

    assert "got 2.0 at clock 150000, column 3" in answer(environment_with(means_at=means_at), horizon=200_000)
    assert max(lengths) == 65536
    monkeypatch.setattr(validation, "NUMBERS", 30)
    lengths.clear()
    assert "got 2.0 at clock 150000" in answer(environment_with(means_at=means_at), horizon=150_001)
    assert max(lengths) == 10


GOOD = db.Path(
    parameters=(0.5,),
    first=lambda p, arm, words, together: p[0],
    following=lambda p, mean, clock, arm, words, together: mean,
)


def sometimes_outside(p, mean, clock, arm, words, together):
    return 1.25 if uniform(words[0], words[1]) < 0.05 else mean


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": [0.5]}, "parameters of the path of Mine must be a tuple of numbers, got [0.5]"),
        ({"parameters": ("a",)}, "parameters of the path of Mine must be a tuple of numbers, got ('a',)"),
        ({"parameters": (math.nan,)}, "must be a tuple of numbers, got (nan,)"),
        ({"parameters": ()}, "first of Mine fails for arm 0: IndexError: tuple index out of range"),
        ({"first": None}, "first of Mine must be a plain function, got None"),
        ({"following": max}, "following of Mine must be a plain function, got <built-in function max>"),
        ({"first": lambda p, arm: 0.5}, "first of Mine fails for arm 0: TypeError: "),
        ({"first": lambda p, arm, words, together: 0.6 * arm},
         "first of Mine must return a mean in [0, 1], got 1.2 for arm 2"),
        ({"first": lambda p, arm, words, together: "0.5"},
         "first of Mine must return a mean in [0, 1], got '0.5' for arm 0"),
        ({"first": lambda p, arm, words, together: None}, "first of Mine must return a mean in [0, 1], got None"),
        ({"first": lambda p, arm, words, together: math.nan}, "first of Mine must return a mean in [0, 1], got nan"),
        ({"following": lambda p, mean, clock, arm, words, together: mean / (clock - 3)},
         "following of Mine must return a mean in [0, 1], got -0.25 for 0.5"),
        ({"following": lambda p, mean, clock, arm, words, together: mean / 0},
         "following of Mine fails for 0.5: ZeroDivisionError: "),
        ({"following": lambda p, mean, clock, arm, words, together: np.float64(0) / 0},
         "following of Mine must return a mean in [0, 1], got nan for 0.5"),
        ({"following": lambda p, mean, clock, arm, words, together: mean + 0.01},
         "following of Mine must return a mean in [0, 1], got 1.0"),
        ({"following": lambda p, mean, clock, arm, words, together: undefined},  # noqa: F821
         "following of Mine fails for 0.5: NameError: name 'undefined'"),
        ({"following": sometimes_outside}, "following of Mine must return a mean in [0, 1], got 1.25 for 0.5"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_path_is_answered_in_one_line(change, message: str) -> None:
    path = dataclasses.replace(GOOD, **change)
    assert message in answer(environment_with(path=path), horizon=100)


def test_every_arm_that_is_tried_is_looked_at() -> None:
    path = dataclasses.replace(GOOD, first=lambda p, arm, words, together: 2.0 if arm == 99 else 0.5)
    assert "got 2.0 for arm 99" in answer(environment_with(path=path, n_arms=100))


def test_an_environment_without_means_without_a_name_or_with_a_list_is_refused() -> None:
    class Nameless(db.Environment):
        n_arms = 2

    class Empty(db.Environment):
        name = "empty"
        n_arms = 2

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Listing(db.Environment):
        name: ClassVar[str] = "listing"
        n_arms: int = 3
        levels: Any = None

        def means_at(self, clock):
            return constant(clock)

    assert answer(Nameless()) == 'Nameless must have a name, as in name: ClassVar[str] = "nameless"'
    assert answer(Empty()) == "Empty must define means_at(clock) or path()"
    assert answer(Listing(levels=[1, 2])) == "levels of Listing must be a number, a text or a tuple of them, got [1, 2]"
    assert answer(Listing(levels=1j)) == "levels of Listing must be a number, a text or a tuple of them, got 1j"
    db.simulate(db.UCB1(), Listing(levels=(0.5, 1)), horizon=5, runs=2, progress=False)


def test_expected_evidence_looks_at_the_means_too() -> None:
    with pytest.raises(db.InvalidValue, match="got nan at clock 3, column 1"):
        db.expected_path(db.ThompsonSampling(), environment_with(means_at=with_value(math.nan, 3, 0)), 5)


def test_no_table_that_does_not_fit_reaches_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.Fast, "means_at", lambda self, clock: np.full((len(clock), 3), 0.5))
    with pytest.raises(db.InvalidValue, match=r"^means_at of Fast must return .*, \(7, 4\), got shape \(7, 3\)$"):
        shard.means_table(db.Fast(concentration=1.25), 1, 7)
    monkeypatch.setattr(db.Fast, "means_at", lambda self, clock: np.full((len(clock), 4), math.nan))
    with pytest.raises(db.InvalidValue, match="got nan at clock 1, column 1"):
        shard.means_table(db.Fast(concentration=1.25), 1, 7)


def test_a_user_s_own_array_is_neither_frozen_nor_followed() -> None:
    kept = np.full((5, 3), 0.5)
    table = shard.means_table(environment_with(means_at=lambda clock: kept), 1, 5)
    kept[:] = 0.25
    assert np.all(table == 0.5)


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"means_at": parity, "cycle": 4},
        {"means_at": parity, "cycle": 1000},
        {"means_at": lambda clock: constant(clock).tolist()},
        {"means_at": lambda clock: constant(clock).astype(np.float32)},
        {"path": GOOD},
        {"path": dataclasses.replace(GOOD, parameters=(1, 2.5))},
        {"path": dataclasses.replace(GOOD, first=lambda p, arm, words, together: 1)},
    ],
)
def test_right_environments_pass(parts) -> None:
    for rested in (False, True):
        environment = environment_with(**parts, rested=rested)
        assert validation.tried(environment, 50) is environment


@pytest.mark.parametrize(
    "environment",
    [
        db.Slow(), db.Abrupt(period=7.5), db.Sinusoidal(period=33), db.Brownian(), db.Brownian(start=0, volatility=1),
        db.Switching(), db.Switching(together=True, hazard=0.5), db.FromMeans(means=[[0, 1], [1, 0]]),
        db.Piecewise(levels=[[0, 1], [1, 0]], change_points=[20]), own_environments.Jumping(), own_environments.Relay(),
        own_environments.Tide(),
    ],
    ids=str,
)  # fmt: skip
def test_the_package_s_own_environments_would_pass(environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "OURS", "nobody's")
    assert validation.tried(environment, 100) is environment
