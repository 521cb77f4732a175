"""What every public policy and environment keeps to: a text form that reads back, and one line for every wrong value.

The classes are found, not listed, so a new one is tested as soon as it is public.
"""

import dataclasses
import fractions
import inspect
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import driftbandit as db
import naive
from driftbandit.errors import InvalidValue
from driftbandit.specification import Specification

EXAMPLES: dict[str, dict[str, Any]] = {
    "discount": {"values": [1e-300, 0.5, 1, 1.0], "wrong": [0, -0.1, 1.0000001]},
    "prior_successes": {"values": [1e-12, 1, 3.5], "wrong": [0, -1]},
    "prior_failures": {"values": [1e-12, 1, 3.5], "wrong": [0, -1]},
    "discounted_arms": {"values": ["all", "played"], "wrong": ["All", "none", "", 1, 0.5]},
    "momentum": {"values": [True, False], "wrong": [0, 1, 1.0, "true", "no"]},
    "randomized": {"values": [True, False], "wrong": [0, 1, 1.0, "true", "no"]},
    "threshold": {"values": [0.5, 25], "wrong": [0, -3]},
    "exploration": {"values": [1e-9, 0.1, 1], "wrong": [-0.5, 1.1]},
    "batch": {"values": [1, 25, 25.0], "wrong": [0, -1, 2.5, 2**40]},
    "learning_rate": {"values": [0.01, 3], "wrong": [0, -0.01]},
    "implicit_exploration": {"values": [0, 0.3], "wrong": [-1e-9]},
    "sharing": {"values": [0, 1e-4, 1], "wrong": [-1e-9, 1.1]},
    "confidence": {"values": [0.5, 2], "wrong": [0, -2]},
    "bound": {"values": [0.5, 2], "wrong": [0, -2]},
    "window": {"values": [1, 89], "wrong": [0, -1, 1.5, 2**40]},
    "logarithm": {"values": ["evidence", "time"], "wrong": ["Time", "window", "", 1]},
    "horizon": {"values": [1, 5000, 50.0], "wrong": [0, -1, 2.5, 2**40]},
    "decreasing": {"values": [True, False], "wrong": [0, 1, 1.0, "true", "no"]},
    "step_size": {"values": [1e-9, 0.1, 1], "wrong": [0, -0.5, 1.1]},
    "temperature": {"values": [0.01, 3], "wrong": [0, -1, 1e101]},
    "period": {"values": [1, 33.3, 1000], "wrong": [0, 0.5, -3]},
    "n_arms": {"values": [2, 7], "wrong": [1, 0, -1, 2.5, 2**25]},
    "volatility": {"values": [1e-3, 1], "wrong": [0, -1, 1.5]},
    "start": {"values": [0, 0.5, 1], "wrong": [-0.1, 1.1]},
    "levels": {
        "values": [[[0.1, 0.9]]],
        "wrong": [[[0.1, 1.1]], [[0.1]], [0.1, 0.9], [[]], [], [[0.1, math.nan]], 0.5],
    },
    "change_points": {"values": [[]], "wrong": [[1], [3, 3], [2.5], [[2]], [math.nan], [2**40], [2]]},
    "repeat": {"values": [1, 15, 150.0], "wrong": [0, -1, 2.5, 2**40]},
    "by": {"values": ["hour", "day"], "wrong": ["Hour", "week", "", 1]},
    "means": {
        "values": [[[0.1, 0.9], [0, 1]]],
        "wrong": [[[0.1, -1e-9]], [[0.1], [0.2]], [], [[]], [[0.1, 0.2], [0.3]], [[0.1, math.inf]], 3, [[[0.1, 0.2]]]],
    },
    "rested": {"values": [True, False], "wrong": [0, 1, 1.0, "true", "no"]},
    "rewards": {"values": ["bernoulli", "mean", "beta", "normal"], "wrong": ["Beta", "gauss", "", 0.5]},
    "concentration": {"values": [0.1, 30], "wrong": [0, -1]},
    "deviation": {"values": [0.01, 3], "wrong": [0, -1, 1e101]},
    "hazard": {"values": [0, 0.01, 1], "wrong": [-0.1, 1.1]},
    "together": {"values": [True, False], "wrong": [0, 1, 1.0, "true", "no"]},
    "problem": {"values": [1, 4, 3.0], "wrong": [0, 5, 1.5]},
    "test": {"values": [1, 3, 2.0], "wrong": [0, 4, 1.5]},
    "best": {"values": [0.1, 0.5, 1], "wrong": [-0.1, 1.1]},
    "gap": {"values": [0, 0.1], "wrong": [-0.1, 1.1, 0.7]},
    "number": {"values": [0, 7, 3.0], "wrong": [-1, 1.5, 2**32]},
    "changes": {"values": [0, 6, 3.0], "wrong": [-1, 1.5, 10001]},
    "apart": {"values": [1, 1000], "wrong": [0, -1, 1.5, 2**40]},
    "length": {"values": [7001, 20000.0], "wrong": [1, 1.5, 2**40, 7000]},
    "low": {"values": [0, 0.5, 1], "wrong": [-0.1, 1.1]},
    "high": {"values": [0, 0.5, 1], "wrong": [-0.1, 1.1]},
    "drift": {"values": [0, 0.1, 3], "wrong": [-0.1, 1e101]},
    "warm_up": {"values": [1, 100], "wrong": [0, -1, 1.5, 2**40]},
    "forced_warm_up": {"values": [True, False], "wrong": [0, 1, 1.0, "true", "no"]},
    "index": {"values": ["ucb", "kl"], "wrong": ["UCB", "", 1]},
    "false_alarm": {"values": [1e-300, 0.01, 1], "wrong": [0, -0.1, 1.1]},
    "history": {"values": [10, 4096], "wrong": [0, 9, 2.5, 65537]},
    "growing": {"values": [True, False], "wrong": [0, 1, 1.0, "true", "no"]},
    "scope": {"values": ["all", "arm"], "wrong": ["All", "none", "", 1, 0.5]},
    "future": {"values": [0.5, 0.9, 0.999], "wrong": [0, 1, -0.1, 1.1]},
    "method": {"values": ["table", "approximation"], "wrong": ["Table", "", 1, 0.5]},
    "runs": {"values": [2, 20.0, 1000], "wrong": [1, 0, -1, 2.5, 1001]},
    "combine": {"values": ["mean", "max", "min"], "wrong": ["Mean", "sum", "", 0.5]},
    "movement": {"values": [0, 0.03, 5], "wrong": [-0.1, 1e11]},
    "persistence": {"values": [1e-6, 0.9, 1], "wrong": [0, -0.5, 1.1]},
    "level": {"values": [-3, 0, 0.5], "wrong": [-1e31, 1e31]},
    "noise": {"values": [0.5, 3], "wrong": [0, -1, 1e11]},
    "spread": {"values": [0.3, 3], "wrong": [0, -1, 1e11]},
}
ELSEWHERE: dict[tuple[str, str], dict[str, Any]] = {
    ("exp3", "exploration"): {"values": [1e-9, 0.1, 1], "wrong": [0, -0.5, 1.1]},
    ("rexp3", "exploration"): {"values": [1e-9, 0.1, 1], "wrong": [0, -0.5, 1.1]},
    ("cusum-ucb", "exploration"): {"values": [0, 0.1, 1], "wrong": [-0.5, 1.1]},
    ("pht-ucb", "exploration"): {"values": [0, 0.1, 1], "wrong": [-0.5, 1.1]},
    ("m-ucb", "exploration"): {"values": [0, 0.1, 1], "wrong": [-0.5, 1.1]},
    ("m-ucb", "window"): {"values": [2, 800.0], "wrong": [0, 1, 89, 2.5, 65538]},
    ("glr-kl-ucb", "exploration"): {"values": [0, 0.1, 1], "wrong": [-0.5, 1.1]},
    ("glr-kl-ucb", "confidence"): {"values": [0, 3], "wrong": [-2]},
}
"""Where a parameter has other values than it has in most policies."""
ALWAYS_WRONG = [
    math.nan,
    math.inf,
    -math.inf,
    "abc",
    b"1",
    [],
    {},
    (),
    object(),
    1j,
    np.array([0.5, 0.5]),
    10**400,
    -(10**5000),
]
TAKES_LISTS = {"levels", "change_points", "means"}
RIGHT_HERE: dict[tuple[str, str], list[Any]] = {
    ("kl-ucb", "confidence"): [0],
    ("sw-kl-ucb", "confidence"): [0],
    ("d-kl-ucb", "confidence"): [0],
    ("epsilon-greedy", "exploration"): [0],
}
"""What is wrong elsewhere."""


def public(kind: type[Specification]) -> list[type[Specification]]:
    values = [*vars(db).values(), *vars(db.datasets).values()]
    found = [value for value in values if inspect.isclass(value) and issubclass(value, kind)]
    return sorted((cls for cls in found if cls not in (kind, db.Foreign)), key=lambda cls: cls.__name__)


CLASSES = public(db.Policy) + public(db.Environment)
FIELDS = [(cls, field.name) for cls in CLASSES for field in dataclasses.fields(cls) if field.init]


def values_of(cls: type[Specification], name: str) -> dict[str, Any]:
    """Right and wrong values of a parameter."""
    found, fine = ELSEWHERE.get((cls.name, name), EXAMPLES[name]), RIGHT_HERE.get((cls.name, name), [])
    return {"values": [*found["values"], *fine], "wrong": [value for value in found["wrong"] if value not in fine]}


def needed(cls: type[Specification]) -> dict[str, Any]:
    """A valid value for every parameter without a default."""
    fields = [field for field in dataclasses.fields(cls) if field.init and field.default is dataclasses.MISSING]
    return {field.name: values_of(cls, field.name)["values"][0] for field in fields}


def one_line_about(error: pytest.ExceptionInfo[InvalidValue], name: str) -> None:
    message = str(error.value)
    assert message.startswith(f"{name} must ")
    assert ", got " in message
    assert "\n" not in message
    assert len(message) < 250
    assert isinstance(error.value, db.DriftbanditError)
    assert isinstance(error.value, ValueError)


def attempted(make: Callable[[], Any]) -> tuple[Any, str]:
    """What was made, or why it was refused."""
    try:
        return make(), ""
    except InvalidValue as error:
        return None, str(error)


def test_every_class_is_found_and_every_parameter_has_examples() -> None:
    assert {cls.name for cls in public(db.Policy)} == set(naive.POLICIES)
    assert len(public(db.Environment)) == 15
    assert {name for _, name in FIELDS} == set(EXAMPLES)


@pytest.mark.parametrize(("cls", "name"), FIELDS, ids=lambda each: getattr(each, "__name__", each))
def test_every_wrong_value_of_every_parameter_gives_one_line_that_names_it(cls: type, name: str) -> None:
    wrong = values_of(cls, name)["wrong"] + ALWAYS_WRONG
    if name == "change_points":
        wrong = [value for value in wrong if not (isinstance(value, list | tuple) and len(value) == 0)]
    if not isinstance(values_of(cls, name)["values"][0], bool):
        wrong = [*wrong, True, False]
    if next(field for field in dataclasses.fields(cls) if field.name == name).default is not None:
        wrong = [*wrong, None]
    for value in wrong:
        with pytest.raises(InvalidValue) as error:
            cls(**(needed(cls) | {name: value}))
        one_line_about(error, name)


@pytest.mark.parametrize(("cls", "name"), FIELDS, ids=lambda each: getattr(each, "__name__", each))
def test_every_right_value_is_kept_printed_and_read_back(cls: type, name: str) -> None:
    kind = db.Policy if issubclass(cls, db.Policy) else db.Environment
    for value in values_of(cls, name)["values"]:
        made = cls(**(needed(cls) | {name: value}))
        assert cls(**made.parameters()) == made
        assert kind.build(cls.name, made.parameters()) == made
        assert hash(cls(**made.parameters())) == hash(made)
        assert pickle.loads(pickle.dumps(made)) == made
        assert "\n" not in str(made)
        assert str(made).split(":")[0] == cls.name
        if cls is not db.FromMeans:  # an array has no text form
            assert kind.parse(str(made)) == made


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_values_are_frozen_keyword_only_and_documented(cls: type) -> None:
    made = cls(**needed(cls))
    for field in dataclasses.fields(cls):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, field.name, 0.5)
        if field.init and field.name not in {"rested", "rewards", "concentration", "deviation", "n_arms"}:
            told = "".join(base.__doc__ or "" for base in cls.__mro__[:2])
            assert f"{field.name}:" in told, f"{field.name} is not in the docstring"
    with pytest.raises(TypeError):
        cls(0.5)
    assert ">>>" in cls.__doc__


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_missing_or_unknown_parameter_in_the_text_form_is_named(cls: type) -> None:
    kind = db.Policy if issubclass(cls, db.Policy) else db.Environment
    for name in needed(cls):
        with pytest.raises(InvalidValue, match=rf"^{cls.name} needs {name}"):
            kind.parse(cls.name)
        break
    with pytest.raises(InvalidValue, match="nonsense") as error:
        kind.parse(f"{cls.name}:nonsense=3")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", [db.Policy, db.Environment])
@pytest.mark.parametrize(
    "text", ["", "nope", "dts:discount", "dts:=0.4", "dts:discount=0.4,discount=0.5", ":", "a:b:c=1"]
)
def test_a_text_that_is_no_specification_gives_one_line(kind: type, text: str) -> None:
    with pytest.raises(InvalidValue) as error:
        kind.parse(text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400  # it lists all names, those of other tests too


@given(st.sampled_from(FIELDS), st.one_of(st.floats(), st.integers(), st.text(), st.none(), st.booleans(), st.binary()))
def test_any_value_is_either_kept_or_refused_in_one_line(field: tuple[type, str], value: Any) -> None:
    cls, name = field
    made, message = attempted(lambda: cls(**(needed(cls) | {name: value})))
    if made is None:
        assert message.startswith(f"{name} must ")
        assert "\n" not in message
    else:
        kept = getattr(made, name)
        assert kept is None or isinstance(kept, str | tuple) or math.isfinite(kept)


@given(st.text())
def test_any_text_is_either_a_policy_or_one_line(text: str) -> None:
    for kind in (db.Policy, db.Environment):
        made, message = attempted(lambda kind=kind: kind.parse(text))
        assert isinstance(made, kind) or (message and "\n" not in message)


@given(st.floats(1e-100, 1e100), st.floats(1e-100, 1e100), st.floats(0, 1, exclude_min=True))
def test_floats_survive_the_text_form_to_the_bit(successes: float, failures: float, discount: float) -> None:
    policy = db.DiscountedThompsonSampling(discount=discount, prior_successes=successes, prior_failures=failures)
    assert db.Policy.parse(str(policy)) == policy


def test_other_kinds_of_numbers_are_taken_for_what_they_are() -> None:
    assert db.DiscountedThompsonSampling(discount=np.float32(0.5)).discount == 0.5
    assert db.DiscountedThompsonSampling(discount=fractions.Fraction(1, 4)).discount == 0.25
    assert db.SlidingWindowUCB(window=np.int64(7)) == db.SlidingWindowUCB(window=7.0)
    assert type(db.SlidingWindowUCB(window=np.int64(7)).window) is int


@pytest.mark.parametrize("policy", public(db.Policy), ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("n_arms", [2, 3, 1000])
def test_rules_are_numbers_and_functions_for_any_number_of_arms(policy: type, n_arms: int) -> None:
    rule = policy(**needed(policy)).rule(n_arms)
    assert all(isinstance(value, float) and math.isfinite(value) for value in rule.parameters)
    assert rule.selection in {"sampled", "index", "weighted"}
    assert all(0 < decay <= 1 for decay in rule.decays)
    assert (rule.probability is not None) == (rule.selection == "weighted")
    assert (rule.score is not None) == (rule.selection == "index")
    sources = (rule.posterior is not None) + (rule.sampler is not None)
    assert sources == (rule.selection == "sampled")
    assert rule.knows_odds


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: db.DiscountedUCB.tuned(horizon=0, change_points=1), "horizon"),
        (lambda: db.DiscountedUCB.tuned(horizon=10, change_points=11), "change_points"),
        (lambda: db.DiscountedUCB.tuned(horizon=10, change_points=1, bound=0.25), "bound"),
        (lambda: db.SlidingWindowUCB.tuned(horizon=1, change_points=1), "horizon"),
        (lambda: db.SlidingWindowUCB.tuned(horizon=10, change_points=5e-324), "change_points"),
        (lambda: db.SlidingWindowUCB.tuned(horizon=10, change_points=1, bound=1e308), "bound"),
        (lambda: db.SlidingWindowUCB.tuned(horizon=10, change_points=1, bound=1e90), "window"),
        (lambda: db.RestartingExp3.tuned(horizon=10, variation=5e-324, n_arms=4), "variation"),
        (lambda: db.RestartingExp3.tuned(horizon=10, variation=1, n_arms=1), "n_arms"),
        (lambda: db.Exp3.tuned(horizon=10.5, n_arms=4), "horizon"),
        (lambda: db.Exp3IX.tuned(horizon=10, n_arms=1), "n_arms"),
        (lambda: db.Exp3S.tuned(horizon=10, n_arms=4, change_points=-1), "change_points"),
        (lambda: db.Exp3SIX.tuned(horizon=1, n_arms=4, change_points=0), "horizon"),
        (lambda: db.Exp3SIX.tuned(horizon=10, n_arms=4, change_points=10), "change_points"),
        (lambda: db.DiscountedThompsonSampling.tuned(half_life=0), "half_life"),
        (lambda: db.DiscountedThompsonSampling.tuned(half_life=1e-5), "half_life"),
        (lambda: db.DynamicThompsonSampling.tuned(change_interval=math.nan), "change_interval"),
        (lambda: db.CusumUCB.tuned(horizon=1, change_points=0.5), "horizon"),
        (lambda: db.CusumUCB.tuned(horizon=10, change_points=10), "change_points"),
        (lambda: db.PageHinkleyUCB.tuned(horizon=10, change_points=0), "change_points"),
        (lambda: db.MonitoredUCB.tuned(horizon=0, change_points=1, n_arms=2, window=4), "horizon"),
        (lambda: db.MonitoredUCB.tuned(horizon=10, change_points=11, n_arms=2, window=4), "change_points"),
        (lambda: db.MonitoredUCB.tuned(horizon=10, change_points=1, n_arms=1, window=4), "n_arms"),
        (lambda: db.MonitoredUCB.tuned(horizon=10, change_points=1, n_arms=2, window=5), "window"),
        (lambda: db.MonitoredUCB.tuned(horizon=10, change_points=1, n_arms=2), "smallest_change"),
        (lambda: db.MonitoredUCB.tuned(10, 1, 2, smallest_change=0), "smallest_change"),
        (lambda: db.MonitoredUCB.tuned(10, 1, 2, smallest_change=1e-5), "window"),
        (lambda: db.GLRKLUCB.tuned(horizon=0, n_arms=2), "horizon"),
        (lambda: db.GLRKLUCB.tuned(horizon=10, n_arms=1), "n_arms"),
        (lambda: db.GLRKLUCB.tuned(horizon=10, n_arms=2, change_points=11), "change_points"),
        (lambda: db.GLRKLUCB.tuned(horizon=10, n_arms=2, scope="some"), "scope"),
        (lambda: db.SlidingWindowKLUCB.tuned(horizon=1, change_points=1), "horizon"),
        (lambda: db.SlidingWindowKLUCB.tuned(horizon=10, change_points=11), "change_points"),
        (lambda: db.DiscountedKLUCB.tuned(horizon=0, change_points=1), "horizon"),
        (lambda: db.DiscountedKLUCB.tuned(horizon=10, change_points=0), "change_points"),
        (lambda: db.BayesUCB(discount=0.9, window=5), "window"),
        (lambda: db.EpsilonGreedy(exploration=2), "exploration"),
        (lambda: db.EpsilonGreedy(exploration=0.1, discount=0.9, step_size=0.1), "step_size"),
        (lambda: db.ChangePointThompsonSampling.tuned(horizon=1, change_points=1), "horizon"),
        (lambda: db.ChangePointThompsonSampling.tuned(horizon=10, change_points=11), "change_points"),
        (lambda: db.BanditOverBandit.tuned(horizon=0, n_arms=2), "horizon"),
        (lambda: db.BanditOverBandit.tuned(horizon=10, n_arms=1), "n_arms"),
        (lambda: db.gittins_index(0, 1, 0.9), "successes"),
        (lambda: db.gittins_index(1, math.inf, 0.9), "failures"),
        (lambda: db.gittins_index(1, 1, 1.0), "future"),
        (lambda: db.SlidingWindowThompsonSampling.tuned(horizon=1), "horizon"),
        (lambda: db.SlidingWindowThompsonSampling.tuned(horizon=10, change_points=0), "change_points"),
        (lambda: db.GaussianThompsonSampling.tuned(horizon=1, change_points=1), "horizon"),
        (lambda: db.GaussianThompsonSampling.tuned(horizon=10, change_points=10), "change_points"),
        (lambda: db.GaussianThompsonSampling.tuned(horizon=10, change_points=1, memory="both"), "memory"),
        (lambda: db.GaussianThompsonSampling.tuned(horizon=10, change_points=1, deviation=0), "deviation"),
        (lambda: db.GaussianThompsonSampling.tuned(horizon=10, change_points=9, deviation=0.01), "deviation"),
        (lambda: db.GaussianThompsonSampling(discount=0.5, window=3), "window"),
    ],
)
def test_tuning_formulas_refuse_wrong_values_in_one_line(make: Any, name: str) -> None:
    with pytest.raises(InvalidValue) as error:
        make()
    one_line_about(error, name)
