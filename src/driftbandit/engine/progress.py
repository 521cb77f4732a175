"""Progress of long work: a bar with the time left, on a terminal only."""

import sys
import time
from types import TracebackType
from typing import Any, Self

PATIENCE = 1.0
"""Seconds before a bar appears: short work needs none."""


class Progress:
    """Counts finished work; shown on standard error when that is a terminal, or when asked for."""

    def __init__(self, title: str, total: int, shown: bool | None) -> None:
        self.title = title
        self.total = total
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.finished = 0
        self.began = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def advance(self, amount: int) -> None:
        """Some more is done. Called by the main thread only."""
        self.finished += amount
        if not self.shown:
            return
        if self.bar is None and time.monotonic() - self.began >= PATIENCE:
            self.bar = self._start()
        if self.bar is not None:
            told = self.title if self.finished else f"{self.title} (compiling, once)"
            self.bar.update(self.task, completed=self.finished, description=told)

    def _start(self) -> Any:
        from rich import progress
        from rich.console import Console

        bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = bar.add_task(self.title, total=self.total)
        bar.start()
        return bar
