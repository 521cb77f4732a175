"""Where one policy that compares indices is a special case of another, both make the same decisions, to the bit."""

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np
import pytest

import driftbandit as db
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.engine.cpu.shard import Shard, run_shard

HORIZON = 150
WORLDS = [db.Sinusoidal(period=40), db.Abrupt(period=50, n_arms=3, rewards="mean")]
SAME = [
    (db.DiscountedKLUCB(discount=1), db.KLUCB()),
    (db.DiscountedKLUCB(discount=1, logarithm="time"), db.KLUCB()),
    (db.DiscountedKLUCB(discount=1, confidence=3), db.KLUCB(confidence=3)),
    (db.SlidingWindowKLUCB(window=HORIZON), db.KLUCB()),
    (db.SlidingWindowKLUCB(window=10**9, confidence=3), db.KLUCB(confidence=3)),
    (db.SlidingWindowKLUCB(window=HORIZON, logarithm="time"), db.KLUCB()),
    (db.BayesUCB(window=HORIZON), db.BayesUCB()),
    (db.BayesUCB(window=10**9, prior_failures=3), db.BayesUCB(prior_failures=3)),
    (db.EpsilonGreedy(exploration=0, decreasing=True), db.EpsilonGreedy(exploration=0)),
    (db.EpsilonGreedy(exploration=1e100, decreasing=True), db.EpsilonGreedy(exploration=1)),
    (db.MOSS(confidence=1e-100), db.MOSS(confidence=1e-99)),
    (db.UCBV(confidence=1e-100), db.UCBTuned(confidence=1e-100)),
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Greedy(db.Policy):
    """The largest mean."""

    name: ClassVar[str] = "test-greedy"

    def rule(self, n_arms: int) -> db.Rule:
        return db.Rule(selection="index", score=mean, learn=observe, parameters=())


def mean(p: Any, shared: float, n: float, earned: float) -> float:
    return earned / n if n > 0.0 else math.inf


def observe(p: Any, n: float, earned: float, reward: float, probability: float) -> tuple[float, float]:
    return n + 1.0, earned + reward


def choices(policy: db.Policy, environment: db.Environment, run: int) -> np.ndarray:
    shard = Shard(policy, environment, HORIZON, 4, run, 1, (HORIZON,))
    return run_shard(shard, target=INTERPRETED).choices


@pytest.mark.parametrize(("special", "plain"), [*SAME, (db.EpsilonGreedy(exploration=0), Greedy())], ids=str)
def test_a_special_case_is_the_plain_policy(special: db.Policy, plain: db.Policy) -> None:
    worlds = WORLDS[:1] if getattr(special, "window", None) else WORLDS  # in a window fractions are rounded
    for environment in worlds:
        for run in range(2):
            assert np.array_equal(choices(special, environment, run), choices(plain, environment, run))


def test_a_window_or_a_discount_makes_a_difference() -> None:
    pairs = [
        (db.DiscountedKLUCB(discount=0.9), db.KLUCB()),
        (db.SlidingWindowKLUCB(window=10), db.KLUCB()),
        (db.SlidingWindowKLUCB(window=30, logarithm="time"), db.SlidingWindowKLUCB(window=30)),
        (db.DiscountedKLUCB(discount=0.95, logarithm="time"), db.DiscountedKLUCB(discount=0.95)),
        (db.BayesUCB(discount=0.9), db.BayesUCB()),
        (db.BayesUCB(window=10), db.BayesUCB()),
        (db.EpsilonGreedy(exploration=0, step_size=0.5), db.EpsilonGreedy(exploration=0)),
        (db.MOSS(horizon=HORIZON), db.MOSS()),
    ]
    for one, other in pairs:
        assert not np.array_equal(choices(one, WORLDS[0], 0), choices(other, WORLDS[0], 0)), (one, other)


def test_softmax_is_greedy_when_cold_and_uniform_when_hot() -> None:
    evidence = [(10.0, 7.0), (10.0, 6.0), (4.0, 1.0)]
    assert db.Softmax(temperature=1e-6).selection_probabilities(evidence).tolist() == [1.0, 0.0, 0.0]
    assert db.Softmax(temperature=1e100).selection_probabilities(evidence) == pytest.approx(np.full(3, 1 / 3))
    with_new = db.Softmax(temperature=0.5).selection_probabilities([(10.0, 5.0), (0.0, 0.0)])
    assert with_new[1] == pytest.approx(math.e / (1 + math.e))


def test_odds_of_epsilon_greedy_are_known_at_any_step() -> None:
    policy, evidence = db.EpsilonGreedy(exploration=3, decreasing=True), [(10.0, 7.0), (10.0, 6.0), (4.0, 1.0)]
    assert policy.selection_probabilities(evidence, step=1) == pytest.approx(np.full(3, 1 / 3))
    assert policy.selection_probabilities(evidence, step=90) == pytest.approx([0.9 + 0.1 / 3, 0.1 / 3, 0.1 / 3])


def test_the_count_of_time_is_shared_by_all_arms() -> None:
    policy = db.DiscountedKLUCB(discount=0.5, logarithm="time")
    assert policy.selection_probabilities([(1.9, 1.8), (1.0, 0.6)], common=(1.0,)).tolist() == [1.0, 0.0]
    assert policy.selection_probabilities([(1.9, 1.5), (1.0, 0.7)], common=(1e4,)).tolist() == [0.0, 1.0]


def test_intervals_hold_the_mean_and_end_at_the_index() -> None:
    for policy in (db.KLUCB(), db.UCBV(), db.UCBTuned(), db.MOSS(), db.BayesUCB()):
        rule = policy.rule(3)
        own = (40.0, 12.0, 12.0)[: len(rule.initial)]
        shared = rule.shared(500.0, rule.common)
        middle, low, high = rule.interval(rule.parameters, shared, *own)
        assert low < middle < high
        if not isinstance(policy, db.BayesUCB):
            assert middle == pytest.approx(0.3)
            score = rule.score(rule.parameters, shared, *own)
            assert high == pytest.approx(-math.expm1(-score) if isinstance(policy, db.KLUCB) else score)
            never = rule.interval(rule.parameters, shared, *rule.initial)
            assert math.isnan(never[0])
