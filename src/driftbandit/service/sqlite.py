"""SQLite: a file on this machine, which one process writes and nobody else.

One connection writes and checkpoints; questions are asked on another, which may do neither (SQLite before 3.51.3 can
damage a file that two connections checkpoint). A statement takes all its rows at once, because the thread that writes
would hand Python back and forth for each.
"""

import asyncio
import contextlib
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

from driftbandit import checks
from driftbandit.errors import InvalidFile, InvalidValue
from driftbandit.service.database import Database, Kinds, Result, Row, Statement, Transaction, Unavailable, settled

CACHED = 1024
"""Statements that are kept prepared: one for each number of rows."""
CHECKPOINT = 4000
"""Pages in the write-ahead log before they go where they belong."""


class SQLite(Database):
    """A file, by its path.

    Parameters:
        path: of the file, which is made if it is not there.
        sync: "full": what is written survives a power cut; "normal": only the end of the process.
        clock: gives the time in seconds.
    """

    shared: ClassVar = False
    types: ClassVar = {"whole": "INTEGER", "real": "REAL", "text": "TEXT"}
    clock: ClassVar = "(SELECT seconds())"
    suffix: ClassVar = " WITHOUT ROWID"

    def __init__(
        self, path: str | os.PathLike[str], sync: str = "full", clock: Callable[[], float] = time.time
    ) -> None:
        self.path = Path(path)
        self.slot = 0
        self._sync = checks.one_of("sync", sync, ["full", "normal"])
        self._clock = clock
        self._lock = -1
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._threads = [ThreadPoolExecutor(1, f"driftbandit {name}") for name in ("writer", "reader")]
        """They end with the process: a store may be opened again."""

    def there(self) -> bool:
        return self.path.exists()

    async def open(self) -> None:
        if self.path.exists() and not self.path.is_file():
            raise checks.reject("store", "a file", str(self.path))
        self._lock = claimed(self.path)
        try:
            await self._in(0, self._open)
        except sqlite3.Error as error:
            await self.close()
            raise InvalidFile(f"store must be a database of SQLite, got {self.path} ({error})") from None

    def _open(self) -> None:
        new = not self.path.exists()
        if new:
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._writer = self._connected(f"file:{_quoted(self.path)}?mode=rw")
        self._writer.execute("PRAGMA journal_mode = WAL").fetchall()
        self._writer.execute(f"PRAGMA synchronous = {self._sync}")
        self._writer.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}").fetchall()
        self._reader = self._connected(f"file:{_quoted(self.path)}?mode=ro")
        self._reader.execute("PRAGMA wal_autocheckpoint = 0").fetchall()

    def _connected(self, name: str) -> sqlite3.Connection:
        found = sqlite3.connect(
            name, uri=True, isolation_level=None, check_same_thread=False, cached_statements=CACHED, timeout=5.0
        )
        found.create_function("seconds", 0, self._clock)
        found.execute("PRAGMA mmap_size = 0").fetchall()
        found.execute("PRAGMA trusted_schema = OFF").fetchall()
        return found

    async def close(self) -> None:
        for thread, connection in ((1, self._reader), (0, self._writer)):  # who writes closes last, and clears up
            if connection is not None:
                await self._in(thread, connection.close)
        self._writer = self._reader = None
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    async def _in(self, thread: int, work: Callable[..., Any], *arguments: Any) -> Any:
        return await settled(asyncio.get_running_loop().run_in_executor(self._threads[thread], work, *arguments))

    async def write(self, work: Transaction[Result], single: bool = False) -> Result:
        found: Result = await self._in(0, self._write, work)
        return found

    def _write(self, work: Transaction[Result]) -> Result:
        connection = self._writer
        if connection is None:
            raise Unavailable("the store is closed")
        try:
            connection.execute("BEGIN IMMEDIATE")
            rows: Any = None
            while True:
                try:
                    statement = work.send(rows)
                except StopIteration as end:
                    connection.execute("COMMIT")
                    found: Result = end.value
                    return found
                rows = connection.execute(*statement).fetchall()
        except BaseException as error:
            with contextlib.suppress(sqlite3.Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):  # the disk is full, or away
                raise Unavailable(f"the store does not take what is written: {error}") from None
            raise

    async def read(self, *questions: Statement) -> list[list[Row]]:
        found: list[list[Row]] = await self._in(1, self._read, questions)
        return found

    def _read(self, questions: Sequence[Statement]) -> list[list[Row]]:
        connection = self._reader
        if connection is None:
            raise Unavailable("the store is closed")
        try:
            connection.execute("BEGIN")
            try:
                return [connection.execute(*question).fetchall() for question in questions]
            finally:
                connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise Unavailable(f"the store does not answer: {error}") from None

    def given(self, columns: Kinds, rows: Sequence[Row]) -> Statement:
        names = ", ".join(f"column{place} AS {name}" for place, name in enumerate(columns, start=1))
        one = f"({', '.join('?' * len(columns))})"
        text = f"(SELECT {names} FROM (VALUES {', '.join([one] * len(rows))})) AS given"
        return Statement(text, tuple(value for row in rows for value in row))

    async def checked(self) -> list[str]:
        """What is wrong with the file, by SQLite's own account."""
        [rows] = await self.read(Statement("PRAGMA integrity_check"))
        return [row[0] for row in rows if row[0] != "ok"]

    async def vacuum(self) -> None:
        """Give back to the disk what is not used any more."""
        await self._in(0, lambda: self._writer and self._writer.execute("VACUUM"))


def claimed(path: Path) -> int:
    """A lock that says that this process, and no other, writes to the file; it goes with the process."""
    name = path.with_name(path.name + ".lock")
    try:
        file = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        said = f"store must be a file in a folder that can be written, got {path} ({error.strerror})"
        raise InvalidFile(said) from None
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        hint = "another process serves it; for several processes use PostgreSQL"
        raise InvalidValue(f"store must be a file that no other process serves, got {path} ({hint})") from None
    return file


def _quoted(path: Path) -> str:
    return str(path.resolve()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
