"""Logged probabilities are the frequencies of choice: with floors, masks, added and removed arms in play."""

from typing import Any

import numpy as np
import pytest
from tests.online.scenes import POLICIES, Ticker

import driftbandit as db
from driftbandit.online import Bandit

MEANS = {"a": 0.2, "b": 0.5, "c": 0.6, "d": 0.8, "e": 0.7}


@pytest.mark.parametrize(
    ("policy", "floor"), [(each, 0.04 if turn % 2 else 0.0) for turn, each in enumerate(POLICIES)], ids=str
)
def test_probabilities_match_the_frequencies_of_choice(policy: db.Policy, floor: float) -> None:
    """Choice minus probability is a martingale: its sum, by arm and by size of probability, stays within 4.5 errors."""
    rng = np.random.default_rng(8)
    clock = Ticker()
    options: dict[str, Any] = {"minimum_probability": floor, "wait": 4.0, "default_reward": 0.0}
    bandit = Bandit(list("abcd"), policy, seed=21, step_seconds=3.0, clock=clock, **options)
    surplus: dict[Any, float] = {}
    variance: dict[Any, float] = {}
    for step in range(1500):
        clock.now += float(rng.exponential(1.0))
        if step == 400:
            bandit.add("e")
        if step == 900:
            bandit.remove("c")
        mask = None
        if rng.random() < 0.4:
            mask = list(rng.permutation(list(bandit.arms))[: int(rng.integers(1, len(bandit)))])
        expected = bandit.probabilities(arms=mask)
        decision = bandit.select(arms=mask)
        assert sum(expected.values()) == pytest.approx(1.0, abs=1e-11)
        assert decision.probability == pytest.approx(expected[decision.arm], rel=1e-11)
        assert decision.probability > 0.0
        assert min(expected.values()) >= floor
        for arm, chance in expected.items():
            for group in (arm, int(5 * chance)):
                surplus[group] = surplus.get(group, 0.0) + (arm == decision.arm) - chance
                variance[group] = variance.get(group, 0.0) + chance * (1.0 - chance)
        if rng.random() < 0.8:  # the others expire
            bandit.reward(decision.id, float(rng.random() < MEANS[decision.arm]))
    for group, total in surplus.items():
        assert abs(total) <= 4.5 * np.sqrt(variance[group]) + 1e-9, group


def test_the_probability_is_that_of_the_time_of_the_choice() -> None:
    """Asked for late, after the state has moved on, it is still the old one."""
    bandit = Bandit(["a", "b"], db.ThompsonSampling(), seed=1)
    before = bandit.probabilities()
    decision = bandit.select()
    for _ in range(50):
        bandit.reward(bandit.select().id, 1.0)
    assert decision.probability == pytest.approx(before[decision.arm], rel=1e-12)
    assert bandit.probabilities() != before


def test_a_log_records_the_probability_of_every_decision(tmp_path: Any) -> None:
    import json

    events: list[dict[str, Any]] = []
    path = tmp_path / "log.jsonl"
    for log in (events.append, path):
        bandit = Bandit(["a", "b"], db.DiscountedThompsonSampling(discount=0.9), seed=1, log=log)
        for _ in range(20):
            bandit.reward(bandit.select().id, 1.0)
        bandit.reward(1, 1.0)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line | {"part": ""} for line in lines[:1]] == [event | {"part": ""} for event in events[:1]]
    assert lines[0]["event"] == "start"
    lines, events = lines[1:], events[1:]
    assert lines == events
    assert [event["event"] for event in events] == ["decision", "reward"] * 20 + ["reward"]
    assert all(0.0 < event["probability"] < 1.0 for event in events if event["event"] == "decision")
    assert events[-1]["status"] == "repeated"


def test_a_floor_is_kept_exactly() -> None:
    bandit = Bandit(["good", "bad"], db.ThompsonSampling(), seed=1, minimum_probability=0.1)
    for arm, value in [("good", 1.0), ("bad", 0.0)] * 200:
        bandit.reward(bandit.select(arms=[arm]).id, value)
    assert bandit.probabilities()["bad"] == pytest.approx(0.1, abs=1e-12)
    chosen = sum(bandit.select().arm == "bad" for _ in range(4000))
    assert abs(chosen - 400) < 4.5 * np.sqrt(4000 * 0.1 * 0.9)
