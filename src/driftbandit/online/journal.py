"""A log of every decision, with its exact probability, and of every reward."""

import json
import os
from collections.abc import Callable
from typing import Any

from driftbandit import checks
from driftbandit.online.decision import Decision, RewardStatus

Sink = Callable[[dict[str, Any]], object]
Log = str | os.PathLike[str] | Sink | None


class Journal:
    """Calls a function with one dictionary per event."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def decision(self, decision: Decision) -> None:
        """A decision was made."""
        self._sink(
            {
                "event": "decision",
                "id": decision.id,
                "arm": decision.arm,
                "probability": decision.probability,
                "time": decision.time,
            }
        )

    def reward(self, id: int, value: float, status: RewardStatus) -> None:
        """A reward came."""
        self._sink({"event": "reward", "id": id, "reward": value, "status": str(status)})


class JsonLines:
    """Appends each event to a file as a line; a line is written in one piece."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115  # stays open as long as the bandit lives

    def __call__(self, event: dict[str, Any]) -> None:
        self._file.write(json.dumps(event, ensure_ascii=False).encode() + b"\n")

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


def opened(log: Log) -> Journal | None:
    """The journal that an argument `log` asks for."""
    if log is None:
        return None
    if isinstance(log, str | os.PathLike):
        return Journal(JsonLines(log))
    if not callable(log):
        raise checks.reject("log", "a path or a function", log)
    return Journal(log)
