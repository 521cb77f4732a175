"""How a block of runs meets its environment: means, rewards, regret, and arms that move.

`reward_of` and `move` are slots: the law of rewards, and what makes an arm's mean change.
"""

import numpy as np

from driftbandit.engine.cpu.block import Desk, Place, Tally, World
from driftbandit.engine.step.forms import mean_after
from driftbandit.engine.step.parts import move, reward_of
from driftbandit.numerics.elementary import exp
from driftbandit.numerics.rng import REWARD, draw, uniform
from driftbandit.numerics.sampling import log_odds_accepted, log_odds_attempt, normal_pair

ZERO = np.uint64(0)
ONE = np.uint64(1)


def observe_shared(place: Place, world: World, desk: Desk, record: Tally) -> None:
    """One step where all runs see the same means."""
    seed, first_run, step = place
    chosen, reward, mean = desk.chosen, desk.reward, desk.total
    row = np.int64(step) - world.first_clock
    means = world.table[row % world.cycle if world.cycle > 0 else row]
    best = means[0]
    for k in range(1, means.size):
        best = max(best, means[k])
    for r in range(mean.size):
        mean[r] = means[chosen[r]]
    for r in range(mean.size):
        reward[r] = reward_of(mean[r], world.spread, seed, first_run + np.uint64(r), step)
        record.regret[r] += best - mean[r]
        record.expected[r] += mean[r]
        record.reward[r] += reward[r]


def observe_own(place: Place, world: World, desk: Desk, record: Tally) -> None:
    """One step where every run has means of its own."""
    seed, first_run, step = place
    chosen, reward, best, mean = desk.chosen, desk.reward, desk.best, desk.total
    n_arms, n = world.mean.shape
    for r in range(n):
        best[r] = world.mean[0, r]
        mean[r] = world.mean[chosen[r], r]
    for k in range(1, n_arms):
        for r in range(n):
            best[r] = max(best[r], world.mean[k, r])
    for r in range(n):
        reward[r] = reward_of(mean[r], world.spread, seed, first_run + np.uint64(r), step)
        record.regret[r] += best[r] - mean[r]
        record.expected[r] += mean[r]
        record.reward[r] += reward[r]
    move(place, world, desk)


def bernoulli_reward(mean: float, spread: float, seed: np.uint64, run: np.uint64, step: np.uint64) -> float:
    """1 with probability `mean`, else 0."""
    words = draw(seed, run, step, ZERO, REWARD, ZERO)
    return 1.0 if uniform(words[0], words[1]) < mean else 0.0


def mean_reward(mean: float, spread: float, seed: np.uint64, run: np.uint64, step: np.uint64) -> float:
    """The mean itself."""
    return mean


def beta_reward(mean: float, spread: float, seed: np.uint64, run: np.uint64, step: np.uint64) -> float:
    """Beta(c·mean, c·(1 − mean)); at 0 and 1 the mean itself."""
    a = mean * spread
    b = (1.0 - mean) * spread
    if a <= 0.0 or b <= 0.0:
        return mean
    attempt = ZERO
    while True:
        words = draw(seed, run, step, ZERO, REWARD, attempt)
        more = draw(seed, run, step, ONE, REWARD, attempt)
        value, sure = log_odds_attempt(a, b, words, more)
        if sure or log_odds_accepted(a, b, words):
            return 1.0 / (1.0 + exp(-value))
        attempt += ONE


def normal_reward(mean: float, spread: float, seed: np.uint64, run: np.uint64, step: np.uint64) -> float:
    """N(mean, σ²)."""
    words = draw(seed, run, step, ZERO, REWARD, ZERO)
    normal, _, _ = normal_pair(words[0], words[1])
    return mean + spread * normal


def move_rested(place: Place, world: World, desk: Desk) -> None:
    """The chosen arm's clock moves, and its mean with it."""
    for r in range(desk.chosen.size):
        k = desk.chosen[r]
        world.clock[k, r] += 1
        row = world.clock[k, r] - world.first_clock
        if world.cycle > 0:
            row %= world.cycle
        world.mean[k, r] = world.table[row, k]


def walk_restless(place: Place, world: World, desk: Desk) -> None:
    """Every arm walks on."""
    seed, first_run, step = place
    n_arms, n = world.mean.shape
    for k in range(n_arms):
        for r in range(n):
            world.mean[k, r] = mean_after(
                world.path, world.mean[k, r], seed, first_run + np.uint64(r), step, np.uint64(k)
            )


def walk_rested(place: Place, world: World, desk: Desk) -> None:
    """The chosen arm walks on."""
    seed, first_run, _ = place
    for r in range(desk.chosen.size):
        k = desk.chosen[r]
        world.mean[k, r] = mean_after(
            world.path,
            world.mean[k, r],
            seed,
            first_run + np.uint64(r),
            np.uint64(world.clock[k, r]),
            np.uint64(k),
        )
        world.clock[k, r] += 1
