"""Where the rows of a log come from."""

import abc
import math
from collections.abc import Iterator

from driftbandit import checks
from driftbandit.logs.account import Facts
from driftbandit.logs.chunk import Chunk


class Source(abc.ABC):
    """Rows of a log, which can be gone through more than once."""

    def __init__(self, missing: float | None) -> None:
        self.facts = Facts()
        """Complete after the first pass."""
        self.filled = missing is not None
        self.missing = math.nan if missing is None else checks.real("missing", missing, "[0, 1]")
        """What decisions count as that never got a reward."""

    @abc.abstractmethod
    def chunks(self, progress: bool | None = None) -> Iterator[Chunk]:
        """All rows, in the order of the log; with a bar, or on a terminal, where it takes longer than a moment."""
