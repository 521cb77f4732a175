"""Predictive sampling: what is worth learning is what will still be true."""

import dataclasses
import math
from typing import ClassVar

from driftbandit.policies.kalman import filter_rule, prediction
from driftbandit.policies.policy import FILTERS, Policy
from driftbandit.policies.rule import Parameters, Rule
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class PredictiveSampling(Policy):
    """Predictive sampling for arms whose means are autoregressions: as Kalman Thompson sampling, but less curious.

        θ' = γ·θ + (1 − γ)·level + W,  W ~ N(0, δ²);      reward = θ' + Z,  Z ~ N(0, σ²).

    Thompson sampling explores to learn what θ' is, even if that is over by the next step. Here a whole future of
    rewards is sampled, and an arm is scored by what that future would tell of θ'. With P the variance of θ' the score
    is normal with the mean of θ' and the variance

        P · γ²P / (γ²P + x),     x = ½·(c + √(c² + 4γ²δ²σ²)),  c = δ² + (1 − γ²)·σ²,

    x being the variance with which an endless future tells γ·θ'. Where means never move, x = 0: Thompson sampling.

    Where means forget fast, as exploring then buys little. It needs γ, δ and σ to be about right, and for successes
    and failures the normal law is an approximation.

    Parameters:
        movement: (δ) the standard deviation of one movement, from 0 to 1e10.
        persistence: (γ) how much of its distance to the level a mean keeps in a step, from 1e-6 to 1.
        level: where means go back to, and what they are believed to be at the start, from -1e30 to 1e30.
        noise: (σ) the standard deviation of a reward about its mean, from 1e-10 to 1e10.
        spread: (s) the standard deviation of the means about the level at the start, from 1e-10 to 1e10.

    >>> print(PredictiveSampling(movement=0.1, persistence=0.9))
    predictive:movement=0.1,persistence=0.9

    References:
        Liu, Kuang and Van Roy (2022), Non-stationary bandit learning via predictive sampling.
    """

    name: ClassVar[str] = "predictive"
    family: ClassVar[str] = FILTERS

    movement: float = real("[0, 1e10]")
    persistence: float = real("[1e-6, 1]", 1.0)
    level: float = real("[-1e30, 1e30]", 0.5)
    noise: float = real("[1e-10, 1e10]", 0.5)
    spread: float = real("[1e-10, 1e10]", 0.5)

    def rule(self, n_arms: int) -> Rule:
        moved, noisy, kept = self.movement**2, self.noise**2, self.persistence**2
        c = moved + (1.0 - kept) * noisy
        untold = 0.5 * (c + math.sqrt(c * c + 4.0 * kept * moved * noisy))
        moving = (self.persistence, self.level, self.movement, self.noise, self.spread)
        return filter_rule(*moving, shape=foretold, more=(untold,))


def foretold(p: Parameters, shared: float, mean: float, variance: float) -> tuple[float, float]:
    """Mean and deviation of what a future would tell of the coming θ'."""
    predicted, uncertain = prediction(p, mean, variance)
    lasting = p[1] * uncertain
    return predicted, math.sqrt(uncertain * (lasting / (lasting + p[6]))) if lasting > 0.0 else 0.0
