"""Twins of policies that compare indices, recomputed from the whole history at every step."""

import math
from collections.abc import Callable
from typing import Any

from scipy.special import betainccinv

from dice import Dice, largest, turned


class ConfidenceBound:
    """UCB1, D-UCB and SW-UCB, recomputed from the whole history at every step."""

    binary = False

    def __init__(
        self, n_arms: int, scale: float, confidence: float, discount: float = 1.0, window: int | None = None
    ) -> None:
        self.n_arms, self.scale, self.confidence, self.discount, self.window = (
            n_arms,
            scale,
            confidence,
            discount,
            window,
        )
        self.history: list[tuple[int, float]] = []

    def select(self, dice: Dice, t: int) -> int:
        recent = self.history if self.window is None else self.history[-self.window :]
        counts = [0.0] * self.n_arms
        sums = [0.0] * self.n_arms
        for age, (arm, reward) in enumerate(reversed(recent)):
            counts[arm] += self.discount**age
            sums[arm] += self.discount**age * reward
        n = math.fsum(counts)
        indices = [
            sums[k] / counts[k] + self.scale * math.sqrt(self.confidence * math.log(max(n, 1.0)) / counts[k])
            if counts[k] > 0
            else math.inf
            for k in range(self.n_arms)
        ]
        return largest(indices, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.history.append((arm, reward))


class History:
    """Every choice and its reward, and what they are worth now."""

    binary = False

    def __init__(self, n_arms: int, discount: float = 1.0, window: int | None = None) -> None:
        self.n_arms, self.discount, self.window = n_arms, discount, window
        self.history: list[tuple[int, float]] = []

    def counts_and_sums(self) -> tuple[list[float], list[float]]:
        """Of every arm, over the window, discounted."""
        recent = self.history if self.window is None else self.history[-self.window :]
        counts, sums = [0.0] * self.n_arms, [0.0] * self.n_arms
        for age, (arm, reward) in enumerate(reversed(recent)):
            counts[arm] += self.discount**age
            sums[arm] += self.discount**age * reward
        return counts, sums

    def rewards_of(self, arm: int) -> list[float]:
        return [reward for other, reward in self.history if other == arm]

    def learn(self, arm: int, reward: float) -> None:
        self.history.append((arm, reward))


class EpsilonGreedy(History):
    """The best mean over the whole history, discounted or stepwise, but for a share of choices."""

    def __init__(
        self,
        n_arms: int,
        exploration: float,
        discount: float = 1.0,
        decreasing: bool = False,
        step_size: float | None = None,
    ) -> None:
        super().__init__(n_arms, discount)
        self.exploration, self.decreasing, self.step_size = exploration, decreasing, step_size

    def select(self, dice: Dice, t: int) -> int:
        counts, sums = self.counts_and_sums()
        means = [s / n if n > 0 else math.inf for n, s in zip(counts, sums, strict=True)]
        if self.step_size is not None:
            means = [self.walked(self.rewards_of(k)) for k in range(self.n_arms)]
        share = min(1.0, self.exploration * self.n_arms / t) if self.decreasing else self.exploration
        return turned(largest(means, dice, t), share, self.n_arms, dice, t)

    def walked(self, rewards: list[float]) -> float:
        """A mean that starts at the first reward and goes a part of the way to each of the others."""
        assert self.step_size is not None
        if not rewards:
            return math.inf
        mean = rewards[0]
        for reward in rewards[1:]:
            mean += self.step_size * (reward - mean)
        return mean


class Divergence(History):
    """kl-UCB, SW-kl-UCB and D-kl-UCB: the largest mean that is not too far from the one observed, by bisection."""

    def __init__(
        self,
        n_arms: int,
        confidence: float,
        discount: float = 1.0,
        window: int | None = None,
        logarithm: str = "evidence",
    ) -> None:
        super().__init__(n_arms, discount, window)
        self.confidence, self.logarithm = confidence, logarithm

    def select(self, dice: Dice, t: int) -> int:
        counts, sums = self.counts_and_sums()
        n = max(1.0, math.fsum(counts) if self.logarithm == "evidence" else t - 1)
        level = math.log(n) + self.confidence * math.log(max(1.0, math.log(n)))
        indices = [upper_mean(s / c, level / c) if c > 0 else math.inf for c, s in zip(counts, sums, strict=True)]
        return largest(indices, dice, t)


def upper_mean(p: float, level: float) -> float:
    """−ln(1 − q) of the largest q with kl(p, q) ≤ level, looked for by that: means themselves would round to 1."""
    if p == 1:
        return 1e30
    if level == 0:
        return -math.log1p(-p)

    def divergence(log_short: float) -> float:
        above = p * (math.log(p) - math.log1p(-math.exp(log_short))) if p > 0 else 0.0
        return above + (1 - p) * (math.log1p(-p) - log_short)

    far, near = -1e4 - level / (1 - p), math.log1p(-p) - 1e-17
    for _ in range(200):
        middle = (far + near) / 2
        if near < 0 and divergence(middle) <= level:
            near = middle
        else:
            far = middle
    return -near


class Variance(History):
    """UCB-V and UCB-Tuned: the padding depends on the variance of an arm's rewards."""

    def __init__(self, n_arms: int, padding: Callable[[float, float, int], float]) -> None:
        super().__init__(n_arms)
        self.padding = padding

    def select(self, dice: Dice, t: int) -> int:
        indices = []
        for k in range(self.n_arms):
            rewards = self.rewards_of(k)
            if not rewards:
                indices.append(math.inf)
                continue
            mean = math.fsum(rewards) / len(rewards)
            variance = math.fsum((reward - mean) ** 2 for reward in rewards) / len(rewards)
            indices.append(mean + self.padding(variance, math.log(t - 1), len(rewards)))
        return largest(indices, dice, t)


def by_variance(n_arms: int, confidence: float, bound: float) -> Variance:
    """UCB-V."""

    def padding(variance: float, log_t: float, count: int) -> float:
        level = confidence * log_t
        return math.sqrt(2 * variance * level / count) + 3 * bound * level / count

    return Variance(n_arms, padding)


def tuned(n_arms: int, confidence: float) -> Variance:
    """UCB-Tuned."""

    def padding(variance: float, log_t: float, count: int) -> float:
        level = confidence * log_t
        return math.sqrt(level / count * min(0.25, variance + math.sqrt(2 * level / count)))

    return Variance(n_arms, padding)


class Moss(History):
    """MOSS, for any horizon or for a given one."""

    def __init__(self, n_arms: int, confidence: float, horizon: int | None) -> None:
        super().__init__(n_arms)
        self.confidence, self.horizon = confidence, horizon

    def select(self, dice: Dice, t: int) -> int:
        counts, sums = self.counts_and_sums()
        steps, factor = (t - 1, (1 + self.confidence) / 2) if self.horizon is None else (self.horizon, 1.0)
        indices = [
            s / c + math.sqrt(factor * max(0.0, math.log(steps / (self.n_arms * c))) / c) if c > 0 else math.inf
            for c, s in zip(counts, sums, strict=True)
        ]
        return largest(indices, dice, t)


class BayesUpper(History):
    """Bayes-UCB: what a mean exceeds with probability 1/t, t − 1 being the observations that count."""

    binary = True

    def __init__(
        self, n_arms: int, prior_successes: float, prior_failures: float, discount: float, window: int | None
    ) -> None:
        super().__init__(n_arms, discount, window)
        self.prior = prior_successes, prior_failures

    def select(self, dice: Dice, t: int) -> int:
        counts, successes = self.counts_and_sums()
        tail = 1 / (1 + math.fsum(counts))
        shapes = [(s + self.prior[0], n - s + self.prior[1]) for n, s in zip(counts, successes, strict=True)]
        return largest([float(betainccinv(a, b, tail)) for a, b in shapes], dice, t)


POLICIES: dict[str, Callable[..., Any]] = {
    "d-ucb": lambda n, discount, confidence, bound: ConfidenceBound(n, 2 * bound, confidence, discount=discount),
    "sw-ucb": lambda n, window, confidence, bound: ConfidenceBound(n, bound, confidence, window=window),
    "ucb1": lambda n, confidence: ConfidenceBound(n, 1.0, confidence),
    "kl-ucb": Divergence,
    "sw-kl-ucb": Divergence,
    "d-kl-ucb": Divergence,
    "ucb-v": by_variance,
    "ucb-tuned": tuned,
    "moss": Moss,
    "bayes-ucb": BayesUpper,
    "epsilon-greedy": EpsilonGreedy,
}
