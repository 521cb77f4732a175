"""Twins of policies with beliefs, in double precision."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dice import LUCK, Dice, largest


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


POLICIES: dict[str, Callable[..., Any]] = {
    "drift-filter": DriftFilter,
}
