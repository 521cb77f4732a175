"""Five worlds of 2000 steps, and logs made in them: for coverage, and for what tuning is worth."""

from typing import NamedTuple

import numpy as np

import driftbandit as db
from driftbandit.arena import draws

STEPS = 2000
LOGGER = db.DiscountedThompsonSampling(discount=0.97)
FLOOR = 0.05


class Logged(NamedTuple):
    """One log as arrays."""

    arms: np.ndarray
    chances: np.ndarray  # [step, arm]
    rewards: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        """Of the arms that were chosen."""
        return self.chances[np.arange(len(self.arms)), self.arms]


def worlds() -> dict[str, np.ndarray]:
    """The means, `[step, arm]`: still, waves of 1000 steps, abrupt changes, a random walk, airlines on time."""
    steps, dice = np.arange(1, STEPS + 1), np.random.default_rng(0)
    moves = dice.normal(0.0, 0.02, (STEPS, 4))
    moves[0] = dice.uniform(0.2, 0.8, 4)
    walk = 1.0 - np.abs(1.0 - np.abs(np.cumsum(moves, axis=0)) % 2.0)
    return {
        "still": np.tile([0.4, 0.5, 0.6, 0.45], (STEPS, 1)),
        "slow": db.Sinusoidal(period=1000, n_arms=4).means_at(steps),
        "abrupt": db.Abrupt(period=500, n_arms=4).means_at(steps),
        "walk": walk,
        "flights": db.datasets.flights().means_at(steps),
    }


def others() -> dict[str, np.ndarray]:
    """Five more, at which nothing was developed: published change points and those of Kaufmann's sampler, in a tenth or
    two fifths of their time, and the second world of three of the arena's families in its first draw.
    """
    steps = np.arange(1, STEPS + 1)
    drawn = {family.__name__: list(family(1))[1] for family in (draws.switching_alone, draws.walks, draws.sinusoids)}
    return {
        "besson": db.Besson(problem=1).means_at(np.ceil(2.5 * steps).astype(int)),
        "kaufmann": db.RandomPiecewise(number=7).means_at(10 * steps),
        **{name: world.environment.means_at(steps) for name, world in drawn.items()},
    }


def world_named(name: str) -> np.ndarray:
    """One of all ten."""
    return (worlds() | others())[name]


def logged(means: np.ndarray, logger: str, seed: int) -> Logged:
    """A log of the policy with a floor ("floor"), without one ("bare"), or of arms at random ("uniform")."""
    steps, n_arms = means.shape
    luck = np.random.default_rng(seed).random((steps, 2))
    chances = np.full((steps, n_arms), 1.0 / n_arms)
    if logger == "uniform":
        arms = (luck[:, 0] * n_arms).astype(int)
        return Logged(arms, chances, (luck[:, 1] < means[np.arange(steps), arms]).astype(float))
    bandit = db.Bandit(range(n_arms), LOGGER, seed=seed, minimum_probability=floor_of(logger))
    bandit.warm_up()
    arms, rewards = np.zeros(steps, int), np.zeros(steps)
    for t in range(steps):
        chances[t] = list(bandit.probabilities().values())
        decision = bandit.select()
        arms[t] = decision.arm
        rewards[t] = float(luck[t, 1] < means[t, decision.arm])
        bandit.reward(decision.id, rewards[t])
    return Logged(arms, chances, rewards)


def floor_of(logger: str) -> float:
    """Its minimum probability."""
    return FLOOR if logger == "floor" else 0.0


def log_of(made: Logged, logger: str) -> db.Log:
    """The same as a log."""
    policy = db.UniformRandom() if logger == "uniform" else LOGGER
    names, floor = range(made.chances.shape[1]), floor_of(logger)
    return db.Log(made.arms, made.probabilities, made.rewards, names=names, policy=policy, minimum_probability=floor)
