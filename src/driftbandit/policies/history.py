"""The last rewards of an arm, for alarms that look back."""

from typing import Any

from numpy.typing import NDArray

from driftbandit.numerics.elementary import real

History = tuple[NDArray[Any], int, int]
"""A ring of rewards, how many there were since the arm last started, and how many of the last count at most: read it by
`kept` and `ago`."""


def kept(history: History) -> int:
    """How many rewards of an arm can be looked at."""
    return min(history[1], history[2])


def ago(history: History, i: int) -> float:
    """The reward of an arm `i` choices before its latest one, of those that are kept."""
    return real(history[0][(history[1] - 1 - i) % history[0].size])


def sum_ago(history: History, first: int, count: int) -> float:
    """The sum of so many rewards of an arm, of which the latest is that of `first` choices ago; all must be kept."""
    rewards = history[0]
    place = (history[1] - 1 - first) % rewards.size
    total = real(0.0)
    for _ in range(count):
        total += real(rewards[place])
        place = place - 1 if place > 0 else rewards.size - 1
    return total
