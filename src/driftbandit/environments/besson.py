"""The four problems on which Besson and others compare detectors of changes."""

import dataclasses
from typing import ClassVar

from driftbandit.environments.published import Problem, Published
from driftbandit.specification import whole

EVERY_1000 = (1001, 2001, 3001, 4001)
NINTHS = (2223, 4445, 6667, 8889, 11112, 13334, 15556, 17778)
"""The first steps of the last eight of nine equal parts of 20000 steps."""
PROBLEMS = {
    1: Problem(5000, EVERY_1000, ((0.3, 0.5, 0.9), (0.3, 0.2, 0.9), (0.3, 0.2, 0.1), (0.7, 0.2, 0.1), (0.7, 0.5, 0.1))),
    2: Problem(5000, EVERY_1000, ((0.4, 0.5, 0.9), (0.5, 0.4, 0.7), (0.6, 0.3, 0.5), (0.7, 0.2, 0.3), (0.8, 0.1, 0.1))),
    3: Problem(
        20000,
        NINTHS,
        (
            (0.071, 0.041, 0.032, 0.030, 0.020, 0.011),
            (0.055, 0.053, 0.032, 0.030, 0.008, 0.011),
            (0.040, 0.063, 0.032, 0.030, 0.008, 0.011),
            (0.040, 0.042, 0.043, 0.030, 0.008, 0.011),
            (0.030, 0.032, 0.055, 0.030, 0.008, 0.011),
            (0.030, 0.032, 0.020, 0.030, 0.008, 0.021),
            (0.020, 0.022, 0.020, 0.045, 0.008, 0.021),
            (0.020, 0.022, 0.020, 0.057, 0.008, 0.011),
            (0.020, 0.022, 0.034, 0.057, 0.022, 0.011),
        ),
    ),
    4: Problem(
        5000,
        (2501, 3126, 3751, 4376),
        ((0.1, 0.5, 0.9), (0.3, 0.4, 0.1), (0.5, 0.3, 0.2), (0.7, 0.4, 0.3), (0.1, 0.5, 0.2)),
    ),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Besson(Published):
    """Four problems that are constant between change points. 1: single arms change, every 1000 steps. 2: all arms
    change, and the best falls while others rise. 3: six arms with means of a few hundredths (clicks on news), nine
    segments of 20000 steps. 4: half of the time nothing changes, then the best arm falls, and changes come every 625
    steps.

    Parameters:
        problem: 1 to 4. Problems 1, 2 and 4 have three arms and 5000 steps; problem 3 has six arms and 20000 steps.
        rested, rewards, concentration, deviation: as for every environment.

    >>> import numpy as np
    >>> Besson(problem=4).means_at(np.array([2500, 2501])).tolist()
    [[0.1, 0.5, 0.9], [0.3, 0.4, 0.1]]

    References:
        Besson, Kaufmann, Maillard and Seznec (2022), Efficient change-point detection for tackling piecewise-stationary
        bandits, the experiments of its first version; numbers as in the library SMPyBandits.
    """

    name: ClassVar[str] = "besson"

    problem: int = whole(1, 1, 4)

    @property
    def schedule(self) -> Problem:
        return PROBLEMS[self.problem]
