"""What an environment is to the rest of the package: how the means of the arms move, and how rewards follow.

The mean of arm k follows a clock that starts at 1: as a function of it (`means_at`), or at random, another way in every
run (`path`). In a *restless* environment there is one clock, the step of the game; in a *rested* one each arm has its
own, which moves when that arm is chosen.
"""

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from driftbandit.environments.path import Path
from driftbandit.errors import InvalidValue
from driftbandit.numerics.rng import MAX_ARM
from driftbandit.specification import Specification, choice, flag, real, whole

Means = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Environment(Specification):
    """The base of every environment.

    Parameters:
        rested: whether an arm's mean moves only when that arm is chosen.
        rewards: "bernoulli" (0 or 1), "mean" (the mean itself), "beta" (Beta distributed around the mean), or "normal"
            (normally distributed around it, so also below 0 and above 1).
        concentration: with "beta" rewards, the sum of the two shapes, from 1e-100 to 1e100; large is narrow.
        deviation: with "normal" rewards, their standard deviation, from 1e-100 to 1e100.
    """

    kind: ClassVar[str] = "environment"
    plural: ClassVar[str] = "environments"
    known: ClassVar[dict[str, type["Environment"]]] = {}

    rested: bool = flag(False)
    rewards: str = choice("bernoulli", "mean", "beta", "normal")
    concentration: float = real("[1e-100, 1e100]", 10.0)
    deviation: float = real("[1e-100, 1e100]", 0.5)

    if TYPE_CHECKING:
        n_arms: Any  # a field, or counted from the data: every environment has it

    @classmethod
    def told(cls, text: str) -> Self:
        """What a text describes: "means.csv" is a table of means."""
        if text.lower().endswith(".csv") and text.partition(":")[0] not in cls.known:
            return cls.build("from-means", {"means": text})
        return super().told(text)

    @property
    def cycle(self) -> int | None:
        """After how many steps of the clock the means repeat exactly; None if they do not."""
        return None

    @property
    def usual_horizon(self) -> int | None:
        """How many steps a game has unless somebody says otherwise; None where one number is as good as another."""
        return None

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        """The means at these readings of the clock, one row a reading and one column an arm."""
        if self.path() is not None:
            raise InvalidValue(f"{self.name} has no means before it runs: every run has its own path")
        raise NotImplementedError(f"{type(self).__name__} must define means_at(clock) or path()")

    def path(self) -> Path | None:
        """How the means move where every run has its own; None where they are a function of the clock."""
        return None


def arms(default: Any = 4) -> Any:
    """The number of arms: at least 2."""
    return whole(2, default, MAX_ARM)
