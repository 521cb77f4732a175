"""PHT-UCB: confidence bounds, and for every arm a detector of changes that sums deviations from its running mean."""

import dataclasses
from typing import Any, ClassVar, Self

from driftbandit.policies import detection
from driftbandit.policies.detection import Own, moved
from driftbandit.policies.policy import DETECTION, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import choice, real


@dataclasses.dataclass(frozen=True, kw_only=True)
class PageHinkleyUCB(Policy):
    """PHT-UCB: upper confidence bounds, and an arm whose rewards leave their running mean starts again.

    It is `CusumUCB` with the test of Page and Hinkley, which compares a reward r with the mean X_k of all rewards since
    the arm's own latest alarm, r included:

        g⁺ ← max(0, g⁺ + r − X_k − ε),   g⁻ ← max(0, g⁻ + X_k − r − ε).

    With probability α any arm is chosen, else the one with the largest index, as in `CusumUCB`; an arm of which one of
    the sums is h or more forgets everything.

    Used like CUSUM-UCB, where nobody can say how many rewards make a good reference. The mean follows a change, so one
    that comes after few rewards may be missed.

    Parameters:
        threshold: (h) where the sums raise the alarm, above 0 and up to 1e100.
        exploration: (α) the share of choices left to chance, in [0, 1].
        drift: (ε) the deviation that is tolerated, from 0 to 1e100.
        confidence: (ξ) how wide the bound is, from 1e-100 to 1e100; with index="kl", ½ stands for ln n.
        index: "ucb", or "kl" for rewards in [0, 1].

    >>> round(PageHinkleyUCB.tuned(horizon=5000, change_points=4).threshold, 2)
    7.13

    References:
        Liu, Lee and Shroff (2018), A change-detection based framework for piecewise-stationary multi-armed bandit
        problem; Hinkley (1971), Inference about the change-point from cumulative sum tests.
    """

    name: ClassVar[str] = "pht-ucb"
    family: ClassVar[str] = DETECTION

    threshold: float = real("(0, 1e100]")
    exploration: float = real("[0, 1]")
    drift: float = real("[0, 1e100]", 0.1)
    confidence: float = real("[1e-100, 1e100]", 0.5)
    index: str = choice("ucb", "kl")

    @classmethod
    def tuned(cls, horizon: int, change_points: float, **parameters: Any) -> Self:
        """For Υ change points in T steps: h = ln(T/Υ) and α = √(Υ/T·ln(T/Υ))."""
        threshold, exploration = detection.tuned(horizon, change_points)
        return cls(threshold=threshold, exploration=exploration, **parameters)

    def rule(self, n_arms: int) -> Rule:
        parameters = (self.drift, self.threshold, 0.0)
        return detection.watching_rule(observe, self.index, self.exploration, parameters, width=self.confidence)


def observe(
    p: Parameters, n: float, earned: float, reference: float, up: float, down: float, reward: float, probability: float
) -> Own:
    """An observation more, compared with the mean that includes it."""
    mean = (earned + reward) / (n + 1.0)
    return moved(p, n + 1.0, earned + reward, mean, up, down, reward)
