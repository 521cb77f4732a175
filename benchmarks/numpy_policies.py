"""The ten policies of the paper in NumPy, vectorised over runs as a good NumPy user would write them.

Each takes (rng, runs, n_arms) and returns two functions: select(step) → arms, and update(arms, rewards). State is
`(runs, arms)`; everything is done in place where that is shorter or faster.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Pair = tuple[Callable[[int], Any], Callable[[Any, Any], None]]


def beta_policy(
    rng: Any,
    runs: int,
    n_arms: int,
    discount: float = 1.0,
    prior: float = 1.0,
    optimistic: bool = False,
    in_log_odds: bool = False,
) -> Pair:
    """TS, OTS, dTS and dOTS.

    `rng.beta` is what everybody uses. With shapes far below 1 it returns exactly 0 and 1 so often that arms tie and
    the first wins: `in_log_odds` samples the logarithm of the odds instead, slower and without that error.
    """
    successes, failures = np.full((runs, n_arms), prior), np.full((runs, n_arms), prior)
    rows = np.arange(runs)

    def select(step: int) -> Any:
        theta = rng.beta(successes, failures)
        if optimistic:
            np.maximum(theta, successes / (successes + failures), out=theta)
        return theta.argmax(axis=1)

    def select_in_log_odds(step: int) -> Any:
        log_odds = log_gamma(successes) - log_gamma(failures)
        if optimistic:
            np.maximum(log_odds, np.log(successes / failures), out=log_odds)
        return log_odds.argmax(axis=1)

    def log_gamma(shape: Any) -> Any:
        return np.log(rng.standard_gamma(shape + 1)) + np.log(1 - rng.random(shape.shape)) / shape

    def update(arms: Any, rewards: Any) -> None:
        if discount < 1:
            for evidence in (successes, failures):
                evidence *= discount
                evidence += prior * (1 - discount)
        successes[rows, arms] += rewards
        failures[rows, arms] += 1 - rewards

    return (select_in_log_odds if in_log_odds else select), update


def dynamic(rng: Any, runs: int, n_arms: int, threshold: float) -> Pair:
    """Dynamic TS."""
    successes, failures = np.ones((runs, n_arms)), np.ones((runs, n_arms))
    rows = np.arange(runs)

    def select(step: int) -> Any:
        return rng.beta(successes, failures).argmax(axis=1)

    def update(arms: Any, rewards: Any) -> None:
        a, b = successes[rows, arms], failures[rows, arms]
        scale = np.where(a + b < threshold, 1.0, threshold / (threshold + 1))
        successes[rows, arms] = (a + rewards) * scale
        failures[rows, arms] = (b + 1 - rewards) * scale

    return select, update


def exponential(
    rng: Any, runs: int, n_arms: int, exploration: float = 0.0, batch: int = 0, rate: float = 0.0, implicit: float = 0.0
) -> Pair:
    """EXP3, REXP3 (a batch) and EXP3-IX (a rate)."""
    log_weights = np.zeros((runs, n_arms))
    rows = np.arange(runs)
    chosen = np.empty(runs)
    clock = [0]

    def select(step: int) -> Any:
        weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
        weights *= (1 - exploration) / weights.sum(axis=1, keepdims=True)
        weights += exploration / n_arms
        arms = (rng.random((runs, 1)) >= weights.cumsum(axis=1)[:, :-1]).sum(axis=1)
        chosen[:] = weights[rows, arms]
        return arms

    def update(arms: Any, rewards: Any) -> None:
        if rate:
            log_weights[rows, arms] -= rate * (1 - rewards) / (chosen + implicit)
        else:
            log_weights[rows, arms] += exploration / n_arms * rewards / chosen
        clock[0] += 1
        if batch and clock[0] % batch == 0:
            log_weights[:] = 0

    return select, update


def confidence(
    rng: Any, runs: int, n_arms: int, scale: float, confidence: float, discount: float = 1.0, window: int = 0
) -> Pair:
    """D-UCB and SW-UCB (a window)."""
    counts, sums = np.zeros((runs, n_arms)), np.zeros((runs, n_arms))
    rows = np.arange(runs)
    past_arms = np.zeros((window, runs), np.int64)
    past_rewards = np.zeros((window, runs))
    clock = [0]
    total = [0.0]

    def select(step: int) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            index = sums / counts + scale * np.sqrt(confidence * np.log(max(total[0], 1.0)) / counts)
        if clock[0] < 10 * n_arms or window:  # unplayed arms first; later there are none without a window
            index[counts == 0] = np.inf
        best = index == index.max(axis=1, keepdims=True)
        if best.sum() == runs:
            return best.argmax(axis=1)
        return (best * rng.random((runs, n_arms))).argmax(axis=1)

    def update(arms: Any, rewards: Any) -> None:
        if discount < 1:
            np.multiply(counts, discount, out=counts)
            np.multiply(sums, discount, out=sums)
        counts[rows, arms] += 1
        sums[rows, arms] += rewards
        if window:
            row = clock[0] % window
            if clock[0] >= window:
                counts[rows, past_arms[row]] -= 1
                sums[rows, past_arms[row]] -= past_rewards[row]
            past_arms[row], past_rewards[row] = arms, rewards
        clock[0] += 1
        total[0] = min(total[0] * discount + 1, window or np.inf)

    return select, update


def change_points(rng: Any, runs: int, n_arms: int, hazard: float, places: int) -> Pair:
    """CTS for all arms: weights of runs, and counts since each began."""
    weights = np.zeros((runs, places))
    weights[:, 0] = 1.0
    successes, failures = np.ones((runs, places, n_arms)), np.ones((runs, places, n_arms))
    rows = np.arange(runs)

    def select(step: int) -> Any:
        ends = weights.cumsum(axis=1)
        place = (rng.random((runs, 1)) * ends[:, -1:] >= ends[:, :-1]).sum(axis=1)
        return rng.beta(successes[rows, place], failures[rows, place]).argmax(axis=1)

    def update(arms: Any, rewards: Any) -> None:
        won, lost = successes[rows, :, arms], failures[rows, :, arms]
        np.multiply(weights, np.where(rewards[:, None] > 0, won, lost) / (won + lost), out=weights)
        np.divide(weights, weights.sum(axis=1, keepdims=True), out=weights)
        successes[rows, :, arms] = won + rewards[:, None]
        failures[rows, :, arms] = lost + 1 - rewards[:, None]
        place = weights.argmin(axis=1)
        np.multiply(weights, 1 - hazard, out=weights)
        weights[rows, place] = hazard
        successes[rows, place] = failures[rows, place] = 1.0

    return select, update


def run(policy: Pair, rng: Any, means: Any, runs: int) -> Any:
    """Play the policy against a table of means; the normalised regret of every run."""
    select, update = policy
    regret = np.zeros(runs)
    for step, row in enumerate(means):
        arms = select(step)
        mean = row[arms]
        regret += row.max() - mean
        update(arms, (rng.random(runs) < mean).astype(float))
    return regret / len(means)
