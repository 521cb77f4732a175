"""Own code that misbehaves is answered in one line: what cannot be compiled, and what goes wrong only later."""

import dataclasses
import math
import statistics
from typing import Any, ClassVar

import numpy as np
import pytest

import driftbandit as db
from driftbandit.compiling import gears
from driftbandit.compiling.compilable import explained, trouble

TABLE, LEVELS, KNOWN = {1: 2.0}, [1.0, 2.0], {1.0}
NUMBERS, ARRAY = (1.0, 2.0), np.array([1.0, 2.0])
COUNT = 0


class Thing:
    x = 1.0


THING = Thing()


@pytest.fixture(autouse=True)
def names_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.Policy, "known", dict(db.Policy.known))
    monkeypatch.setattr(db.Environment, "known", dict(db.Environment.known))


def observe(p, a, b, reward, probability):
    return a + 1.0, b + reward


def policy_with(**parts: Any) -> db.Policy:
    rule = db.Rule(**({"selection": "index", "learn": observe, "parameters": ()} | parts))

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(db.Policy):
        name: ClassVar[str] = "mine"

        def rule(self, n_arms):
            return rule

    return Mine()


# What cannot be compiled: each function, and what is said about it.


def importing(p, shared, a, b):
    import math

    return math.sqrt(a)


def with_dict(p, shared, a, b):
    return TABLE[1] + b


def with_list(p, shared, a, b):
    return LEVELS[1] + b


def with_set(p, shared, a, b):
    return 1.0 if 1.0 in KNOWN else b


def with_except(p, shared, a, b):
    try:
        return b / a
    except ZeroDivisionError:
        return 1.0


def with_any_except(p, shared, a, b):
    try:
        return b / a
    except Exception:
        return 1.0


def with_context(p, shared, a, b):
    with np.errstate(all="ignore"):
        return b


def with_global(p, shared, a, b):
    global COUNT
    COUNT = 1
    return b


def with_class(p, shared, a, b):
    class Inner:
        x = 1.0

    return Inner.x


def calling(p, shared, a, b):
    return importing(p, shared, a, b)


def recursive(p, shared, a, b):
    return b if a < 1.0 else recursive(p, shared, a - 1.0, b)


def enclosing():
    levels = {"a": 1.0}

    def enclosed(p, shared, a, b):
        return levels["a"]

    return enclosed


ENCLOSED = enclosing()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (importing, "importing (line N of test_own_code.py) imports inside itself: import at the top of the module"),
        (with_dict, "with_dict (line N of test_own_code.py) uses TABLE, a dict: a tuple of numbers can be compiled"),
        (with_list, "with_list (line N of test_own_code.py) uses LEVELS, a list: a tuple of numbers can be compiled"),
        (with_set, "with_set (line N of test_own_code.py) uses KNOWN, a set: a tuple of numbers can be compiled"),
        (with_except, "with_except (line N of test_own_code.py) has try or with: compiled code raises nothing"),
        (with_any_except, "with_any_except (line N of test_own_code.py) has try or with: compiled code raises nothing"),
        (with_context, "with_context (line N of test_own_code.py) has try or with: compiled code raises nothing"),
        (with_global, "with_global (line N of test_own_code.py) changes a global: give it back as one of the arm's"),
        (with_class, "with_class (line N of test_own_code.py) defines a class: only numbers and tuples can be used"),
        (calling, "importing (line N of test_own_code.py) imports inside itself: import at the top of the module"),
        (recursive, "recursive (line N of test_own_code.py) calls itself: use a loop"),
        (ENCLOSED, "enclosed (line N of test_own_code.py) uses levels, a dict: a tuple of numbers can be compiled"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_known_not_to_compile_is_refused_before_anything_is_compiled(function, message, monkeypatch) -> None:
    monkeypatch.setattr("driftbandit.engine.cpu.shard.kernel_for", lambda *_: pytest.fail("something is compiled"))
    inner = {"calling": importing}.get(function.__name__, function)
    told = message.replace(" N ", f" {inner.__code__.co_firstlineno} ")
    policy = policy_with(score=function)
    for use in (
        lambda: db.simulate(policy, db.Fast(), horizon=5, runs=2, progress=False),
        lambda: db.Bandit(["red", "green"], policy),
    ):
        with pytest.raises(db.InvalidValue) as error:
            use()
        assert str(error.value).startswith(f"score of Mine must be what can be compiled, but {told}")
        assert "\n" not in str(error.value)


def in_a_path(p, mean, clock, arm, words, together):
    return TABLE.get(5, mean)


def start(p, arm, words, together):
    return 0.5


def test_a_path_is_looked_at_too() -> None:
    with pytest.raises(db.InvalidValue, match=r"^following of Wandering must be what can be compiled, but in_a_path "):
        db.simulate(db.UCB1(), wandering(in_a_path), horizon=5, runs=2, progress=False)


# What only the compiler sees.


def with_object(p, shared, a, b):
    return THING.x + b


def with_module(p, shared, a, b):
    return statistics.mean((a, b))


def with_generator(p, shared, a, b):
    return sum(x for x in (a, b))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (with_object, "cannot be compiled: Untyped global name 'THING': Cannot determine Numba type of <class "),
        (with_module, "cannot be compiled: Unknown attribute 'mean' of type Module(<module 'statistics'"),
        (with_generator, "cannot be compiled: The use of yield in a closure is unsupported"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_the_compiler_refuses_is_one_line_about_the_function(function, message) -> None:
    policy = policy_with(score=function)
    for use in (
        lambda: db.simulate(policy, db.Fast(), horizon=5, runs=2, progress=False),
        lambda: db.Bandit(["red", "green"], policy, seed=1).warm_up(),
    ):
        with pytest.raises(db.InvalidValue) as error:
            use()
        assert str(error.value).startswith(
            f"{function.__name__} (line {function.__code__.co_firstlineno + 1} of test_own"
        )
        assert message in str(error.value)
        assert "\n" not in str(error.value)
        assert len(str(error.value)) < 300
        assert error.value.__suppress_context__


@pytest.mark.filterwarnings("error")
def test_a_live_bandit_goes_on_with_what_the_compiler_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(gears.warnings, "warn", lambda message, *_, **__: told.append(message))
    monkeypatch.setattr(gears._background, "start", gears._background.compile_all)
    bandit = db.Bandit(["red", "green"], policy_with(score=with_object), seed=1)
    for _ in range(3):
        bandit.reward(bandit.select(), 1.0)
    (message,) = (message for message in told if "with_object" in message)
    assert message.startswith("what runs live stays slow: with_object (line ")
    assert "\n" not in message
    for _ in range(3):
        bandit.reward(bandit.select(), 1.0)
    assert bandit.decisions == 6


def test_an_error_of_no_known_place_names_all_functions() -> None:
    told = explained(KeyError("inside"), [with_object, observe, math.sqrt])
    assert told == "one of observe, with_object cannot be compiled: 'inside'"


# What works, though it looks odd.


def with_tuple(p, shared, a, b):
    return NUMBERS[1] + b


def with_array(p, shared, a, b):
    return ARRAY[1] + b


def with_numbers_in_a_list(p, shared, a, b):
    levels = [a, b]
    return levels[0] + levels[1]


@pytest.mark.parametrize("function", [with_tuple, with_array, with_numbers_in_a_list, math.sqrt, ENCLOSED.__call__])
def test_what_may_compile_is_left_to_the_compiler(function) -> None:
    assert trouble(function) is None


# What goes wrong only later, in numbers that the trial does not meet.


def nan_late(p, shared, a, b):
    return math.nan if a > 1500.0 else -a


def nan_for_one_reward(p, a, b, reward, probability):
    return a + 1.0, b + math.sqrt(0.99 - reward) if 0.98 < reward < 1.0 else b


def narrow(p, shared, a, b):
    return (a + 1.0, math.nan if a > 1500.0 else 1.0)


def always(p, shared, a, b):
    return -a


def off_after_many_steps(p, mean, clock, arm, words, together):
    return 1.5 if clock > 400 else mean


def nan_after_many_steps(p, mean, clock, arm, words, together):
    return math.nan if clock > 400 else mean


def wandering(following: Any) -> db.Environment:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Wandering(db.Environment):
        name: ClassVar[str] = "wandering"
        n_arms: int = 2

        def path(self):
            return db.Path(parameters=(), first=start, following=following)

    return Wandering()


SURE = db.FromMeans(means=[[1.0, 0.0]])


@pytest.mark.parametrize(
    ("policy", "world", "message"),
    [
        ({"score": nan_late}, db.Fast(n_arms=2), "scores of Mine must return numbers, got nan by step 4000"),
        ({"selection": "sampled", "posterior": db.Posterior("normal", narrow)}, SURE,
         "scores of Mine must return numbers, got nan by step 4000"),
        ({"score": always, "learn": nan_for_one_reward}, db.Fast(n_arms=2, rewards="mean"),
         "learn of Mine must return numbers, got nan by step 4000"),
        (None, wandering(off_after_many_steps), "following of Wandering must return means in [0, 1], got 1.5 by step"),
        (None, wandering(nan_after_many_steps), "following of Wandering must return means in [0, 1], got nan by step"),
    ],
    ids=["score", "shape", "learn", "a mean too large", "a mean that is none"],
)  # fmt: skip
def test_a_number_that_is_none_only_later_is_noticed(policy, world, message) -> None:
    player = db.UniformRandom() if policy is None else policy_with(**policy)
    with pytest.raises(db.InvalidValue) as error:
        db.simulate(player, world, horizon=4000, runs=2, progress=False)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_regret_that_is_no_number_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftbandit.engine.cpu.shard.check_numbers", lambda *_: None)  # as on a card
    with pytest.raises(
        db.InvalidValue, match=r"^means of Wandering must be in \[0, 1\], got a regret that is no number"
    ):
        db.simulate(db.UniformRandom(), wandering(nan_after_many_steps), horizon=1000, runs=2, progress=False)
