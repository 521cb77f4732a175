"""Where the time of a report went."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator


class Times:
    """Seconds since the start, by what they went into."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.spent: dict[str, float] = defaultdict(float)
        self.compiling = 0.0
        """In so many of the seconds of playing, kernels were compiled."""

    @contextlib.contextmanager
    def of(self, what: str) -> Iterator[None]:
        """Count the seconds of a block."""
        began = time.monotonic()
        yield
        self.spent[what] += time.monotonic() - began

    @property
    def total(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def __str__(self) -> str:
        """All of them, in tenths of a second."""
        told = {
            f"playing ({self.compiling:.1f} of them compiling)" if k == "playing" else k: v
            for k, v in self.spent.items()
        }
        told["the rest"] = self.total - sum(self.spent.values())
        return ", ".join(f"{seconds:.1f} {what}" for what, seconds in told.items())
