"""The time of a bandit: seconds of a clock, or the number of decisions where a step is a decision."""

import math
import warnings
from collections.abc import Callable
from typing import Any

from driftbandit import checks
from driftbandit.entries import Entries

SECONDS = "[-1e15, 1e15]"
"""Times that there are: thirty million years on either side of zero."""
LEAP = 366 * 86400.0
"""A clock that is ahead by more than this, in seconds, is believed when it has gone on from there."""
LASTING = 1.0
"""By how many seconds: two readings in one wrong instant are one."""


class Timing:
    """Time in steps; it goes back only when it is set."""

    def __init__(self, step_seconds: float | None, clock: Callable[[], float]) -> None:
        if not callable(clock):
            raise checks.reject("clock", "a function that returns seconds", clock)
        self.step_seconds = step_seconds
        self.clock = clock
        self.steps: float = 0
        """The time of the latest decision in steps; where a step is a decision, the number of decisions."""
        self.latest = -math.inf
        """The seconds of the latest decision, −∞ before the first."""
        self._doubted = (math.nan, math.nan)
        """The latest decision when the clock leapt ahead, and what it said first."""

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
            if type(seconds) is not float or not 0.0 <= seconds - self.latest < LEAP:
                seconds = self._believed(checks.real("clock", seconds, SECONDS))
        else:
            seconds = checks.real("time", time, SECONDS)
            if seconds < self.latest:
                raise checks.reject("time", f"at least {self.latest!r}, when the latest decision was made", time)
        self.latest = seconds
        self.steps = seconds / self.step_seconds
        return self.steps

    def _believed(self, seconds: float) -> float:
        """What to make of a clock that was set back (time stands still), or leapt ahead (once is no evidence)."""
        if not self._leapt(seconds):
            return max(seconds, self.latest)
        before, said = self._doubted
        if before != self.latest or not 0.0 <= seconds - said < LASTING:  # else it is in doubt already
            self._doubted = (self.latest, seconds)
            leap = f"the clock leapt from {self.latest!r} to {seconds!r} seconds"
            warnings.warn(f"{leap}, which is believed if it says so a second later", stacklevel=4)
        return self.latest

    def _leapt(self, seconds: float) -> bool:
        """Whether the clock is far ahead, and has not yet gone on from there since the latest decision."""
        before, said = self._doubted
        lasts = before == self.latest and LASTING <= seconds - said < LEAP
        return LEAP <= seconds - self.latest < math.inf and not lasts

    def reading(self, time: Any) -> float:
        """The time at which the state is looked at, in steps; never before the latest decision."""
        if self.step_seconds is None:
            return self._counted(time)
        if time is not None:
            return max(checks.real("time", time, SECONDS), self.latest) / self.step_seconds
        seconds = checks.real("clock", self.clock(), SECONDS)
        return (self.latest if self._leapt(seconds) else max(seconds, self.latest)) / self.step_seconds

    def set(self, time: Any) -> float:
        """It is this time now, in seconds, whatever it was; by how many steps that is later."""
        before, seconds = self.steps, self.settable(time)
        if self.latest > -math.inf:
            self.move_to(seconds)
        return self.steps - before

    def settable(self, time: Any) -> float:
        """A time, in seconds, that may be set."""
        if self.step_seconds is None:
            raise checks.reject("step_seconds", "given where time is set", None)
        return checks.real("time", time, SECONDS)

    @property
    def shown(self) -> float | None:
        """The time of the latest decision as a decision says it."""
        if self.step_seconds is None:
            return self.steps
        return self.latest if math.isfinite(self.latest) else None

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
            self.move_to(checks.real("latest", latest, SECONDS))
        if self.step_seconds is None:
            self.steps = entries.whole("steps", 1 << 52)
