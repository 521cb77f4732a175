"""The slow, obvious twin of the library: one run, one step, one arm at a time, in plain Python.

Nothing of the library's rules, random numbers or loops is imported here. Random numbers are Philox4x32-10 on Python
integers; policies are written from the definitions of their papers, with whole histories where the library keeps
running sums; environments are functions of a clock. `play` plays one run and returns every decision.

A posterior sample is X/(X + Y) with X and Y gamma distributed. It is kept as its log odds ln X − ln Y, which order
samples as the samples themselves do but do not round to 0 or 1.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

SCORE, BOOST, CHOICE, REWARD, TRIAL, WALK, START, TOGETHER, EXPLORE, LUCK = range(10)
WORD = 2**32


def philox4x32(counter: list[int], key: list[int]) -> list[int]:
    """Ten rounds of Philox (Salmon, Moraes, Dror and Shaw 2011): counter of four words, key of two."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, WORD)
        high1, low1 = divmod(0xCD9E8D57 * c2, WORD)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return [c0, c1, c2, c3]


def counter_of(run: int, step: int, arm: int, purpose: int, attempt: int) -> list[int]:
    """The counter at some coordinates: every coordinate has bits of its own."""
    return [
        step % WORD,
        run % WORD,
        arm + (step // WORD) * 2**24,
        attempt + purpose * 2**16 + (run // WORD) * 2**24,
    ]


class Dice:
    """The random numbers of one run."""

    def __init__(self, seed: int, run: int) -> None:
        self.key = [seed % WORD, seed // WORD]
        self.run = run

    def words(self, step: int, arm: int, purpose: int, attempt: int = 0) -> list[int]:
        return philox4x32(counter_of(self.run, step, arm, purpose, attempt), self.key)

    def uniform(self, step: int, arm: int, purpose: int, second: bool = False) -> float:
        """A multiple of 2^−53 in [0, 1), from the first two words or the second two."""
        high, low = self.words(step, arm, purpose)[2 if second else 0 :][:2]
        return ((high >> 5) * 2**26 + (low >> 6)) / 2**53

    def log_odds(self, a: float, b: float, step: int, arm: int, purposes: tuple[int, int], boost_arm: int) -> float:
        """Log odds of a Beta(a, b) sample: Marsaglia and Tsang's gammas, both accepted by one uniform number."""
        for attempt in range(2**16):
            words = self.words(step, arm, purposes[0], attempt)
            more = self.words(step, boost_arm, purposes[1], attempt)
            first, second = normal_pair(words)
            x, log_chance_x = gamma(a + 1 if a < 1 else a, first)
            y, log_chance_y = gamma(b + 1 if b < 1 else b, second)
            if x <= 0 or y <= 0 or math.log(open_uniform(words[2])) >= log_chance_x + log_chance_y:
                continue
            value = math.log(x) - math.log(y)
            if a < 1:  # Gamma(a) is Gamma(a + 1)·U^{1/a}
                value += math.log(open_uniform(more[0])) / a if a > 0 else -math.inf
            if b < 1:
                value -= math.log(open_uniform(more[1])) / b if b > 0 else -math.inf
            return value
        raise AssertionError("a sampler that never accepts")


def open_uniform(word: int) -> float:
    """Strictly between 0 and 1."""
    return (word + 0.5) / WORD


def normal_pair(words: list[int]) -> tuple[float, float]:
    """Box and Muller's two normal numbers."""
    radius = math.sqrt(-2 * math.log(open_uniform(words[0])))
    angle = 2 * math.pi * (words[1] / WORD)
    return radius * math.cos(angle), radius * math.sin(angle)


def gamma(shape: float, normal: float) -> tuple[float, float]:
    """A gamma number from a normal one, and the logarithm of the probability with which it is accepted."""
    d = shape - 1 / 3
    v = (1 + normal / math.sqrt(9 * d)) ** 3
    if v <= 0:
        return 0.0, -math.inf
    return d * v, normal**2 / 2 + d - d * v + d * math.log(v)


# Policies: select(dice, t) gives an arm, learn(arm, reward) takes in what it earned.


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


class Uniform:
    """Every arm alike."""

    binary = False

    def __init__(self, n_arms: int) -> None:
        self.n_arms = n_arms

    def select(self, dice: Dice, t: int) -> int:
        return by_probability([1 / self.n_arms] * self.n_arms, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        pass


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


# Policies of a user's own: those of examples/policies, from their definitions.


def turned(arm: int, share: float, n_arms: int, dice: Dice, t: int) -> int:
    """The arm, or in a share of choices any."""
    turn = dice.uniform(t, 0, EXPLORE)
    return min(int(turn / share * n_arms), n_arms - 1) if turn < share else arm


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


class Ruled:
    """Any rule, read literally: its functions called in plain Python, in the order in which its docstring lists them.

    What is kept is kept in whole: every reward of an arm since it started, every step since the last restart.
    """

    def __init__(self, n_arms: int, rule: Any) -> None:
        self.n_arms, self.rule, self.p, self.binary = n_arms, rule, rule.parameters, rule.binary
        self.own = [tuple(map(float, rule.initial)) for _ in range(n_arms)]
        self.common = tuple(map(float, rule.common))
        self.past: list[list[float]] = [[] for _ in range(n_arms)]
        self.steps: list[tuple[int, float] | None] = []
        """Arm and reward of every step; None where the arm has started again since."""
        self.counted, self.t, self.chance = 0.0, 0, 1.0

    def total(self) -> float:
        rule = self.rule
        differ = rule.alarm is not None or rule.window_of == "choices" or len(set(rule.decays)) > 1 or rule.clock
        if differ and rule.observations is not None:
            return sum(rule.observations(self.p, *own) for own in self.own)
        return self.counted

    def shared(self, dice: Dice, t: int) -> float:
        luck = (dice.uniform(t, 0, LUCK),) if self.rule.luck else ()
        if self.rule.context.__name__ == "no_context":
            return 0.0
        return self.rule.context(self.p, self.total(), *self.common, *luck)

    def share_of_any(self, t: int) -> float:
        explore = self.rule.explore
        return min(max(explore(self.p, float(t), *self.common), 0.0), 1.0) if callable(explore) else explore

    def select(self, dice: Dice, t: int) -> int:
        rule, shared, any_arm = self.rule, self.shared(dice, t), self.share_of_any(t)
        probabilities = [1.0] * self.n_arms
        if rule.selection == "index":
            arm = largest([rule.score(self.p, shared, *own) for own in self.own], dice, t)
        elif rule.selection == "sampled":
            arm = largest([self.sample(shared, k, dice, t) for k in range(self.n_arms)], dice, t)
        else:
            weights = [math.exp(self.log_weight(shared, own)) for own in self.own]
            probabilities = [rule.probability(self.p, weight / math.fsum(weights)) for weight in weights]
            arm = by_probability(probabilities, dice, t)
        turn = dice.uniform(t, 0, EXPLORE)
        if turn < any_arm:
            arm = min(int(turn / any_arm * self.n_arms), self.n_arms - 1)
        if rule.selection == "weighted":
            self.chance = (1.0 - any_arm) * probabilities[arm] + any_arm / self.n_arms
        return arm

    def log_weight(self, shared: float, own: tuple[float, ...]) -> float:
        return own[0] if self.rule.log_weight is None else self.rule.log_weight(self.p, shared, *own)

    def sample(self, shared: float, k: int, dice: Dice, t: int) -> float:
        law = self.rule.posterior.law
        a, b = self.rule.posterior.shape(self.p, shared, *self.own[k])
        if law == "normal":
            return a + b * normal_pair(dice.words(t, k, SCORE))[0]
        sample = dice.log_odds(a, b, t, k, (SCORE, BOOST), k)
        return max(sample, math.log(a / b)) if law == "optimistic beta" else sample

    def learn(self, arm: int, reward: float) -> None:
        rule, p = self.rule, self.p
        self.t += 1
        for k in range(self.n_arms):
            self.own[k] = tuple(x * d + c for x, d, c in zip(self.own[k], rule.decays, rule.drifts, strict=True))
        self.common = tuple(rule.notice(p, self.common, self.own[arm], reward, self.chance))
        self.own[arm] = rule.learn(p, *self.own[arm], reward, self.chance)
        self.past[arm].append(reward)
        self.steps.append((arm, reward))
        if rule.window and rule.window_of == "choices" and len(self.past[arm]) > rule.window:
            self.own[arm] = rule.unlearn(p, *self.own[arm], self.past[arm][-1 - rule.window])
        if rule.window and rule.window_of == "steps" and len(self.steps) > rule.window:
            departed = self.steps[-1 - rule.window]
            if departed is not None:
                self.own[departed[0]] = rule.unlearn(p, *self.own[departed[0]], departed[1])
        d = set(rule.decays)
        self.counted = self.counted * (d.pop() if len(d) == 1 else 1.0) + 1.0
        if rule.window and rule.window_of == "steps":
            self.counted = min(self.counted, float(rule.window))
        if rule.alarm is not None and rule.alarm(p, *self.own[arm], *self.history(arm)):
            whole = rule.alarm_resets == "all"
            self.start_again(list(range(self.n_arms)) if whole else [arm])
            if rule.renew is not None:
                self.common = rule.renew(p, self.common)
            elif whole:
                self.common = tuple(map(float, rule.common))
        if rule.restart and self.t % rule.restart == 0:
            self.start_again(list(range(self.n_arms)))
            self.common, self.counted = tuple(map(float, rule.common)), 0.0

    def history(self, arm: int) -> tuple[Any, ...]:
        if not self.rule.history:
            return ()
        ring = np.zeros(max(self.rule.history, self.rule.window if self.rule.window_of == "choices" else 0))
        for i, reward in enumerate(self.past[arm]):
            ring[i % ring.size] = reward
        return ((ring, len(self.past[arm]), self.rule.history),)

    def start_again(self, arms: list[int]) -> None:
        for k in arms:
            self.own[k] = tuple(map(float, self.rule.initial))
            self.past[k] = []
        self.steps = [None if step is not None and step[0] in arms else step for step in self.steps]


def largest(scores: list[float], dice: Dice, t: int) -> int:
    """The arm with the largest score; ties are broken uniformly by the step's own random number."""
    tied = [k for k, score in enumerate(scores) if score == max(scores)]
    return tied[0] if len(tied) == 1 else tied[int(dice.uniform(t, 0, CHOICE) * len(tied))]


def by_probability(probabilities: list[float], dice: Dice, t: int) -> int:
    """The first arm at which the running sum of probabilities passes the step's random number."""
    target = dice.uniform(t, 0, CHOICE)
    below = 0.0
    for k, probability in enumerate(probabilities):
        below += probability
        if target < below:
            return k
    return max(k for k, probability in enumerate(probabilities) if probability > 0)


POLICIES: dict[str, Callable[..., Any]] = {
    "ts": lambda n, **p: Thompson(n, False, **p),
    "ots": lambda n, **p: Thompson(n, True, **p),
    "dts": lambda n, **p: Thompson(n, False, **p),
    "dots": lambda n, **p: Thompson(n, True, **p),
    "drift-filter": DriftFilter,
    "dynamic-ts": DynamicThompson,
    "exp3": ExponentialWeights,
    "rexp3": ExponentialWeights,
    "exp3-ix": ImplicitExploration,
    "d-ucb": lambda n, discount, confidence, bound: ConfidenceBound(n, 2 * bound, confidence, discount=discount),
    "sw-ucb": lambda n, window, confidence, bound: ConfidenceBound(n, bound, confidence, window=window),
    "ucb1": lambda n, confidence: ConfidenceBound(n, 1.0, confidence),
    "uniform": Uniform,
}


OWN: dict[str, Callable[..., Any]] = {
    "example-cusum-ucb": Cusum,
    "example-discount-mixture": DiscountMixture,
    "example-epsilon-greedy": EpsilonGreedy,
    "example-kalman-ts": KalmanThompson,
    "example-sw-ts": SlidingWindowThompson,
}


# Environments: mean(arm, clock).


def sinusoidal(period: float, n_arms: int, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    return n_arms, lambda k, t: 0.5 + 0.5 * math.sin(2 * math.pi * t / period + 2 * math.pi * k / n_arms)


def abrupt(period: float, n_arms: int, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    levels = [0.10, 0.37, 0.63, 0.90] if n_arms == 4 else [0.1 + 0.8 * k / (n_arms - 1) for k in range(n_arms)]
    return n_arms, lambda k, t: levels[k] if t % period >= period * (k + 1) / (n_arms + 1) else 0.0


def piecewise(levels: Any, change_points: Any, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    return len(levels[0]), lambda k, t: levels[sum(t >= point for point in change_points)][k]


def from_means(means: Any, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    return len(means[0]), lambda k, t: means[min(t, len(means)) - 1][k]


def env_a(**_: Any) -> tuple[int, Callable[[int, int], float]]:
    def mean(k: int, t: int) -> float:
        if t <= 3000:
            return (0.5, 0.3, 0.4)[k]
        return (0.3, 0.7, 0.2)[k] if t <= 5000 else (0.5, 0.3, 0.6)[k]

    return 3, mean


def besson(problem: int, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    """Each arm's means, segment by segment; a segment ends after the share of the horizon that is told."""
    first = [[0.3] * 3 + [0.7] * 2, [0.5, 0.2, 0.2, 0.2, 0.5], [0.9, 0.9, 0.1, 0.1, 0.1]]
    second = [[0.4, 0.5, 0.6, 0.7, 0.8], [0.5, 0.4, 0.3, 0.2, 0.1], [0.9, 0.7, 0.5, 0.3, 0.1]]
    clicks = [
        [0.071, 0.055, 0.04, 0.04, 0.03, 0.03, 0.02, 0.02, 0.02],
        [0.041, 0.053, 0.063, 0.042, 0.032, 0.032, 0.022, 0.022, 0.022],
        [0.032, 0.032, 0.032, 0.043, 0.055, 0.02, 0.02, 0.02, 0.034],
        [0.03] * 6 + [0.045, 0.057, 0.057],
        [0.02] + [0.008] * 7 + [0.022],
        [0.011] * 5 + [0.021] * 2 + [0.011] * 2,
    ]
    last = [[0.1, 0.3, 0.5, 0.7, 0.1], [0.5, 0.4, 0.3, 0.4, 0.5], [0.9, 0.1, 0.2, 0.3, 0.2]]
    fifths, ninths, late = [i / 5 for i in range(1, 5)], [i / 9 for i in range(1, 9)], [0.5, 0.625, 0.75, 0.875]
    arms, ends, horizon = {
        1: (first, fifths, 5000), 2: (second, fifths, 5000), 3: (clicks, ninths, 20000), 4: (last, late, 5000),
    }[problem]  # fmt: skip
    return len(arms), lambda k, t: arms[k][sum(t > math.floor(share * horizon + 1e-9) for share in ends)]


def f_dsw(test: int, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    def mean(k: int, t: int) -> float:
        early, late = t - 1 >= 251, t - 1 >= 501  # their steps begin with 0
        if test == 3:
            return (0.2, 0.3, 0.4, 0.5)[k]
        if k >= 2:
            return (0.1, 0.3)[k - 2]
        changed = early if k == 0 else late
        return ((0.9, 0.7)[k], 0.0)[changed] if test == 1 else (0.0, (0.7, 0.9)[k])[changed]

    return 4, mean


ENVIRONMENTS: dict[str, Callable[..., Any]] = {
    "sinusoidal": sinusoidal,
    "slow": lambda **p: sinusoidal(period=1000, **p),
    "fast": lambda **p: sinusoidal(period=100, **p),
    "abrupt": abrupt,
    "piecewise": piecewise,
    "from-means": from_means,
    "env-a": env_a,
    "besson": besson,
    "f-dsw": f_dsw,
}


class Walk:
    """Brownian means of one run: the whole path of every arm, made as far as it is asked for."""

    def __init__(self, dice: Dice, volatility: float, start: float | None, n_arms: int) -> None:
        self.dice, self.volatility = dice, volatility
        self.paths = [[dice.uniform(0, k, START) if start is None else start] for k in range(n_arms)]

    def mean(self, arm: int, clock: int) -> float:
        path = self.paths[arm]
        while len(path) < clock:
            normal, _ = normal_pair(self.dice.words(len(path), arm, WALK))
            path.append(reflected(path[-1] + self.volatility * normal))
        return path[clock - 1]


def reflected(x: float) -> float:
    """The number mirrored at 0 and 1 until it lies between them."""
    while not 0 <= x <= 1:
        x = -x if x < 0 else 2 - x
    return x


class Switch:
    """Switching means of one run: the whole path of every arm, made as far as it is asked for."""

    def __init__(self, dice: Dice, hazard: float, together: bool, low: float, high: float, n_arms: int) -> None:
        self.dice, self.hazard, self.together, self.low, self.high = dice, hazard, together, low, high
        self.paths = [[self.fresh(0, k, START)] for k in range(n_arms)]

    def fresh(self, clock: int, arm: int, purpose: int) -> float:
        return self.low + (self.high - self.low) * self.dice.uniform(clock, arm, purpose, second=True)

    def mean(self, arm: int, clock: int) -> float:
        path = self.paths[arm]
        while len(path) < clock:
            now = len(path)
            luck = self.dice.uniform(now, 0, TOGETHER) if self.together else self.dice.uniform(now, arm, WALK)
            path.append(self.fresh(now, arm, WALK) if luck < self.hazard else path[-1])
        return path[clock - 1]


PATHS: dict[str, Callable[..., Any]] = {"brownian": Walk, "switching": Switch}


class Trace(NamedTuple):
    """One run: what was chosen at every step, and the sums up to and including it."""

    chosen: list[int]
    regret: list[float]
    expected: list[float]
    reward: list[float]


def play(
    policy: str | Callable[[int], Any],
    parameters: dict[str, Any],
    environment: str,
    world: dict[str, Any],
    horizon: int,
    seed: int,
    run: int,
) -> Trace:
    """One run of a policy in an environment, both by their names and parameters; or of a player that is made here."""
    dice = Dice(seed, run)
    rested, law, spread = world["rested"], world["rewards"], (world["concentration"], world["deviation"])
    common = {"rested", "rewards", "concentration", "deviation"}
    own = {name: value for name, value in world.items() if name not in common}
    if environment in PATHS:
        n_arms, mean = own["n_arms"], PATHS[environment](dice, **own).mean
    else:
        n_arms, mean = ENVIRONMENTS[environment](**own)
    player = (POLICIES | OWN)[policy](n_arms, **parameters) if isinstance(policy, str) else policy(n_arms)
    clocks = [1] * n_arms
    trace = Trace([], [], [], [])
    regret = expected = earned = 0.0
    for t in range(1, horizon + 1):
        means = [mean(k, clocks[k] if rested else t) for k in range(n_arms)]
        arm = player.select(dice, t)
        reward = reward_of(law, means[arm], *spread, dice, t)
        regret += max(means) - means[arm]
        expected += means[arm]
        earned += reward
        clocks[arm] += 1
        if player.binary and law != "bernoulli":
            reward = 1.0 if dice.uniform(t, 0, TRIAL) < reward else 0.0
        player.learn(arm, reward)
        for record, value in zip(trace, (arm, regret, expected, earned), strict=True):
            record.append(value)
    return trace


def reward_of(law: str, mean: float, concentration: float, deviation: float, dice: Dice, t: int) -> float:
    """A reward with this mean."""
    if law == "bernoulli":
        return 1.0 if dice.uniform(t, 0, REWARD) < mean else 0.0
    if law == "normal":
        return mean + deviation * normal_pair(dice.words(t, 0, REWARD))[0]
    a, b = mean * concentration, (1 - mean) * concentration
    if law == "mean" or a <= 0 or b <= 0:
        return mean
    value = dice.log_odds(a, b, t, 0, (REWARD, REWARD), 1)
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
