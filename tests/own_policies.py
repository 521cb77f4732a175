"""Policies of one's own that use every part of a rule: what live use and other tests try themselves on."""

import dataclasses
import math
from typing import ClassVar

import driftbandit as db
from driftbandit.policies import Posterior, Rule, ago, kept
from driftbandit.specification import real, whole


def mean_of(p, shared, n, s, *more):
    """The mean reward, and a padding that `shared` scales; an arm without any observation comes first."""
    return s / n + math.sqrt(shared / n) if n > 0.0 else math.inf


def padding(p, total):
    return p[0] * math.log(max(total, 1.0))


def first(p, n, *more):
    return n


def observe(p, n, s, reward, probability):
    return n + 1.0, s + reward


def forget(p, n, s, reward):
    return n - 1.0, s - reward if n > 1.5 else 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class CusumUCB(db.Policy):
    """CUSUM-UCB: two-sided sums that watch each arm for a change (Liu, Lee and Shroff 2018)."""

    name: ClassVar[str] = "example-cusum-ucb"

    threshold: float = real("(0, inf)", 2.0)
    tolerance: float = real("[0, 1]", 0.1)
    sample: int = whole(1, 5)
    explore: float = real("[0, 1]", 0.1)
    confidence: float = real("(0, inf)", 0.5)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=mean_of,
            context=padding,
            learn=watch,
            alarm=crossed,
            explore=self.explore,
            parameters=(self.confidence, self.threshold, self.tolerance, float(self.sample)),
            initial=(0.0, 0.0, 0.0, 0.0, 0.0),
            observations=first,
            learning="by arm",
        )


def watch(p, n, s, mean, up, down, reward, probability):
    if n < p[3]:
        return n + 1.0, s + reward, mean + reward / p[3], 0.0, 0.0
    return n + 1.0, s + reward, mean, max(0.0, up + reward - mean - p[2]), max(0.0, down + mean - reward - p[2])


def crossed(p, n, s, mean, up, down):
    return up > p[1] or down > p[1]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DiscountMixture(db.Policy):
    """Thompson sampling with three discounts at once, weighted by how well each foretold the rewards."""

    name: ClassVar[str] = "example-discount-mixture"

    fast: float = real("(0, 1]", 0.8)
    middle: float = real("(0, 1]", 0.95)
    slow: float = real("(0, 1]", 0.999)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="sampled",
            posterior=Posterior("beta", pair_of_component, small=False),
            context=component,
            luck=True,
            pieces=shares,
            notice=judge,
            learn=count_in_each,
            parameters=(1.0,),
            initial=(0.0,) * 6,
            common=(0.0, 0.0, 0.0),
            decay=(self.fast, self.fast, self.middle, self.middle, self.slow, self.slow),
            binary=True,
            learning="sequential",
        )


def shares(p, total, x, y, z):
    """Where one component ends and the next begins."""
    top = max(x, y, z)
    a, b, c = math.exp(x - top), math.exp(y - top), math.exp(z - top)
    return a / (a + b + c), (a + b) / (a + b + c), 1.0


def component(p, total, x, y, z, luck):
    ends = shares(p, total, x, y, z)
    if luck < ends[0]:
        return 0.0
    return 1.0 if luck < ends[1] else 2.0


def pair_of_component(p, shared, a, b, c, d, e, f):
    if shared == 0.0:
        return a + p[0], b + p[0]
    return (c + p[0], d + p[0]) if shared == 1.0 else (e + p[0], f + p[0])


def foretold(p, a, b, reward):
    return math.log((a + p[0] if reward > 0.5 else b + p[0]) / (a + b + 2.0 * p[0]))


def judge(p, common, own, reward, probability):
    x = common[0] * 0.98 + foretold(p, own[0], own[1], reward)
    y = common[1] * 0.98 + foretold(p, own[2], own[3], reward)
    z = common[2] * 0.98 + foretold(p, own[4], own[5], reward)
    top = max(x, y, z)
    return x - top, y - top, z - top


def count_in_each(p, a, b, c, d, e, f, reward, probability):
    miss = 1.0 - reward
    return a + reward, b + miss, c + reward, d + miss, e + reward, f + miss


@dataclasses.dataclass(frozen=True, kw_only=True)
class EpsilonGreedy(db.Policy):
    """The best mean, but for a share of choices."""

    name: ClassVar[str] = "example-epsilon-greedy"

    explore: float = real("[0, 1]", 0.1)
    discount: float = real("(0, 1]", 0.97)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=mean_of,
            learn=observe,
            parameters=(),
            decay=self.discount,
            explore=self.explore,
            observations=first,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class KalmanThompsonSampling(db.Policy):
    """Thompson sampling where the mean of each arm is an autoregressive process, x ← γ·x + (1 − γ)·μ + noise."""

    name: ClassVar[str] = "example-kalman-ts"

    memory: float = real("(0, 1]", 0.98)
    centre: float = real("(-inf, inf)", 0.5)
    movement: float = real("(0, inf)", 0.01)
    noise: float = real("(0, inf)", 0.2)

    def rule(self, n_arms: int) -> Rule:
        back = (1.0 - self.memory) * self.centre
        return Rule(
            selection="sampled",
            posterior=Posterior("normal", one_step_ahead),
            learn=filtered,
            parameters=(self.memory, back, self.movement, self.noise),
            initial=(self.centre, 0.1),
            decay=(self.memory, self.memory * self.memory),
            drift=(back, self.movement),
            least_reward=-math.inf,
            largest_reward=math.inf,
            learning="by arm",
        )


def one_step_ahead(p, shared, mean, variance):
    return p[0] * mean + p[1], math.sqrt(p[0] * p[0] * variance + p[2])


def filtered(p, mean, variance, reward, probability):
    gain = variance / (variance + p[3])
    return mean + gain * (reward - mean), (1.0 - gain) * variance


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlidingWindowThompsonSampling(db.Policy):
    """Thompson sampling from the successes and failures of the last steps."""

    name: ClassVar[str] = "example-sw-ts"

    window: int = whole(1, 30)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="sampled",
            posterior=Posterior("beta", small=False),
            learn=count,
            unlearn=uncount,
            window=self.window,
            parameters=(1.0, 1.0),
            binary=True,
        )


def count(p, a, b, reward, probability):
    return a + reward, b + (1.0 - reward)


def uncount(p, a, b, reward):
    return a - reward, b - (1.0 - reward)


@dataclasses.dataclass(frozen=True, kw_only=True)
class LastChoices(db.Policy):
    """The best mean over an arm's own last choices."""

    name: ClassVar[str] = "example-last-choices"

    window: int = whole(1, 8)
    confidence: float = real("(0, inf)", 0.1)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=mean_of,
            context=padding,
            learn=observe,
            unlearn=forget,
            window=self.window,
            window_of="choices",
            parameters=(self.confidence,),
            observations=first,
            learning="by arm",
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class MonitoredUCB(db.Policy):
    """M-UCB: where two halves of an arm's last rewards differ, everything starts again (Cao and others 2019)."""

    name: ClassVar[str] = "example-m-ucb"

    half: int = whole(1, 8)
    threshold: float = real("(0, inf)", 4.5)
    explore: float = real("[0, 1]", 0.15)

    def rule(self, n_arms: int) -> Rule:
        return Rule(
            selection="index",
            score=mean_of,
            context=padding,
            learn=observe,
            alarm=halves_differ,
            alarm_resets="all",
            history=2 * self.half,
            explore=self.explore,
            parameters=(2.0, float(self.half), self.threshold),
            observations=first,
            learning="sequential",
        )


def halves_differ(p, n, s, history):
    half = int(p[1])
    if kept(history) < 2 * half:
        return False
    difference = 0.0
    for i in range(half):
        difference += ago(history, i) - ago(history, i + half)
    return abs(difference) > p[2]


EXAMPLES: list[db.Policy] = [
    CusumUCB(),
    DiscountMixture(),
    EpsilonGreedy(),
    KalmanThompsonSampling(),
    SlidingWindowThompsonSampling(),
    LastChoices(),
    MonitoredUCB(),
]
