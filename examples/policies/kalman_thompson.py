"""Thompson sampling with a Kalman filter for each arm."""

import dataclasses
import math
from typing import ClassVar

import driftbandit as db
from driftbandit.specification import real


@dataclasses.dataclass(frozen=True, kw_only=True)
class KalmanThompsonSampling(db.Policy):
    """Each arm's mean θ is believed to move at every step, chosen or not, and a reward to be θ with noise:

        θ' = γ·θ + (1 − γ)·level + W,  W ~ N(0, δ²);      reward = θ' + Z,  Z ~ N(0, σ²).

    The filtered mean m and variance v of θ are kept. The arm with the largest sample of the coming θ' is chosen,
    θ' ~ N(γ·m + (1 − γ)·level, γ²·v + δ²). Every arm then moves to that prediction, and with g = v / (v + σ²) the
    chosen one learns m ← m + g·(reward − m), v ← (1 − g)·v. Any finite reward will do.

    Parameters:
        persistence: (γ) how much of its distance to the level a mean keeps in a step, in (0, 1]; 1: a random walk.
        level: where means go back to, and what they are believed to be at the start.
        movement: (δ) the standard deviation of one movement, above 0.
        noise: (σ) the standard deviation of a reward about its mean, above 0.
        spread: the standard deviation of the means about the level at the start, above 0.
    """

    name: ClassVar[str] = "example-kalman-ts"
    persistence: float = real("(0, 1]", 0.99)
    level: float = real("(-inf, inf)", 0.5)
    movement: float = real("(0, inf)", 0.03)
    noise: float = real("(0, inf)", 0.5)
    spread: float = real("(0, inf)", 0.3)

    def rule(self, n_arms):
        decay = (self.persistence, self.persistence**2)
        drift = ((1.0 - self.persistence) * self.level, self.movement**2)
        return db.Rule(
            selection="sampled",
            posterior=db.Posterior("normal", shape=prediction),
            learn=update,
            parameters=(*decay, *drift, self.noise**2),
            initial=(self.level, self.spread**2),
            decay=decay,
            drift=drift,
            least_reward=-math.inf,
            largest_reward=math.inf,
            learning="by arm",
        )


def prediction(p, shared, mean, variance):
    return p[0] * mean + p[2], math.sqrt(p[1] * variance + p[3])


def update(p, mean, variance, reward, probability):  # both numbers are predictions already
    gain = variance / (variance + p[4])
    return mean + gain * (reward - mean), (1.0 - gain) * variance
