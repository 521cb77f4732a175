"""Policies that compare samples have the regret that others found: figures and runs of other code, as defined.

Tolerances are in standard errors of both sides; where the other side tells none, that of a hundred runs is taken, or
the rounding of what was read off a figure.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import driftbandit as db

RUNS = 300
STANDARD_ERRORS = 3.5


class Found(NamedTuple):
    """What others found: total regret, and its standard error, or None where a hundred runs may have been made."""

    policy: db.Policy
    regret: float
    error: float | None = None


def sliding(window: int) -> db.Policy:
    return db.SlidingWindowThompsonSampling(window=window)


def fading(discount: float) -> db.Policy:
    return db.DiscountedThompsonSampling(discount=discount)


def walking(variance: float) -> db.Policy:
    return db.KalmanThompsonSampling(movement=math.sqrt(variance))


def gaussian(memory: str) -> db.Policy:
    """Tuned for two segments, as the others did, though env A has three."""
    return db.GaussianThompsonSampling.tuned(horizon=10_000, change_points=1, memory=memory)


def both(discount: float, window: int, combine: str) -> db.Policy:
    return db.DiscountedWindowThompsonSampling(discount=discount, window=window, combine=combine)


TESTS_OF_F_DSW = [
    db.ThompsonSampling(),
    fading(0.99),
    sliding(100),
    both(0.99, 50, "max"),
    both(0.95, 75, "min"),
    both(0.99, 50, "mean"),
]
ENV_A = [
    Found(sliding(429), 283, 3),
    Found(fading(0.996464), 311, 2),
    Found(gaussian("window"), 280, 3),
    Found(gaussian("discount"), 333, 2),
    Found(walking(1e-5), 226),
    Found(walking(1e-4), 347),
]
PROBLEM_1 = [
    Found(sliding(206), 135),
    Found(fading(0.95), 424),
    Found(fading(0.99), 186),
    Found(fading(0.9929), 166),
    Found(walking(1e-5), 91),
    Found(walking(1e-4), 112),
]
PROBLEM_2 = [
    Found(sliding(206), 132),
    Found(fading(0.95), 440),
    Found(fading(0.99), 184),
    Found(fading(0.9929), 153),
    Found(walking(1e-5), 77),
    Found(walking(1e-4), 124),
]
REGRETS_OF_F_DSW = [
    (223.4, 110.3, 91.5, 98.6, 71.1, 68.5),
    (205, 65.5, 70.3, 64.4, 165, 136),
    (25.7, 67.3, 68.9, 61.2, 41.4, 42.2),
]
CASES: list[tuple[db.Environment, int, int, list[Found]]] = [
    (db.EnvA(), 10_000, RUNS, ENV_A),
    (db.Besson(problem=1), 5000, RUNS, PROBLEM_1),
    (db.Besson(problem=2), 5000, RUNS, PROBLEM_2),
    *(
        (db.FDSW(test=i + 1), 1000, 1000, [Found(*each) for each in zip(TESTS_OF_F_DSW, regrets, strict=True)])
        for i, regrets in enumerate(REGRETS_OF_F_DSW)
    ),
]


@pytest.mark.parametrize(("environment", "horizon", "runs", "found"), CASES, ids=lambda each: str(each)[:20])
def test_regret_is_what_others_found(environment: db.Environment, horizon: int, runs: int, found: list[Found]) -> None:
    policies = [each.policy for each in found]
    result = db.simulate(policies, environment, horizon=horizon, runs=runs, seed=1, threads=2, progress=False)
    regret = result.dataset["regret"].values[:, :, -1]
    for row, (policy, other, error) in zip(regret, found, strict=True):
        deviation = row.std(ddof=1)
        theirs = deviation / 10 if error is None else error
        allowed = STANDARD_ERRORS * math.hypot(deviation / math.sqrt(runs), theirs)
        assert abs(row.mean() - other) <= allowed, f"{policy}: {row.mean():.1f}, not {other} ± {allowed:.1f}"


class Stale:
    """f-dsw TS in many chains of repetitions at once, with windows that go on from one repetition to the next.

    The code behind the published figures begins a repetition with new counts but with the windows of the last one;
    and its counts start at 1, which fades with the rest.
    """

    def __init__(self, chains: int, n_arms: int, combine: Callable[..., Any], discount: float, window: int) -> None:
        self.rng = np.random.default_rng(5)
        self.combine, self.discount, self.window = combine, discount, window
        self.ring = np.zeros((chains, n_arms, window), np.int64)
        self.filled, self.won = np.zeros((2, chains, n_arms), np.int64)
        self.rows = np.arange(chains)
        self.start_again()

    def start_again(self) -> None:
        self.history = np.ones((*self.filled.shape, 2))

    def select(self) -> Any:
        x = self.rng.beta(self.history[..., 0] + 1, self.history[..., 1] + 1)
        y = self.rng.beta(1 + self.won, 1 + np.minimum(self.filled, self.window) - self.won)
        return self.combine(x, y).argmax(axis=1)

    def learn(self, arms: Any, rewards: Any) -> None:
        self.history *= self.discount
        self.history[self.rows, arms, 1 - rewards] += 1
        place = self.rows, arms, self.filled[self.rows, arms] % self.window
        self.won[self.rows, arms] += rewards - self.ring[place]
        self.ring[place] = rewards
        self.filled[self.rows, arms] += 1


@pytest.mark.parametrize(
    ("combine", "discount", "window", "published"),
    [(np.maximum, 0.99, 50, 101.0), (np.minimum, 0.95, 75, 239.2), (lambda x, y: x + y, 0.99, 50, 82.4)],
    ids=["max", "min", "mean"],
)
def test_published_regrets_of_f_dsw_are_those_of_windows_that_are_never_cleared(
    combine: Any, discount: float, window: int, published: float
) -> None:
    environment, horizon, chains, repetitions = db.FDSW(test=1), 1000, 50, 10
    means = environment.means_at(np.arange(1, horizon + 1))
    stale = Stale(chains, environment.n_arms, combine, discount, window)
    regrets = []
    for repetition in range(repetitions):
        stale.start_again()
        regret = np.zeros(chains)
        for row in means:
            arms = stale.select()
            regret += row.max() - row[arms]
            stale.learn(arms, (stale.rng.random(chains) < row[arms]).astype(np.int64))
        if repetition > 4:  # by then windows are as after many
            regrets.append(regret)
    found = np.array(regrets).mean(axis=0)
    error = math.hypot(found.std(ddof=1) / math.sqrt(chains), 1.3)
    assert abs(found.mean() - published) <= STANDARD_ERRORS * error
