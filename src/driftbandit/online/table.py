"""Where evidence is kept: a row an arm, and the order in which rows are looked at.

`order[0]` lists the numbers of the arms: first the *active* ones, which are looked at one by one, then the dormant
ones, which are at their prior and drawn as a group; `order[1]` says at which place of the list an arm stands.
"""

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

# Columns. Evidence that this replica learned itself, and what it took over: the start, and other replicas.
OWN_A, OWN_B, OWN_COUNT, OWN_DECISIONS = 0, 1, 2, 3
OTHER_A, OTHER_B, OTHER_COUNT, OTHER_DECISIONS = 4, 5, 6, 7
WEIGHT = 8  # γ^(clock − reference) of an arm with a clock of its own, else 1
REFERENCE = 9
COLUMNS = 10


def empty_table(capacity: int) -> Reals:
    """Rows without evidence."""
    table = np.zeros((capacity, COLUMNS))
    table[:, WEIGHT] = 1.0
    return table


def credit(table: Reals, arm: int, a: float, b: float, scale: float) -> None:
    """Add one observation to an arm, counted `scale` times."""
    table[arm, OWN_A] += a * scale
    table[arm, OWN_B] += b * scale
    table[arm, OWN_COUNT] += scale


def swap(order: Integers, i: int, j: int) -> None:
    """Exchange two places of the list."""
    k, m = order[0, i], order[0, j]
    order[0, i], order[0, j] = m, k
    order[1, k], order[1, m] = j, i


def grown(array: NDArray[np.generic], capacity: int, axis: int = 0) -> NDArray[np.generic]:
    """The array with room for more arms."""
    more = [(0, 0)] * array.ndim
    more[axis] = (0, capacity - array.shape[axis])
    return np.pad(array, more)
