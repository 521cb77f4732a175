"""M-UCB: confidence bounds that start again when the two halves of an arm's last rewards differ."""

import dataclasses
import math
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.numerics import log
from driftbandit.policies import confidence, divergence_bounds
from driftbandit.policies.history import History, kept, sum_ago
from driftbandit.policies.policy import DETECTION, Policy
from driftbandit.policies.rule import LONGEST_HISTORY, Parameters, Rule
from driftbandit.specification import choice, parameter, real


def even(name: str, value: Any) -> int:
    """An even number of rewards that can be kept."""
    number = checks.whole(name, value, 2, LONGEST_HISTORY)
    if number % 2:
        raise checks.reject(name, f"an even whole number from 2 to {LONGEST_HISTORY}", value)
    return number


@dataclasses.dataclass(frozen=True, kw_only=True)
class MonitoredUCB(Policy):
    """Monitored UCB (M-UCB): where an arm's last w/2 rewards and the w/2 before differ, all arms start again.

    In a share γ of choices any arm is taken, else the one with the largest index

        X_k + √(2·ln t / N_k)                           index="ucb",
        the largest q with kl(X_k, q) ≤ ln t / N_k      index="kl",

    where t counts the steps since the last start, N_k and X_k are the number and the mean of the arm's rewards since
    then, and arms without any come first. After each choice of an arm with w rewards or more, the alarm is raised if

        |sum of its last w/2 rewards − sum of the w/2 before| > b.

    The paper explores on a schedule: at step t it takes arm t mod ⌈K/γ⌉ where that is one of the K, a share of K/⌈K/γ⌉.
    Here a share of choices is left to chance, so that their odds are known and worth logging; for the same share,
    regret was up to 2% more.

    For few changes, more than K·w/γ steps apart, of a known least size. It is not for drift, nor for many small
    changes: the window of the formula is often longer than what it should fit into, and exploration costs all the time.

    Parameters:
        window: (w) how many of an arm's last rewards are looked at, an even number from 2 to 65536.
        threshold: (b) the difference of sums that raises the alarm, above 0 and up to 1e100.
        exploration: (γ) the share of choices left to chance, in [0, 1].
        index: "ucb", or "kl" for rewards in [0, 1].

    >>> MonitoredUCB.tuned(horizon=5000, change_points=4, n_arms=3, smallest_change=0.2).window
    5438

    References:
        Cao, Wen, Kveton and Xie (2019), Nearly optimal adaptive procedure with change detection for
        piecewise-stationary bandit.
    """

    name: ClassVar[str] = "m-ucb"
    family: ClassVar[str] = DETECTION

    window: int = parameter(even, allowed="an even whole number of at least 2")
    threshold: float = real("(0, 1e100]")
    exploration: float = real("[0, 1]")
    index: str = choice("ucb", "kl")

    @classmethod
    def tuned(
        cls,
        horizon: int,
        change_points: float,
        n_arms: int,
        smallest_change: float | None = None,
        window: int | None = None,
        **parameters: Any,
    ) -> Self:
        """For Υ change points in T steps, each a change of some arm's mean by δ or more.

        w = (4/δ²)·(√ln(2KT²) + √ln(2T))², rounded up to an even number, or the window that is given;
        b = √(w/2·ln(2KT²)); γ = √(ΥK·(2b + 3√w)/(2T)), at most 1.
        """
        steps = checks.whole("horizon", horizon)
        changes = checks.real("change_points", change_points, f"[0, {steps}]")
        arms = checks.whole("n_arms", n_arms, low=2)
        sure = math.log(2.0 * arms * steps * steps)
        if window is None:
            change = checks.real("smallest_change", smallest_change, "(0, 1]")
            window = 2 * math.ceil(2.0 / change**2 * (math.sqrt(sure) + math.sqrt(math.log(2.0 * steps))) ** 2)
        window = even("window", window)
        threshold = math.sqrt(window / 2.0 * sure)
        share = math.sqrt(changes * arms * (2.0 * threshold + 3.0 * math.sqrt(window)) / (2.0 * steps))
        return cls(window=window, threshold=threshold, exploration=min(1.0, share), **parameters)

    def rule(self, n_arms: int) -> Rule:
        kl = self.index == "kl"
        return Rule(
            selection="index",
            score=divergence_bounds.index if kl else confidence.index,
            context=level if kl else confidence.padding,
            learn=confidence.observe,
            history=self.window,
            alarm=halves_differ,
            alarm_resets="all",
            explore=self.exploration,
            parameters=(1.0, 2.0, self.threshold),
            observations=confidence.observations,
            interval=divergence_bounds.interval if kl else confidence.interval,
            learning="sequential",
        )


def level(p: Parameters, total: float) -> float:
    """How far the mean of an arm with one observation may be off; since the start, steps are observations."""
    return log(max(total, 1.0))


def halves_differ(p: Parameters, a: float, b: float, history: History) -> bool:
    """Whether the window is full and the sums of its halves differ by more than the threshold."""
    half = history[2] // 2
    if kept(history) < 2 * half:
        return False
    return abs(sum_ago(history, 0, half) - sum_ago(history, half, half)) > p[2]
