"""Rough scores: where single precision says that it can tell, double precision agrees."""

import dataclasses
import math

import numpy as np
import pytest

import driftbandit as db
from driftbandit.compiling.linking import link
from driftbandit.compiling.slot import OPEN
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.numerics.rng import BOOST, SCORE, draw
from driftbandit.numerics.sampling import log_odds_accepted, log_odds_attempt, odds_accepted, odds_attempt
from driftbandit.numerics.single_precision import (
    DOUBT,
    LOG_ODDS_BLUR,
    ODDS_BLUR,
    log_odds_apart,
    odds_apart,
    rough_log,
    rough_log_odds_attempt,
    rough_odds_attempt,
    rough_turn,
)
from driftbandit.policies import Policy, posterior
from driftbandit.policies.posterior import larger, sampler_of

ZERO = np.uint64(0)
WORD = 2**32
AWKWARD = [0, 1, 2, WORD // 8 - 1, WORD // 8, WORD // 8 + 1, WORD // 4, WORD // 2 - 1, WORD // 2, 7 * (WORD // 8)]
AWKWARD += [WORD - WORD // 8, WORD - WORD // 2000, WORD - 2**20, WORD - 2**12, WORD - 2, WORD - 1]


def compare_odds(a, b, words, values, rough_values, verdicts):
    for i in range(values.size):
        own = (words[0, i], words[1, i], words[2, i], ZERO)
        values[i], sure = odds_attempt(a[i], b[i], own)
        rough_values[i], proven, accepted, clear = rough_odds_attempt(a[i], b[i], own)
        verdicts[0, i] = sure or odds_accepted(a[i], b[i], own)
        verdicts[1, i] = proven
        verdicts[2, i] = accepted
        verdicts[3, i] = clear


def compare_log_odds(a, b, words, values, rough_values, verdicts):
    for i in range(values.size):
        own = (words[0, i], words[1, i], words[2, i], ZERO)
        more = (words[3, i], words[4, i], ZERO, ZERO)
        values[i], sure = log_odds_attempt(a[i], b[i], own, more)
        rough_values[i], proven, accepted, clear = rough_log_odds_attempt(a[i], b[i], own, more)
        verdicts[0, i] = sure or log_odds_accepted(a[i], b[i], own)
        verdicts[1, i] = proven
        verdicts[2, i] = accepted
        verdicts[3, i] = clear


def draw_all(seed, words):
    for i in range(words.shape[1]):
        first = draw(seed, ZERO, np.uint64(i), ZERO, SCORE, ZERO)
        more = draw(seed, ZERO, np.uint64(i), ZERO, BOOST, ZERO)
        words[0, i], words[1, i], words[2, i] = first[0], first[1], first[2]
        words[3, i], words[4, i] = more[0], more[1]


def attempts(function, a, b, words):
    values, rough_values = np.empty(a.size), np.empty(a.size)
    verdicts = np.empty((4, a.size), np.bool_)
    link(function)(a, b, words, values, rough_values, verdicts)
    return values, rough_values, verdicts


def random_words(count: int, seed: int) -> np.ndarray:
    words = np.empty((5, count), np.uint64)
    link(draw_all)(np.uint64(seed), words)
    return words


def awkward_words() -> np.ndarray:
    """Every pair of words that round, wrap or vanish as normals and as boosts, with uniform numbers from all over."""
    words = [(x, y, z, y, z) for x in AWKWARD for y in AWKWARD for z in (0, 9 * WORD // 10, WORD - 2**12, WORD - 1)]
    return np.array(words, np.uint64).T.copy()


def shapes_between(low: float, high: float, count: int, seed: int) -> np.ndarray:
    """Shapes of every size, a quarter of them at the lower end, where most attempts are rejected."""
    rng = np.random.default_rng(seed)
    shapes = np.exp(rng.uniform(math.log(low), math.log(high), count))
    shapes[::4] = low * (1 + rng.exponential(0.1, shapes[::4].size))
    return shapes


def cases(low: float, high: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    words = np.concatenate([random_words(1_500_000, seed), np.repeat(awkward_words(), 60, axis=1)], axis=1)
    count = words.shape[1]
    return shapes_between(low, high, count, seed), shapes_between(low, high, count, seed + 1), words


def off_by(function, values: np.ndarray, rough_values: np.ndarray) -> np.ndarray:
    """In units of the bound."""
    with np.errstate(invalid="ignore", over="ignore"):
        if function is compare_odds:
            return np.abs(rough_values - values) / (ODDS_BLUR * np.abs(values))
        return np.abs(rough_values - values) / (LOG_ODDS_BLUR * (1 + np.abs(values)))


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (compare_odds, 1.0, 4.0),
        (compare_odds, 1.0, 1e4),
        (compare_odds, 1.0, 1e9),
        (compare_odds, 1.0, 1e100),
        (compare_log_odds, 0.5, 3.0),
        (compare_log_odds, 1e-3, 2.0),
        (compare_log_odds, 1e-6, 1e6),
        (compare_log_odds, 1e-100, 1.0),
        (compare_log_odds, 1e-100, 1e100),
    ],
)
def test_what_single_precision_is_sure_of_is_so(function, low: float, high: float) -> None:
    a, b, words = cases(low, high, seed=7)
    values, rough_values, (accepted, proven, rough_accepted, clear) = attempts(function, a, b, words)
    off = off_by(function, values, rough_values)
    assert np.all(accepted[proven]), "proven by the quick test, and rejected in double precision"
    assert np.all(off[proven] < 1)
    assert np.array_equal(rough_accepted[clear], accepted[clear])
    assert np.all(off[clear & accepted] < 1)


def at_the_edge(a, b, words, seed: int) -> np.ndarray:
    """The words with the uniform number moved to where acceptance is decided, and a little to either side of it."""
    rng = np.random.default_rng(seed)
    radius = np.sqrt(-2 * np.log((words[0] + 0.5) / WORD))
    angle = 2 * np.pi * words[1] / WORD
    exponent, least = 0.5 * radius**2, np.ones(a.size)
    c, d = (np.where(shape < 1, shape + 1, shape) - 1 / 3 for shape in (a, b))
    for size, normal in ((c, radius * np.cos(angle)), (d, radius * np.sin(angle))):
        u = 1 + normal / (3 * np.sqrt(size))
        least = np.minimum(least, u)
        exponent += size * (1 - u**3 + 3 * np.log(np.maximum(u, 1e-12)))
    doubt = float(DOUBT) * (c + d + 8) * (1 + 1 / np.maximum(least, 1e-4))
    uniform = np.exp(np.minimum(exponent + rng.uniform(-1.3, 1.3, a.size) * doubt, 0.0))
    moved = words.copy()
    moved[2] = np.clip(uniform * WORD, 0, WORD - 1).astype(np.uint64)
    return moved


def corners(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The worst normals for each bound: the longest pair, and pairs where both gammas are as small as is trusted."""
    rng = np.random.default_rng(seed)
    count = 400_000
    words = random_words(count, seed)
    words[0, : count // 2] = rng.integers(0, 4, count // 2)
    length = -2 * np.log(rng.uniform(0.0, 0.008, count // 2))
    words[0, count // 2 :] = (np.exp(-0.5 * length) * WORD).astype(np.uint64)
    eighth = WORD // 8 * np.where(np.arange(count) < count // 2, 1, 5)
    words[1] = (eighth + rng.integers(-(2**26), 2**26, count)).astype(np.uint64)
    return 1 + rng.exponential(0.02, count), 1 + rng.exponential(0.02, count), words


@pytest.mark.parametrize("function", [compare_odds, compare_log_odds])
@pytest.mark.parametrize("high", [1.5, 30.0, 1e5])
def test_what_single_precision_is_sure_of_is_so_where_acceptance_is_decided(function, high: float) -> None:
    low = 1.0 if function is compare_odds else 1e-2
    count = 800_000
    a, b = shapes_between(low, high, count, 21), shapes_between(low, high, count, 22)
    for shape_a, shape_b, words in ((a, b, random_words(count, 23)), corners(24)):
        words = at_the_edge(shape_a, shape_b, words, seed=25)
        values, rough_values, (accepted, proven, rough_accepted, clear) = attempts(function, shape_a, shape_b, words)
        off = off_by(function, values, rough_values)
        assert np.all(accepted[proven])
        assert np.array_equal(rough_accepted[clear], accepted[clear])
        assert np.all(off[proven] < 1)
        assert np.all(off[clear & accepted] < 1)
        assert 0.02 < np.mean(clear) < 0.9, "the edge itself is what cannot be told"


OPTIMISTIC = [
    (posterior.optimistic_odds, posterior.rough_optimistic_odds, posterior.odds_stand, odds_apart),
    (posterior.optimistic_log_odds, posterior.rough_optimistic_log_odds, posterior.log_odds_stand, log_odds_apart),
]


def compare_rules(a, b, words, values, rough_values, verdicts):
    for i in range(values.size):
        own = (words[0, i], words[1, i], words[2, i], ZERO)
        more = (words[3, i], words[4, i], ZERO, ZERO)
        shape = (a[i], b[i])
        values[i], sure = score(shape, own, more)
        rough_values[i], proven, accepted, clear = rough(shape, own, more)
        verdicts[0, i] = sure or stands(shape, own)
        verdicts[1, i] = proven
        verdicts[2, i] = accepted
        verdicts[3, i] = clear


score = rough = stands = OPEN


@pytest.mark.parametrize("which", [0, 1], ids=["odds", "log odds"])
@pytest.mark.parametrize("wide", [False, True])
def test_optimistic_scores_are_within_their_bounds_too(which: int, wide: bool) -> None:
    exact, quick, test, _ = OPTIMISTIC[which]
    low, high = ((1.0, 1e18) if wide else (1.0, 50.0)) if which == 0 else ((1e-40, 1e25) if wide else (1e-3, 2.0))
    a, b, words = cases(low, high, seed=31)
    values, rough_values = np.empty(a.size), np.empty(a.size)
    verdicts = np.empty((4, a.size), np.bool_)
    kernel = link(compare_rules, score=exact, rough=quick, stands=test)
    kernel(a, b, words, values, rough_values, verdicts)
    accepted, proven, rough_accepted, clear = verdicts
    off = off_by(compare_odds if which == 0 else compare_log_odds, values, rough_values)
    assert np.all(accepted[proven])
    assert np.array_equal(rough_accepted[clear], accepted[clear])
    assert np.all(off[proven] < 1)
    assert np.all(off[clear & accepted] < 1)
    assert proven.any()


@pytest.mark.parametrize(
    ("function", "low", "high", "unclear"), [(compare_odds, 1.0, 100.0, 2e-3), (compare_log_odds, 1e-3, 2.0, 6e-3)]
)
def test_single_precision_can_nearly_always_tell(function, low: float, high: float, unclear: float) -> None:
    count = 400_000
    a, b = shapes_between(low, high, count, 3), shapes_between(low, high, count, 4)
    values, rough_values, (accepted, proven, _, clear) = attempts(function, a, b, random_words(count, 5))
    assert np.mean(~clear) < unclear
    assert np.mean(proven) > 0.85
    assert np.median(off_by(function, values, rough_values)[accepted]) < 0.05  # the bound is for the worst case


@pytest.mark.parametrize(("apart", "blur"), [(odds_apart, ODDS_BLUR), (log_odds_apart, LOG_ODDS_BLUR)])
def test_what_is_apart_stays_in_order_however_far_rough_scores_are_off(apart, blur: float) -> None:
    rng = np.random.default_rng(2)
    compiled = link(apart)
    found = 0
    for _ in range(4000):
        first = float(np.exp(rng.normal(0, 3))) if apart is odds_apart else float(rng.normal(0, 30))
        second = first - blur * (abs(first) + (apart is log_odds_apart)) * rng.uniform(0, 4)
        if compiled(first, second):
            found += 1
            least = first - blur * (abs(first) + (apart is log_odds_apart)) * 0.999
            most = second + blur * (abs(second) + (apart is log_odds_apart)) * 0.999
            assert least > most
    assert 500 < found < 3500
    for nothing in (math.inf, -math.inf, math.nan):
        assert not compiled(nothing, nothing)
    assert not compiled(math.inf, 1.0), "what cannot be told has an infinite score, and must be looked at again"
    assert not compiled(math.nan, 1.0)
    assert not compiled(1.0, math.nan)


def test_the_rough_logarithm_and_turn_are_accurate_to_single_precision() -> None:
    log, turn = link(rough_log), link(rough_turn)
    x = np.concatenate([np.geomspace(1e-30, 1e30, 40_001), 1 - np.geomspace(1e-7, 0.4, 20_001)]).astype(np.float32)
    found = np.array([log(value) for value in x], float)
    exact = np.log(x.astype(float))
    assert np.all(np.abs(found - exact) <= 3 * 2.0**-24 * np.abs(exact))
    words = np.array(AWKWARD + list(range(0, WORD, WORD // 5003)), np.uint64)
    pairs = np.array([turn(word) for word in words], float)
    angles = 2 * np.pi * words.astype(float) / WORD
    assert np.abs(pairs - np.stack([np.cos(angles), np.sin(angles)], axis=1)).max() < 4 * 2.0**-24


class Exactly(Policy):
    """Another policy, without its rough scores."""

    name = None

    def __init__(self, policy: Policy) -> None:
        object.__setattr__(self, "policy", policy)

    def rule(self, n_arms: int):
        rule = self.policy.rule(n_arms)
        return dataclasses.replace(rule, sampler=dataclasses.replace(sampler_of(rule), rough=None, apart=larger))


@pytest.mark.parametrize(
    "text",
    [
        "ts",
        "ots",
        "dts:discount=0.4",
        "dots:discount=0.75",
        "dts:discount=0.97,prior_successes=0.001,prior_failures=0.001",
        "dots:discount=0.4,prior_successes=0.001,prior_failures=0.001",
        "dots:discount=0.9,prior_successes=1e-100,prior_failures=1e-90",  # never trusted
        "dts:discount=0.9,prior_successes=1e30,prior_failures=1e31",  # never trusted
        "ts:prior_successes=1e-12,prior_failures=2.0",
    ],
)
def test_rough_scores_never_change_a_decision(text: str) -> None:
    assert_decides_alike(Policy.parse(text), db.Fast())


@pytest.mark.parametrize("text", ["ts", "ots"])
def test_scores_that_are_close_are_told_apart_in_double_precision(text: str) -> None:
    # samples of such posteriors differ by ten thousandths: single precision alone gets some runs in twenty wrong
    policy = Policy.parse(f"{text}:prior_successes=1e8,prior_failures=1e8")
    assert_decides_alike(policy, db.FromMeans(means=[[0.1, 0.4, 0.6, 0.9]]))


@pytest.mark.parametrize("prior", ["1e-21", "5e-21", "1e-20"])
def test_a_mean_whose_logarithm_single_precision_cannot_take_is_not_trusted(prior: str) -> None:
    policy = Policy.parse(f"dots:discount=0.4,prior_successes={prior},prior_failures=1e18")
    assert_decides_alike(policy, db.FromMeans(means=[[0.0, 1e-9, 2e-9, 4e-9]]), horizon=40, runs=5000)


def assert_decides_alike(policy: Policy, environment: db.Environment, horizon: int = 300, runs: int = 700) -> None:
    quick, slow = (
        run_shard(Shard(which, environment, horizon, seed=3, first_run=0, runs=runs, steps=(horizon // 3, horizon)))
        for which in (policy, Exactly(policy))
    )
    for one, other in zip(quick, slow, strict=True):
        np.testing.assert_array_equal(one, other)
