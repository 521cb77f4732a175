"""Real tables, each an environment: what was recorded, where from and what it is no good for is in CARDS.md.

simulate(policies, datasets.flights(), horizon=5475, runs=200)
replay(datasets.flights(by="day"), policies, repeat=15)
"""

from typing import Any

from driftbandit.datasets.recorded import Flights, Weather

__all__ = ["Flights", "Weather", "flights", "weather"]


def flights(*, by: str = "hour", **options: Any) -> Flights:
    """Airlines out of New York in 2013, by the hour or by the day; options are those of `Flights`.

    >>> str(flights(by="day"))
    'flights:by=day'
    """
    return Flights(by=by, **options)


def weather(**options: Any) -> Weather:
    """Dry days in two cities; options are those of `Weather`.

    >>> weather().n_arms
    2
    """
    return Weather(**options)
