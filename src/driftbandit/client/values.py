"""What a service answers with, as values that do not change. Their names and fields are those of its contract."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

from driftbandit import checks
from driftbandit.entries import Entries
from driftbandit.online.decision import Decision
from driftbandit.specification import Checked, parameter


class ServedDecision(Decision):
    """A decision of a service: a `Decision` that also knows whether its key had it before.

    >>> decision = ServedDecision.read({"id": 7, "arm": "red", "probability": 0.25, "time": 1.5})
    >>> decision, decision.probability, decision.repeated
    (ServedDecision(id=7, arm='red', time=1.5), 0.25, False)
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
    def read(cls, values: Any) -> Self:
        """As the service says it."""
        said = Entries(values, "decision")
        return cls(
            said.whole("id", 1 << 53),
            said.text("arm"),
            said.real("time"),
            said.real("probability", "[0, 1]"),
            checks.flag("repeated", said.get("repeated", False)),
        )

    def __repr__(self) -> str:
        return f"ServedDecision(id={self.id}, arm={self.arm!r}, time={self.time!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ServedDecision, (self.id, self.arm, self.time, self.probability, self.repeated)


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise checks.reject(name, "a text", value)
    return value


def _count(name: str, value: Any) -> int:
    return checks.whole(name, value, 0, 1 << 63)


def _optional(check: Callable[[str, Any], Any]) -> Any:
    return parameter(lambda name, value: None if value is None else check(name, value))


def _many(check: Callable[[str, Any], Any]) -> Any:
    def items(name: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise checks.reject(name, "a list", value)
        return tuple(check(name, item) for item in value)

    return items


class Value(Checked):
    """A value of which every field must be there, and be what it should; what else there is, is left alone."""

    @classmethod
    def read(cls, values: Any) -> Self:
        """As the service says it."""
        said, fields = Entries(values, cls.__name__), dataclasses.fields(cls)
        return cls(**{field.name: said.nullable(field.name) for field in fields})


def _values(kind: type[Value]) -> Any:
    return parameter(_many(lambda name, value: kind.read(value)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arm(Value):
    """An arm; None where a policy does not know."""

    name: str = parameter(_text)
    eligible: bool = parameter(checks.flag)
    decisions: int = parameter(_count)
    rewards: int = parameter(_count)
    mean: float | None = _optional(checks.real)
    low: float | None = _optional(checks.real)
    high: float | None = _optional(checks.real)
    effective_size: float | None = _optional(checks.real)
    probability: float | None = _optional(checks.real)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExperimentView(Value):
    """An experiment as it is now."""

    name: str = parameter(_text)
    state: str = parameter(_text)
    """"running" or "stopped"."""
    version: int = parameter(_count)
    """How often it was changed; `change` can ask that it still is this one."""
    policy: str = parameter(_text)
    step_seconds: float | None = _optional(checks.real)
    wait: float | None = _optional(checks.real)
    default_reward: float | None = _optional(checks.real)
    minimum_probability: float = parameter(checks.real)
    key_seconds: float = parameter(checks.real)
    seed: int = parameter(_count)
    begun: float = parameter(checks.real)
    only: tuple[str, ...] | None = _optional(_many(_text))
    """The only arms that decisions choose from now, or None for all."""
    decisions: int = parameter(_count)
    rewards: int = parameter(_count)
    pending: int = parameter(_count)
    """Decisions that wait for their reward."""
    lag: float = parameter(checks.real)
    """Seconds since the process that answered has read what others stored."""
    arms: tuple[Arm, ...] = _values(Arm)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExperimentLine(Value):
    """An experiment in a list."""

    name: str = parameter(_text)
    state: str = parameter(_text)
    policy: str = parameter(_text)
    arms: tuple[str, ...] = parameter(_many(_text))
    decisions: int = parameter(_count)
    rewards: int = parameter(_count)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Point(Value):
    """An arm in a stretch of time."""

    begin: float = parameter(checks.real)
    arm: str = parameter(_text)
    decisions: int = parameter(_count)
    odds: float = parameter(checks.real)
    """The mean of its probability over all decisions."""
    rewards: int = parameter(_count)
    mean_reward: float | None = _optional(checks.real)
    weighted: float | None = _optional(checks.real)
    """The mean reward, each weighted by 1/probability."""
    mean: float | None = _optional(checks.real)
    low: float | None = _optional(checks.real)
    high: float | None = _optional(checks.real)
    """What was believed at the end, with 95%."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class History(Value):
    """Sums over time."""

    step: float = parameter(checks.real)
    points: tuple[Point, ...] = _values(Point)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Estimate(Value):
    """What something would have earned a decision."""

    target: str = parameter(_text)
    kind: str = parameter(_text)
    """"arm", "one-step" or "logged"."""
    value: float | None = _optional(checks.real)
    low: float | None = _optional(checks.real)
    high: float | None = _optional(checks.real)
    effective_size: float = parameter(checks.real)
    decisions: int = parameter(_count)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Report(Value):
    """Values from the log."""

    begin: float = parameter(checks.real)
    end: float = parameter(checks.real)
    values: tuple[Estimate, ...] = _values(Estimate)
    warnings: tuple[str, ...] = parameter(_many(_text))


class LogPage(NamedTuple):
    """Some events of a log, and from where to go on."""

    events: list[dict[str, Any]]
    after: str
