"""GLR-klUCB: kl-UCB with a generalised likelihood ratio test for changes of an arm's mean."""

import dataclasses
import math
from typing import Any, ClassVar, Self

from driftbandit import checks
from driftbandit.numerics import kl, kl_reach, log
from driftbandit.policies.divergence_bounds import interval as kl_bounds
from driftbandit.policies.history import History, kept, sum_ago
from driftbandit.policies.policy import DETECTION, Policy
from driftbandit.policies.rule import LONGEST_HISTORY, Parameters, Rule
from driftbandit.specification import choice, flag, real, whole

EVERY = 10
"""An arm is tested at every so many of its choices, at splits that are as far apart: the paper's short cuts."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GLRKLUCB(Policy):
    """GLR-klUCB: kl-UCB, and where an arm's rewards look as if they had two means, that arm or all arms start again.

    In a share ω of choices any arm is taken, else the one with the largest index

        the largest q with kl(X_k, q) ≤ f(t_k) / N_k,   f(t) = ln t + c·ln max(1, ln t),

    where t_k counts the steps since the arm last started, N_k and X_k are the number and the mean of its rewards since
    then, and arms without any come first. After every tenth choice of an arm, with rewards Z_1 … Z_n since it started,
    the alarm is raised if for a split s, a multiple of 10,

        s·kl(mean Z_1…s, mean Z_1…n) + (n − s)·kl(mean Z_s+1…n, mean Z_1…n) ≥ ln(3·n^(3/2)/δ).

    Splits more than `history` choices ago are not tried again; rewards before them still count. The paper explores on a
    schedule: at step t it takes arm t mod ⌊K/ω⌋ where that is one of the K. Here the same share of choices is left to
    chance, so that their odds are known and worth logging; regret was 6% less to 3% more.

    For changes at unknown times and of unknown size, with rewards in [0, 1]: of the policies that watch for changes the
    one with the least to be told. Not for steady drift, of which each alarm keeps nothing, and not for thousands of
    arms: a test looks at every reward since the arm's start.

    Parameters:
        exploration: (ω) the share of choices left to chance, in [0, 1].
        false_alarm: (δ) about the probability of an alarm without a change, above 0 and up to 1.
        scope: which arms start again, "arm": the one that changed, or "all". The first is better where arms change one
            by one.
        confidence: (c) how much is added for safety, from 0 to 1e100; 3 in the theory.
        history: how many choices ago a split may be, a whole number from 10 to 65536.
        growing: whether the share of exploration is ω·√(1 + number of alarms), at most 1, for an unknown number of
            changes.

    >>> round(GLRKLUCB.tuned(horizon=5000, n_arms=3, change_points=4).exploration, 5)
    0.00715
    >>> GLRKLUCB.tuned(horizon=10000, n_arms=3).false_alarm
    0.01

    References:
        Besson, Kaufmann, Maillard and Seznec (2022), Efficient change-point detection for tackling piecewise-stationary
        bandits.
    """

    name: ClassVar[str] = "glr-kl-ucb"
    family: ClassVar[str] = DETECTION

    exploration: float = real("[0, 1]")
    false_alarm: float = real("(0, 1]")
    scope: str = choice("arm", "all")
    confidence: float = real("[0, 1e100]", 0.0)
    history: int = whole(EVERY, 4096, LONGEST_HISTORY)
    growing: bool = flag(False)

    @classmethod
    def tuned(
        cls, horizon: int, n_arms: int, change_points: float | None = None, scope: str = "arm", **parameters: Any
    ) -> Self:
        """For Υ change points in T steps, or for an unknown number of them.

        Υ known: ω = 0.05·√(Υ·ln T/T) and δ = 1/√(ΥT) for "all", with K·Υ in place of Υ for "arm". Υ unknown:
        ω = √(K·ln T/T), which grows with alarms, and δ = 1/√T. Both are at most 1.
        """
        steps = checks.whole("horizon", horizon)
        arms = checks.whole("n_arms", n_arms, low=2)
        checks.one_of("scope", scope, ("arm", "all"))
        once = math.log(steps) / steps
        if change_points is None:
            exploration, tests = math.sqrt(arms * once), 1.0
        else:
            tests = checks.real("change_points", change_points, f"[1e-100, {steps}]") * (arms if scope == "arm" else 1)
            exploration = 0.05 * math.sqrt(tests * once)
        parameters = {"growing": change_points is None} | parameters
        false_alarm = min(1.0, 1.0 / math.sqrt(tests * steps))
        return cls(exploration=min(1.0, exploration), false_alarm=false_alarm, scope=scope, **parameters)

    def rule(self, n_arms: int) -> Rule:
        grows = self.growing
        return Rule(
            selection="index",
            score=index,
            learn=observe,
            drift=(0.0, 0.0, 1.0),
            history=self.history,
            alarm=changed,
            alarm_resets="arm" if self.scope == "arm" else "all",
            explore=growing_share if grows else self.exploration,
            parameters=(self.confidence, math.log(3.0) - math.log(self.false_alarm), self.exploration),
            initial=(0.0, 0.0, 0.0),
            common=(0.0,) if grows else (),
            renew=one_more if grows else None,
            observations=observations,
            interval=interval,
            learning="by arm" if self.scope == "arm" and not grows else "sequential",
        )


# An arm's numbers: its observations, the sum of their rewards, and the steps since it started. Where alarms are
# counted, their number is shared.


def level(p: Parameters, age: float) -> float:
    """How far the mean of an arm with one observation may be off."""
    grown = log(max(age, 1.0))
    return grown + p[0] * log(max(grown, 1.0))


def index(p: Parameters, shared: float, n: float, earned: float, age: float) -> float:
    """The largest mean that is not too far off, by how near it is to 1."""
    return kl_reach(earned / n, level(p, age) / n) if n > 0.0 else math.inf


def interval(p: Parameters, shared: float, n: float, earned: float, age: float) -> tuple[float, float, float]:
    """Mean reward, the smallest mean that is not too far off, and the largest."""
    return kl_bounds(p, level(p, age), n, earned)


def observe(
    p: Parameters, n: float, earned: float, age: float, reward: float, probability: float
) -> tuple[float, float, float]:
    """An observation more."""
    return n + 1.0, earned + reward, age


def observations(p: Parameters, n: float, earned: float, age: float) -> float:
    """The number is kept."""
    return n


def changed(p: Parameters, n: float, earned: float, age: float, history: History) -> bool:
    """Whether two means explain the rewards so much better than one: splits from the newest to the oldest."""
    count = history[1]
    if count % EVERY != 0 or earned <= 0.0 or earned >= n:
        return False
    mean = earned / n
    threshold = p[1] + 1.5 * log(n)
    before, after = n, 0.0
    old, new = earned, 0.0
    for i in range(0, min(kept(history) - EVERY + 1, count - EVERY), EVERY):
        block = sum_ago(history, i, EVERY)
        before -= EVERY
        after += EVERY
        old -= block
        new += block
        if before * kl(old / before, mean) + after * kl(new / after, mean) >= threshold:
            return True
    return False


def growing_share(p: Parameters, step: float, alarms: float) -> float:
    """More exploration after every alarm."""
    return p[2] * math.sqrt(1.0 + alarms)


def one_more(p: Parameters, common: tuple[float]) -> tuple[float]:
    """An alarm more."""
    return (common[0] + 1.0,)
