"""Three arms that change twice in 10000 steps: the Bernoulli experiment of Baudry, Russac and Cappé."""

import dataclasses
from typing import ClassVar

from driftbandit.environments.published import Problem, Published

SCHEDULE = Problem(10000, (3001, 5001), ((0.5, 0.3, 0.4), (0.3, 0.7, 0.2), (0.5, 0.3, 0.6)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvA(Published):
    """Means (.5, .3, .4), then (.3, .7, .2) from step 3001 and (.5, .3, .6) from step 5001; 10000 steps were played.

    Parameters:
        rested, rewards, concentration, deviation: as for every environment.

    >>> import numpy as np
    >>> EnvA().means_at(np.array([3000, 3001])).tolist()
    [[0.5, 0.3, 0.4], [0.3, 0.7, 0.2]]

    References:
        Baudry, Russac and Cappé (2021), On limited-memory subsampling strategies for bandits; as in their code.
    """

    name: ClassVar[str] = "env-a"

    @property
    def schedule(self) -> Problem:
        return SCHEDULE
