"""The stretches of time until now that a page can show."""

from typing import NamedTuple

from driftbandit import checks


class Lookback(NamedTuple):
    """A stretch of time until now; all lengths are in seconds."""

    word: str
    said: str
    length: float
    step: float
    """Of a point in a chart: whole minutes."""
    row: float
    """Of a row in a table: whole points."""

    @property
    def points(self) -> int:
        """How many; the last one is not over yet."""
        return round(self.length / self.step) + 1

    def begin(self, now: float) -> float:
        """When the first point begins."""
        return (now // self.step - self.points + 1) * self.step


HOUR = Lookback("1h", "1 hour", 3600.0, 60.0, 300.0)
DAY = Lookback("24h", "24 hours", 86400.0, 600.0, 7200.0)
WEEK = Lookback("7d", "7 days", 604800.0, 3600.0, 43200.0)
LOOKBACKS = {each.word: each for each in (HOUR, DAY, WEEK)}


def lookback_of(word: str | None, age: float = DAY.length) -> Lookback:
    """The one that is asked for; unless it is said, 24 hours, or one where an experiment is not older, in seconds.

    >>> lookback_of("1h").points
    61
    >>> lookback_of(None, 600.0).word, lookback_of(None, 4000.0).word
    ('1h', '24h')
    """
    if word is None:
        return HOUR if age <= HOUR.length else DAY
    return LOOKBACKS[checks.one_of("window", word, list(LOOKBACKS))]
