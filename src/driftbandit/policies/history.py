"""The last rewards of an arm, for rules that look back."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from driftbandit.elementary import real


class History(NamedTuple):
    """The last rewards of an arm: `ago(history, 0)` is the newest, and there are `kept(history)` of them."""

    rewards: NDArray[Any]
    """A ring."""
    count: int
    """How many rewards the arm had since it last started; the ring holds the last of them."""


def kept(history: History) -> int:
    """How many rewards of an arm can be looked at."""
    return min(history.count, history.rewards.size)


def ago(history: History, i: int) -> float:
    """The reward of an arm `i` choices before its latest one, of those that are kept."""
    return real(history.rewards[(history.count - 1 - i) % history.rewards.size])
