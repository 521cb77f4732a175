"""The slow, obvious twin of the library: one run, one step, one arm at a time, in plain Python.

Nothing of the library's rules, random numbers or loops is imported here. Random numbers are Philox4x32-10 on Python
integers (`dice`); policies are written from the definitions of their papers (`twins`), `Ruled` plays any rule as its
docstring says; environments are functions of a clock. `play` plays one run and returns every decision.
"""

import csv
import importlib.resources
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dice import (
    BOOST,
    EXPLORE,
    LUCK,
    REWARD,
    SCORE,
    START,
    TOGETHER,
    TRIAL,
    WALK,
    Dice,
    by_probability,
    largest,
    normal_pair,
)
from twins import OWN, POLICIES


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
        if rule.blend is not None:
            mean = sum(own[0] for own in self.own) / self.n_arms
            self.own = [tuple(rule.blend(p, self.common, mean, *own)) for own in self.own]
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


# Environments: mean(arm, clock).


def sinusoidal(period: float, n_arms: int, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    return n_arms, lambda k, t: 0.5 + 0.5 * math.sin(2 * math.pi * t / period + 2 * math.pi * k / n_arms)


def abrupt(period: float, n_arms: int, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    levels = [0.10, 0.37, 0.63, 0.90] if n_arms == 4 else [0.1 + 0.8 * k / (n_arms - 1) for k in range(n_arms)]
    return n_arms, lambda k, t: levels[k] if t % period >= period * (k + 1) / (n_arms + 1) else 0.0


def piecewise(levels: Any, change_points: Any, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    return len(levels[0]), lambda k, t: levels[sum(t >= point for point in change_points)][k]


def from_means(means: Any, repeat: int = 1, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    rows = [row for row in means for _ in range(repeat)]
    return len(means[0]), lambda k, t: rows[min(t, len(rows)) - 1][k]


def recorded(file: str, **own: Any) -> tuple[int, Callable[[int, int], float]]:
    with importlib.resources.files("driftbandit.datasets").joinpath(file).open(encoding="utf-8") as lines:
        _, *rows = csv.reader(lines)
    return from_means([[float(share) for share in row[1:]] for row in rows], **own)


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


def stationary(best: float, gap: float, n_arms: int, **_: Any) -> tuple[int, Callable[[int, int], float]]:
    return n_arms, lambda k, t: best if k == 0 else best - gap


def random_piecewise(
    number: int, changes: int, apart: int, length: int, n_arms: int, **_: Any
) -> tuple[int, Callable[[int, int], float]]:
    dice = Dice(number, 0)
    spare = length - apart * (changes + 1)
    places = sorted(math.floor(dice.uniform(i + 1, 0, TOGETHER) * spare) for i in range(changes))
    lasts = [place + apart * (i + 1) for i, place in enumerate(places)]  # of the segment before

    def mean(k: int, t: int) -> float:
        value = dice.uniform(0, k, START)
        for i, last in enumerate(lasts, start=1):
            luck, size = dice.uniform(i, k, WALK), 0.05 + 0.25 * dice.uniform(i, k, WALK, second=True)
            if t > last and luck < 0.5:
                wanted = value + size if luck < 0.25 else value - size
                value = wanted if 0 <= wanted <= 1 else 2 * value - wanted
        return value

    return n_arms, mean


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
    "stationary": stationary,
    "random-piecewise": random_piecewise,
    "flights": lambda by="hour", **p: recorded(f"flights-by-{by}.csv", **p),
    "weather": lambda **p: recorded("weather.csv", **p),
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
