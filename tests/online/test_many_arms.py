"""Drawing the best of many arms at their prior in one step has the law of drawing every arm."""

import time
from typing import Any

import numpy as np
import pytest
from scipy import special, stats
from tests.online.scenes import Ticker

import driftbandit as db
from driftbandit.exact import selection_probabilities
from driftbandit.exact.alike import grouped_probabilities
from driftbandit.online import Bandit, sleeping

PRIORS = [(1.0, 1.0), (2.0, 3.0), (0.5, 0.5), (1.0, 4.0), (3.0, 1.0)]


def standing(policy: db.Policy, arms: int = 150) -> Bandit:
    """A bandit at a fixed time, in which some arms have evidence: good, bad, and with the mean of a flat prior."""
    clock = Ticker()
    bandit = Bandit(range(arms), policy, seed=5, step_seconds=1.0, clock=clock)
    for arm, value in [(0, 1), (0, 1), (0, 1), (1, 0), (1, 0), (2, 1), (2, 0), (3, 1), (3, 1), (3, 0), *[(4, 1)] * 40]:
        bandit.reward(bandit.select(arms=[arm]).id, value)
    return bandit


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize(
    "kind", [db.DiscountedThompsonSampling, db.DiscountedOptimisticThompsonSampling], ids=lambda kind: kind.name
)
def test_the_chosen_arm_has_the_exact_distribution(kind: Any, prior: tuple[float, float]) -> None:
    policy = kind(discount=0.9, prior_successes=prior[0], prior_failures=prior[1])
    bandit, draws = standing(policy), 12_000
    expected = bandit.probabilities()
    counts = np.zeros(150)
    for _ in range(draws):
        counts[bandit.select().arm] += 1
    assert bandit._evidence.order.active == 5
    chance = np.array([expected[arm] for arm in range(150)])
    grouped = [*range(5), slice(5, 150)]
    observed = np.array([counts[group].sum() for group in grouped])
    wanted = np.array([chance[group].sum() for group in grouped]) * draws
    large = wanted > 5
    statistic = np.sum((observed[large] - wanted[large]) ** 2 / wanted[large])
    assert stats.chi2.sf(statistic, max(1, large.sum() - 1)) > 1e-4
    sleeping_counts = counts[5:]
    if sleeping_counts.sum() > 145 * 5:
        assert stats.chisquare(sleeping_counts).pvalue > 1e-4


@pytest.mark.parametrize("optimistic", [False, True])
def test_one_step_and_every_arm_agree_in_distribution(optimistic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = db.DiscountedOptimisticThompsonSampling if optimistic else db.DiscountedThompsonSampling
    tables = []
    for few in (sleeping.FEW_ARMS, 1000):
        monkeypatch.setattr(sleeping, "FEW_ARMS", few)
        bandit = standing(kind(discount=0.9), 70)
        chosen = np.bincount([min(bandit.select().arm, 5) for _ in range(15_000)], minlength=6)
        assert (bandit._evidence.order.active == 70) == (few == 1000)
        tables.append(chosen)
    table = np.array(tables)
    assert stats.chi2_contingency(table[:, table.sum(axis=0) > 10]).pvalue > 1e-4


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.5, 0.5), (2.0, 0.3), (1e-3, 1e-3), (5.0, 1.0), (1.0, 1e-2)], ids=str)
@pytest.mark.parametrize("count", [1, 7, 1_000_000])
def test_the_best_sample_is_the_quantile_it_should_be(prior: tuple[float, float], count: int) -> None:
    import mpmath

    for luck in (1e-6, 0.1, 0.7, 3.0, 20.0):
        value = sleeping.best_log_odds(luck, count, *prior)
        with mpmath.workdps(60):
            t = mpmath.mpf(value)
            if t > 0:
                below = 1 - mpmath.betainc(prior[1], prior[0], 0, 1 / (1 + mpmath.exp(t)), regularized=True)
            else:
                below = mpmath.betainc(*prior, 0, 1 / (1 + mpmath.exp(-t)), regularized=True)
            assert float(-count * mpmath.log(below)) == pytest.approx(luck, rel=1e-8)


@pytest.mark.parametrize("optimistic", [False, True])
def test_grouped_probabilities_are_those_of_all_arms(optimistic: bool) -> None:
    shapes = np.array([[1.0, 1.0], [3.5, 2.0], [2.0, 2.0], [40.0, 35.0], [0.8, 4.0]])
    counts = np.array([120, 1, 3, 1, 2])
    every = selection_probabilities(np.repeat(shapes, counts, axis=0), optimistic=optimistic)
    grouped = grouped_probabilities(shapes, counts, optimistic)
    np.testing.assert_allclose(np.repeat(grouped, counts), every, rtol=1e-9)


def test_arms_fall_asleep_when_forgotten_and_wake_with_a_late_reward() -> None:
    clock = Ticker()
    policy = db.DiscountedThompsonSampling(discount=0.5)
    bandit = Bandit(range(100), policy, seed=1, step_seconds=1.0, clock=clock)
    assert bandit._evidence.order.active == 0
    decision = bandit.select()
    waiting = bandit.select()
    bandit.reward(decision.id, 1.0)
    assert bandit._evidence.order.active == 1
    clock.now += 40.0
    bandit.select()
    assert bandit._evidence.order.active == 1  # 2^−40 still counts beside a prior of 1
    clock.now += 30.0
    bandit.select()
    assert bandit._evidence.order.active == 0
    bandit.reward(waiting.id, 1.0)
    assert bandit.evidence()[waiting.arm][0] == pytest.approx(0.5**70, rel=1e-12)


def test_masks_floors_and_removal_work_among_sleeping_arms() -> None:
    bandit = Bandit(range(500), db.DiscountedThompsonSampling(discount=0.9), seed=1, minimum_probability=1e-3)
    for _ in range(200):
        bandit.reward(bandit.select().id, 1.0)
    for arm in range(0, 500, 2):
        bandit.remove(arm)
    assert {bandit.select().arm % 2 for _ in range(300)} == {1}
    mask = [1, 3, 5, 7, 401, 403]
    expected = bandit.probabilities(arms=mask)
    assert sum(expected.values()) == pytest.approx(1.0, abs=1e-10)
    assert {bandit.select(arms=mask).arm for _ in range(300)} <= set(mask)
    assert special.logsumexp(np.log(list(bandit.probabilities().values()))) == pytest.approx(0.0, abs=1e-10)


def test_a_decision_among_a_million_arms_costs_as_much_as_the_arms_chosen_lately() -> None:
    policy = db.DiscountedThompsonSampling(discount=0.9)
    cost = {}
    for arms in (100, 1_000_000):
        bandit = Bandit(range(arms), policy, seed=1)
        times = []
        for _block in range(8):
            began = time.process_time()
            for _ in range(200):
                bandit.reward(bandit.select().id, 1.0)
            times.append(time.process_time() - began)
        cost[arms] = min(times[3:])
    assert cost[1_000_000] <= 20 * cost[100]
    assert bandit.select().probability < 1e-4
