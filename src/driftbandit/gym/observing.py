"""What an agent is shown: nothing, or which arm was chosen last and what it earned."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from numpy.typing import NDArray

from driftbandit.environments import Environment

KINDS = ("none", "last")
LARGEST_NORMAL = 7.0
"""Standard deviations that no reward with a normal law is away from its mean: it is made of 32 random bits."""


def space_of(kind: str, environment: Environment) -> Space[Any]:
    """The space of what an agent is shown: one value only, or a 1 in the place of the last arm and then its reward."""
    if kind == "none":
        return Discrete(1)
    spread = LARGEST_NORMAL * environment.deviation if environment.rewards == "normal" else 0.0
    low, high = np.zeros(environment.n_arms + 1), np.ones(environment.n_arms + 1)
    low[-1], high[-1] = -spread, 1.0 + spread
    return Box(low.astype(np.float32), high.astype(np.float32))


def shown(kind: str, n_arms: int, chosen: NDArray[np.int64] | None, reward: NDArray[np.float64]) -> NDArray[Any]:
    """What agents are shown, a row each; before the first choice, zeros."""
    if kind == "none":
        return np.zeros(len(reward), np.int64)
    rows = np.zeros((len(reward), n_arms + 1), np.float32)
    if chosen is not None:
        rows[np.arange(len(reward)), chosen] = 1.0
        rows[:, -1] = reward
    return rows
