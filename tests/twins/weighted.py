"""Twins of policies that choose by weights."""

import math
from collections.abc import Callable
from typing import Any

from dice import Dice, by_probability


class ExponentialWeights:
    """EXP3 and REXP3, with plain weights: short games do not overflow them."""

    binary = False

    def __init__(self, n_arms: int, exploration: float | None, batch: int | None = None) -> None:
        if exploration is None:
            assert batch is not None
            exploration = min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * batch)))
        self.n_arms, self.exploration, self.batch = n_arms, exploration, batch
        self.weights = [1.0] * n_arms
        self.probabilities: list[float] = []
        self.steps = 0

    def select(self, dice: Dice, t: int) -> int:
        total = math.fsum(self.weights)
        self.probabilities = [
            (1 - self.exploration) * weight / total + self.exploration / self.n_arms for weight in self.weights
        ]
        return by_probability(self.probabilities, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.weights[arm] *= math.exp(self.exploration * (reward / self.probabilities[arm]) / self.n_arms)
        self.steps += 1
        if self.batch is not None and self.steps % self.batch == 0:
            self.weights = [1.0] * self.n_arms


class ImplicitExploration:
    """EXP3-IX."""

    binary = False

    def __init__(self, n_arms: int, learning_rate: float, implicit_exploration: float | None) -> None:
        self.rate = learning_rate
        self.implicit = learning_rate / 2 if implicit_exploration is None else implicit_exploration
        self.losses = [0.0] * n_arms
        self.probabilities: list[float] = []

    def select(self, dice: Dice, t: int) -> int:
        weights = [math.exp(-self.rate * loss) for loss in self.losses]
        self.probabilities = [weight / math.fsum(weights) for weight in weights]
        return by_probability(self.probabilities, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.losses[arm] += (1 - reward) / (self.probabilities[arm] + self.implicit)


class SharedWeights:
    """EXP3.S, with plain weights: short games do not overflow them."""

    binary = False

    def __init__(self, n_arms: int, exploration: float, sharing: float) -> None:
        self.n_arms, self.exploration, self.sharing = n_arms, exploration, sharing
        self.weights = [1.0] * n_arms
        self.probabilities: list[float] = []

    def select(self, dice: Dice, t: int) -> int:
        total = math.fsum(self.weights)
        self.probabilities = [(1 - self.exploration) * w / total + self.exploration / self.n_arms for w in self.weights]
        return by_probability(self.probabilities, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        gift = math.e * self.sharing / self.n_arms * math.fsum(self.weights)
        self.weights[arm] *= math.exp(self.exploration * (reward / self.probabilities[arm]) / self.n_arms)
        self.weights = [weight + gift for weight in self.weights]


class FixedShare:
    """EXP3-SIX."""

    binary = False

    def __init__(self, n_arms: int, learning_rate: float, sharing: float, implicit_exploration: float | None) -> None:
        self.n_arms, self.rate, self.sharing = n_arms, learning_rate, sharing
        self.implicit = learning_rate / 2 if implicit_exploration is None else implicit_exploration
        self.weights = [1.0] * n_arms
        self.probabilities: list[float] = []

    def select(self, dice: Dice, t: int) -> int:
        total = math.fsum(self.weights)
        self.probabilities = [weight / total for weight in self.weights]
        return by_probability(self.probabilities, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        loss = (1 - reward) / (self.probabilities[arm] + self.implicit)
        self.weights[arm] *= math.exp(-self.rate * loss)
        share = self.sharing * math.fsum(self.weights) / self.n_arms
        self.weights = [(1 - self.sharing) * weight + share for weight in self.weights]


class Uniform:
    """Every arm alike."""

    binary = False

    def __init__(self, n_arms: int) -> None:
        self.n_arms = n_arms

    def select(self, dice: Dice, t: int) -> int:
        return by_probability([1 / self.n_arms] * self.n_arms, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        pass


class Softmax:
    """Weights by the discounted mean of the whole history; an arm without rewards counts as one with the mean 1."""

    binary = False

    def __init__(self, n_arms: int, temperature: float, discount: float) -> None:
        self.n_arms, self.temperature, self.discount = n_arms, temperature, discount
        self.history: list[tuple[int, float]] = []

    def select(self, dice: Dice, t: int) -> int:
        counts, sums = [0.0] * self.n_arms, [0.0] * self.n_arms
        for age, (arm, reward) in enumerate(reversed(self.history)):
            counts[arm] += self.discount**age
            sums[arm] += self.discount**age * reward
        means = [s / n if n > 0 else 1.0 for n, s in zip(counts, sums, strict=True)]
        weights = [math.exp((mean - max(means)) / self.temperature) for mean in means]
        return by_probability([weight / math.fsum(weights) for weight in weights], dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.history.append((arm, reward))


POLICIES: dict[str, Callable[..., Any]] = {
    "exp3": ExponentialWeights,
    "rexp3": ExponentialWeights,
    "exp3-ix": ImplicitExploration,
    "exp3-s": SharedWeights,
    "exp3-six": FixedShare,
    "uniform": Uniform,
    "softmax": Softmax,
}
