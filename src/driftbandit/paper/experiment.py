"""What every kind of figure has: the games that it needs, its panels, its numbers, and its part of the report."""

import abc
import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from driftbandit.campaign.pictures import Panel
from driftbandit.paper.contenders import Discounts
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.printed import SETTINGS, Setting
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record

if TYPE_CHECKING:
    from driftbandit.paper.findings import Findings

MEASURES = ("normalized_regret", "static_regret", "mean_reward")


class Section(NamedTuple):
    """A part of the report: all figures of one kind are in it."""

    id: str
    title: str
    text: str


@dataclasses.dataclass(frozen=True)
class Experiment(abc.ABC):
    """One figure or table: a frozen value. Its class, in `kinds/`, is the kind of figure."""

    id: str
    title: str

    @property
    @abc.abstractmethod
    def section(self) -> Section:
        """The part of the report that shows it."""

    @property
    @abc.abstractmethod
    def axes(self) -> tuple[str, ...]:
        """The columns of its numbers that say where in the figure a row belongs."""

    @abc.abstractmethod
    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        """The games behind it under a profile."""

    @abc.abstractmethod
    def place(self, entry: Entry) -> tuple[Any, ...]:
        """Where in the figure a game belongs: a value for each of `axes`."""

    @abc.abstractmethod
    def panels(self, found: "Findings") -> Iterator[Panel]:
        """Its panels, measure by measure and profile by profile, on axes that neighbours share."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The environments it is about."""
        return SETTINGS

    def rows(self, entry: Entry, record: Record) -> Iterator[tuple[Any, ...]]:
        """The numbers of one game: its place, a measure, mean and half the width of the interval."""
        for measure in MEASURES:
            value = getattr(record, measure)
            yield (*self.place(entry), measure, value.mean, value.ci95)

    @staticmethod
    def tables(found: "Findings") -> str:
        """Tables, as HTML, that open its section; none for most kinds."""
        return ""

    @staticmethod
    def overview(found: "Findings") -> Iterator[Panel]:
        """Panels about all figures of its section, which come before them; none for most kinds."""
        yield from ()


@dataclasses.dataclass(frozen=True)
class InSetting(Experiment):
    """An experiment in one of the paper's environments."""

    setting: Setting

    @property
    def settings(self) -> tuple[Setting, ...]:
        return (self.setting,)


@dataclasses.dataclass(frozen=True)
class WithoutGames(Experiment):
    """An experiment that needs no simulation, and so has no numbers."""

    axes = ()

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> tuple[()]:
        return ()

    def place(self, entry: Entry) -> tuple[()]:
        return ()
