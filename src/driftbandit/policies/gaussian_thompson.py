"""Gaussian Thompson sampling: normal samples about the mean of what is remembered, for rewards of any size."""

import dataclasses
import math
from typing import ClassVar, Self

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.policies import confidence
from driftbandit.policies.policy import SAMPLING, Policy
from driftbandit.policies.posterior import Posterior
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import optional_whole, real

FORCED = 1e37
"""The score of an arm of which nothing is known: above all others, and a number in single precision too."""
LARGEST_REWARD = 1e30
"""Rewards stay far below the score of such an arm."""
FADED = 1e-8
"""An arm with fewer observations than this counts as one without any."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class GaussianThompsonSampling(Policy):
    """Gaussian Thompson sampling: a normal sample about each arm's mean reward, narrower the more is remembered of it.

        θ_k ~ Normal(S_k/N_k, σ²/N_k),   arm = argmax θ_k,

    with N_k and S_k the number and the sum of the arm's rewards: faded by γ at each step (DS-TS), or of the last τ
    steps (SW-TS). An arm without any, or whose number has faded below 1e-8, comes first; several such arms share
    evenly.

    For rewards of which only the spread is known, of any sign and size. For successes and failures the Beta forms
    (`SlidingWindowThompsonSampling`, `DiscountedThompsonSampling`) know more and need no σ. A discount below 1 keeps
    every arm's number small, so it explores more than a window of the same length.

    Parameters:
        deviation: (σ) the standard deviation of a sample after one observation, from 1e-20 to 1e20. ½ is the largest
            that rewards from 0 to 1 can have. Regret is proven for γ-SWGTS, in which σ = 1/√γ' with
            γ' ≤ min(1, 1/(4λ²)) for λ²-subgaussian rewards: σ ≥ 1 for rewards from 0 to 1, σ ≥ max(1, 2λ) for others.
        discount: (γ) what is remembered is multiplied by this at each step, in (0, 1].
        window: (τ) how many steps an observation lasts, a whole number of at least 1; None: for ever. Not together
            with a discount below 1.

    >>> GaussianThompsonSampling.tuned(horizon=10_000, change_points=2).discount
    0.9942928...
    >>> GaussianThompsonSampling(discount=0.9, window=5)
    Traceback (most recent call last):
    ...
    driftbandit.errors.InvalidValue: window must be None where discount is below 1, got 5

    References:
        Qi, Guo and Zhu (2025), Thompson sampling for non-stationary bandit problems.
        Fiandri, Metelli and Trovò (2024), Sliding-window Thompson sampling for non-stationary settings.
    """

    name: ClassVar[str] = "gaussian-ts"
    family: ClassVar[str] = SAMPLING

    deviation: float = real("[1e-20, 1e20]", 0.5)
    discount: float = real("(0, 1]", 1.0)
    window: int | None = optional_whole(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window is not None and self.discount < 1.0:
            raise InvalidValue(f"window must be None where discount is below 1, got {self.window}")

    @classmethod
    def tuned(
        cls, horizon: int, change_points: float, memory: str = "discount", deviation: float | None = None
    ) -> Self:
        """For T steps with Υ change points, so B = Υ + 1 segments, and rewards from 0 to 1.

            memory "discount":   γ = 1 − √(B / (T·ln T))
            memory "window":     τ = √(T/B)·ln T,  rounded to the nearest whole number

        For other rewards say their `deviation` (σ): then 1 − γ is divided by it, and τ multiplied.
        """
        steps = checks.whole("horizon", horizon, low=2)
        segments = checks.real("change_points", change_points, f"[0, {steps - 1}]") + 1.0
        checks.one_of("memory", memory, ("discount", "window"))
        spread, scale = 0.5, 1.0
        if deviation is not None:
            spread = scale = checks.real("deviation", deviation, "[1e-20, 1e20]")
        if memory == "window":
            window = scale * math.sqrt(steps / segments) * math.log(steps)
            return cls(deviation=spread, window=max(1, round(window)))
        lost = math.sqrt(segments / (steps * math.log(steps))) / scale
        if lost >= 1.0 and deviation is not None:
            raise checks.reject("deviation", f"above {lost * scale:g} for a discount to follow", deviation)
        if lost >= 1.0:
            most = steps * math.log(steps) - 1.0
            raise checks.reject("change_points", f"below {most:g} for a discount to follow", change_points)
        return cls(deviation=spread, discount=1.0 - lost)

    def rule(self, n_arms: int) -> Rule:
        rule = Rule(
            selection="sampled",
            posterior=Posterior("normal", shape=about_the_mean),
            learn=confidence.observe,
            parameters=(self.deviation,),
            least_reward=-LARGEST_REWARD,
            largest_reward=LARGEST_REWARD,
            decay=self.discount,
            observations=confidence.observations,
            interval=interval,
        )
        if self.window is None:
            return rule
        return dataclasses.replace(rule, window=self.window, unlearn=forget)


def about_the_mean(p: Parameters, shared: float, a: float, b: float) -> tuple[float, float]:
    """Mean and deviation of a sample; of an arm without observations, the score that comes first."""
    known = a >= FADED
    number = a if known else 1.0
    return b / number if known else FORCED, p[0] / math.sqrt(number) if known else 0.0


def forget(p: Parameters, a: float, b: float, reward: float) -> tuple[float, float]:
    """An observation less; an arm without any has a sum of exactly 0."""
    return a - 1.0, b - reward if a > 1.5 else 0.0


def interval(p: Parameters, shared: float, a: float, b: float) -> tuple[float, float, float]:
    """The mean, and 1.96 deviations about it."""
    mean, deviation = about_the_mean(p, shared, a, b) if a >= FADED else (math.nan, math.inf)
    return mean, mean - 1.96 * deviation, mean + 1.96 * deviation
