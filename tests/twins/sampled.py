"""Twins of policies that compare samples of posteriors."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dice import BOOST, LUCK, SCORE, Dice, gamma, largest, normal_pair, open_uniform


class Thompson:
    """TS, OTS, dTS and dOTS: Algorithm 1 with its options."""

    binary = True

    def __init__(
        self,
        n_arms: int,
        optimistic: bool,
        prior_successes: float,
        prior_failures: float,
        discount: float = 1.0,
        discounted_arms: str = "all",
    ) -> None:
        self.n_arms, self.optimistic, self.discount = n_arms, optimistic, discount
        self.prior = prior_successes, prior_failures
        self.all_arms = discounted_arms == "all"
        self.successes = [0.0] * n_arms
        self.failures = [0.0] * n_arms

    def select(self, dice: Dice, t: int) -> int:
        samples = []
        for k in range(self.n_arms):
            a, b = self.successes[k] + self.prior[0], self.failures[k] + self.prior[1]
            sample = dice.log_odds(a, b, t, k, (SCORE, BOOST), k)
            samples.append(max(sample, math.log(a / b)) if self.optimistic else sample)
        return largest(samples, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        for k in range(self.n_arms):
            if self.all_arms or k == arm:
                self.successes[k] *= self.discount
                self.failures[k] *= self.discount
        self.successes[arm] += reward
        self.failures[arm] += 1 - reward


class DynamicThompson:
    """Dynamic TS: an arm holds at most C observations. In fractions, so that a sum that stays at C does so exactly."""

    binary = True

    def __init__(self, n_arms: int, threshold: float, prior_successes: float, prior_failures: float) -> None:
        self.threshold = Fraction(threshold)
        self.alpha = [Fraction(prior_successes)] * n_arms
        self.beta = [Fraction(prior_failures)] * n_arms

    def select(self, dice: Dice, t: int) -> int:
        pairs = enumerate(zip(map(float, self.alpha), map(float, self.beta), strict=True))
        return largest([dice.log_odds(a, b, t, k, (SCORE, BOOST), k) for k, (a, b) in pairs], dice, t)

    def learn(self, arm: int, success: float) -> None:
        c, reward = self.threshold, Fraction(success)
        if self.alpha[arm] + self.beta[arm] < c:
            self.alpha[arm] += reward
            self.beta[arm] += 1 - reward
        else:
            self.alpha[arm] = (self.alpha[arm] + reward) * c / (c + 1)
            self.beta[arm] = (self.beta[arm] + 1 - reward) * c / (c + 1)


class DiscountMixture:
    """Three discounted Thompson samplings at once, one of which is drawn at each step."""

    binary = True

    def __init__(self, n_arms: int, slow: float, middle: float, fast: float, fade: float) -> None:
        self.discounts, self.fade = (slow, middle, fast), fade
        self.counts = [[[1.0, 1.0] for _ in range(n_arms)] for _ in range(3)]
        self.logs = [0.0] * 3

    def select(self, dice: Dice, t: int) -> int:
        weights = [math.exp(log - max(self.logs)) for log in self.logs]
        luck = dice.uniform(t, 0, LUCK) * sum(weights)
        model = 0 if luck < weights[0] else 1 if luck < weights[0] + weights[1] else 2
        arms = enumerate(self.counts[model])
        return largest([dice.log_odds(a, b, t, k, (SCORE, BOOST), k) for k, (a, b) in arms], dice, t)

    def learn(self, arm: int, success: float) -> None:
        for model, discount in enumerate(self.discounts):
            for own in self.counts[model]:
                own[0], own[1] = 1.0 + discount * (own[0] - 1.0), 1.0 + discount * (own[1] - 1.0)
            a, b = self.counts[model][arm]
            self.logs[model] = self.fade * self.logs[model] + math.log((a if success else b) / (a + b))
            self.counts[model][arm][0 if success else 1] += 1.0


class KalmanThompson:
    """Thompson sampling from the filter of an autoregressive mean, written out."""

    binary = False

    def __init__(
        self, n_arms: int, persistence: float, level: float, movement: float, noise: float, spread: float
    ) -> None:
        self.persistence, self.level, self.movement, self.noise = persistence, level, movement, noise
        self.beliefs = [(level, spread**2)] * n_arms

    def predicted(self, mean: float, variance: float) -> tuple[float, float]:
        away = self.persistence * (mean - self.level)
        return self.level + away, self.persistence**2 * variance + self.movement**2

    def select(self, dice: Dice, t: int) -> int:
        predictions = [self.predicted(*belief) for belief in self.beliefs]
        samples = [
            mean + math.sqrt(variance) * normal_pair(dice.words(t, k, SCORE))[0]
            for k, (mean, variance) in enumerate(predictions)
        ]
        return largest(samples, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.beliefs = [self.predicted(*belief) for belief in self.beliefs]
        mean, variance = self.beliefs[arm]
        precision = 1 / variance + 1 / self.noise**2
        self.beliefs[arm] = (mean / variance + reward / self.noise**2) / precision, 1 / precision


class SlidingWindowThompson:
    """Thompson sampling from what the last steps brought."""

    binary = True

    def __init__(self, n_arms: int, window: int, prior_successes: float, prior_failures: float) -> None:
        self.n_arms, self.window, self.prior = n_arms, window, (prior_successes, prior_failures)
        self.history: list[tuple[int, float]] = []

    def select(self, dice: Dice, t: int) -> int:
        samples = []
        for k in range(self.n_arms):
            recent = [reward for arm, reward in self.history[-self.window :] if arm == k]
            a, b = self.prior[0] + sum(recent), self.prior[1] + len(recent) - sum(recent)
            samples.append(dice.log_odds(a, b, t, k, (SCORE, BOOST), k))
        return largest(samples, dice, t)

    def learn(self, arm: int, success: float) -> None:
        self.history.append((arm, success))


class GaussianThompson:
    """Normal samples about the mean of what is remembered; arms of which nothing is come first."""

    binary = False

    def __init__(self, n_arms: int, deviation: float, discount: float, window: int | None) -> None:
        self.n_arms, self.deviation, self.discount, self.window = n_arms, deviation, discount, window
        self.history: list[tuple[int, float]] = []

    def select(self, dice: Dice, t: int) -> int:
        recent = self.history if self.window is None else self.history[-self.window :]
        samples = []
        for k in range(self.n_arms):
            own = [(self.discount**age, reward) for age, (arm, reward) in enumerate(reversed(recent)) if arm == k]
            number = math.fsum(weight for weight, _ in own)
            if number < 1e-8:
                samples.append(math.inf)
                continue
            mean = math.fsum(weight * reward for weight, reward in own) / number
            samples.append(mean + self.deviation / math.sqrt(number) * normal_pair(dice.words(t, k, SCORE))[0])
        return largest(samples, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.history.append((arm, reward))


class TwoPosteriors:
    """f-dsw TS: a sample of what fades and one of the arm's last choices, each drawn again until both are accepted."""

    binary = True

    def __init__(self, n_arms: int, discount: float, window: int, combine: str) -> None:
        self.n_arms, self.discount, self.window = n_arms, discount, window
        self.combine = {"mean": lambda pair: sum(pair) / 2, "max": max, "min": min}[combine]
        self.history: list[tuple[int, float]] = []

    def select(self, dice: Dice, t: int) -> int:
        samples = []
        for k in range(self.n_arms):
            aged = [(self.discount**age, won) for age, (arm, won) in enumerate(reversed(self.history)) if arm == k]
            recent = [won for _, won in aged[: self.window]]
            shapes = [
                (1 + sum(w * won for w, won in aged), 1 + sum(w * (1 - won) for w, won in aged)),
                (1 + sum(recent), 1 + len(recent) - sum(recent)),
            ]
            samples.append(self.combine(self.drawn(shapes, dice, t, k)))
        return largest(samples, dice, t)

    def drawn(self, shapes: list[tuple[float, float]], dice: Dice, t: int, k: int) -> list[float]:
        for attempt in range(2**16):
            found = []
            for (a, b), purpose in zip(shapes, (SCORE, BOOST), strict=True):
                words = dice.words(t, k, purpose, attempt)
                first, second = normal_pair(words)
                (x, log_chance_x), (y, log_chance_y) = gamma(a, first), gamma(b, second)
                if x > 0 and y > 0 and math.log(open_uniform(words[2])) < log_chance_x + log_chance_y:
                    found.append(x / (x + y))
            if len(found) == 2:
                return found
        raise AssertionError("a sampler that never accepts")

    def learn(self, arm: int, success: float) -> None:
        self.history.append((arm, success))


class CappedKalman(KalmanThompson):
    """The same, never less certain than at the start."""

    def __init__(self, n_arms: int, spread: float, **moving: float) -> None:
        super().__init__(n_arms, spread=spread, **moving)
        self.most = spread**2

    def predicted(self, mean: float, variance: float) -> tuple[float, float]:
        mean, variance = super().predicted(mean, variance)
        return mean, min(variance, self.most)


class Predictive(CappedKalman):
    """Predictive sampling: what an endless future would tell of the coming mean, as the limit of longer futures."""

    def select(self, dice: Dice, t: int) -> int:
        kept, moved, noise = self.persistence**2, self.movement**2, self.noise**2
        x = math.inf  # the variance with which no future at all tells γ·θ'
        for _ in range(500):
            x = moved + 1 / (1 / noise + kept / x)
        samples = []
        for k, belief in enumerate(self.beliefs):
            mean, variance = self.predicted(*belief)
            told = kept * variance**2 / (kept * variance + x)
            samples.append(mean + math.sqrt(told) * normal_pair(dice.words(t, k, SCORE))[0])
        return largest(samples, dice, t)


POLICIES: dict[str, Callable[..., Any]] = {
    "ts": lambda n, **p: Thompson(n, False, **p),
    "ots": lambda n, **p: Thompson(n, True, **p),
    "dts": lambda n, **p: Thompson(n, False, **p),
    "dots": lambda n, **p: Thompson(n, True, **p),
    "dynamic-ts": DynamicThompson,
    "sw-ts": SlidingWindowThompson,
    "gaussian-ts": GaussianThompson,
    "f-dsw-ts": TwoPosteriors,
    "kalman-ts": CappedKalman,
    "predictive": Predictive,
}
