"""The rows of a store that are passed around, and what columns they are made of."""

from typing import Any, NamedTuple

from driftbandit.online.pending import NUMBER, REPLICA_SHIFT
from driftbandit.replica import Made

WHOLE, REAL, TEXT = "whole", "real", "text"


class ExperimentRow(NamedTuple):
    """An experiment as it is stored."""

    number: int
    name: str
    settings: str
    begun: float
    state: str
    only_arms: str | None
    kept_from: float
    """Decisions before this time are forgotten."""
    version: int


class ArmRow(NamedTuple):
    """An arm, which keeps its row, and its number, when it is removed."""

    experiment: int
    number: int
    name: str
    added: float | None
    """When, in the time of the experiment; None for those it began with."""
    start: str | None
    """What it started with."""
    added_after: int | None
    """After which decision, and which reward, of the one process that decides where the order matters."""
    added_learned: int | None
    removed: float | None
    removed_after: int | None
    removed_learned: int | None


class DecisionRow(NamedTuple):
    """A decision."""

    experiment: int
    id: int
    arm: int
    time: float
    stamp: float
    used: float
    eligible: int
    probability: float
    among: str | None
    made: float
    """In seconds, also where a step is a decision."""

    @property
    def as_made(self) -> Made:
        """As its reward will be learned."""
        return Made(self.id, self.arm, self.time, self.stamp, self.used, self.eligible)


class RewardRow(NamedTuple):
    """A reward, or the end of a wait, with the decision that it is of."""

    experiment: int
    writer: int
    number: int
    value: float | None
    kind: str
    after: int
    time: float
    made: float
    """When the decision was made, in seconds."""
    probability: float
    decision: Made

    @classmethod
    def of(cls, row: Any) -> "RewardRow":
        """What a question with `REWARD_COLUMNS` is answered with."""
        return cls._make([*row[:9], Made._make(row[9:])])


DECISION_COLUMNS = {
    "experiment": WHOLE, "id": WHOLE, "arm": WHOLE, "time": REAL, "stamp": REAL, "used": REAL, "eligible": WHOLE,
    "probability": REAL, "among": TEXT, "made": REAL,
}  # fmt: skip
REWARD_COLUMNS = (
    "r.experiment, r.writer, r.number, r.value, r.kind, r.after, r.time, d.made, d.probability, "
    "d.id, d.arm, d.time, d.stamp, d.used, d.eligible"
)
GIVEN, DEFAULT, NOTHING = "given", "default", "nothing"
"""Kinds of rewards: somebody gave it; the wait was over, and it counts as the default, or as nothing."""


def first_id(slot: int, number: int = 0) -> int:
    """The id of a decision."""
    return (slot << REPLICA_SHIFT) + number


def number_of(id: int) -> int:
    """The number of a decision in its slot."""
    return id & NUMBER
