"""The records of a reproduction by their place: experiment, profile, policy, and where along the axis."""

from collections.abc import Mapping, Sequence

from driftbandit.engine.games import Game
from driftbandit.paper.contenders import Discounts
from driftbandit.paper.experiment import Experiment
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.profiles import Profile
from driftbandit.paper.record import Record


class NotRun(LookupError):
    """An experiment or a profile was left out of this reproduction."""


class Findings:
    """What was found: figures, tables and claims are made of it."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        profiles: Sequence[Profile],
        scale: Scale,
        fits: Discounts,
        records: Mapping[Game, Record],
    ) -> None:
        self.experiments = tuple(experiments)
        self.profiles = tuple(profiles)
        self.scale = scale
        self.fits = fits
        self.records = records
        self._entries: dict[tuple[str, str], Sequence[Entry]] = {
            (experiment.id, profile.id): experiment.entries(profile, scale, fits)
            for experiment in self.experiments
            for profile in self.profiles
        }

    @property
    def rules(self) -> Sequence[Profile]:
        """The profiles of a figure that tries all discounts: there the fitted one would repeat that of the text."""
        return [profile for profile in self.profiles if not profile.fitted] or self.profiles

    def entries(self, experiment: str, profile: Profile) -> Sequence[Entry]:
        """All places of an experiment under a profile."""
        try:
            return self._entries[experiment, profile.id]
        except KeyError:
            raise NotRun(experiment) from None

    def of(self, entry: Entry) -> Record:
        """The record at a place."""
        return self.records[entry.game]

    def record(
        self, experiment: str, profile: Profile, policy: str, x: float | None = None, y: float | None = None
    ) -> Record:
        """The record of a policy at a place of a figure, which is told as in an `Entry`."""
        for entry in self.entries(experiment, profile):
            if (entry.policy, entry.x, entry.y) == (policy, x, y):
                return self.of(entry)
        raise KeyError((experiment, profile.id, policy, x, y))

    def curve(self, experiment: str, profile: Profile, policy: str, y: float | None = None) -> dict[float, Record]:
        """The records of a policy along the axis x, in ascending order."""
        found = {
            entry.x: self.of(entry)
            for entry in self.entries(experiment, profile)
            if entry.policy == policy and entry.x is not None and (y is None or entry.y == y)
        }
        return dict(sorted(found.items()))


def lowest(curve: Mapping[float, Record]) -> float:
    """Where along a curve the mean regret is least."""
    return min(curve, key=lambda place: curve[place].normalized_regret.mean)
