"""Where evidence is kept: a row an arm, and the order in which rows are looked at.

`order[0]` lists the numbers of the arms: first the *active* ones, which are looked at one by one, then the dormant
ones, which are at their prior and drawn as a group; `order[1]` says at which place of the list an arm stands.
"""

import dataclasses
import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclasses.dataclass(frozen=True, slots=True)
class Columns:
    """Which column is what, where an arm has N numbers.

    Columns 0 to N − 1 are the numbers that this replica learned itself. What it took over (the start, and what other
    replicas learned) has as many columns from `other` on.
    """

    count: int
    decisions: int
    other: int
    other_count: int
    other_decisions: int
    weight: int
    """γ^(clock − reference) of an arm with a clock of its own, else 1."""
    reference: int
    width: int


def columns_of(numbers: int) -> Columns:
    """The columns of a table for arms with so many numbers.

    >>> columns_of(2)
    Columns(count=2, decisions=3, other=4, other_count=6, other_decisions=7, weight=8, reference=9, width=10)
    """
    other = numbers + 2
    return Columns(numbers, numbers + 1, other, other + numbers, other + numbers + 1, *range(2 * other, 2 * other + 3))


def empty_table(capacity: int, columns: Columns) -> Reals:
    """Rows without evidence."""
    table = np.zeros((capacity, columns.width))
    table[:, columns.weight] = 1.0
    return table


def credit(table: Reals, arm: int, amounts: tuple[float, ...], scale: float) -> None:
    """Add one observation to an arm, counted `scale` times."""
    for j in range(len(amounts)):
        table[arm, j] += amounts[j] * scale
    table[arm, len(amounts)] += scale


def no_span(line: Any) -> Any:
    """No numbers."""
    return ()


@functools.cache
def span_reader(first: int, count: int) -> Any:
    """span(line) → `count` numbers of an array, from place `first` on, as a tuple."""
    if count == 0:
        return no_span
    if count == 1:

        def one(line: Any) -> Any:
            return (line[first],)

        return one
    half = count // 2
    left, right = span_reader(first, half), span_reader(first + half, count - half)

    def span(line: Any) -> Any:
        return (*left(line), *right(line))

    return span


def swap(order: Integers, i: int, j: int) -> None:
    """Exchange two places of the list."""
    k, m = order[0, i], order[0, j]
    order[0, i], order[0, j] = m, k
    order[1, k], order[1, m] = j, i


def grown(array: NDArray[Any], capacity: int, axis: int = 0) -> NDArray[Any]:
    """The array with room for more arms."""
    more = [(0, 0)] * array.ndim
    more[axis] = (0, capacity - array.shape[axis])
    return np.pad(array, more)
