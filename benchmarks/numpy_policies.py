"""The policies in NumPy, vectorised over runs as a good NumPy user would write them.

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


def kl_upper(p: Any, level: Any) -> Any:
    """The largest q with kl(p, q) ≤ level, by 20 halvings."""
    p = np.clip(p, 1e-12, 1 - 1e-12)
    low, high = p.copy(), np.minimum(p + np.sqrt(level / 2), 1 - 1e-12)
    fixed = p * np.log(p) + (1 - p) * np.log1p(-p) - level
    for _ in range(20):
        middle = (low + high) / 2
        above = fixed > p * np.log(middle) + (1 - p) * np.log1p(-middle)
        high = np.where(above, middle, high)
        low = np.where(above, low, middle)
    return low


def largest(rng: Any, index: Any, exploration: float) -> Any:
    """The arm with the largest index, ties at random, and in a share of choices any."""
    runs, n_arms = index.shape
    best = index == index.max(axis=1, keepdims=True)
    arms = best.argmax(axis=1) if best.sum() == runs else (best * rng.random((runs, n_arms))).argmax(axis=1)
    return np.where(rng.random(runs) < exploration, rng.integers(n_arms, size=runs), arms)


def cumulative(
    rng: Any,
    runs: int,
    n_arms: int,
    threshold: float,
    exploration: float,
    drift: float,
    warm_up: int,
    confidence: float,
) -> Pair:
    """CUSUM-UCB, and PHT-UCB (a warm-up of 0)."""
    counts, sums, reference, up, down = np.zeros((5, runs, n_arms))
    rows = np.arange(runs)

    def select(step: int) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            log_n = np.log(np.maximum(counts.sum(axis=1, keepdims=True), 1))
            index = sums / counts + np.sqrt(confidence * log_n / counts)
        index[counts == 0] = np.inf
        return largest(rng, index, exploration)

    def update(arms: Any, rewards: Any) -> None:
        counts[rows, arms] += 1
        sums[rows, arms] += rewards
        n = counts[rows, arms]
        early = (n <= warm_up) | (warm_up == 0)
        level = np.where(early, sums[rows, arms] / n, reference[rows, arms])
        reference[rows, arms] = level
        change, watched = rewards - level, (n > warm_up)
        up[rows, arms] = np.maximum(0, up[rows, arms] + change - drift) * watched
        down[rows, arms] = np.maximum(0, down[rows, arms] - change - drift) * watched
        alarm = np.flatnonzero(np.maximum(up[rows, arms], down[rows, arms]) >= threshold)
        for numbers in (counts, sums, up, down):
            numbers[alarm, arms[alarm]] = 0

    return select, update


def monitored(rng: Any, runs: int, n_arms: int, window: int, threshold: float, exploration: float) -> Pair:
    """M-UCB, with the sums of both halves kept up to date."""
    counts, sums, difference = np.zeros((3, runs, n_arms))
    past = np.zeros((runs, n_arms, window))
    rows, half = np.arange(runs), window // 2

    def select(step: int) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            log_t = np.log(np.maximum(counts.sum(axis=1, keepdims=True), 1))
            index = sums / counts + np.sqrt(2 * log_t / counts)
        index[counts == 0] = np.inf
        return largest(rng, index, exploration)

    def update(arms: Any, rewards: Any) -> None:
        n = counts[rows, arms].astype(np.int64)
        middle = past[rows, arms, (n - half) % window] * (n >= half)
        oldest = past[rows, arms, n % window] * (n >= window)
        past[rows, arms, n % window] = rewards
        counts[rows, arms] += 1
        sums[rows, arms] += rewards
        difference[rows, arms] += rewards - 2 * middle + oldest
        alarm = np.flatnonzero((n + 1 >= window) & (np.abs(difference[rows, arms]) > threshold))
        for numbers in (counts, sums, difference):
            numbers[alarm] = 0

    return select, update


def likelihood_ratio(
    rng: Any, runs: int, n_arms: int, exploration: float, false_alarm: float, whole: bool, horizon: int
) -> Pair:
    """GLR-klUCB with prefix sums of every tenth reward; runs whose arm has a multiple of 10 are tested one by one."""
    counts, sums, started = np.zeros((3, runs, n_arms))
    prefix = np.zeros((runs, n_arms, horizon // 10 + 2))
    rows = np.arange(runs)
    clock = [0]

    def select(step: int) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.log(np.maximum(clock[0] - started, 1)) / counts
            index = np.where(counts == 0, np.inf, kl_upper(sums / counts, level))
        return largest(rng, index, exploration)

    def update(arms: Any, rewards: Any) -> None:
        clock[0] += 1
        counts[rows, arms] += 1
        sums[rows, arms] += rewards
        for r in np.flatnonzero(counts[rows, arms] % 10 == 0):
            arm, n, earned = arms[r], counts[r, arms[r]], sums[r, arms[r]]
            prefix[r, arm, int(n) // 10] = earned
            s = np.arange(10, n, 10)
            old = prefix[r, arm, 1 : s.size + 1]
            ratio = s * entropy(old / s) + (n - s) * entropy((earned - old) / (n - s)) - n * entropy(earned / n)
            if s.size and ratio.max() >= np.log(3 * n**1.5 / false_alarm):
                which = slice(None) if whole else arm
                counts[r, which] = sums[r, which] = 0
                started[r, which] = clock[0]

    def entropy(p: Any) -> Any:
        inside = np.clip(p, 1e-300, 1)
        return p * np.log(inside) + (1 - p) * np.log(np.clip(1 - p, 1e-300, 1))

    return select, update


def windowed_beta(rng: Any, runs: int, n_arms: int, window: int) -> Pair:
    """SW-TS."""
    successes, failures = np.ones((runs, n_arms)), np.ones((runs, n_arms))
    rows = np.arange(runs)
    past_arms = np.zeros((window, runs), np.int64)
    past_rewards = np.zeros((window, runs))
    clock = [0]

    def select(step: int) -> Any:
        return rng.beta(successes, failures).argmax(axis=1)

    def update(arms: Any, rewards: Any) -> None:
        successes[rows, arms] += rewards
        failures[rows, arms] += 1 - rewards
        row = clock[0] % window
        if clock[0] >= window:
            successes[rows, past_arms[row]] -= past_rewards[row]
            failures[rows, past_arms[row]] -= 1 - past_rewards[row]
        past_arms[row], past_rewards[row] = arms, rewards
        clock[0] += 1

    return select, update


def gaussian(rng: Any, runs: int, n_arms: int, deviation: float, discount: float = 1.0, window: int = 0) -> Pair:
    """Gaussian TS, with a discount or a window."""
    counts, sums = np.zeros((runs, n_arms)), np.zeros((runs, n_arms))
    rows = np.arange(runs)
    past_arms = np.zeros((window, runs), np.int64)
    past_rewards = np.zeros((window, runs))
    clock = [0]

    def select(step: int) -> Any:
        known = np.maximum(counts, 1e-8)
        theta = sums / known + deviation / np.sqrt(known) * rng.standard_normal((runs, n_arms))
        unknown = counts < 1e-8
        if unknown.any():
            theta = np.where(unknown, 1e30 * (1 + rng.random((runs, n_arms))), theta)
        return theta.argmax(axis=1)

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

    return select, update


def two_posteriors(
    rng: Any, runs: int, n_arms: int, discount: float, window: int, combine: Callable[..., Any] = np.add
) -> Pair:
    """f-dsw TS."""
    history, recent = np.zeros((2, runs, n_arms)), np.zeros((2, runs, n_arms))
    ring = np.zeros((window, runs, n_arms))
    filled = np.zeros((runs, n_arms), np.int64)
    rows = np.arange(runs)

    def select(step: int) -> Any:
        x, y = rng.beta(history[0] + 1, history[1] + 1), rng.beta(recent[0] + 1, recent[1] + 1)
        return combine(x, y).argmax(axis=1)

    def update(arms: Any, rewards: Any) -> None:
        np.multiply(history, discount, out=history)
        place = filled[rows, arms] % window
        full = filled[rows, arms] >= window
        old = ring[place, rows, arms]
        for part in (history, recent):
            part[0, rows, arms] += rewards
            part[1, rows, arms] += 1 - rewards
        recent[0, rows, arms] -= full * old
        recent[1, rows, arms] -= full * (1 - old)
        ring[place, rows, arms] = rewards
        filled[rows, arms] += 1

    return select, update


def kalman(
    rng: Any,
    runs: int,
    n_arms: int,
    movement: float,
    persistence: float = 1.0,
    predictive: bool = False,
    level: float = 0.5,
    noise: float = 0.5,
    spread: float = 0.5,
) -> Pair:
    """Kalman TS and predictive sampling."""
    means, variances = np.full((runs, n_arms), level), np.full((runs, n_arms), spread**2)
    rows = np.arange(runs)
    kept = persistence**2
    c = movement**2 + (1 - kept) * noise**2
    untold = 0.5 * (c + np.sqrt(c * c + 4 * kept * (movement * noise) ** 2))

    def select(step: int) -> Any:
        means[:] = persistence * means + (1 - persistence) * level
        np.minimum(kept * variances + movement**2, spread**2, out=variances)
        told = variances * (kept * variances / (kept * variances + untold)) if predictive else variances
        return (means + np.sqrt(told) * rng.standard_normal((runs, n_arms))).argmax(axis=1)

    def update(arms: Any, rewards: Any) -> None:
        gain = variances[rows, arms] / (variances[rows, arms] + noise**2)
        means[rows, arms] += gain * (rewards - means[rows, arms])
        variances[rows, arms] *= 1 - gain

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


def gittins(rng: Any, runs: int, n_arms: int, future: float, prior: float = 1.0) -> Pair:
    """The Gittins index by Brezzi and Lai's approximation."""
    successes, failures = np.full((2, runs, n_arms), prior)
    rows, rate = np.arange(runs), -np.log(future)

    def select(step: int) -> Any:
        n = successes + failures
        mean = successes / n
        x = 1 / ((n + 1) * rate)
        root = np.sqrt(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.sqrt(2 * np.log(x) - np.log(np.log(x)) - np.log(16 * np.pi))
        below = [x <= 0.2, x <= 1, x <= 5, x <= 15]
        bonus = np.select(below, [root / np.sqrt(2), 0.49 - 0.11 / root, 0.63 - 0.26 / root, 0.77 - 0.58 / root], far)
        return first_of_largest(rng, mean + np.sqrt(mean * (1 - mean) / (n + 1)) * bonus, n)

    def update(arms: Any, rewards: Any) -> None:
        successes[rows, arms] += rewards
        failures[rows, arms] += 1 - rewards

    return select, update


def sharing(
    rng: Any, runs: int, n_arms: int, share: float, exploration: float = 0.0, rate: float = 0.0, implicit: float = 0.0
) -> Pair:
    """EXP3.S, and EXP3-SIX (a rate)."""
    weights = np.ones((runs, n_arms))
    rows = np.arange(runs)
    chosen = np.empty(runs)

    def select(step: int) -> Any:
        np.divide(weights, weights.sum(axis=1, keepdims=True), out=weights)
        chances = (1 - exploration) * weights + exploration / n_arms
        arms = (rng.random((runs, 1)) >= chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
        chosen[:] = chances[rows, arms]
        return arms

    def update(arms: Any, rewards: Any) -> None:
        if rate:
            weights[rows, arms] *= np.exp(-rate * (1 - rewards) / (chosen + implicit))
            total = weights.sum(axis=1, keepdims=True)
            np.multiply(weights, 1 - share, out=weights)
            np.add(weights, share / n_arms * total, out=weights)
        else:
            weights[rows, arms] *= np.exp(exploration / n_arms * rewards / chosen)
            np.add(weights, np.e * share / n_arms, out=weights)

    return select, update


def over_bandits(rng: Any, runs: int, n_arms: int, horizon: int, batch: int) -> Pair:
    """Bandit over bandit: every run has a window of its own for a block."""
    parts = int(np.ceil(np.log(batch)))
    windows = np.unique(np.floor(batch ** (np.arange(parts + 1) / parts) * (1 + 1e-12)).astype(np.int64))
    count = len(windows)
    explored = min(1.0, np.sqrt(count * np.log(count) / ((np.e - 1) * np.ceil(horizon / batch))))
    logs = np.zeros((runs, count))
    counts, sums = np.zeros((runs, n_arms)), np.zeros((runs, n_arms))
    past_arms, past_rewards = np.zeros((batch, runs), np.int64), np.zeros((batch, runs))
    rows, own, chance, window = np.arange(runs), np.zeros(runs, np.int64), np.zeros(runs), np.zeros(runs, np.int64)
    clock = [0]

    def select(step: int) -> Any:
        if clock[0] % batch == 0:
            shares = np.exp(logs - logs.max(axis=1, keepdims=True))
            shares = (1 - explored) * shares / shares.sum(axis=1, keepdims=True) + explored / count
            own[:] = (rng.random((runs, 1)) >= shares.cumsum(axis=1)[:, :-1]).sum(axis=1)
            chance[:], window[:] = shares[rows, own], windows[own]
            counts[:] = sums[:] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            log_n = np.log(np.maximum(counts.sum(axis=1, keepdims=True), 1))
            index = sums / counts + np.sqrt(0.5 * log_n / counts)
        return first_of_largest(rng, index, counts)

    def update(arms: Any, rewards: Any) -> None:
        place = clock[0] % batch
        past_arms[place], past_rewards[place] = arms, rewards
        counts[rows, arms] += 1
        sums[rows, arms] += rewards
        leaves = np.flatnonzero(place >= window)
        gone = place - window[leaves]
        counts[leaves, past_arms[gone, leaves]] -= 1
        sums[leaves, past_arms[gone, leaves]] -= past_rewards[gone, leaves]
        clock[0] += 1
        if clock[0] % batch == 0:
            logs[rows, own] += explored / (count * chance) * past_rewards.mean(axis=0)

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
