"""Figures of a simulation: right, with intervals that cover, and paired between policies."""

import numpy as np
import pytest
from scipy import stats

import driftbandit as db
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.engine.estimate import Estimate, Estimates, estimate, half_width

DTS, UNIFORM = db.DiscountedThompsonSampling(discount=0.9), db.UniformRandom()


def played(runs: int = 400, seed: int = 5, horizon: int = 300, environment: db.Environment | None = None) -> db.Result:
    return db.simulate([DTS, UNIFORM], environment or db.Fast(), horizon=horizon, runs=runs, seed=seed, progress=False)


def test_the_half_width_is_that_of_student_s_t() -> None:
    values = np.random.default_rng(1).normal(size=(12, 3))
    for column in range(3):
        low, high = stats.t.interval(0.95, 11, values[:, column].mean(), stats.sem(values[:, column]))
        found = estimate(values[:, column])
        assert found.low == pytest.approx(low)
        assert found.high == pytest.approx(high)
    assert half_width(values).shape == (3,)
    assert np.all(np.isnan(half_width(values[:1])))


def test_estimates_print_as_a_table() -> None:
    table = Estimates({"ts": Estimate(0.5, 0.01), "sw-ucb:window=3": Estimate(0.25, float("nan"))})
    assert repr(table) == "ts               0.5000 ± 0.0100\nsw-ucb:window=3  0.2500"


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    # uniform choice in the fast environment: over whole periods the regret a step is known exactly
    means = db.Fast().means_at(np.arange(1, 101))
    truth = (means.max(axis=1) - means.mean(axis=1)).mean()
    trials, runs = 1000, 20
    outcome = run_shard(Shard(UNIFORM, db.Fast(), 100, 77, 0, trials * runs, (100,), 100))
    groups = outcome.regret[:, 0].reshape(trials, runs) / 100
    covered = sum(each.low <= truth <= each.high for each in map(estimate, groups))
    error = np.sqrt(trials * 0.95 * 0.05)
    assert abs(covered - 0.95 * trials) < 4 * error


def test_regret_reward_and_choices_agree_with_each_other() -> None:
    result = played(runs=200)
    steps = np.arange(1, 301)
    means = db.Fast().means_at(steps)
    data = result.dataset
    assert data["choices"].sum(axis=2).values.tolist() == [[200] * 300] * 2
    for row, label in enumerate(result.policies):
        expected = (data["choices"].values[row] * means).sum()
        regret = (means.max(axis=1) * 200).sum() - expected
        assert data["expected"].values[row, :, -1].sum() == pytest.approx(expected, rel=1e-12)
        assert data["regret"].values[row, :, -1].sum() == pytest.approx(regret, rel=1e-12)
        assert result.normalized_regret[label].mean == pytest.approx(regret / 200 / 300, rel=1e-12)
        assert result.mean_reward[label].mean == pytest.approx(data["reward"].values[row, :, -1].mean() / 300)
        best = means.sum(axis=0).max()
        static = (best - data["expected"].values[row, :, -1].mean()) / 300
        assert result.static_regret[label].mean == pytest.approx(static, rel=1e-9)
    frequency = result.choice_frequency
    np.testing.assert_allclose(frequency.sum(axis=2).values, 1.0)


def test_realised_reward_agrees_with_its_expectation_within_standard_errors() -> None:
    result = played(runs=2000)
    for row in range(2):
        noise = (result.dataset["reward"] - result.dataset["expected"]).values[row, :, -1]
        assert abs(noise.mean()) < 4 * noise.std(ddof=1) / np.sqrt(len(noise))


@pytest.mark.parametrize(
    ("law", "variance"), [("bernoulli", 0.21), ("mean", 0.0), ("beta", 0.21 / 11), ("normal", 0.04)]
)
def test_reward_laws_have_their_mean_and_variance(law: str, variance: float) -> None:
    # a game of one step: the reward of the only step, over many runs
    environment = db.FromMeans(means=[[0.3, 0.3]], rewards=law, concentration=10, deviation=0.2)
    rewards = run_shard(Shard(db.SlidingWindowUCB(window=5), environment, 1, 3, 0, 20_000, (1,))).reward[:, 0]
    assert law == "normal" or np.all((rewards >= 0) & (rewards <= 1))
    assert rewards.mean() == pytest.approx(0.3, abs=4 * np.sqrt(variance / 20_000) + 1e-12)
    assert rewards.var() == pytest.approx(variance, abs=4 * variance * np.sqrt(3 / 20_000) + 1e-12)
    if law == "beta":
        assert stats.kstest(rewards, stats.beta(3, 7).cdf).pvalue > 1e-4
    if law == "normal":
        assert stats.kstest(rewards, stats.norm(0.3, 0.2).cdf).pvalue > 1e-4


def test_regret_is_against_the_best_arm_given_the_clocks_in_a_rested_environment() -> None:
    environment = db.FromMeans(means=[[0.9, 0.5], [0.1, 0.6], [0.1, 0.7]], rested=True)
    outcome = run_shard(Shard(UNIFORM, environment, 3, 1, 0, 50, (1, 2, 3)))
    table = environment.means_at(np.arange(1, 5))
    for run in range(50):
        choices = run_shard(Shard(UNIFORM, environment, 3, 1, run, 1, (3,))).choices.argmax(axis=1)
        clocks, regret = [1, 1], 0.0
        for arm in choices:
            means = [table[clocks[k] - 1, k] for k in range(2)]
            regret += max(means) - means[arm]
            clocks[arm] += 1
        assert outcome.regret[run, -1] == pytest.approx(regret, abs=1e-12)


def test_differences_are_paired_run_by_run() -> None:
    result = played(environment=db.Brownian(volatility=0.01))
    regret = result.dataset["regret"].values[:, :, -1] / 300
    found = result.difference("uniform", str(DTS))
    low, high = stats.ttest_rel(regret[1], regret[0]).confidence_interval()
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.mean == pytest.approx(regret[1].mean() - regret[0].mean())
    # the same path in the same run: uniform choice does well and badly where others do
    unpaired = np.hypot(result.normalized_regret["uniform"].ci95, result.normalized_regret[str(DTS)].ci95)
    assert found.ci95 < unpaired


def test_figures_over_time_end_where_the_totals_are() -> None:
    result = played(runs=50)
    over_time = result.regret_over_time
    for label, value in result.normalized_regret.items():
        last = over_time.sel(policy=label).isel(step=-1)
        assert float(last["mean"]) == pytest.approx(value.mean)
        assert float(last["ci95"]) == pytest.approx(value.ci95)
    per_step = result.reward_over_time["mean"].values * np.diff(result.dataset["step"].values, prepend=0)
    np.testing.assert_allclose(per_step.sum(axis=1), result.dataset["expected"].values[:, :, -1].mean(axis=1))


# Normalised regret, T = 5000, measured elsewhere with 60 runs a cell and printed to three digits.
KNOWN = [
    (db.Fast(), 0.4, "all", 0.362),
    (db.Fast(), 0.9, "all", 0.236),
    (db.Fast(), 0.4, "played", 0.229),
    (db.Slow(), 0.97, "all", 0.065),
    (db.Slow(), 0.75, "played", 0.075),
    (db.Abrupt(), 0.97, "all", 0.122),
    (db.Abrupt(), 0.95, "played", 0.192),
]


@pytest.mark.parametrize(("environment", "discount", "arms", "known"), KNOWN, ids=str)
def test_known_regrets_of_discounted_thompson_sampling_are_found_again(environment, discount, arms, known) -> None:
    policy = db.DiscountedThompsonSampling(discount=discount, discounted_arms=arms)
    result = db.simulate(policy, environment, horizon=5000, runs=64, seed=60, progress=False)
    regret = result.dataset["regret"].values[0, :, -1] / 5000
    error = regret.std(ddof=1) / np.sqrt(64)
    # both sides are estimates from about as many runs, and the known one is rounded
    assert abs(regret.mean() - known) < 4 * np.sqrt(2) * error + 0.0005
