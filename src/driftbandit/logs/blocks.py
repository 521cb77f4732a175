"""Means over blocks of time: how much depends on when.

A table is one realisation of the world. Many runs say how much a policy's own luck matters; only parts of time that
differ say how much another year might.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def block_ends(steps: Sequence[int] | NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Places in a list of recorded steps at which as many blocks end, as equal as the list allows.

    >>> block_ends([10, 20, 30, 40, 50, 60], 3).tolist()
    [1, 3, 5]
    """
    return np.round(np.arange(1, count + 1) * len(steps) / count).astype(np.int64) - 1


def block_means(total: NDArray[np.float64], lasts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean a step of each block, from what was earned up to its last step."""
    return np.asarray(np.diff(total, prepend=0.0) / np.diff(lasts, prepend=0))
