"""The tuning formulas give the values of the paper's tables, where those agree with the formulas."""

import math

import pytest

import driftbandit as db


@pytest.mark.parametrize(("batch", "printed"), [(25, 0.3593), (250, 0.1136)])
def test_the_exploration_of_exp3_suits_its_batch(batch: int, printed: float) -> None:
    assert db.Exp3.tuned(horizon=batch, n_arms=4).exploration == pytest.approx(printed, abs=5e-5)
    assert db.RestartingExp3(batch=batch).rule(4).parameters[0] == pytest.approx(printed, abs=5e-5)


def test_the_exploration_of_exp3_is_at_most_1() -> None:
    assert db.Exp3.tuned(horizon=1, n_arms=100).exploration == 1.0
    assert db.RestartingExp3(batch=1).rule(4).parameters[0] == 1.0


@pytest.mark.parametrize(("horizon", "variation", "n_arms"), [(1000, 10, 4), (5000, 100, 7), (10, 10, 2)])
def test_the_batch_of_rexp3_is_that_of_besbes(horizon: int, variation: float, n_arms: int) -> None:
    exact = (n_arms * math.log(n_arms)) ** (1 / 3) * (horizon / variation) ** (2 / 3)
    assert db.RestartingExp3.tuned(horizon=horizon, variation=variation, n_arms=n_arms).batch == math.ceil(exact)


@pytest.mark.parametrize(("horizon", "points", "printed"), [(500, 20, 0.95), (2500, 10, 0.9842), (1000, 20, 0.9646)])
def test_the_discount_of_discounted_ucb_is_the_printed_one(horizon: int, points: int, printed: float) -> None:
    assert db.DiscountedUCB.tuned(horizon=horizon, change_points=points).discount == pytest.approx(printed, abs=5e-5)
    wide = db.DiscountedUCB.tuned(horizon=horizon, change_points=points, bound=2, confidence=0.6)
    assert 1 - wide.discount == pytest.approx(math.sqrt(points / horizon) / 8)
    assert (wide.bound, wide.confidence) == (2.0, 0.6)


@pytest.mark.parametrize(("horizon", "points", "exact"), [(500, 20, 24.93), (2500, 10, 88.45), (1000, 20, 37.17)])
def test_the_window_of_sliding_window_ucb_is_the_formula_rounded(horizon: int, points: int, exact: float) -> None:
    assert 2 * math.sqrt(horizon * math.log(horizon) / points) == pytest.approx(exact, abs=0.005)
    assert db.SlidingWindowUCB.tuned(horizon=horizon, change_points=points).window == round(exact)
    assert db.SlidingWindowUCB.tuned(horizon=horizon, change_points=points, bound=2).window == round(2 * exact)


@pytest.mark.parametrize(
    ("horizon", "points", "window", "discount"), [(10_000, 2, 429, 0.996464), (5000, 4, 206, 0.992929)]
)
def test_windows_and_discounts_of_kl_ucb_are_the_published_ones(
    horizon: int, points: int, window: int, discount: float
) -> None:
    assert db.SlidingWindowKLUCB.tuned(horizon=horizon, change_points=points).window == window
    tuned = db.DiscountedKLUCB.tuned(horizon=horizon, change_points=points, logarithm="time", confidence=2)
    assert tuned.discount == pytest.approx(discount, abs=5e-7)
    assert (tuned.logarithm, tuned.confidence) == ("time", 2.0)


@pytest.mark.parametrize(("horizon", "rate"), [(500, 0.0372), (1000, 0.0263), (2500, 0.01665)])
def test_the_learning_rate_of_exp3_ix_is_that_of_neu(horizon: int, rate: float) -> None:
    tuned = db.Exp3IX.tuned(horizon=horizon, n_arms=4)
    assert tuned.learning_rate == pytest.approx(rate, abs=5e-5)
    assert tuned.rule(4).parameters[1] == tuned.learning_rate / 2


@pytest.mark.parametrize("cls", [db.DiscountedThompsonSampling, db.DiscountedOptimisticThompsonSampling])
def test_evidence_counts_half_after_its_half_life(cls: type) -> None:
    policy = cls.tuned(half_life=7, prior_successes=2)
    assert policy.discount**7 == pytest.approx(0.5)
    assert policy.prior_successes == 2.0


def test_the_threshold_of_dynamic_thompson_sampling_is_the_time_between_changes() -> None:
    assert db.BanditOverBandit.tuned(horizon=10_000, n_arms=3).batch == 173
    assert db.BanditOverBandit.tuned(horizon=3, n_arms=100).batch == 3
    assert db.ChangePointThompsonSampling.tuned(horizon=10_000, change_points=2, runs=5).hazard == 2e-4
    assert db.DynamicThompsonSampling.tuned(change_interval=250, prior_failures=3).threshold == 250.0


def test_the_window_of_sliding_window_thompson_sampling_is_the_published_one() -> None:
    assert db.SlidingWindowThompsonSampling.tuned(horizon=10_000, change_points=2).window == 429
    assert db.SlidingWindowThompsonSampling.tuned(horizon=5000, change_points=4).window == 206
    alone = db.SlidingWindowThompsonSampling.tuned(horizon=50_000, prior_failures=2)
    assert alone.window == round(4 * math.sqrt(50_000 * math.log(50_000)))
    assert alone.prior_failures == 2.0


def test_gaussian_thompson_sampling_is_tuned_for_segments_and_for_the_deviation_of_rewards() -> None:
    segments, horizon = 10, 100_000
    plain = db.GaussianThompsonSampling.tuned(horizon=horizon, change_points=segments - 1)
    assert 1 - plain.discount == pytest.approx(math.sqrt(segments / (horizon * math.log(horizon))))
    assert (plain.deviation, plain.window) == (0.5, None)
    wide = db.GaussianThompsonSampling.tuned(horizon=horizon, change_points=segments - 1, deviation=3)
    assert 1 - wide.discount == pytest.approx((1 - plain.discount) / 3)
    assert wide.deviation == 3.0
    window = math.sqrt(horizon / segments) * math.log(horizon)
    for deviation, factor in ((None, 1), (3, 3)):
        sliding = db.GaussianThompsonSampling.tuned(
            horizon=horizon, change_points=segments - 1, memory="window", deviation=deviation
        )
        assert (sliding.window, sliding.discount) == (round(factor * window), 1.0)


@pytest.mark.parametrize("cls", [db.CusumUCB, db.PageHinkleyUCB])
@pytest.mark.parametrize(("horizon", "points", "h", "share"), [(10000, 2, 8.5172, 0.04127), (5000, 4, 7.1309, 0.0755)])
def test_the_threshold_and_exploration_of_detectors_are_those_of_liu(
    cls: type, horizon: int, points: int, h: float, share: float
) -> None:
    tuned = cls.tuned(horizon=horizon, change_points=points, drift=0.05)
    assert (tuned.threshold, tuned.exploration) == pytest.approx((h, share), abs=5e-5)
    assert tuned.drift == 0.05


def test_the_window_threshold_and_exploration_of_monitored_ucb_are_those_of_cao() -> None:
    sure = math.log(2 * 3 * 5000**2)
    tuned = db.MonitoredUCB.tuned(horizon=5000, change_points=4, n_arms=3, smallest_change=0.5)
    exact = 4 / 0.5**2 * (math.sqrt(sure) + math.sqrt(math.log(10000))) ** 2
    assert 0 <= tuned.window - exact < 2
    assert tuned.window % 2 == 0
    assert tuned.threshold == pytest.approx(math.sqrt(tuned.window / 2 * sure))
    by_hand = db.MonitoredUCB.tuned(horizon=5000, change_points=4, n_arms=3, window=150, index="kl")
    assert (by_hand.window, by_hand.index) == (150, "kl")
    assert (by_hand.threshold, by_hand.exploration) == pytest.approx((37.576, 0.366), abs=5e-4)
    assert db.MonitoredUCB.tuned(horizon=5000, change_points=1, n_arms=3, window=150).exploration == pytest.approx(
        0.183, abs=5e-4
    )
    assert db.MonitoredUCB.tuned(horizon=10, change_points=10, n_arms=3, window=150).exploration == 1.0


def test_the_exploration_and_false_alarms_of_glr_are_those_of_besson() -> None:
    by_arm = db.GLRKLUCB.tuned(horizon=5000, n_arms=3, change_points=4)
    assert by_arm.exploration == pytest.approx(0.05 * math.sqrt(3 * 4 * math.log(5000) / 5000))
    assert by_arm.false_alarm == pytest.approx(1 / math.sqrt(3 * 4 * 5000))
    together = db.GLRKLUCB.tuned(horizon=5000, n_arms=3, change_points=4, scope="all", confidence=3)
    assert together.exploration == pytest.approx(0.05 * math.sqrt(4 * math.log(5000) / 5000))
    assert together.false_alarm == pytest.approx(1 / math.sqrt(4 * 5000))
    assert (together.scope, together.confidence, together.growing) == ("all", 3.0, False)
    untold = db.GLRKLUCB.tuned(horizon=10000, n_arms=3)
    assert untold.exploration == pytest.approx(math.sqrt(3 * math.log(10000) / 10000))
    assert (untold.false_alarm, untold.growing) == (0.01, True)
    assert db.GLRKLUCB.tuned(horizon=3, n_arms=9).exploration == 1.0
