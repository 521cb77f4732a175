"""The three tests of f-dsw Thompson sampling: good arms fall, bad arms rise, nothing changes."""

import dataclasses
from typing import ClassVar

from driftbandit.environments.published import Problem, Published
from driftbandit.specification import whole

TESTS = {
    1: Problem(1000, (252, 502), ((0.9, 0.7, 0.1, 0.3), (0.0, 0.7, 0.1, 0.3), (0.0, 0.0, 0.1, 0.3))),
    2: Problem(1000, (252, 502), ((0.0, 0.0, 0.1, 0.3), (0.7, 0.0, 0.1, 0.3), (0.7, 0.9, 0.1, 0.3))),
    3: Problem(1000, (), ((0.2, 0.3, 0.4, 0.5),)),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class FDSW(Published):
    """The three tests that f-dsw Thompson sampling was published with: four arms, 1000 steps.

    Test 1: the best arm falls to 0 at step 252, the next best at step 502. Test 2: arms at 0 rise to .7 and .9 at those
    steps. Test 3: means .2, .3, .4 and .5 that stay.

    Parameters:
        test: 1 to 3.
        rested, rewards, concentration, deviation: as for every environment.

    >>> import numpy as np
    >>> FDSW(test=2).means_at(np.array([251, 252])).tolist()
    [[0.0, 0.0, 0.1, 0.3], [0.7, 0.0, 0.1, 0.3]]

    References:
        Cavenaghi, Sottocornola, Stella and Zanker (2021), Non stationary multi-armed bandit: empirical evaluation of a
        new concept drift-aware algorithm; steps as in their code.
    """

    name: ClassVar[str] = "f-dsw"

    test: int = whole(1, 1, 3)

    @property
    def schedule(self) -> Problem:
        return TESTS[self.test]
