"""Sums by minute, from which everything over time is drawn: what was decided then, and what that earned.

They grow in memory and are stored every second, with a mark up to where they are made; what a killed process had not
stored is made again from the log. A reward belongs to the minute of its decision.
"""

import dataclasses
from collections.abc import Iterator, Mapping

from driftbandit.service.database import Row
from driftbandit.service.rows import GIVEN, NOTHING, RewardRow, number_of

ALWAYS = -1
"""In the place of a minute: all of them."""


@dataclasses.dataclass(slots=True)
class Summed:
    """Of one arm, in the order of the columns that they are stored in."""

    decisions: int = 0
    odds: float = 0.0
    """Of the arm in all decisions."""
    weight: float = 0.0
    weight_2: float = 0.0
    """Σ1/p and Σ1/p² of its decisions."""
    rewards: int = 0
    reward: float = 0.0
    """How many have a reward, and the sum of these."""
    rewarded: float = 0.0
    rewarded_2: float = 0.0
    paid: float = 0.0
    paid_2: float = 0.0
    """Of those, Σ1/p, Σ1/p², Σr/p and Σ(r/p)²."""
    defaults: int = 0
    """How many of them only have the default."""

    def add(self, other: "Summed") -> None:
        """Both together."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class MinuteSums:
    """What is not stored yet."""

    def __init__(self, slot: int) -> None:
        self._slot = slot
        self._rows: dict[tuple[int, int, int], Summed] = {}
        self.marks: dict[int, int] = {}
        """By experiment, the latest decision of this slot that is counted."""
        self.counted = 0
        """The latest reward of this slot that is."""

    def __bool__(self) -> bool:
        return bool(self._rows)

    def _row(self, experiment: int, made: float, arm: int) -> Summed:
        key = (experiment, int(made // 60.0), arm)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = Summed()
        return row

    def of(self, experiment: int) -> dict[int, Summed]:
        """What is not stored yet of an experiment, by arm, over all minutes."""
        found: dict[int, Summed] = {}
        for (number, _, arm), row in self._rows.items():
            if number == experiment:
                found.setdefault(arm, Summed()).add(row)
        return found

    def decided(self, experiment: int, id: int, made: float, arm: int, probability: float) -> None:
        """A decision."""
        row, weight = self._row(experiment, made, arm), 1.0 / probability
        row.decisions += 1
        row.weight += weight
        row.weight_2 += weight * weight
        self.marks[experiment] = number_of(id)

    def could_be(self, experiment: int, made: float, odds: Mapping[int, float], decisions: int) -> None:
        """The odds of the arms in so many decisions."""
        for arm, chance in odds.items():
            self._row(experiment, made, arm).odds += chance * decisions

    def rewarded(self, reward: RewardRow) -> None:
        """A reward of this slot."""
        self.counted = max(self.counted, reward.number)
        if reward.kind == NOTHING or reward.value is None:
            return
        row, weight = self._row(reward.experiment, reward.made, reward.decision.arm), 1.0 / reward.probability
        paid = weight * reward.value
        row.rewards += 1
        row.reward += reward.value
        row.rewarded += weight
        row.rewarded_2 += weight * weight
        row.paid += paid
        row.paid_2 += paid * paid
        row.defaults += reward.kind != GIVEN

    def rows(self) -> Iterator[Row]:
        """As they are stored, in the order of their keys; all minutes together are one too."""
        every = dict(self._rows)
        for experiment in {key[0] for key in self._rows}:
            every |= {(experiment, ALWAYS, arm): row for arm, row in self.of(experiment).items()}
        for experiment, minute, arm in sorted(every):
            yield (experiment, minute, self._slot, arm, *dataclasses.astuple(every[experiment, minute, arm]))

    def clear(self) -> None:
        """They are stored."""
        self._rows.clear()
        self.marks.clear()
