"""Policies of a user's own: the worked examples of docs/policies.md (examples/policies), and two more."""

import dataclasses
import math
import sys
from pathlib import Path
from typing import ClassVar

import driftbandit as db

sys.path.append(str(Path(__file__).parents[1] / "examples" / "policies"))

from cusum_ucb import CusumUCB
from discount_mixture import DiscountMixture
from epsilon_greedy import EpsilonGreedy
from kalman_thompson import KalmanThompsonSampling
from sliding_window_thompson import SlidingWindowThompsonSampling

from driftbandit.policies import Rule, ago, kept
from driftbandit.specification import real, whole


def mean_of(p, shared, n, s):
    """The mean reward, and a padding that `shared` scales; an arm without any observation comes first."""
    return s / n + math.sqrt(shared / n) if n > 0.0 else math.inf


def padding(p, total):
    return p[0] * math.log(max(total, 1.0))


def first(p, n, s):
    return n


def observe(p, n, s, reward, probability):
    return n + 1.0, s + reward


def forget(p, n, s, reward):
    return n - 1.0, s - reward if n > 1.5 else 0.0


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


GUIDE: list[db.Policy] = [
    CusumUCB(threshold=2.03, warm_up=5, exploration=0.1),
    DiscountMixture(),
    EpsilonGreedy(exploration=0.1, discount=0.97),
    KalmanThompsonSampling(movement=0.1, noise=0.4),
    SlidingWindowThompsonSampling(window=30),
]
"""The worked examples of docs/policies.md."""
EXAMPLES: list[db.Policy] = [
    *GUIDE,
    LastChoices(),
    MonitoredUCB(),
]
