"""Logs that bandits wrote: files of lines, or the events that a function was called with.

Where there are many lines, those that look as a bandit writes them are read by compiled code (`scanning`); all others
are read as JSON.
"""

import abc
import contextlib
import io
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.engine.cpu.block import Reals
from driftbandit.engine.progress import Progress
from driftbandit.files import blocks
from driftbandit.logs.chunk import Chunk
from driftbandit.logs.events import Reading
from driftbandit.logs.source import Source
from driftbandit.online.journal import Event, begins, in_order, parsed, refused, void_lines

BLOCK = 1 << 22
"""Bytes that are read at once. Below so many in all, no compiler is waited for: Python reads them in a second."""
COMPRESSED = 8
"""How many times larger a compressed log is, about."""


class Written(Source):
    """What bandits wrote."""

    def __init__(self, missing: float | None, first: Sequence[Event]) -> None:
        super().__init__(missing)
        self._names: Sequence[Any] | None = () if first and first[0]["event"] == "start" else None
        """The arms, as far as they are known before; None where they are to be found, as nothing tells them."""
        self._waits = any(event.get("wait") is not None for event in first)
        self._limits: Reals | None = None
        """Of decisions that are too young to count, once they are found."""
        self._where = ""
        """The files, for whoever hears that there is nothing in them."""

    @abc.abstractmethod
    def _read(self, reading: Reading, progress: bool | None) -> Iterator[Chunk]:
        """All that is written."""

    def _read_before(self, reading: Reading, progress: bool | None) -> Reading:
        """All of it for what is to be known before anything counts."""
        for _ in self._read(reading, progress):
            pass
        return reading

    def _found_limits(self, progress: bool | None) -> Reals:
        if self._limits is None:
            self._limits = self._read_before(Reading(self._names, self.missing), progress).limits()
        return self._limits

    def chunks(self, progress: bool | None = None) -> Iterator[Chunk]:
        """All rows, in the order of the log."""
        if self._names is None:  # the arms are those that are chosen anywhere
            self._names = tuple(self._read_before(Reading(None, self.missing), progress).arms)
        if self._waits:
            self._found_limits(progress)
        reading = Reading(self._names, self.missing, partial(self._found_limits, False))
        yield from self._read(reading, progress)
        yield from reading.finish()
        reading.facts.check(self.filled, self._where)
        self.facts = reading.facts


class Lines(Written):
    """Files that bandits wrote."""

    def __init__(self, paths: Sequence[Path], missing: float | None) -> None:
        first = {path: first_event(path) for path in paths}
        silent = [path for path, event in first.items() if event is None]
        told = [path for path, event in first.items() if event is not None and event["event"] == "start"]
        if told and len(told) + len(silent) == len(first) > 1:
            self._paths = [*in_order(told), *silent]
        else:
            self._paths = list(first)
        super().__init__(missing, [event for path in self._paths if (event := first[path]) is not None])
        self._where = str(self._paths[0]) if len(self._paths) == 1 else f"{len(self._paths)} files"
        sizes = {path: os.stat(path).st_size for path in self._paths}
        packed = {path for path in self._paths if path.suffix in (".gz", ".zst")}
        self._size = sum(size * (COMPRESSED if path in packed else 1) for path, size in sizes.items())
        self._scans = self._size > BLOCK
        self._most = {path: math.inf if path in packed else size for path, size in sizes.items()}
        """Of each file, what was there at first: bandits may go on writing, and every pass must find the same."""

    def _read(self, reading: Reading, progress: bool | None) -> Iterator[Chunk]:
        with Progress("Reading the log", self._size, progress) as bar:
            for path in self._paths:
                reading.begin_file()
                yield from self._file(path, reading, bar)

    def _file(self, path: Path, reading: Reading, bar: Progress) -> Iterator[Chunk]:
        void, number, rest, odd, more = void_lines(path), 0, b"", None, 0
        for block in blocks("log", path, BLOCK, self._most[path]):
            bar.advance(len(block))
            text, newline, rest = (rest + block).rpartition(b"\n")
            text += newline
            at, letters = 0, np.frombuffer(text, np.uint8)
            while at < len(text):
                if self._scans and not void and odd is None:
                    at, lines = reading.scan(letters, at)
                    number += lines
                    yield from reading.taken()
                if at < len(text):
                    end = text.index(b"\n", at) + 1
                    line, at, number = text[at:end], end, number + 1
                    if number in void:
                        continue
                    event = parsed(line)
                    if event is None:
                        more += odd is not None
                        odd = odd or (number, line)
                    elif odd is not None:  # what is cut off stands at the end of a file, and nowhere else
                        raise refused(path, *odd)
                    else:
                        reading.take(event, f"{path}, line {number}")
                        yield from reading.taken()
        if rest or odd is not None:
            first, line = odd or (number + 1, rest[:200])
            if first == 1 and not begins(line):
                raise refused(path, first, line)
            if (more := more + bool(rest and odd)) > 0:
                said = (
                    f"the last {more + 1} lines, from line {first} on, are no events of a bandit's log and do not count"
                )
            else:
                said = f"what stands from line {first} on is cut off and does not count"
            reading.facts.note(f"{path}: {said}")


class Events(Written):
    """Events as dictionaries, with which a bandit has called a function."""

    def __init__(self, events: Iterable[Any], missing: float | None) -> None:
        self._events = list(events)  # more may come
        for number, event in enumerate(self._events, start=1):
            if not isinstance(event, Mapping) or not isinstance(event.get("event"), str):
                raise checks.reject(f"event {number}", "a dictionary such as a bandit gives to its log", event)
        super().__init__(missing, self._events[:1])

    def _read(self, reading: Reading, progress: bool | None) -> Iterator[Chunk]:
        for number, event in enumerate(self._events, start=1):
            reading.take(dict(event), f"event {number}")
            yield from reading.taken()


def first_event(path: Path) -> Event | None:
    """The first event in a file; None where there is none yet."""
    with contextlib.closing(blocks("log", path, BLOCK)) as pieces:
        text = next(pieces, b"")
        while b"\n" not in text and (more := next(pieces, b"")):  # a start with very many arms
            text += more
        events = map(parsed, io.BytesIO(text))
        return next((event for event in events if event and event["event"] != "void"), None)
