"""Environments whose means were recorded in the world: tables that come with the package."""

import dataclasses
import functools
from pathlib import Path
from typing import Any, ClassVar

from driftbandit.environments.environment import Environment
from driftbandit.environments.from_means import FromMeans
from driftbandit.environments.means_table import MeansTable, read_table
from driftbandit.specification import choice


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordedMeans(FromMeans):
    """The base of recorded environments.

    Two with the same parameters are equal; the table is read when the first of them is made, and is in no text form,
    no pickle and no result.
    """

    means: Any = dataclasses.field(init=False, default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        Environment.__post_init__(self)  # parameters say which table it is
        object.__setattr__(self, "means", recorded(self.file))
        super().__post_init__()

    @property
    def file(self) -> str:
        """The name of its table in this folder."""
        raise NotImplementedError

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).build, (self.name, self.parameters())


@functools.cache
def recorded(file: str) -> MeansTable:
    """A table of this folder, shared by all who ask for it."""
    return read_table("file", Path(__file__).with_name(file))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Flights(RecordedMeans):
    """Which of seven airlines is on time out of New York, 2013: the share of flights that arrive less than 15 minutes
    late, by the hour of departure or by day. Four fifths of what moves is common to all arms, as weather is.

    Parameters:
        by: "hour" (5475 steps; a share is of some four to ten flights, with a noise of .16), or "day" (365 steps, with
            the noise of counting shrunk away: for several decisions a row, see `repeat`).
        repeat: how many steps each row lasts.
        rested, rewards, concentration, deviation: as for every environment.

    >>> flights = Flights()
    >>> flights.usual_horizon, flights.means.steps[0]
    (5475, '2013-01-01 06:00')
    >>> dict(zip(flights.means.arms, flights.means.values.mean(axis=0).round(3).tolist()))
    {'AA': 0.789, 'B6': 0.734, 'DL': 0.81, 'EV': 0.649, 'MQ': 0.696, 'UA': 0.768, 'US': 0.783}
    """

    name: ClassVar[str] = "flights"

    by: str = choice("hour", "day")

    @property
    def file(self) -> str:
        return f"flights-by-{self.by}.csv"

    @property
    def smoothed(self) -> bool:
        return self.by == "day"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Weather(RecordedMeans):
    """Whether it is dry today, in New York and in Seattle, 2012 to 2015: 1 or 0 for each of 1461 days. From May to
    August the better arm is Seattle, else New York.

    Parameters:
        repeat: how many steps each row lasts.
        rested, rewards, concentration, deviation: as for every environment.

    >>> weather = Weather()
    >>> weather.usual_horizon, weather.means.arms, weather.means.values.mean(axis=0).round(3).tolist()
    (1461, ('New York', 'Seattle'), [0.678, 0.574])
    """

    name: ClassVar[str] = "weather"

    @property
    def file(self) -> str:
        return "weather.csv"
