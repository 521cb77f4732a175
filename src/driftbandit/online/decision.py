"""A decision, and the probability with which it was made."""

from typing import Any

import numpy as np

from driftbandit.errors import InvalidValue
from driftbandit.online.family import Beta
from driftbandit.online.probabilities import posterior_probabilities


class Snapshot:
    """The posteriors from which an arm was chosen, kept until somebody asks for the probability."""

    __slots__ = ("asleep", "beta", "evidence", "floor", "place", "start")

    def __init__(
        self, evidence: bytes, place: int, asleep: int, floor: float, beta: Beta | None, start: tuple[float, float]
    ) -> None:
        self.evidence = evidence
        self.place = place
        self.asleep = asleep
        self.floor = floor
        self.beta = beta
        self.start = start

    def probability(self) -> float:
        """The exact probability of the arm that was chosen."""
        if self.beta is None:
            raise InvalidValue(
                "probability is known for Beta posteriors, indices and weights, got another kind of score"
            )
        evidence = np.frombuffer(self.evidence).reshape(-1, 2)
        count = len(evidence) + self.asleep
        awake, asleep = posterior_probabilities(evidence, self.asleep, self.beta, self.start)
        chance = float(awake[self.place]) if self.place >= 0 else asleep
        return self.floor + (1.0 - count * self.floor) * chance


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
        if isinstance(chance, Snapshot):
            chance = self._chance = chance.probability()
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
