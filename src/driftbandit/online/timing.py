"""The time of a bandit: seconds of a clock, or the number of decisions where a step is a decision."""

import math
from collections.abc import Callable
from typing import Any

from driftbandit import checks
from driftbandit.entries import Entries


class Timing:
    """Time in steps; it never goes back."""

    def __init__(self, step_seconds: float | None, clock: Callable[[], float]) -> None:
        if not callable(clock):
            raise checks.reject("clock", "a function that returns seconds", clock)
        self.step_seconds = step_seconds
        self.clock = clock
        self.steps: float = 0
        """The time of the latest decision in steps; where a step is a decision, the number of decisions."""
        self.latest = -math.inf
        """The seconds of the latest decision, −∞ before the first."""

    def move_to(self, seconds: float) -> None:
        """The latest decision was made then."""
        self.latest = seconds
        if self.step_seconds is not None and math.isfinite(seconds):
            self.steps = seconds / self.step_seconds

    def moment(self, time: Any) -> float:
        """The time of a decision that is made now, in steps."""
        if self.step_seconds is None:
            return self._counted(time)
        if time is None:
            seconds = self.clock()
            if type(seconds) is not float or not self.latest <= seconds < math.inf:
                seconds = max(checks.real("clock", seconds), self.latest)  # clocks are set back at times
        else:
            seconds = checks.real("time", time)
            if seconds < self.latest:
                raise checks.reject("time", f"at least {self.latest!r}, when the latest decision was made", time)
        self.latest = seconds
        self.steps = seconds / self.step_seconds
        return self.steps

    def reading(self, time: Any) -> float:
        """The time at which the state is looked at, in steps; never before the latest decision."""
        if self.step_seconds is None:
            return self._counted(time)
        seconds = checks.real("time", self.clock() if time is None else time)
        return max(seconds, self.latest) / self.step_seconds

    def _counted(self, time: Any) -> float:
        if time is not None:
            raise checks.reject("time", "None where a step is a decision", time)
        return self.steps

    def state(self) -> dict[str, Any]:
        """What a file says of time."""
        return {"latest": self.latest if math.isfinite(self.latest) else None, "steps": self.steps}

    def restore(self, entries: Entries) -> None:
        """Take over what a file says."""
        latest = entries.nullable("latest")
        if latest is not None:
            self.move_to(checks.real("latest", latest))
        if self.step_seconds is None:
            self.steps = entries.whole("steps", 1 << 53)
