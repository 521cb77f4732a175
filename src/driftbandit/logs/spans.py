"""Numbers that were given, most of them one after the other: spans of them, in which any number is found at once."""

from array import array
from bisect import bisect_right


class Spans:
    """Spans of numbers, of which the latest may still grow."""

    def __init__(self, first: int = 1) -> None:
        self._firsts, self._lasts = array("q"), array("q")
        """Of those that grow no more."""
        self._first = first
        """Of the latest one."""

    def has(self, number: int, latest: int) -> bool:
        """Whether a number was given; the latest one was this."""
        place = bisect_right(self._firsts, number) - 1
        return self._first <= number <= latest or (place >= 0 and number <= self._lasts[place])

    def begin(self, first: int, latest: int) -> None:
        """Another span begins here; the one before it ends with this number."""
        if self._first <= latest:
            place = bisect_right(self._firsts, self._first)
            self._firsts.insert(place, self._first)
            self._lasts.insert(place, latest)
        self._first = first
