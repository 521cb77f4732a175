"""The log: a line of JSON for everything that happens to a bandit, written before it counts.

    {"event": "start", "format": 2, "part": …, "after": …, "own": …, "arms": […], "policy": "dts:discount=0.97", …}
    {"event": "decision", "id": 1, "arm": "red", "probability": 0.31, "time": 1}   "among": […] where there was a mask
    {"event": "reward", "id": 1, "reward": 1.0, "status": "accepted"}
    {"event": "expired", "id": 1}                               "reward": … if there is a default, which was learned
    {"event": "added" | "removed", "arm": "blue", "time": 7}    {"event": "time", "time": 1763254800.0}
    {"event": "void", "lines": 1}                               so many lines before this one do not count

A bandit that begins to write, or goes on in a new file, first writes a `start`: what it was made with, its arms, how
far it has come (`own`), and after how many lines of which part of the log. A saved state knows its place in the log,
so `Bandit.recover` can bring back what came after.

A write that fails is taken back; where not even that works, and where a process was killed while it wrote, the next
line says that those before it are void.
"""

import abc
import contextlib
import json
import logging
import os
import secrets
import stat
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from driftbandit import checks
from driftbandit.entries import Entries
from driftbandit.errors import InvalidFile, InvalidValue
from driftbandit.files import blocks, lines_with, reading, unusable

if sys.platform != "win32":  # nobody notices a second process there
    import fcntl

logger = logging.getLogger("driftbandit.log")
FORMAT = 2
FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
START = b'{"event": "start"'
"""How a log begins that a bandit wrote."""
VOID = b'{"event": "void"'
LONGEST = 1 << 26
"""Of a first line, how many bytes are read to see whether it is a start."""
_encoded = json.JSONEncoder(ensure_ascii=False).encode
Event = dict[str, Any]
Sink = Callable[[Event], object]
Log = str | os.PathLike[str] | Sink | None
Position = tuple[str, int] | None
"""A part of a log, and how many lines it has after its start."""


class Journal(abc.ABC):
    """Writes each event down, a start first."""

    def __init__(self, start: Callable[[], Event], position: Position) -> None:
        self._start = start
        self.position = position
        self._part = ""

    def write(self, events: list[Event]) -> None:
        """These events are about to happen."""
        if self._follow():
            self._part = ""  # also if the first write there fails
        fresh = not self._part
        part, lines = (secrets.token_hex(8), 0) if fresh or self.position is None else self.position
        self._append([self._begin(part), *events] if fresh else events)
        self._part, self.position = part, (part, lines + len(events))

    def _begin(self, part: str) -> Event:
        return {"event": "start", "format": FORMAT, "part": part, "after": self.position, **self._start()}

    @abc.abstractmethod
    def _append(self, events: list[Event]) -> None:
        """Write these down, all or none."""

    def _follow(self) -> bool:
        """Go where the log goes on, if that is somewhere else."""
        return False

    def goes_to(self, path: str | os.PathLike[str]) -> bool:
        """Whether this is the name of the file."""
        return False


class Calls(Journal):
    """Hands each event to a function."""

    def __init__(self, sink: Sink, start: Callable[[], Event], position: Position) -> None:
        super().__init__(start, position)
        self._sink = sink

    def _append(self, events: list[Event]) -> None:
        for event in events:
            self._sink(event)


class JsonLines(Journal):
    """Appends each event to a file as a line. One process, and in it one journal, writes to a file."""

    writers: ClassVar[weakref.WeakValueDictionary[tuple[int, int], "JsonLines"]] = weakref.WeakValueDictionary()
    """Of this process, by file."""

    def __init__(
        self, path: str | os.PathLike[str], start: Callable[[], Event], position: Position, durable: bool
    ) -> None:
        super().__init__(start, position)
        self._path = os.path.abspath(checked_path(path))
        self._durable = durable
        self._file, self._key = -1, (-1, -1)
        self._open()

    def _open(self) -> None:
        """Write to the file that has the name now."""
        try:
            file = os.open(self._path, FLAGS, 0o666)
        except OSError as error:
            raise unusable("log", "a file that can be written, in a folder that exists", self._path, error) from None
        try:
            found = os.fstat(file)
            key, regular = (found.st_dev, found.st_ino), stat.S_ISREG(found.st_mode)
            whole = self._claimed(file, key, found.st_size) if regular else 0
        except BaseException:
            os.close(file)
            raise
        self.leave("")
        self._file, self._key, self._regular, self._whole = file, key, regular, whole
        self._spoiled = regular and whole < found.st_size
        if regular:
            self.writers[key] = self
        logger.info("log %s: %s", self._path, "goes on" if whole else "begins")
        if self._spoiled:
            logger.warning("log %s: what stands after its last whole line does not count", self._path)

    def _claimed(self, file: int, key: tuple[int, int], size: int) -> int:
        """Make sure that a file is a log that this bandit may go on with; where its last whole line ends."""
        other = self.writers.get(key)
        if other is None:
            self._lock(file)
        if size and not begins(_first_line(file)):
            raise checks.reject("log", "the log of a bandit or a new file, not another one", self._path)
        whole = self._end_of_events(file, size)
        if whole and self.position is None:
            hint = "it is the log of a bandit: Bandit.recover goes on with it"
            raise InvalidValue(f"log must be a new file, got {checks.shown(self._path)} ({hint})")
        if other is not None:
            other.leave("another bandit writes to it now")
            self._lock(file)
        return whole

    def _lock(self, file: int) -> None:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise checks.reject("log", "a file that no other process writes to", self._path) from None
            except OSError:  # a file system without locks
                pass

    def _end_of_events(self, file: int, size: int) -> int:
        """Where the last line ends that is whole."""
        begin, reach = size, 1 << 16
        while begin > 0:
            begin, reach = max(0, size - reach), 4 * reach
            lines = _read(file, begin, size).splitlines(keepends=True)
            end = size
            for line in reversed(lines[1:] if begin else lines):
                if parsed(line) is not None:
                    return end
                end -= len(line)
        return 0

    def _follow(self) -> bool:
        if self._file < 0:
            raise InvalidValue(f"log must be a file of this bandit's own, got {self._path} ({self._left})")
        if not self._regular:
            return False
        try:
            found = os.stat(self._path)
            moved = (found.st_dev, found.st_ino) != self._key or found.st_size < self._whole  # or was emptied
        except FileNotFoundError:
            moved = True
        if moved:
            self._open()
        return moved

    def _append(self, events: list[Event]) -> None:
        text = "".join(_encoded(event) + "\n" for event in events)
        end = os.fstat(self._file).st_size if self._spoiled else self._whole
        data = (self._void(end) if self._spoiled else b"") + text.encode()
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(self._file, left) :]
            if self._durable:
                os.fsync(self._file)
        except BaseException as error:  # Ctrl-C too
            self._spoiled = self._regular
            with contextlib.suppress(OSError):
                if self._regular and os.fstat(self._file).st_size > end:
                    os.ftruncate(self._file, end)
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror, self._path) from None
            raise
        self._whole = end + len(data)
        self._spoiled = False

    def _void(self, end: int) -> bytes:
        """What makes good that something stands behind the last whole line."""
        rest = _read(self._file, self._whole, end)
        if not rest:
            return b""
        torn = not rest.endswith(b"\n")
        event = _encoded({"event": "void", "lines": rest.count(b"\n") + torn})
        return b"\n" * torn + event.encode() + b"\n"

    def goes_to(self, path: str | os.PathLike[str]) -> bool:
        return os.path.realpath(path) == os.path.realpath(self._path)

    def leave(self, why: str) -> None:
        """Close the file."""
        self._left = why
        if self._file >= 0:
            if self.writers.get(self._key) is self:
                del self.writers[self._key]
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.leave("")

    @classmethod
    def leave_to_parent(cls) -> None:
        """In a forked process: the files are the parent's."""
        for journal in list(cls.writers.values()):
            journal.leave("the process that opened it was forked: give each worker a bandit and a log of its own")
        cls.writers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=JsonLines.leave_to_parent)


def opened(log: Log, start: Callable[[], Event], position: Position, durable: bool) -> Journal | None:
    """The journal that an argument `log` asks for."""
    checks.flag("durable", durable)
    if log is None or not isinstance(log, str | os.PathLike):
        if durable:
            raise checks.reject("durable", "False where the log is not a file", durable)
        if log is not None and not callable(log):
            raise checks.reject("log", "a path or a function", log)
        return None if log is None else Calls(log, start, position)
    return JsonLines(log, start, position, durable)


def checked_path(path: Any) -> str:
    """The name of a file of a log."""
    given = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if not isinstance(given, str) or not given or "\0" in given:
        raise checks.reject("log", "a path", path)
    return given


def position_of(value: Any) -> Position:
    """A place in a log, as a file says it."""
    if value is None:
        return None
    if not isinstance(value, list | tuple) or len(value) != 2 or not isinstance(value[0], str):
        raise checks.reject("log", "null or the name of a part and a number of lines", value)
    return value[0], checks.whole("log", value[1], 0, 1 << 53)


# Reading


class Beginning(NamedTuple):
    """What a start says of its place in a log."""

    part: str
    before: str | None
    """The part that it comes after."""
    done: int
    """How many decisions and rewards there were."""


def in_order(paths: Iterable[Path]) -> list[Path]:
    """Files of a log, the oldest first, as they say themselves; one that says nothing yet is the newest.

    Each says after which part of the log it comes. Where files between others are missing, how much the bandit had
    done says which come first. The last file given need not be there: it was renamed, and nothing came since.
    """
    files = list(dict.fromkeys(paths))
    missing = [path for path in files if not os.path.exists(path)]
    if len(files) == 1 or len(missing) == len(files):
        return files[-1:]
    if missing and missing != files[-1:]:
        raise InvalidFile(f"log must be files that are there, got {checks.shown(str(missing[0]))} (there is none)")
    starts = {path: [] if path in missing else _starts(path) for path in files}
    empty = [path for path in files if not starts[path]]
    if len(empty) > 1:
        raise checks.reject("log", "files of which the newest may be empty, and no other", str(empty[0]))
    holder = {start.part: path for path in files for start in starts[path]}
    before = {path: holder.get(found[0].before or "") for path, found in starts.items() if found}
    first = [path for path in before if before[path] in (None, path)]
    ordered: dict[Path, None] = {}
    for path in sorted(first, key=lambda path: starts[path][0].done):
        following: Path | None = path
        while following is not None:
            ordered[following] = None
            following = next((other for other in before if other not in ordered and before[other] in ordered), None)
    if len(ordered) < len(before):
        raise checks.reject("log", "files that follow one another", [str(path) for path in before])
    return [*ordered, *empty]


def _starts(path: Path) -> list[Beginning]:
    """The starts in a file."""
    found, void = [], void_lines(path)
    for number, line in lines_with(blocks("log", path), b'"start"'):
        event = parsed(line) if number not in void else None
        if event is not None and event["event"] == "start":
            try:
                found.append(_beginning(Entries(event)))
            except InvalidValue as error:
                raise InvalidValue(f"{path}, line {number}: {error}") from None
    return found


def _beginning(start: Entries) -> Beginning:
    after = position_of(start.nullable("after"))
    done = sum(row.whole("own", place, 0) for row in start.rows("own", 3) for place in (1, 2))
    return Beginning(start.text("part"), None if after is None else after[0], done)


def events_in(paths: Iterable[Path]) -> Iterator[tuple[str, Event]]:
    """What files of a log say, in order: where each line stands, and the event."""
    for path in paths:
        void = void_lines(path)
        with reading("log", path) as file:
            lines = enumerate(file, start=1)
            for number, line in lines:
                if number in void:
                    continue
                event = parsed(line)
                if number == 1 and not begins(line):
                    raise checks.reject(str(path), "the log of a bandit, which begins with a start", _text(line))
                if event is not None:
                    yield f"{path}, line {number}", event
                elif any(parsed(later) for _, later in lines):
                    raise refused(path, number, line)
                else:
                    said = f"{path}: what stands from line {number} on is cut off and does not count"
                    warnings.warn(said, stacklevel=4)  # who called `recover`


def begins(line: bytes) -> bool:
    """Whether a log may begin with this line: a start, or what is left of one that was cut off."""
    event = parsed(line)
    if event is not None:
        return bool(event["event"] == "start")
    return line.startswith(START) or (line != b"\n" and START.startswith(line.removesuffix(b"\n")))


def is_log(path: str | os.PathLike[str]) -> bool:
    """Whether a file that can be read begins as a log does."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(len(START)) == START
    return False


def _first_line(file: int) -> bytes:
    with open(file, "rb", closefd=False) as reading:
        reading.seek(0)
        return reading.readline(LONGEST)


def _read(file: int, begin: int, end: int) -> bytes:
    os.lseek(file, begin, os.SEEK_SET)  # writes go to the end all the same
    return os.read(file, max(0, end - begin))


def void_lines(path: Path) -> set[int]:
    """The numbers of lines that do not count, and of those that say so."""
    void: set[int] = set()
    for number, line in lines_with(blocks("log", path), VOID):
        event = parsed(line) if line.startswith(VOID) else None
        if event is not None:
            lines = event.get("lines")
            if type(lines) is not int or not 0 < lines < number:
                raise refused(path, number, line)
            void |= {number, *range(number - lines, number)}
    return void


def refused(path: Path, number: int, line: bytes) -> InvalidValue:
    """The error that a line raises which is none of a log."""
    return checks.reject(f"{path}, line {number}", "an event of a bandit's log", _text(line))


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\n")


def parsed(line: bytes) -> Event | None:
    """The event that a whole line says, or None."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    whole = line.endswith(b"\n") and isinstance(event, dict) and isinstance(event.get("event"), str)
    return event if whole else None
