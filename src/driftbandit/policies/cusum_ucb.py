"""CUSUM-UCB: confidence bounds, and for every arm a detector of changes that sums deviations from its first rewards."""

import dataclasses
from typing import Any, ClassVar, Self

from driftbandit.policies import detection
from driftbandit.policies.detection import Own, moved
from driftbandit.policies.policy import DETECTION, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import choice, flag, real, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class CusumUCB(Policy):
    """CUSUM-UCB: upper confidence bounds, and an arm whose rewards leave their first level starts again.

    With probability α any arm is chosen, else the one with the largest index

        X_k + √(ξ·ln n / N_k)                                    index="ucb",
        the largest q with kl(X_k, q) ≤ 2ξ·ln n / N_k            index="kl",

    where N_k and X_k are the number and the mean of rewards since the arm's own latest alarm, n = Σ N_k, and arms
    without any come first. With u the mean of an arm's first M rewards since then, every later reward r moves two sums,

        g⁺ ← max(0, g⁺ + r − u − ε),   g⁻ ← max(0, g⁻ + u − r − ε),

    and where one of them is h or more, the arm forgets everything.

    For few and large changes, more than K·M steps apart. Where changes are small or come often, discounting or a window
    does better, as an arm that is rarely chosen is late to be found changed. ε should be about a third of the smallest
    change; where it is much less, there are many false alarms.

    Parameters:
        threshold: (h) where the sums raise the alarm, above 0 and up to 1e100.
        exploration: (α) the share of choices left to chance, in [0, 1].
        drift: (ε) the deviation that is tolerated, from 0 to 1e100.
        warm_up: (M) how many rewards make the mean that later ones are compared with, a whole number of at least 1.
        confidence: (ξ) how wide the bound is, from 1e-100 to 1e100; with index="kl", ½ stands for ln n.
        index: "ucb", or "kl" for rewards in [0, 1].
        forced_warm_up: whether an arm with fewer than M rewards since its alarm comes first, as in two published
            programs, rather than one without any.

    >>> round(CusumUCB.tuned(horizon=10000, change_points=2).exploration, 5)
    0.04127

    References:
        Liu, Lee and Shroff (2018), A change-detection based framework for piecewise-stationary multi-armed bandit
        problem; with index="kl", Besson, Kaufmann, Maillard and Seznec (2022), Efficient change-point detection for
        tackling piecewise-stationary bandits.
    """

    name: ClassVar[str] = "cusum-ucb"
    family: ClassVar[str] = DETECTION

    threshold: float = real("(0, 1e100]")
    exploration: float = real("[0, 1]")
    drift: float = real("[0, 1e100]", 0.1)
    warm_up: int = whole(1, 100)
    confidence: float = real("[1e-100, 1e100]", 0.5)
    index: str = choice("ucb", "kl")
    forced_warm_up: bool = flag(False)

    @classmethod
    def tuned(cls, horizon: int, change_points: float, **parameters: Any) -> Self:
        """For Υ change points in T steps: h = ln(T/Υ) and α = √(Υ/T·ln(T/Υ))."""
        threshold, exploration = detection.tuned(horizon, change_points)
        return cls(threshold=threshold, exploration=exploration, **parameters)

    def rule(self, n_arms: int) -> Rule:
        return detection.watching_rule(
            observe,
            self.index,
            self.exploration,
            (self.drift, self.threshold, float(self.warm_up)),
            width=self.confidence,
            least=self.warm_up if self.forced_warm_up else 1,
        )


def observe(
    p: Parameters, n: float, earned: float, reference: float, up: float, down: float, reward: float, probability: float
) -> Own:
    """An observation more: one of the first, which make the reference, or one that is compared with it."""
    if n < p[4]:
        return n + 1.0, earned + reward, (earned + reward) / (n + 1.0), 0.0, 0.0
    return moved(p, n + 1.0, earned + reward, reference, up, down, reward)
