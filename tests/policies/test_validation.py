"""A mistake in a user's own policy is answered in one line, before anything is compiled."""

import dataclasses
import math
from typing import ClassVar

import pytest

import driftbandit as db
from driftbandit.policies import Posterior, Sampler, validation
from driftbandit.policies.rule import Rule
from driftbandit.warming import USUAL
from rules import RULES


@pytest.fixture(autouse=True)
def names_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.Policy, "known", dict(db.Policy.known))


def mean(p, shared, a, b):
    return b / a if a > 0.001 else 2.0


def observe(p, a, b, reward, probability):
    return a + 1.0, b + reward


def share_of(p, share):
    return share


GOOD = Rule(selection="index", score=mean, learn=observe, parameters=())
WEIGHTED = Rule(selection="weighted", probability=share_of, learn=observe, parameters=())


def policy_with(rule):
    """A policy of a user that returns this."""

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(db.Policy):
        name: ClassVar[str] = "mine"

        def rule(self, n_arms):
            return rule

    return Mine()


def answer(rule) -> str:
    with pytest.raises(db.InvalidValue) as error:
        db.simulate(policy_with(rule), db.Fast(), horizon=5, runs=2)
    message = str(error.value)
    assert "\n" not in message
    with pytest.raises(db.InvalidValue):
        db.Bandit(["red", "green"], policy_with(rule))
    return message


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"score": lambda p, shared, a, b: math.nan}, "score of Mine must return a number, got nan for 0, 0, 0"),
        ({"score": lambda p, shared, a, b: b / a}, "score of Mine fails for 0, 0, 0: ZeroDivisionError"),
        ({"score": lambda p, shared, a, b: "best"}, "score of Mine must return a number, got 'best'"),
        ({"score": lambda p, shared, a, b: None}, "score of Mine must return a number, got None"),
        ({"score": lambda p, a: 1.0}, "score of Mine fails for 0, 0, 0: TypeError"),
        ({"score": lambda p, shared, a, b: undefined}, "NameError: name 'undefined'"),  # noqa: F821
        ({"score": None}, "score of Mine must be a function, got None"),
        ({"learn": lambda p, a, b, reward, probability: a}, "learn of Mine must return a tuple of 2 numbers, got 0.0"),
        ({"learn": lambda p, a, b, reward, probability: (a, b, 1.0)}, "learn of Mine must return a tuple of 2 numbers"),
        (
            {"learn": lambda p, a, b, reward, probability: (a, math.nan)},
            "learn of Mine must return a tuple of 2 numbers",
        ),
        ({"context": lambda p, total: math.log(total)}, "context of Mine fails for 0: ValueError"),
        ({"selection": "idx"}, "selection of Mine must be"),
        ({"parameters": [1.0]}, "parameters of Mine must be a tuple of numbers, got [1.0]"),
        ({"parameters": ("a",)}, "parameters of Mine must be a tuple of numbers"),
        ({"initial": (0.0,)}, "score of Mine fails for 0, 0: TypeError"),
        ({"initial": ()}, "initial of Mine must be a tuple of 1 to 32 numbers"),
        ({"initial": (0.0,) * 33}, "initial of Mine must be a tuple of 1 to 32 numbers"),
        ({"initial": (0.0, math.inf)}, "initial of Mine must be a tuple of 1 to 32 numbers"),
        ({"common": (0.0,) * 65}, "common of Mine must be a tuple of up to 64 numbers"),
        ({"decay": (0.5, 0.5, 0.5)}, "decay of Mine must be one number, or 2 as initial has"),
        ({"drift": (0.0, math.nan)}, "drift of Mine must be"),
        ({"history": -1}, "history of Mine must be"),
        ({"window_of": "days"}, "window_of of Mine must be"),
        ({"window": 3}, "unlearn of Mine must be given, as observations leave its window"),
        ({"explore": 1.5}, "explore of Mine must be in [0, 1]"),
        ({"explore": lambda p, step: 2.0 / step}, "explore of Mine must return a number from 0 to 1, got 2.0"),
        ({"alarm": lambda p, a, b: a}, "alarm of Mine must return True or False, got 1.0"),
        ({"alarm": 3}, "alarm of Mine must be a function or None"),
        ({"alarm": lambda p, a, b: False, "alarm_resets": "both"}, "alarm_resets of Mine must be"),
        ({"alarm": lambda p, a, b: False, "history": 4}, "alarm of Mine fails for 1, 1"),
        (
            {"alarm": lambda p, a, b: False, "context": lambda p, total: total},
            "observations of Mine must be given, as an alarm changes how many there are",
        ),
        (
            {"common": (1.0,), "notice": lambda p, common, own, r, q: common[0]},
            "notice of Mine must return a tuple of 1",
        ),
        ({"pieces": lambda p, total: (1.0,)}, "luck of Mine must be True, as pieces are given"),
        (
            {"luck": True, "context": lambda p, total, luck: luck, "pieces": lambda p, total: (0.7, 0.5)},
            "pieces of Mine must return increasing numbers from 0 to 1, the last one 1",
        ),
        (
            {"luck": True, "context": lambda p, total, luck: float(luck < 0.3), "pieces": lambda p, total: (0.6, 1.0)},
            "context of Mine must return the same number for all luck from 0 to 0.6, as pieces say",
        ),
        ({"luck": True}, "context of Mine must be given, as it is what gets the luck"),
        ({"window": 10**6, "window_of": "choices", "unlearn": lambda p, a, b, r: (a, b)}, "window of Mine must be"),
        (
            {
                "window": 5,
                "window_of": "choices",
                "unlearn": lambda p, a, b, r: (a, b),
                "context": lambda p, total: total,
            },
            "observations of Mine must be given, as its window changes how many there are",
        ),
        ({"learning": "quickly"}, "learning of Mine must be"),
        ({"least_reward": 2.0}, "least_reward and largest_reward of Mine must be two numbers, the first below"),
        ({"score": lambda p, shared, a, b: math.nan if a > 7 else -a}, "score of Mine must return a number, got nan"),
        ({"learn": lambda p, a, b, r, q: (a + 1.0, math.log(150.0 - a))}, "learn of Mine fails for 150"),
        ({"decay": 1.5}, "decay of Mine must be in (0, 1]"),
        ({"window": -1}, "window of Mine must be"),
        ({"restart": 0.5}, "restart of Mine must be"),
        ({"selection": "sampled"}, "Mine must have a posterior or a sampler, as its selection is sampled"),
        ({"selection": "sampled", "posterior": "beta"}, "posterior of Mine must be a Posterior"),
        ({"selection": "sampled", "posterior": Posterior("gamma")}, "law of Mine must be"),
        ({"selection": "sampled", "posterior": Posterior("beta")}, "shape of Mine fails for 0, 0, 0: IndexError"),
        (
            {"selection": "sampled", "posterior": Posterior("beta", lambda p, s, a, b: (a + 1.0, b - a + 1.0))},
            "shape of Mine must return two numbers above 0",
        ),
        (
            {
                "selection": "sampled",
                "posterior": Posterior("beta", lambda p, s, a, b: (a + 0.5, b + 1.0), small=False),
            },
            "shape of Mine must return numbers of at least 1, as small is False",
        ),
        (
            {"selection": "sampled", "sampler": Sampler(lambda shape, words, more: 1.0)},
            "attempt of Mine must return a number and whether it is sure",
        ),
        (
            {"selection": "sampled", "sampler": Sampler(lambda shape, words, more: shape[5])},
            "sampler of Mine fails for 0, 0: IndexError",
        ),
        (
            {"selection": "sampled", "sampler": Sampler(lambda shape, words, more: (0.5, True), law="beta")},
            'law of the sampler of Mine must be "mean of two betas" or "larger of two betas" or "smaller of two b',
        ),
        (
            {
                "selection": "sampled",
                "sampler": Sampler(lambda shape, words, more: (0.5, True), law="mean of two betas"),
            },
            "size of the sampler of Mine must be 4, the shapes of two Beta laws, got 2",
        ),
        (
            {
                "selection": "sampled",
                "sampler": Sampler(
                    lambda shape, words, more: (0.5, True),
                    shape=lambda p, shared, a, b: (a, b, 1.0, 1.0),
                    size=4,
                    law="mean of two betas",
                ),
            },
            "shape of Mine must return numbers of at least 1, as the law of its sampler needs, got",
        ),
    ],
)
def test_a_mistake_is_answered_in_one_line(change, part: str) -> None:
    assert part in answer(dataclasses.replace(GOOD, **change))


@pytest.mark.parametrize(
    ("probability", "part"),
    [
        (lambda p, share: 0.9, "must sum to 1 over all arms"),
        (lambda p, share: -1.0, "must return a number from 0 to 1, got -1.0"),
        (lambda p, share: math.nan, "must return a number, got nan"),
        (lambda p, share: share * share, "must sum to 1 over all arms"),
    ],
)
def test_probabilities_that_are_none_are_refused(probability, part: str) -> None:
    assert part in answer(dataclasses.replace(WEIGHTED, probability=probability))


def test_no_rule_and_no_name_are_refused() -> None:
    assert "rule of Mine must return a Rule, got None" in answer(None)

    class Nameless(db.Policy):
        def rule(self, n_arms):
            return GOOD

    with pytest.raises(db.InvalidValue, match="Nameless must have a name"):
        db.simulate(Nameless(), db.Fast(), horizon=5, runs=2)


def test_a_rule_that_cannot_be_called_is_refused_in_one_line() -> None:
    class Short(db.UCB1):
        pass

    setattr(Short, "rule", lambda self: None)  # noqa: B010

    with pytest.raises(db.InvalidValue, match=r"^rule of Short, called as rule\(3\) for 3 arms, fails: TypeError: "):
        validation.tried(Short(), 3)


def test_right_rules_pass_and_are_returned() -> None:
    for rule in (GOOD, WEIGHTED, dataclasses.replace(GOOD, parameters=(1, 2.5), decay=0.5), *RULES.values()):
        assert validation.tried(policy_with(rule), 4) is rule


@pytest.mark.parametrize(
    "known", [known for known in db.Policy.known.values() if known.__module__.startswith("driftb")]
)
@pytest.mark.parametrize("n_arms", [2, 3, 7])
def test_the_package_s_own_rules_would_pass(known, n_arms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "OURS", "nobody's")
    fields = {field.name for field in dataclasses.fields(known) if field.default is dataclasses.MISSING}
    policy = known(**{name: USUAL[name] for name in fields})
    assert validation.tried(policy, n_arms) == policy.rule(n_arms)


def test_a_million_arms_are_tried_at_once() -> None:
    assert validation.tried(policy_with(WEIGHTED), 2**24) is WEIGHTED


@pytest.mark.parametrize("name", ["ucb1", "my policy", "a:b", "a=b", "a,b"])
def test_a_name_is_a_word_of_its_own(name: str) -> None:
    with pytest.raises(db.InvalidValue, match="name of Mine must be"):
        type("Mine", (db.Policy,), {"name": name})
    assert db.Policy.known["ucb1"] is db.UCB1


def test_a_policy_may_be_defined_again() -> None:
    first = type("Mine", (db.Policy,), {"name": "defined-twice"})
    again = type("Mine", (db.Policy,), {"name": "defined-twice"})
    assert first is not again
    assert db.Policy.known["defined-twice"] is again


def test_a_weight_that_is_not_finite_is_refused() -> None:
    rule = dataclasses.replace(WEIGHTED, log_weight=lambda p, shared, a, b: math.log(b) if b > 0 else -math.inf)
    assert "log_weight of Mine must return a finite number, got -inf" in answer(rule)


def test_a_field_that_no_file_can_hold_is_refused_before_anything_is_played() -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(db.Policy):
        name: ClassVar[str] = "mine"
        helper: object = None

        def rule(self, n_arms):
            return GOOD

    with pytest.raises(db.InvalidValue, match="parameters of policies must be numbers, texts or lists of them"):
        db.simulate(Mine(helper=object()), db.Fast(), horizon=5, runs=2)
