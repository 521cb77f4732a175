"""What a table offers without any policy: uniform choice, the best single arm, and a rolling oracle.

The largest share of a row is no yardstick. Among shares of a few events each it is mostly luck: the luckiest of seven
airlines has .94 of its flights on time in an hour where the best one has .81. So the oracle here chooses by other rows
than the one it is paid for.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.environments.environment import Means

UNIFORM, BEST, ROLLING = "uniform choice", "best single arm", "rolling oracle"


class Yardsticks(NamedTuple):
    """What each earns in every row."""

    uniform: NDArray[np.float64]
    best: NDArray[np.float64]
    """The arm with the largest sum, known in hindsight."""
    rolling: NDArray[np.float64]

    def by_name(self) -> dict[str, NDArray[np.float64]]:
        """The same, under the names that people read."""
        return {UNIFORM: self.uniform, BEST: self.best, ROLLING: self.rolling}


def yardsticks(means: Means, window: int) -> Yardsticks:
    """All three, by row."""
    return Yardsticks(means.mean(axis=1), means[:, best_arm(means)], rolling_oracle(means, window))


def best_arm(means: Means) -> int:
    """The arm with the largest sum."""
    return int(means.sum(axis=0).argmax())


def rolling_oracle(means: Means, window: int) -> NDArray[np.float64]:
    """What the arm with the best moving average earns in each row.

    The average is of full information: all arms in half of the window before a row and half after it, not in the row
    itself; fewer at the ends. Arms that tie have equal parts.

    >>> rolling_oracle(np.array([[0.5, 0.25], [0.0, 1.0], [0.5, 0.25]]), 2).tolist()
    [0.25, 0.0, 0.25]
    """
    rows = np.arange(len(means))
    sums = np.vstack([np.zeros(means.shape[1]), means.cumsum(axis=0)])
    first, last = np.maximum(rows - window // 2, 0), np.minimum(rows + window // 2 + 1, len(means))
    around = sums[last] - sums[first] - means
    best = around >= around.max(axis=1, keepdims=True) - 1e-9  # sums of equal shares differ by rounding
    return np.asarray((means * best).sum(axis=1) / best.sum(axis=1))
