"""Twins of policies that watch for changes, with every reward since the last alarm."""

import math
from collections.abc import Callable
from typing import Any

from dice import Dice, largest, turned


class Cusum:
    """CUSUM-UCB, with all rewards of an arm since its last alarm."""

    binary = False

    def __init__(
        self, n_arms: int, drift: float, threshold: float, warm_up: int, exploration: float, confidence: float
    ) -> None:
        self.drift, self.threshold, self.warm_up = drift, threshold, warm_up
        self.exploration, self.confidence = exploration, confidence
        self.rewards: list[list[float]] = [[] for _ in range(n_arms)]

    def select(self, dice: Dice, t: int) -> int:
        n = sum(map(len, self.rewards))
        indices = [
            math.fsum(own) / len(own) + math.sqrt(self.confidence * math.log(n) / len(own)) if own else math.inf
            for own in self.rewards
        ]
        return turned(largest(indices, dice, t), self.exploration, len(indices), dice, t)

    def learn(self, arm: int, reward: float) -> None:
        own = self.rewards[arm]
        own.append(reward)
        up = down = 0.0
        for later in own[self.warm_up :]:
            reference = sum(own[: self.warm_up]) / self.warm_up
            up = max(0.0, up + later - reference - self.drift)
            down = max(0.0, down + reference - later - self.drift)
        if max(up, down) >= self.threshold:
            own.clear()


POLICIES: dict[str, Callable[..., Any]] = {}
