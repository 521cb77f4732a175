"""Thompson sampling with a Kalman filter for each arm."""

import dataclasses
import math
from typing import ClassVar

from driftbandit.policies.kalman import filter_rule, prediction
from driftbandit.policies.policy import Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class KalmanThompsonSampling(Policy):
    """Kalman Thompson sampling: arms whose means move a little at every step, and noisy rewards of any size.

        θ' = γ·θ + (1 − γ)·level + W,  W ~ N(0, δ²);      reward = θ' + Z,  Z ~ N(0, σ²).

    The mean m and the variance v of θ are kept, and the arm with the largest sample of the coming θ' is chosen:
    θ' ~ N(γ·m + (1 − γ)·level, min(γ²·v + δ², s²)). Every arm then moves to that prediction, and with g = v/(v + σ²)
    the chosen one learns m ← m + g·(reward − m), v ← (1 − g)·v. With γ = 1 means walk at random (KF-MANB).

    Where means move slowly and all the time, and about how fast is known. After sudden changes it is slow: a small δ
    has made it certain of what was.

    Parameters:
        movement: (δ) the standard deviation of one movement, from 0 to 1e10.
        persistence: (γ) how much of its distance to the level a mean keeps in a step, from 1e-6 to 1.
        level: where means go back to, and what they are believed to be at the start, from -1e30 to 1e30.
        noise: (σ) the standard deviation of a reward about its mean, from 1e-10 to 1e10.
        spread: (s) the standard deviation of the means about the level at the start, from 1e-10 to 1e10.

    >>> print(KalmanThompsonSampling(movement=0.01, persistence=0.99))
    kalman-ts:movement=0.01,persistence=0.99

    References:
        Granmo and Berg (2010), Solving non-stationary bandit problems by random sampling from sibling Kalman filters.
    """

    name: ClassVar[str] = "kalman-ts"

    movement: float = real("[0, 1e10]")
    persistence: float = real("[1e-6, 1]", 1.0)
    level: float = real("[-1e30, 1e30]", 0.5)
    noise: float = real("[1e-10, 1e10]", 0.5)
    spread: float = real("[1e-10, 1e10]", 0.5)

    def rule(self, n_arms: int) -> Rule:
        moving = (self.persistence, self.level, self.movement, self.noise, self.spread)
        return filter_rule(*moving, shape=coming, more=())


def coming(p: Parameters, shared: float, mean: float, variance: float) -> tuple[float, float]:
    """Mean and deviation of the coming θ'."""
    predicted, uncertain = prediction(p, mean, variance)
    return predicted, math.sqrt(uncertain)
