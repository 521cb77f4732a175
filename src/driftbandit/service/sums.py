"""Sums by minute, from which everything over time is drawn: what was decided then, and what that earned.

They grow in memory and are stored every second, with a mark up to where they are made; what a killed process had not
stored is made again from the log. A reward belongs to the minute of its decision.
"""

from collections.abc import Iterator, Mapping

from driftbandit.service.database import Row
from driftbandit.service.rows import GIVEN, NOTHING, RewardRow, number_of

ALWAYS = -1
"""In the place of a minute: all of them."""
DECISIONS, ODDS, WEIGHT, WEIGHT_2, REWARDS, REWARD, REWARDED, REWARDED_2, PAID, PAID_2, DEFAULTS = range(11)
"""Decisions for an arm; the sum of its odds in all decisions; Σ1/p and Σ1/p² of its decisions; of those with a reward
how many, their sum, Σ1/p, Σ1/p², Σr/p and Σ(r/p)²; and how many of them only have the default."""


class Sums:
    """What is not stored yet."""

    def __init__(self, slot: int) -> None:
        self._slot = slot
        self._rows: dict[tuple[int, int, int], list[float]] = {}
        self.marks: dict[int, int] = {}
        """By experiment, the latest decision of this slot that is counted."""
        self.counted = 0
        """The latest reward of this slot that is."""

    def __bool__(self) -> bool:
        return bool(self._rows)

    def _row(self, experiment: int, made: float, arm: int) -> list[float]:
        key = (experiment, int(made // 60.0), arm)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = [0.0] * 11
        return row

    def of(self, experiment: int) -> dict[int, list[float]]:
        """What is not stored yet of an experiment, by arm, over all minutes."""
        found: dict[int, list[float]] = {}
        for (number, _, arm), row in self._rows.items():
            if number == experiment:
                found[arm] = [old + new for old, new in zip(found.get(arm, [0.0] * 11), row, strict=True)]
        return found

    def decided(self, experiment: int, id: int, made: float, arm: int, probability: float) -> None:
        """A decision."""
        row, weight = self._row(experiment, made, arm), 1.0 / probability
        row[DECISIONS] += 1.0
        row[WEIGHT] += weight
        row[WEIGHT_2] += weight * weight
        self.marks[experiment] = number_of(id)

    def could_be(self, experiment: int, made: float, odds: Mapping[int, float], decisions: int) -> None:
        """The odds of the arms in so many decisions."""
        for arm, chance in odds.items():
            self._row(experiment, made, arm)[ODDS] += chance * decisions

    def rewarded(self, reward: RewardRow) -> None:
        """A reward of this slot."""
        self.counted = max(self.counted, reward.number)
        if reward.kind == NOTHING or reward.value is None:
            return
        row, weight = self._row(reward.experiment, reward.made, reward.decision.arm), 1.0 / reward.probability
        paid = weight * reward.value
        row[REWARDS] += 1.0
        row[REWARD] += reward.value
        row[REWARDED] += weight
        row[REWARDED_2] += weight * weight
        row[PAID] += paid
        row[PAID_2] += paid * paid
        row[DEFAULTS] += reward.kind != GIVEN

    def rows(self) -> Iterator[Row]:
        """As they are stored, in the order of their keys; all minutes together are one too."""
        every = dict(self._rows)
        for experiment in {key[0] for key in self._rows}:
            every |= {(experiment, ALWAYS, arm): row for arm, row in self.of(experiment).items()}
        for experiment, minute, arm in sorted(every):
            row = every[experiment, minute, arm]
            counts = {place: int(row[place]) for place in (DECISIONS, REWARDS, DEFAULTS)}
            yield (experiment, minute, self._slot, arm, *(counts.get(place, value) for place, value in enumerate(row)))

    def clear(self) -> None:
        """They are stored."""
        self._rows.clear()
        self.marks.clear()
