"""How a bandit is kept: as plain values, in files, and merged from replicas."""

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self

from driftbandit.online import files
from driftbandit.online.journal import Log

if TYPE_CHECKING:
    from driftbandit.online.bandit import Bandit

Path = str | os.PathLike[str]


class Stored:
    """The part of `Bandit` that writes and reads its state."""

    _saving: threading.Lock

    def state(self: "Bandit") -> dict[str, Any]:  # type: ignore[misc]  # a part of Bandit, in a file of its own
        """Everything, as JSON can hold it."""
        from driftbandit.online.state import written

        with self._lock:
            return written(self)

    @classmethod
    def from_state(
        cls,
        state: Any,
        *,
        replica: int | None = None,
        clock: Callable[[], float] = time.time,
        log: Log = None,
        source: str = "state",
    ) -> Self:
        """Go on where `state()` was taken. With another `replica`, ids and random numbers are new ones."""
        from driftbandit.online.state import restored

        return restored(cls, state, replica, clock, log, source)  # type: ignore[type-var]  # as above

    def save(self, path: Path) -> None:
        """Write the state to a file. A kill at any moment leaves the old file or the new one."""
        with self._saving:  # or an older state could replace a newer one
            files.write_json(path, self.state())  # type: ignore[misc]  # as above

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        replica: int | None = None,
        clock: Callable[[], float] = time.time,
        log: Log = None,
    ) -> Self:
        """Go on from a file; the arguments are those of `from_state`."""
        state = files.read_json(path)
        return cls.from_state(state, replica=replica, clock=clock, log=log, source=os.fspath(path))

    @classmethod
    def merge(cls, bandits: Iterable["Bandit"], *, replica: int | None = None, log: Log = None) -> Self:
        """One bandit that knows what all of these know, and answers for their pending decisions."""
        from driftbandit.online.merging import merged

        return merged(cls, list(bandits), replica, log)  # type: ignore[type-var]  # as above
