"""Checks of values given by users, each answering with one line: name, what is allowed, what was given."""

import math
import numbers
from collections.abc import Iterable
from typing import Any

from driftbandit.errors import InvalidValue

MOST = 2**40 - 1
"""The largest whole number accepted where no smaller limit is said: counters of steps and runs have 40 bits."""


def shown(value: object) -> str:
    """The value as it appears in an error: short, on one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a whole number of more digits than Python writes
        text = "a number of thousands of digits"
    except RecursionError:
        text = "something nested too deep to show"
    return text if len(text) <= 60 else text[:57] + "..."


def reject(name: str, allowed: str, value: object) -> InvalidValue:
    """The error every check raises."""
    return InvalidValue(f"{name} must be {allowed}, got {shown(value)}")


def real(name: str, value: Any, interval: str = "(-inf, inf)") -> float:
    """A finite number inside an interval written as "(0, 1]"; round brackets exclude the end.

    >>> real("discount", 1, "(0, 1]")
    1.0
    >>> real("discount", 1.2, "(0, 1]")
    Traceback (most recent call last):
    ...
    driftbandit.errors.InvalidValue: discount must be in (0, 1], got 1.2
    """
    low, high = (float(end) for end in interval[1:-1].split(","))
    allowed = f"in {interval}" if math.isfinite(low) or math.isfinite(high) else "a finite number"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise reject(name, allowed, value)
    try:
        number = float(value)
    except OverflowError:  # a whole number that no float can hold
        raise reject(name, allowed, value) from None
    above = number > low if interval[0] == "(" else number >= low
    below = number < high if interval[-1] == ")" else number <= high
    if not (math.isfinite(number) and above and below):
        raise reject(name, allowed, value)
    return number


def whole(name: str, value: Any, low: int = 1, high: int | None = None) -> int:
    """A whole number from `low` to `high`; 5.0 counts as 5.

    >>> whole("runs", 2.5)
    Traceback (most recent call last):
    ...
    driftbandit.errors.InvalidValue: runs must be a whole number of at least 1, got 2.5
    """
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise reject(name, allowed, value)
    given: Any = value
    try:
        number = int(given)
    except (ValueError, OverflowError):  # NaN and infinities
        raise reject(name, allowed, value) from None
    if number != given or number < low:
        raise reject(name, allowed, value)
    if number > (MOST if high is None else high):
        raise reject(name, f"a whole number from {low} to {MOST if high is None else high}", value)
    return number


def one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of a few words."""
    words = list(choices)
    if not isinstance(value, str) or value not in words:
        raise reject(name, " or ".join(f'"{word}"' for word in words), value)
    return value


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that merely looks like it."""
    if not isinstance(value, bool):
        raise reject(name, "True or False", value)
    return value


def counted(count: int, noun: str) -> str:
    """A number of things, in words.

    >>> counted(1, "run"), counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
