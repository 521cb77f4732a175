"""Constant rewards of 0 or 1 for a very long time: evidence stays finite, and every choice is an arm."""

import numpy as np
import pytest

import driftbandit as db
import examples
from driftbandit.engine.cpu import shard as engine

ALIKE = {
    "sw-kl-ucb",
    "d-kl-ucb",
    "ucb-v",
    "ucb-tuned",
    "moss",
    "pht-ucb",
    "predictive",
    "sw-ts",
    "bayes-ucb",
    "gittins",
}
"""Whose evidence is that of another policy."""
POLICIES = [
    db.DiscountedOptimisticThompsonSampling(discount=0.99, prior_successes=1e-3, prior_failures=1e-3),
    db.DiscountedThompsonSampling(discount=0.9, discounted_arms="played", prior_successes=1e-3, prior_failures=1e-3),
    db.Exp3IX(learning_rate=0.5, implicit_exploration=0),
    *(policy for policy in examples.LONG if policy.name not in ALIKE),
]
RUNS = 8


def assert_sane_for_long(policy: db.Policy, means: list[float], horizon: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    linked = engine.kernel_for

    def watched(*about):
        kernel = linked(*about)

        def call(*arguments):
            seen.append((arguments[6], kernel(*arguments)))
            return seen[-1][1]

        return call

    monkeypatch.setattr(engine, "kernel_for", watched)
    environment = db.FromMeans(means=[means])
    outcome = engine.run_shard(engine.Shard(policy, environment, horizon, 1, 0, RUNS, (horizon,), horizon // 1000))
    numbers, total = seen[-1]
    assert np.all(np.isfinite(numbers))
    assert np.isfinite(total)
    assert np.all(outcome.choices >= 0)
    assert np.all(outcome.choices.sum(axis=1) == RUNS * (horizon // 1000))
    assert np.array_equal(outcome.regret, np.zeros((RUNS, 1)))
    assert np.array_equal(outcome.reward, np.full((RUNS, 1), means[0] * horizon))


@pytest.mark.parametrize("reward", [0.0, 1.0])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_half_a_million_equal_rewards_leave_evidence_finite(policy, reward, monkeypatch) -> None:
    assert_sane_for_long(policy, [reward] * 3, 500_000, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("reward", [0.0, 1.0])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_ten_million_equal_rewards_leave_evidence_finite(policy, reward, monkeypatch) -> None:
    assert_sane_for_long(policy, [reward] * 3, 10_000_000, monkeypatch)


@pytest.mark.parametrize("policy", [policy for policy in POLICIES if policy.name != "uniform"], ids=str)
def test_after_a_long_constant_game_the_better_arm_is_still_the_one_chosen_more(policy) -> None:
    environment = db.FromMeans(means=[[1.0, 0.0, 0.0]])
    horizon = 100_000
    outcome = engine.run_shard(engine.Shard(policy, environment, horizon, 1, 0, RUNS, (horizon,), horizon))
    share = outcome.choices[0] / (RUNS * horizon)
    assert share[0] > 0.5
    assert share[0] > 2 * share[1:].max()
