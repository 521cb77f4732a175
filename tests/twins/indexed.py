"""Twins of policies that compare indices, recomputed from the whole history at every step."""

import math
from collections.abc import Callable
from typing import Any

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


class EpsilonGreedy:
    """The best discounted mean over the whole history, but for a share of choices."""

    binary = False

    def __init__(self, n_arms: int, exploration: float, discount: float) -> None:
        self.n_arms, self.exploration, self.discount = n_arms, exploration, discount
        self.history: list[tuple[int, float]] = []

    def select(self, dice: Dice, t: int) -> int:
        counts, sums = [0.0] * self.n_arms, [0.0] * self.n_arms
        for age, (arm, reward) in enumerate(reversed(self.history)):
            counts[arm] += self.discount**age
            sums[arm] += self.discount**age * reward
        means = [s / n if n > 0 else math.inf for n, s in zip(counts, sums, strict=True)]
        return turned(largest(means, dice, t), self.exploration, self.n_arms, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.history.append((arm, reward))


POLICIES: dict[str, Callable[..., Any]] = {
    "d-ucb": lambda n, discount, confidence, bound: ConfidenceBound(n, 2 * bound, confidence, discount=discount),
    "sw-ucb": lambda n, window, confidence, bound: ConfidenceBound(n, bound, confidence, window=window),
    "ucb1": lambda n, confidence: ConfidenceBound(n, 1.0, confidence),
}
