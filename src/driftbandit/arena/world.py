"""An environment of the arena, with its horizon and what can be told of it beforehand."""

import dataclasses
import functools

import numpy as np

from driftbandit.environments import Environment
from driftbandit.environments.environment import Means


@dataclasses.dataclass(frozen=True)
class World:
    """One environment whose means are a function of the clock, for so many steps."""

    id: str
    environment: Environment
    horizon: int
    says: str = ""
    """What was drawn, in words; nothing where the environment's own text says it."""

    @property
    def n_arms(self) -> int:
        """The number of arms."""
        return int(self.environment.n_arms)

    @functools.cached_property
    def means(self) -> Means:
        """The mean of every arm at every step, `[step, arm]`; in a rested world by the arm's own clock."""
        return self.environment.means_at(np.arange(1, self.horizon + 1))

    @functools.cached_property
    def changes(self) -> int:
        """The number of changes, as a policy would be told it.

        Where means stand still between changes, these are counted; where they move at more than half of all steps, how
        often another arm becomes the best. Arms that are rested are counted as if they were not.
        """
        moves = int(np.any(self.means[1:] != self.means[:-1], axis=1).sum())
        if 2 * moves <= self.horizon:
            return moves
        best, count = int(self.means[0].argmax()), 0
        for row in self.means[1:]:
            if row[best] < row.max():
                best, count = int(row.argmax()), count + 1
        return count

    @property
    def variation(self) -> float:
        """The variation V of Besbes, Gur and Zeevi: the largest move of an arm at each step, summed."""
        return float(np.abs(np.diff(self.means, axis=0)).max(axis=1, initial=0.0).sum())

    @property
    def single_arm_regret(self) -> float:
        """Normalised regret of the single arm with the largest sum of means.

        In a rested world the other arms stay where they begin, as nobody chooses them.
        """
        arm = int(self.means.sum(axis=0).argmax())
        own = self.means[:, arm]
        if self.environment.rested:
            others = np.delete(self.means[0], arm).max()
            return float((np.maximum(own, others) - own).mean())
        return float((self.means.max(axis=1) - own).mean())
