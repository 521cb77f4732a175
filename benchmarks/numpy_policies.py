"""Policies in NumPy, those of the paper and others, vectorised over runs as a good NumPy user would write them.

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


def window_counts(
    rng: Any, runs: int, n_arms: int, discount: float = 1.0, window: int = 0
) -> tuple[Any, Any, Callable[[Any, Any], None], Callable[[], float]]:
    """Counts and sums of rewards, discounted or of a window, how they are updated, and how many observations count."""
    counts, sums = np.zeros((runs, n_arms)), np.zeros((runs, n_arms))
    rows = np.arange(runs)
    past_arms = np.zeros((window, runs), np.int64)
    past_rewards = np.zeros((window, runs))
    state = {"clock": 0, "total": 0.0}

    def update(arms: Any, rewards: Any) -> None:
        if discount < 1:
            np.multiply(counts, discount, out=counts)
            np.multiply(sums, discount, out=sums)
        counts[rows, arms] += 1
        sums[rows, arms] += rewards
        if window:
            row = state["clock"] % window
            if state["clock"] >= window:
                counts[rows, past_arms[row]] -= 1
                sums[rows, past_arms[row]] -= past_rewards[row]
            past_arms[row], past_rewards[row] = arms, rewards
        state["clock"] += 1
        state["total"] = min(state["total"] * discount + 1, window or np.inf)

    return counts, sums, update, lambda: state["total"]


def first_of_largest(rng: Any, index: Any, counts: Any) -> Any:
    """Arms without observations first, then the largest index; ties at random."""
    index[counts == 0] = np.inf
    best = index == index.max(axis=1, keepdims=True)
    if best.sum() == len(index):
        return best.argmax(axis=1)
    return (best * rng.random(index.shape)).argmax(axis=1)


def divergence(rng: Any, runs: int, n_arms: int, discount: float = 1.0, window: int = 0) -> Pair:
    """kl-UCB, D-kl-UCB and SW-kl-UCB: fifty halvings, as the bounds of good arms differ only near 1."""
    counts, sums, update, total = window_counts(rng, runs, n_arms, discount, window)

    def select(step: int) -> Any:
        seen = np.maximum(counts, 1e-12)
        mean, level = sums / seen, np.log(max(total(), 1.0)) / seen
        low, high = mean.copy(), np.minimum(1.0, mean + np.sqrt(level / 2))
        own = mean * np.log(np.maximum(mean, 1e-300)) + (1 - mean) * np.log(np.maximum(1 - mean, 1e-300))
        for _ in range(50):
            middle = (low + high) / 2
            cross = mean * np.log(np.maximum(middle, 1e-300)) + (1 - mean) * np.log(np.maximum(1 - middle, 1e-300))
            within = own - cross <= level
            low, high = np.where(within, middle, low), np.where(within, high, middle)
        return first_of_largest(rng, low, counts)

    return select, update


def upper_quantile(rng: Any, runs: int, n_arms: int, discount: float = 1.0, window: int = 0) -> Pair:
    """Bayes-UCB with SciPy's quantiles."""
    from scipy.special import betainccinv

    counts, sums, update, total = window_counts(rng, runs, n_arms, discount, window)
    everywhere = np.ones_like(counts)

    def select(step: int) -> Any:
        return first_of_largest(rng, betainccinv(sums + 1, counts - sums + 1, 1 / (1 + total())), everywhere)

    return select, update


def by_variance(rng: Any, runs: int, n_arms: int, tuned: bool) -> Pair:
    """UCB-V and UCB-Tuned; 0/1 rewards are their own squares, but any are taken."""
    counts, sums, squares = (np.zeros((runs, n_arms)) for _ in range(3))
    rows = np.arange(runs)

    def select(step: int) -> Any:
        level, seen = np.log(max(step, 1)), np.maximum(counts, 1)
        mean = sums / seen
        variance = np.maximum(squares / seen - mean**2, 0)
        if tuned:
            padding = np.sqrt(level / seen * np.minimum(0.25, variance + np.sqrt(2 * level / seen)))
        else:
            padding = np.sqrt(2 * variance * level / seen) + 3 * level / seen
        return first_of_largest(rng, mean + padding, counts)

    def update(arms: Any, rewards: Any) -> None:
        counts[rows, arms] += 1
        sums[rows, arms] += rewards
        squares[rows, arms] += rewards**2

    return select, update


def moss(rng: Any, runs: int, n_arms: int) -> Pair:
    """MOSS for any horizon."""
    counts, sums, update, total = window_counts(rng, runs, n_arms)

    def select(step: int) -> Any:
        seen = np.maximum(counts, 1)
        padding = np.sqrt(1.175 * np.maximum(np.log(max(total(), 1) / (n_arms * seen)), 0) / seen)
        return first_of_largest(rng, sums / seen + padding, counts)

    return select, update


def greedy(rng: Any, runs: int, n_arms: int, exploration: float, discount: float = 1.0) -> Pair:
    """ε-greedy on discounted means."""
    counts, sums, update, _ = window_counts(rng, runs, n_arms, discount)

    def select(step: int) -> Any:
        arms = first_of_largest(rng, sums / np.maximum(counts, 1e-200), counts)
        return np.where(rng.random(runs) < exploration, rng.integers(0, n_arms, runs), arms)

    return select, update


def softmax(rng: Any, runs: int, n_arms: int, temperature: float, discount: float = 1.0) -> Pair:
    """Softmax on discounted means."""
    counts, sums, update, _ = window_counts(rng, runs, n_arms, discount)

    def select(step: int) -> Any:
        mean = np.where(counts > 0, sums / np.maximum(counts, 1e-200), 1.0) / temperature
        weights = np.exp(mean - mean.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return (rng.random((runs, 1)) >= weights.cumsum(axis=1)[:, :-1]).sum(axis=1)

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
