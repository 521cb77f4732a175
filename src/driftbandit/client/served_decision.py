"""A decision that a service made."""

from typing import Any, Self

from driftbandit.contract import DecisionAnswer
from driftbandit.online.decision import Decision


class ServedDecision(Decision):
    """A decision of a service: a `Decision` that also knows whether its key had it before.

    >>> decision = ServedDecision.of(DecisionAnswer(7, "red", 0.25, 1.5))
    >>> decision, decision.probability, decision.repeated
    (ServedDecision(id=7, arm='red', probability=0.25, time=1.5), 0.25, False)
    """

    __slots__ = ("_repeated",)

    def __init__(self, id: int, arm: str, time: float, probability: float, repeated: bool = False) -> None:
        super().__init__(id, arm, time, probability)
        self._repeated = repeated

    @property
    def repeated(self) -> bool:
        """Whether it was made before, for the same key."""
        return self._repeated

    @classmethod
    def of(cls, said: DecisionAnswer) -> Self:
        """As the service says it."""
        return cls(said.id, said.arm, said.time, said.probability, said.repeated)

    def __repr__(self) -> str:
        return f"ServedDecision(id={self.id}, arm={self.arm!r}, probability={self.probability!r}, time={self.time!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ServedDecision, (self.id, self.arm, self.time, self.probability, self.repeated)
