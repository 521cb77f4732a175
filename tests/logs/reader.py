"""A log read in the slow, obvious way: one line after the other, everything kept in dictionaries."""

import json
import math
from pathlib import Path
from typing import Any

REPLICA, NUMBER = 1 << 40, (1 << 40) - 1


class Decision:
    """What a log says of one decision."""

    def __init__(self, line: dict[str, Any], eligible: list[Any]) -> None:
        self.arm, self.probability, self.time = line["arm"], min(line["probability"], 1.0), line["time"]
        self.replica = line["id"] // REPLICA
        self.eligible = [self.arm] if self.probability == 1.0 else eligible
        self.reward = math.nan
        self.since_set = 0.0  # how much its replica's clock had been set by then


def read(path: Path, missing: float = math.nan) -> tuple[list[Decision], list[tuple[str, Decision]]]:
    """The decisions of one replica in order, and all events: "decided" or "ended", with the decision; without those
    that are younger than their wait.
    """
    arms: list[Any] = []
    waiting: dict[int, Decision] = {}
    events: list[tuple[str, Decision]] = []
    wait, default, set_by = None, None, 0.0
    for text in path.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        kind = line["event"]
        if kind == "start":
            arms = list(line["arms"])
            wait, default = line["wait"], line["default_reward"]
        elif kind == "added":
            arms = [*arms, line["arm"]]
        elif kind == "removed":
            arms = [arm for arm in arms if arm != line["arm"]]
        elif kind == "decision":
            waiting[line["id"]] = decision = Decision(line, line.get("among", arms))
            decision.since_set = set_by
            events.append(("decided", decision))
        elif kind == "time":
            latest = [one for what, one in events if what == "decided"][-1]
            set_by = latest.since_set + line["time"] - latest.time
        elif kind == "expired" or line.get("status") in ("accepted", "removed"):
            decision = waiting.pop(line["id"], None)
            if decision is not None:
                decision.reward = line.get("reward", missing)
                events.append(("ended", decision))
    for _, decision in sorted(waiting.items(), key=lambda each: each[0]):
        decision.reward = missing if default is None else default
        events.append(("ended", decision))
    if wait is not None:
        end = max(one.time - one.since_set for _, one in events)
        events = [(kind, one) for kind, one in events if end - (one.time - one.since_set) > wait]
    return [decision for kind, decision in events if kind == "decided"], events
