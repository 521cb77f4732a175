"""A decision, the probability with which it was made, and what becomes of its reward."""

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from driftbandit.exact.choice import Question, Reals, Surroundings, What, all_probabilities
from driftbandit.policies import Rule


class RewardStatus(enum.StrEnum):
    """The answer to `Bandit.reward`; each is also its own text, as in `status == "accepted"`."""

    ACCEPTED = "accepted"
    """The reward was learned."""
    REPEATED = "repeated"
    """The decision has its reward already; nothing changed."""
    UNKNOWN = "unknown"
    """No decision of this bandit has this id; nothing changed."""
    EXPIRED = "expired"
    """The wait time of the decision is over, and whether it got a reward is no longer kept; nothing changed."""
    REMOVED = "removed"
    """The arm is no longer there; nothing changed."""


Snapshot = tuple[bytes, int, int, float, tuple[Rule, str], Surroundings, What | None]
"""What a probability follows from: the numbers of the arms that were looked at one by one, the place of the chosen one
among them (−1: it was asleep), how many were asleep, the floor, the rule and its name, what else it knew, and what it
believed, where odds are a mixture over that."""


class Odds(NamedTuple):
    """What the arms of a decision had for probabilities, the floor included."""

    chosen: float
    awake: Reals
    """Of those that were looked at one by one."""
    each: float
    """Of each of the others."""


def probability_of(snapshot: Snapshot) -> float:
    """The exact probability of the arm that was chosen."""
    return odds_of([snapshot])[0].chosen


def odds_of(snapshots: Sequence[Snapshot]) -> list[Odds]:
    """The exact probabilities of many decisions; what follows from the same is worked out once, and is one array."""
    places: dict[Any, int] = {}
    questions: list[Question] = []
    asked: list[int] = []
    floors: list[float] = []
    for content, _, asleep, floor, (rule, name), around, believed in snapshots:
        key: Any = (content, asleep, floor, id(rule), around) if believed is None else len(asked)
        if key not in places:
            places[key] = len(questions)
            numbers = np.frombuffer(content).reshape(-1, len(rule.initial))
            questions.append(Question(rule, numbers, asleep, around, name, believed))
            floors.append(floor)
        asked.append(places[key])
    answers = all_probabilities(questions)
    floored = [_above(floors[at], *answers[at], questions[at].asleep) for at in range(len(questions))]
    return [
        Odds(floored[at][0].item(place) if place >= 0 else floored[at][1], *floored[at])
        for (_, place, *_), at in zip(snapshots, asked, strict=True)
    ]


def _above(floor: float, awake: Reals, each: float, asleep: int) -> tuple[Reals, float]:
    """Probabilities with a floor under them."""
    rest = 1.0 - (len(awake) + asleep) * floor
    return floor + rest * awake.clip(0.0, 1.0), floor + rest * min(max(float(each), 0.0), 1.0)


class Decision:
    """What `Bandit.select` returns; it cannot be changed.

    Attributes:
        id: a number that names the decision to `Bandit.reward`; below 2^53, so that any client can carry it.
        arm: the chosen arm.
        probability: the exact probability with which this arm was chosen, of the state at the time of the choice.
        time: in seconds, or the number of the decision where a step is a decision.
    """

    __slots__ = ("_arm", "_chance", "_id", "_time")

    def __init__(self, id: int, arm: Any, time: float, chance: float | Snapshot) -> None:
        self._id = id
        self._arm = arm
        self._time = time
        self._chance = chance

    @property
    def id(self) -> int:
        """Names the decision to `Bandit.reward`."""
        return self._id

    @property
    def arm(self) -> Any:
        """The chosen arm."""
        return self._arm

    @property
    def time(self) -> float:
        """When it was made: seconds, or the number of the decision."""
        return self._time

    @property
    def probability(self) -> float:
        """The exact probability of the chosen arm; worked out when first read."""
        chance = self._chance
        if isinstance(chance, tuple):  # kept until somebody asks
            chance = self._chance = probability_of(chance)
        return chance

    def __repr__(self) -> str:
        known = "" if isinstance(self._chance, tuple) else f", probability={self._chance!r}"
        return f"Decision(id={self._id}, arm={self._arm!r}{known}, time={self._time!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        return (self._id, self._arm, self._time) == (other._id, other._arm, other._time)

    def __hash__(self) -> int:
        return hash((self._id, self._arm, self._time))

    def __reduce__(self) -> tuple[Any, ...]:
        return Decision, (self._id, self._arm, self._time, self.probability)
