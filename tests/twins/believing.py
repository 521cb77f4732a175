"""Twins of policies with beliefs, in double precision."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from dice import BOOST, LUCK, SCORE, Dice, largest


class Grid:
    """A model of drift: probabilities on cells of φ, of every arm; those of a ring of twice as many cells, or one."""

    def __init__(self, prior: float, start: np.ndarray, n_arms: int, step: Callable[[np.ndarray], np.ndarray]) -> None:
        self.prior, self.weight, self.step = prior, prior, step
        self.arms = [start.copy() for _ in range(n_arms)]
        self.rested = False


class DriftFilter:
    """A filter over models of drift (docs/filter.md): a mixture for every arm, and its upper quantile.

    The still model has 128 cells, of which four make one of the others. A ring of 64 cells goes up and comes down.
    """

    binary = False

    def __init__(self, n_arms: int, momentum: bool, randomized: bool) -> None:
        self.n_arms, self.randomized, self.learned = n_arms, randomized, 0
        cell = math.pi / 64
        phi = (np.arange(32) + 0.5) * cell
        start = 0.75 * np.sin(2 * phi) * cell + 0.25 / 32
        start /= start.sum()
        fine = np.repeat(start, 4) / 4
        ring = np.concatenate([start, start[::-1]]) / 2
        self.means = {128: np.sin((np.arange(128) + 0.5) * cell / 4) ** 2, 32: np.sin(phi) ** 2}
        self.means[64] = np.concatenate([self.means[32], self.means[32][::-1]])
        self.models = [Grid(0.08, fine, n_arms, lambda p: p)]
        walks = [(0.0, h) for h in (0.001, 0.002, 0.004, 0.008, 0.02, 0.06)]
        walks += [(s, h) for s in (0.004, 0.016) for h in (0.0, 0.0015, 0.005, 0.012)]
        for spread, hazard in walks:

            def walk(p: np.ndarray, nu: float = spread**2 / (2 * cell**2), hazard: float = hazard) -> np.ndarray:
                padded = np.concatenate([p[:1], p, p[-1:]])
                p = p + nu * (padded[:-2] - p) + nu * (padded[2:] - p)
                return p + hazard * (start - p)

            self.models.append(Grid(0.6 / 14, start, n_arms, walk))
        for rested in (False, True) if momentum else ():
            for i in range(8):
                speed = 0.12 * 1.9**-i

                def go(p: np.ndarray, cells: float = speed / cell, turn: float = speed / 2) -> np.ndarray:
                    whole = int(cells)
                    p = np.roll(p, whole) + (cells - whole) * (np.roll(p, whole + 1) - np.roll(p, whole))
                    return 0.9997 * ((1 - turn) * p + turn * p[::-1]) + 0.0003 * ring

                self.models.append(Grid((0.08 if rested else 0.24) / 8, ring, n_arms, go))
                self.models[-1].rested = rested
        total = sum(model.prior for model in self.models)
        for model in self.models:
            model.prior = model.weight = model.prior / total

    def mixture(self, k: int) -> np.ndarray:
        """On 128 cells; what others than the still model have in a cell is spread evenly over its four parts."""
        out = np.zeros(128)
        for model in self.models:
            p = model.weight * model.arms[k]
            out += p if p.size == 128 else np.repeat(p[:32] + p[:31:-1] if p.size == 64 else p, 4) / 4
        return out

    def select(self, dice: Dice, t: int) -> int:
        mixtures = [self.mixture(k) for k in range(self.n_arms)]
        coarse = [p.reshape(32, 4).sum(axis=1) for p in mixtures]
        best = max(p @ self.means[32] / p.sum() for p in coarse)
        tail = 0.08 * (min(self.n_arms, 16) / 4) ** 0.25 * math.sqrt(best)
        if self.randomized:
            tail *= 1 + 0.6 * (2 * dice.uniform(t, 0, LUCK) - 1)
        return largest([self.position(p, tail) for p in mixtures], dice, t)

    def position(self, p: np.ndarray, tail: float) -> float:
        """Where this much lies above, in parts of cells; rounded, as equal arms must tie."""
        above = 0.0
        for i in range(127, -1, -1):
            above += p[i]
            if above >= tail or i == 0:
                return round(i + min(max((above - tail) / p[i], 0.0), 1.0), 9)
        raise AssertionError

    def learn(self, arm: int, reward: float) -> None:
        reward = min(max(reward, 0.0), 1.0)
        self.learned += 1
        for model in self.models:
            theta = self.means[model.arms[arm].size]
            p = model.arms[arm] * theta**reward * (1 - theta) ** (1 - reward)
            model.weight *= p.sum()
            model.arms[arm] = p / p.sum() + 1e-15
        total, share = sum(model.weight for model in self.models), min(2e-4, 1 / self.learned)
        for model in self.models:
            model.weight = (1 - share) * model.weight / total + share * model.prior
            for k in range(self.n_arms):
                if k == arm or not model.rested:
                    model.arms[k] = model.step(model.arms[k])


class Beginning:
    """When everything may have changed last: the step after which it was, and a weight for each hazard."""

    def __init__(self, after: int, weights: list[float]) -> None:
        self.after, self.weights = after, weights


class ChangePoints:
    """When some arms changed last, in so many places: whole histories, and the likelihood of every beginning."""

    def __init__(self, hazards: list[float], places: int, prior: tuple[float, float]) -> None:
        self.hazards, self.prior, self.history = hazards, prior, []
        self.places: list[Beginning | None] = [Beginning(0, [1 / len(hazards)] * len(hazards))] + [None] * (places - 1)

    def known(self, arm: int, after: int) -> tuple[float, float]:
        rewards = [reward for step, k, reward in self.history if k == arm and step > after]
        return self.prior[0] + sum(rewards), self.prior[1] + len(rewards) - sum(rewards)

    def drawn(self, luck: float) -> Beginning:
        weights = [sum(each.weights) if each else 0.0 for each in self.places]
        below, found = 0.0, None
        for each, weight in zip(self.places, weights, strict=True):
            if weight > 0 and luck * sum(weights) >= below:
                found = each
            below += weight
        assert found is not None
        return found

    def learn(self, step: int, arm: int, reward: float) -> None:
        there = [each for each in self.places if each]
        for each in there:
            a, b = self.known(arm, each.after)
            each.weights = [weight * (a if reward else b) / (a + b) for weight in each.weights]
        total = sum(sum(each.weights) for each in there)
        for each in there:
            each.weights = [weight / total for weight in each.weights]
        self.history.append((step, arm, reward))

    def move(self, step: int) -> None:
        """A change after this step; without a reward since the latest one, it is the same as that."""
        there = [each for each in self.places if each]
        gains = [h * sum(each.weights[j] for each in there) for j, h in enumerate(self.hazards)]
        last = self.history[-1][0] if self.history else 0
        fresh = [each for each in there if each.after >= last]
        sums = [sum(each.weights) if each else 0.0 for each in self.places]
        for each in there:
            each.weights = [(1 - h) * weight for h, weight in zip(self.hazards, each.weights, strict=True)]
        if fresh:
            fresh[0].weights = [weight + gain for weight, gain in zip(fresh[0].weights, gains, strict=True)]
            return
        self.places[sums.index(min(sums))] = Beginning(step, gains)


class ChangePointThompson:
    """Mellor and Shapiro (2013): draw when the last change was, then sample from what was earned since."""

    binary = True

    def __init__(
        self, n_arms: int, hazard: float | None, scope: str, runs: int, prior_successes: float, prior_failures: float
    ) -> None:
        self.n_arms, self.scope, self.t = n_arms, scope, 0
        hazards = [1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1] if hazard is None else [hazard]
        prior = (prior_successes, prior_failures)
        self.changes = [ChangePoints(hazards, runs, prior) for _ in range(n_arms if scope == "arm" else 1)]

    def select(self, dice: Dice, t: int) -> int:
        scores = []
        for k in range(self.n_arms):
            own = k if self.scope == "arm" else 0
            changes = self.changes[own]
            shape = changes.known(k, changes.drawn(dice.uniform(t, own, LUCK)).after)
            scores.append(dice.log_odds(*shape, t, k, (SCORE, BOOST), k))
        return largest(scores, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.t += 1
        self.changes[arm if self.scope == "arm" else 0].learn(self.t, arm, reward)
        for changes in self.changes:
            changes.move(self.t)


class Gittins:
    """An index for every arm, worked out as it is needed: by bisection of the known reward, from far ahead."""

    binary = True
    known: ClassVar[dict[tuple[float, ...], float]] = {}
    """By both shapes and the future, as games ask for the same again and again."""

    def __init__(
        self,
        n_arms: int,
        future: float,
        method: str,
        discount: float,
        prior_successes: float,
        prior_failures: float,
    ) -> None:
        self.n_arms, self.future, self.discount = n_arms, future, discount
        self.looked_up = method == "table" and discount == 1 and future <= 0.99
        self.most = min(200, math.ceil(5 / math.log(1 / future)))
        self.prior, self.history = (prior_successes, prior_failures), []

    def counts(self, k: int) -> tuple[float, float]:
        """Successes and failures, faded by every step since."""
        t = len(self.history)
        weights = [(self.discount ** (t - step), reward) for step, arm, reward in self.history if arm == k]
        return sum(w for w, reward in weights if reward), sum(w for w, reward in weights if not reward)

    def select(self, dice: Dice, t: int) -> int:
        # rounded, as arms with equal counts must tie
        return largest([round(self.index(*self.counts(k)), 9) for k in range(self.n_arms)], dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.history.append((len(self.history) + 1, arm, reward))

    def index(self, s: float, f: float) -> float:
        a, b = s + self.prior[0], f + self.prior[1]
        if not self.looked_up:
            return a / (a + b) + self.surplus(a, b)
        if s + f <= self.most:
            return self.exact(a, b)
        share = self.most * s / (s + f)
        low = min(int(share), self.most - 1)
        ends = [self.exact(i + self.prior[0], self.most - i + self.prior[1]) for i in (low, low + 1)]
        found = ends[0] + (share - low) * (ends[1] - ends[0])
        c, d = share + self.prior[0], self.most - share + self.prior[1]
        return a / (a + b) + (found - c / (c + d)) * self.surplus(a, b) / self.surplus(c, d)

    def surplus(self, a: float, b: float) -> float:
        """Brezzi and Lai (2002)."""
        x = 1 / ((a + b + 1) * math.log(1 / self.future))
        if x <= 0.2:
            psi = math.sqrt(x / 2)
        elif x <= 15:
            psi = [0.49 - 0.11 / math.sqrt(x), 0.63 - 0.26 / math.sqrt(x), 0.77 - 0.58 / math.sqrt(x)][
                (x > 1) + (x > 5)
            ]
        else:
            psi = math.sqrt(2 * math.log(x) - math.log(math.log(x)) - math.log(16 * math.pi))
        return math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1))) * psi

    def exact(self, a: float, b: float) -> float:
        key = (a, b, self.future)
        if key not in self.known:
            low, high = a / (a + b), 1.0
            while high - low > 1e-6:
                middle = (low + high) / 2
                low, high = (middle, high) if self.worth(a, b, middle) > middle / (1 - self.future) else (low, middle)
            self.known[key] = low
        return self.known[key]

    def worth(self, a: float, b: float, reward: float) -> float:
        """Of playing an arm now, where this reward can be had for ever afterwards."""
        depth = math.ceil(math.log(1e-6) / math.log(self.future))
        value = np.full(depth + 1, reward / (1 - self.future))
        for n in range(depth - 1, -1, -1):
            m = (a + np.arange(n + 1)) / (a + b + n)
            on = m + self.future * (m * value[1:] + (1 - m) * value[:-1])
            value = np.maximum(on, reward / (1 - self.future))
        return float(on[0])


class BanditOverBandit:
    """Cheung, Simchi-Levi and Zhu (2019): every block EXP3 draws a window, and SW-UCB begins again with it."""

    binary = False

    def __init__(self, n_arms: int, horizon: int, batch: int, confidence: float) -> None:
        self.n_arms, self.batch, self.confidence = n_arms, batch, confidence
        parts = math.ceil(math.log(batch))
        self.windows = sorted({math.floor(batch ** (i / parts) + 1e-9) for i in range(parts + 1)})
        count = len(self.windows)
        self.share = min(1.0, math.sqrt(count * math.log(count) / ((math.e - 1) * math.ceil(horizon / batch))))
        self.weights, self.block = [1.0] * count, []

    def chances(self) -> list[float]:
        count = len(self.weights)
        return [(1 - self.share) * w / sum(self.weights) + self.share / count for w in self.weights]

    def select(self, dice: Dice, t: int) -> int:
        if not self.block:
            luck, chances = dice.uniform(t, 0, LUCK), self.chances()
            self.drawn = max(j for j in range(len(chances)) if luck >= sum(chances[:j]))
        inside = self.block[-self.windows[self.drawn] :]
        scores = []
        for k in range(self.n_arms):
            own = [reward for arm, reward in inside if arm == k]
            padding = math.sqrt(self.confidence * math.log(max(len(inside), 1)) / len(own)) if own else 0.0
            # rounded, as arms with equal rewards must tie
            scores.append(round(math.fsum(own) / len(own) + padding, 9) if own else math.inf)
        return largest(scores, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.block.append((arm, min(max(reward, 0.0), 1.0)))
        if len(self.block) == self.batch:
            gain = math.fsum(reward for _, reward in self.block) / self.batch
            chance = self.chances()[self.drawn]
            self.weights[self.drawn] *= math.exp(self.share / (len(self.weights) * chance) * gain)
            self.block = []


POLICIES: dict[str, Callable[..., Any]] = {
    "bob": BanditOverBandit,
    "gittins": Gittins,
    "cts": ChangePointThompson,
    "drift-filter": DriftFilter,
}
