"""Many decisions of one moment: those of as many calls, each with its exact probability."""

import collections
import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest
from tests.online.scenes import ARMS, POLICIES, Ticker

import driftbandit as db
from driftbandit.online import Bandit, Decision

REWARDS = (1.0, 0.0, 1.0, 1.0, 0.0)


def taught(policy: Any, **options: Any) -> Bandit:
    """A bandit that has seen something of every arm but the last."""
    bandit = Bandit(ARMS, policy, seed=3, **options)
    for number, reward in enumerate(REWARDS):
        bandit.reward(bandit.select(arms=[ARMS[number % 3]]), reward)
    return bandit


def one_by_one(
    bandit: Bandit, count: int, time: float | None, arms: list[Any] | None, replace: bool
) -> list[tuple[Decision, float]]:
    """The slow twin: what is left, what the odds are, and a decision; again and again."""
    left, made = list(bandit.arms) if arms is None else list(arms), []
    for _ in range(count):
        odds = bandit.probabilities(time, arms=left)
        masked = arms is not None or (not replace and bool(made))
        decision = bandit.select(time, arms=left) if masked else bandit.select(time)
        made.append((decision, odds[decision.arm]))
        if not replace:
            left = [arm for arm in left if arm != decision.arm]
    return made


KINDS = [(policy, False) for policy in POLICIES] + [(policy, True) for policy in POLICIES[::4]]


@pytest.mark.parametrize(("policy", "replace"), KINDS, ids=lambda each: str(each))
def test_a_batch_is_what_as_many_calls_are(policy: db.Policy, replace: bool) -> None:
    by_clock = {"step_seconds": 2.0, "clock": Ticker(), "minimum_probability": 0.02}
    for options, time, arms in (({}, None, None), (by_clock, 1001.5, ["d", "b", "a"]), (by_clock, None, None)):
        batch, twin = taught(policy, **options), taught(policy, **options)
        count = 3 if replace else len(arms or ARMS)
        found = batch.select_many(count, time=time, arms=arms, replace=replace)
        expected = one_by_one(twin, count, time, arms, replace)
        assert found == [decision for decision, _ in expected]
        for decision, (_, odds) in zip(found, expected, strict=True):
            assert decision.probability == pytest.approx(odds, abs=1e-9)
        assert batch.state() == twin.state()
        assert batch.pending == twin.pending == count


def test_the_moment_is_one() -> None:
    clock = itertools.count(1000.0)
    bandit = Bandit(["a", "b"], "dots:discount=0.9", seed=1, step_seconds=1.0, clock=lambda: float(next(clock)))
    assert {decision.time for decision in bandit.select_many(5)} == {1000.0}
    by_decisions = Bandit(["a", "b"], "dots:discount=0.9", seed=1)
    assert [decision.time for decision in by_decisions.select_many(3)] == [1, 2, 3], "each is a step"


def test_odds_without_replacement_are_those_of_the_order_that_comes() -> None:
    """With 800 seeds, every order of three arms is as frequent as its odds, multiplied, say."""
    state, count = taught("ts").state(), 800
    seen: collections.Counter[tuple[Any, ...]] = collections.Counter()
    told: dict[tuple[Any, ...], float] = {}
    for seed in range(count):
        state["settings"]["seed"] = seed
        made = Bandit.from_state(state, continued=True).select_many(3, arms=["a", "b", "d"], replace=False)
        order = tuple(decision.arm for decision in made)
        seen[order] += 1
        if order not in told:
            told[order] = math.prod(decision.probability for decision in made)
    assert len(told) == 6
    assert sum(told.values()) == pytest.approx(1.0, abs=1e-9)
    for order, odds in told.items():
        assert abs(seen[order] - count * odds) < 4.0 * math.sqrt(count * odds * (1.0 - odds)), order


def test_the_last_arm_that_is_left_is_sure() -> None:
    for policy in ("ts", "ucb1", "exp3:exploration=0.1"):
        made = taught(policy, minimum_probability=0.1).select_many(4, replace=False)
        assert sorted(decision.arm for decision in made) == ARMS
        assert made[-1].probability == 1.0


def test_a_floor_holds_in_every_decision_of_a_batch() -> None:
    bandit = taught("ts", minimum_probability=0.2)
    for decision in bandit.select_many(4, replace=False):
        assert decision.probability >= 0.2


def test_many_arms_of_which_most_sleep() -> None:
    bandit = Bandit(range(1000), "ts", seed=1)
    made = bandit.select_many(30, replace=False)
    assert len({decision.arm for decision in made}) == 30
    assert made[0].probability == pytest.approx(1 / 1000)
    assert made[29].probability == pytest.approx(1 / 971)


def test_a_batch_is_logged_recovered_and_evaluated(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    bandit = Bandit(ARMS, "ts", seed=1, log=path, minimum_probability=0.02)
    for turn in range(60):
        shown = bandit.select_many(2, replace=False)
        bandit.rewards([(decision, float(decision.arm == "b" and turn % 3 > 0)) for decision in shown])
    bandit.select_many(3)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    made = [line for line in lines if line["event"] == "decision"]
    assert len(made) == 123
    assert "among" not in made[0]
    assert made[1]["among"] == [arm for arm in ARMS if arm != made[0]["arm"]]
    del bandit
    again = Bandit.recover(tmp_path / "none.json", path)
    assert (again.decisions, again.pending) == (123, 3)
    value = db.Log.read(path, missing=0.0).value("b")
    assert value.low < 2 / 3 < value.high


def test_what_was_written_before_a_write_failed_stands() -> None:
    events: list[dict[str, Any]] = []

    def sink(event: dict[str, Any]) -> None:
        if len(events) == 3:
            raise OSError("no space")
        events.append(event)

    bandit = Bandit(ARMS, "ts", seed=1, log=sink)
    with pytest.raises(OSError, match="no space"):
        bandit.select_many(5)
    assert [event["event"] for event in events] == ["start", "decision", "decision"]
    assert bandit.decisions == bandit.pending == 2
    events.clear()
    assert bandit.select_many(2)[0].id == 3


def test_decisions_of_a_batch_expire_like_others() -> None:
    clock = Ticker()
    bandit = Bandit(ARMS, "ts", seed=1, step_seconds=1.0, clock=clock, wait=10.0, default_reward=0.0)
    first = bandit.select_many(3)
    clock.now += 11
    bandit.select_many(2)
    assert bandit.pending == 2
    assert [str(bandit.reward(decision, 1.0)) for decision in first] == ["expired"] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 0}, "count must be a whole number from 1 to 100000, got 0"),
        ({"count": -1}, "count must be a whole number from 1 to 100000, got -1"),
        ({"count": 2.5}, "count must be a whole number from 1 to 100000, got 2.5"),
        ({"count": math.nan}, "count must be a whole number from 1 to 100000, got nan"),
        ({"count": True}, "count must be a whole number from 1 to 100000, got True"),
        ({"count": "3"}, "count must be a whole number from 1 to 100000, got '3'"),
        ({"count": 10**6}, "count must be a whole number from 1 to 100000, got 1000000"),
        ({"count": 5, "replace": False}, "count must be at most 4, as no arm is chosen twice, got 5"),
        ({"count": 2, "replace": False, "arms": ["a"]}, "count must be at most 1, as no arm is chosen twice, got 2"),
        ({"count": 2, "replace": 0}, "replace must be True or False, got 0"),
        ({"count": 2, "arms": ["z"]}, "arm must be one of a, b, c, d, got 'z'"),
        ({"count": 2, "arms": []}, "arms must be"),
        ({"count": 2, "time": 3.0}, "time must be None where a step is a decision, got 3.0"),
    ],
)
def test_a_wrong_argument_is_named_and_changes_nothing(arguments: dict[str, Any], message: str) -> None:
    bandit = taught("ts")
    before = bandit.state()
    with pytest.raises(db.InvalidValue) as caught:
        bandit.select_many(**arguments)
    assert str(caught.value).startswith(message)
    assert bandit.state() == before
