"""The evidence is the sum the definition says, whatever the clock; and decisions are those of the simulation."""

from typing import Any

import numpy as np
import pytest
from tests.online.scenes import ADDITIVE, ARMS, Made, Ticker, expected_evidence, ids

import driftbandit as db
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.online import Bandit


@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
@pytest.mark.parametrize("step_seconds", [None, 2.5])
def test_evidence_is_a_sum_over_decisions_by_age(policy: db.Policy, step_seconds: float | None) -> None:
    rng = np.random.default_rng(5)
    clock = Ticker()
    bandit = Bandit(ARMS, policy, seed=1, step_seconds=step_seconds, clock=clock)
    history: list[Made] = []
    late: list[Any] = []
    for step in range(60):
        clock.now += float(rng.exponential(3.0))
        decision = bandit.select()
        made = Made(decision.arm, step, clock.now, decision.probability, None)
        history.append(made)
        late.append((decision, made))
        while late and rng.random() < 0.6:
            one, record = late.pop(int(rng.integers(len(late))))
            if rng.random() < 0.9:  # some never get one
                record.reward = float(rng.random() < 0.5)
                assert bandit.reward(one.id, record.reward) == "accepted"
        wanted = expected_evidence(policy, history, ARMS, clock.now, step_seconds)
        got = bandit.evidence()
        for arm in ARMS:
            np.testing.assert_allclose(got[arm][:2], wanted[arm], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("policy", ADDITIVE, ids=ids)
def test_decisions_are_those_of_the_simulation(policy: db.Policy) -> None:
    horizon, environment = 300, db.Sinusoidal(period=100, n_arms=4)
    shard = Shard(policy, environment, horizon, seed=11, first_run=0, runs=1, steps=tuple(range(1, horizon + 1)))
    outcome = run_shard(shard)
    chosen = outcome.choices.argmax(axis=1)
    rewards = np.diff(outcome.reward[0], prepend=0.0)
    bandit = Bandit(range(4), policy, seed=11)
    for step in range(horizon):
        decision = bandit.select()
        assert decision.arm == chosen[step], f"step {step + 1}"
        bandit.reward(decision.id, float(round(rewards[step])))


def test_idle_arms_are_forgotten_by_the_clock() -> None:
    clock = Ticker(0.0)
    policy = db.DiscountedThompsonSampling.tuned(half_life=60)
    bandit = Bandit(["a", "b"], policy, seed=1, step_seconds=1.0, clock=clock)
    for _ in range(10):
        bandit.reward(bandit.select(arms=["a"]).id, 1.0)
    assert bandit.evidence()["a"][0] == pytest.approx(10.0, rel=1e-12)
    assert bandit.evidence(time=60.0)["a"][0] == pytest.approx(5.0, rel=1e-12)
    clock.now = 90.0  # a step and a half of the half-life, fractions counted
    assert bandit.evidence()["a"][0] == pytest.approx(10.0 * 2**-1.5, rel=1e-12)
    clock.now = 1e7
    bandit.select()
    assert bandit.evidence()["a"][0] == 0.0


def test_an_unused_bandit_by_the_clock_equals_one_that_waited() -> None:
    """Looking at a later time changes nothing."""
    clock = Ticker(0.0)
    bandit = Bandit(["a", "b"], db.DiscountedUCB(discount=0.5), seed=1, step_seconds=1.0, clock=clock)
    bandit.reward(bandit.select().id, 1.0)
    before = bandit.state()
    bandit.probabilities(time=1e6)
    bandit.evidence(time=50.0)
    assert bandit.state() == before


def test_long_pauses_and_tiny_discounts_stay_finite() -> None:
    clock = Ticker(0.0)
    bandit = Bandit(["a", "b"], db.DiscountedThompsonSampling(discount=1e-3), seed=1, step_seconds=1e-3, clock=clock)
    for pause in [0.0, 1e-3, 1.0, 1e6, 1e-4, 3.0]:
        clock.now += pause
        decision = bandit.select()
        bandit.reward(decision.id, 1.0)
        assert all(np.isfinite(value) for row in bandit.evidence().values() for value in row)
