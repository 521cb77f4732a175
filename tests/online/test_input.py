"""Wrong input gets one line that names it, and changes nothing."""

import math
from typing import Any

import numpy as np
import pytest
from tests.online.scenes import ARMS, Ticker

import driftbandit as db
from driftbandit.online import Bandit

TS = db.ThompsonSampling()

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"arms": []}, "arms must be a list of 1 to 16777216 names, got []"),
    ({"arms": "abc"}, "arms must be a list of names, got 'abc'"),
    ({"arms": 3}, "arms must be a list of names, got 3"),
    ({"arms": {"a"}}, "arms must be in an order that stays, as in a list, got {'a'}"),
    ({"arms": frozenset("a")}, "arms must be in an order that stays, as in a list, got frozenset({'a'})"),
    ({"arms": ["a", "a"]}, "arms must be different names, got 'a'"),
    ({"arms": ["a", 1.5]}, "arm must be a text or a whole number, got 1.5"),
    ({"arms": ["a", True]}, "arm must be a text or a whole number, got True"),
    ({"arms": ["a", ["b"]]}, "arm must be a text or a whole number, got ['b']"),
    ({"policy": 7}, "policy must be a policy, got 7"),
    ({"policy": "dts:discount=2"}, "discount must be in (0, 1], got 2"),
    ({"step_seconds": 0}, "step_seconds must be in [1e-9, 1e15], got 0"),
    ({"step_seconds": math.nan}, "step_seconds must be in [1e-9, 1e15], got nan"),
    ({"seed": -1}, "seed must be a whole number from 0 to 18446744073709551615, got -1"),
    ({"seed": 1.5}, "seed must be a whole number from 0 to 18446744073709551615, got 1.5"),
    ({"replica": 4096}, "replica must be a whole number from 0 to 4095, got 4096"),
    ({"clock": 3}, "clock must be a function that returns seconds, got 3"),
    ({"minimum_probability": 0.3}, "minimum_probability must be at most 1/4 for 4 arms, got 0.3"),
    ({"minimum_probability": -0.1}, "minimum_probability must be in [0, 1], got -0.1"),
    ({"wait": -1}, "wait must be in [0, 1e15], got -1"),
    ({"default_reward": 2, "wait": 1}, "default_reward must be in [0, 1], got 2"),
    ({"default_reward": 1}, "default_reward must be None where decisions wait for ever (no wait), got 1"),
    ({"log": 5}, "log must be a path or a function, got 5"),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_a_wrong_argument_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(db.InvalidValue) as caught:
        Bandit(**{"arms": ARMS, "policy": TS, "seed": 1, **change})
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.1, 1.1, "1", None, [1], np.nan, 10**400])
def test_a_wrong_reward_is_refused_and_changes_nothing(value: Any) -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    decision = bandit.select()
    before = bandit.state()
    with pytest.raises(db.InvalidValue, match=r"reward must be in \[0, 1\], got"):
        bandit.reward(decision.id, value)
    assert bandit.state() == before


@pytest.mark.parametrize("id", ["x", None, 1.5, [1], {}, -1, True, math.nan])
def test_a_wrong_id_is_refused(id: Any) -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    bandit.select()
    with pytest.raises(db.InvalidValue, match="id must be"):
        bandit.rewards([(id, 1.0)])


@pytest.mark.parametrize("batch", [[3], ["ab"], [(1, 2, 3)], [None], None, 3, "ab"])
def test_a_wrong_batch_is_refused(batch: Any) -> None:
    with pytest.raises(db.InvalidValue, match=r"batch must be pairs|id must be"):
        Bandit(ARMS, TS, seed=1).rewards(batch)


@pytest.mark.parametrize(
    ("arms", "message"),
    [
        (["z"], "arm must be one of a, b, c, d, got 'z'"),
        ([], "arms must be a list of different names, one at least, got []"),
        (["a", "a"], "arms must be a list of different names, one at least, got"),
        ("a", "arms must be a list of names, got 'a'"),
        (3, "arms must be a list of names, got 3"),
        ([["a"]], "arm must be one of a, b, c, d, got"),
    ],
)
def test_a_wrong_mask_is_refused_and_changes_nothing(arms: Any, message: str) -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    before = bandit.state()
    with pytest.raises(db.InvalidValue) as caught:
        bandit.select(arms=arms)
    assert str(caught.value).startswith(message)
    assert bandit.state() == before


def test_a_mask_may_be_a_set_which_has_the_order_of_the_arms() -> None:
    events: list[dict[str, Any]] = []
    bandit = Bandit([8, 0, 16, 1], TS, seed=1, log=events.append)
    bandit.select(arms={0, 8, 16})
    assert events[-1]["among"] == [8, 0, 16]


@pytest.mark.parametrize("bandits", [None, 3])
def test_a_merge_of_no_bandits_is_refused(bandits: Any) -> None:
    with pytest.raises(db.InvalidValue, match=f"bandits must be a list of bandits, got {bandits}"):
        Bandit.merge(bandits)


def test_arms_that_are_there_or_not_are_named() -> None:
    bandit = Bandit(ARMS, TS, seed=1, minimum_probability=0.25)
    with pytest.raises(db.InvalidValue, match="arm must be one of a, b, c, d, got 'x'"):
        bandit.remove("x")
    with pytest.raises(db.InvalidValue, match="minimum_probability must be at most 1/5"):
        bandit.add("e")
    for arm in "abc":
        bandit.remove(arm)
    with pytest.raises(db.InvalidValue, match="arms must be a list of 1 name at least"):
        bandit.remove("d")
    with pytest.raises(db.InvalidValue, match="arm must be a new name, got 'd'"):
        bandit.add("d")
    assert bandit.arms == ("d",)


def test_time_does_not_go_back() -> None:
    bandit = Bandit(ARMS, TS, seed=1, step_seconds=1.0)
    bandit.select(time=100.0)
    before = bandit.state()
    with pytest.raises(
        db.InvalidValue, match=r"time must be at least 100.0, when the latest decision was made, got 99"
    ):
        bandit.select(time=99.0)
    for wrong in (math.nan, math.inf, "noon"):
        with pytest.raises(db.InvalidValue, match=r"time must be in \[-1e15, 1e15\]"):
            bandit.select(time=wrong)  # type: ignore[arg-type]
    assert bandit.state() == before
    assert bandit.select(time=100.0).time == 100.0


def test_a_clock_that_is_set_back_is_taken_to_stand_still() -> None:
    clock = Ticker(100.0)
    bandit = Bandit(ARMS, TS, seed=1, step_seconds=1.0, clock=clock)
    bandit.select()
    clock.now = 50.0
    assert bandit.select().time == 100.0


def test_a_time_has_no_meaning_where_a_step_is_a_decision() -> None:
    bandit = Bandit(ARMS, TS, seed=1)
    for use in (bandit.select, bandit.probabilities, bandit.evidence):
        with pytest.raises(db.InvalidValue, match=r"time must be None where a step is a decision, got 3.0"):
            use(time=3.0)


def test_a_decision_cannot_be_changed() -> None:
    decision = Bandit(ARMS, TS, seed=1).select()
    for name in ("id", "arm", "probability", "time", "other"):
        with pytest.raises(AttributeError):
            setattr(decision, name, 1)
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(decision)) == copy.copy(decision) == decision


def test_a_policy_that_does_not_add_up_is_refused() -> None:
    import dataclasses

    class Halving(db.Policy):
        name = "halving-for-a-test"

        def rule(self, n_arms: int) -> db.Rule:
            return dataclasses.replace(TS.rule(n_arms), learn=lambda p, a, b, r, q: ((a + r) / 2, b))

    with pytest.raises(db.InvalidValue, match="policy must be one whose rewards add up"):
        Bandit(ARMS, Halving(), seed=1)
    del db.Policy.known["halving-for-a-test"]
