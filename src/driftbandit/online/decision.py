"""A decision, and the probability with which it was made."""

from typing import Any

import numpy as np

from driftbandit.online.probabilities import PLAIN, Surroundings, next_probabilities
from driftbandit.policies import Rule

Snapshot = tuple[bytes, int, int, float, tuple[Rule, str], Surroundings | None]
"""Numbers of the active arms, place of the chosen one, dormant arms, floor, rule and its name, what else it knew."""


def probability_of(snapshot: Snapshot) -> float:
    """The exact probability of the arm that was chosen from these posteriors."""
    content, place, asleep, floor, (rule, name), more = snapshot
    evidence = np.frombuffer(content).reshape(-1, len(rule.initial))
    active, dormant = next_probabilities(rule, evidence, asleep, more or PLAIN, name)
    chance = float(active[place]) if place >= 0 else dormant
    return floor + (1.0 - (len(evidence) + asleep) * floor) * chance


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
        return f"Decision(id={self._id}, arm={self._arm!r}, time={self._time!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Decision):
            return NotImplemented
        return (self._id, self._arm, self._time) == (other._id, other._arm, other._time)

    def __hash__(self) -> int:
        return hash((self._id, self._arm, self._time))

    def __reduce__(self) -> tuple[Any, ...]:
        return Decision, (self._id, self._arm, self._time, self.probability)
