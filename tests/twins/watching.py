"""Twins of policies that watch for changes, with every reward since the last alarm."""

import math
from collections.abc import Callable
from typing import Any

from dice import Dice, largest, turned
from twins.indexed import upper_mean


def kl(p: float, q: float) -> float:
    """The divergence of Bernoulli laws."""
    first = p * math.log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def bound(index: str, rewards: list[float], ucb_level: float, kl_level: float) -> float:
    """The upper bound of one kind or the other on the mean of some rewards."""
    mean = math.fsum(rewards) / len(rewards)
    if index == "kl":
        return upper_mean(mean, kl_level / len(rewards))
    return mean + math.sqrt(ucb_level / len(rewards))


class Cusum:
    """CUSUM-UCB, with all rewards of an arm since its last alarm."""

    binary = False

    def __init__(
        self,
        n_arms: int,
        drift: float,
        threshold: float,
        warm_up: int,
        exploration: float,
        confidence: float,
        index: str = "ucb",
        forced_warm_up: bool = False,
    ) -> None:
        self.drift, self.threshold, self.warm_up = drift, threshold, warm_up
        self.exploration, self.confidence, self.index = exploration, confidence, index
        self.least = warm_up if forced_warm_up else 1
        self.rewards: list[list[float]] = [[] for _ in range(n_arms)]

    def select(self, dice: Dice, t: int) -> int:
        log_n = math.log(max(1, sum(map(len, self.rewards))))
        indices = [
            bound(self.index, own, self.confidence * log_n, 2 * self.confidence * log_n)
            if len(own) >= self.least
            else math.inf
            for own in self.rewards
        ]
        return turned(largest(indices, dice, t), self.exploration, len(indices), dice, t)

    def learn(self, arm: int, reward: float) -> None:
        own = self.rewards[arm]
        own.append(reward)
        up = down = 0.0
        for count, reference in self.compared(own):
            up = max(0.0, up + own[count] - reference - self.drift)
            down = max(0.0, down + reference - own[count] - self.drift)
        if max(up, down) >= self.threshold:
            own.clear()

    def compared(self, own: list[float]) -> list[tuple[int, float]]:
        """The rewards that are compared, by their place, and what each is compared with."""
        return [(count, sum(own[: self.warm_up]) / self.warm_up) for count in range(self.warm_up, len(own))]


class PageHinkley(Cusum):
    """PHT-UCB: every reward is compared with the mean so far."""

    def __init__(self, n_arms: int, **parameters: Any) -> None:
        super().__init__(n_arms, warm_up=0, **parameters)

    def compared(self, own: list[float]) -> list[tuple[int, float]]:
        return [(count, sum(own[: count + 1]) / (count + 1)) for count in range(len(own))]


class Monitored:
    """M-UCB, with all rewards since the last alarm."""

    binary = False

    def __init__(self, n_arms: int, window: int, threshold: float, exploration: float, index: str) -> None:
        self.window, self.threshold, self.exploration, self.index = window, threshold, exploration, index
        self.rewards: list[list[float]] = [[] for _ in range(n_arms)]

    def select(self, dice: Dice, t: int) -> int:
        log_t = math.log(max(1, sum(map(len, self.rewards))))
        indices = [bound(self.index, own, 2 * log_t, log_t) if own else math.inf for own in self.rewards]
        return turned(largest(indices, dice, t), self.exploration, len(indices), dice, t)

    def learn(self, arm: int, reward: float) -> None:
        own, half = self.rewards[arm], self.window // 2
        own.append(reward)
        if len(own) >= self.window and abs(sum(own[-half:]) - sum(own[-self.window : -half])) > self.threshold:
            for rewards in self.rewards:
                rewards.clear()


class GeneralisedLikelihoodRatio:
    """GLR-klUCB, with all rewards of an arm since it started."""

    binary = False

    def __init__(
        self,
        n_arms: int,
        exploration: float,
        false_alarm: float,
        scope: str,
        confidence: float,
        history: int,
        growing: bool,
    ) -> None:
        self.exploration, self.false_alarm, self.scope = exploration, false_alarm, scope
        self.confidence, self.history, self.growing = confidence, history, growing
        self.rewards: list[list[float]] = [[] for _ in range(n_arms)]
        self.started = [0] * n_arms
        self.steps = self.alarms = 0

    def level(self, arm: int) -> float:
        log_age = math.log(max(1, self.steps - self.started[arm]))
        return log_age + self.confidence * math.log(max(1.0, log_age))

    def select(self, dice: Dice, t: int) -> int:
        indices = [bound("kl", own, 0.0, self.level(k)) if own else math.inf for k, own in enumerate(self.rewards)]
        share = min(1.0, self.exploration * math.sqrt(1 + self.alarms if self.growing else 1))
        return turned(largest(indices, dice, t), share, len(indices), dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.steps += 1
        own = self.rewards[arm]
        own.append(reward)
        n = len(own)
        if n % 10 or max(map(self.ratio, [own] * (n - 1), range(1, n)), default=0) < math.log(
            3 * n**1.5 / self.false_alarm
        ):
            return
        self.alarms += 1
        for k in [arm] if self.scope == "arm" else range(len(self.rewards)):
            self.rewards[k].clear()
            self.started[k] = self.steps

    def ratio(self, own: list[float], split: int) -> float:
        """The logarithm of how much better two means explain the rewards; of splits that are tried."""
        old, new = own[:split], own[split:]
        mean = sum(own) / len(own)
        if split % 10 or len(new) > self.history or not 0 < mean < 1:
            return 0.0
        return sum(len(some) * kl(min(1, sum(some) / len(some)), mean) for some in (old, new))


POLICIES: dict[str, Callable[..., Any]] = {
    "cusum-ucb": Cusum,
    "glr-kl-ucb": GeneralisedLikelihoodRatio,
    "m-ucb": Monitored,
    "pht-ucb": PageHinkley,
}
