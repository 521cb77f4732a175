"""PostgreSQL: a database that several processes write.

A process writes on one connection. That connection holds an advisory lock, which is the process's slot: when it ends,
its last transaction is decided, and whoever takes the slot next finds all that it wrote. Rows go in sorted by their
keys, so that no two processes wait for each other.
"""

import asyncio
import contextlib
import functools
import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

from driftbandit.errors import InvalidValue, MissingExtra
from driftbandit.online.pending import GIVEN_REPLICAS
from driftbandit.service.database import Database, Kinds, Result, Row, Statement, Transaction, Unavailable, settled

SERVICE = 0x64726966
"""The first number of all advisory locks."""
LEADER = -1
"""The lock of the one process that does what one has to do."""
PATIENCE = 2.0
"""Seconds until a database that does not answer counts as away."""
READERS = 4
BY_KEY = dict.fromkeys(("enable_hashjoin", "enable_mergejoin", "enable_seqscan", "jit"), "off")
"""Every statement is about some rows of large tables, by their keys. PostgreSQL may think otherwise of tables that were
small when it last counted, and go through all of them for each batch.
"""
ARRAYS = {"whole": "bigint[]", "real": "float8[]", "text": "text[]"}


class PostgreSQL(Database):
    """A database, by its address."""

    shared: ClassVar = True
    types: ClassVar = {"whole": "BIGINT", "real": "DOUBLE PRECISION", "text": "TEXT"}
    clock: ClassVar = "extract(epoch FROM clock_timestamp())::float8"

    def __init__(self, address: str) -> None:
        self._address = address
        self.slot = -1
        self._leading = False
        self._writer: Any = None
        self._readers: Any = None

    async def open(self) -> None:
        try:
            import asyncpg
        except ImportError:
            raise MissingExtra("PostgreSQL needs asyncpg: pip install 'driftbandit[serve,postgres]'") from None
        self._leading = False
        self._errors = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
        try:
            usual: Any = {"timeout": 10.0, "command_timeout": 30.0, "server_settings": BY_KEY}
            self._writer = await asyncpg.connect(self._address, **usual)
            await _with_numbers(self._writer)
            self._readers = await asyncpg.create_pool(
                self._address, min_size=1, max_size=READERS, init=_with_numbers, **usual
            )
            await self._writer.execute("SET synchronous_commit = on")
            await self._take_slot()
        except (*self._errors, ValueError) as error:
            await self.close()
            raise Unavailable(f"store must be a PostgreSQL database that answers ({_said(error)})") from None

    async def _take_slot(self) -> None:
        for slot in range(GIVEN_REPLICAS):
            if await self._writer.fetchval("SELECT pg_try_advisory_lock($1, $2)", SERVICE, slot):
                self.slot = slot
                return
        raise InvalidValue(f"store must have at most {GIVEN_REPLICAS} processes at a time")

    async def close(self) -> None:
        for connection in (self._readers, self._writer):
            if connection is not None:
                try:
                    await asyncio.wait_for(connection.close(), PATIENCE)
                except (*self._errors, asyncio.CancelledError):
                    connection.terminate()
        self._writer = self._readers = None

    async def write(self, work: Transaction[Result], single: bool = False) -> Result:
        found: Result = await settled(asyncio.ensure_future(self._write(work, single)))
        return found

    async def _write(self, work: Transaction[Result], single: bool) -> Result:
        connection = self._writer
        if connection is None or connection.is_closed():
            raise Unavailable("the database is away")
        around: Any = contextlib.nullcontext() if single else connection.transaction()
        count = 0
        rows: Any = None
        try:
            async with asyncio.timeout(PATIENCE), around:
                while True:
                    try:
                        statement = work.send(rows)
                    except StopIteration as end:
                        found: Result = end.value
                        break
                    count += 1
                    if single and count > 1:
                        raise RuntimeError("a transaction of several statements was said to be a single one")
                    rows = await self._run(connection, statement)
            return found
        except self._errors as error:
            with contextlib.suppress(*self._errors):
                connection.terminate()  # what became of the transaction is in the log, and nowhere else
            raise Unavailable(f"the database does not take what is written: {_said(error)}") from None

    async def read(self, *questions: Statement) -> list[list[Row]]:
        if self._readers is None:
            raise Unavailable("the database is away")
        try:
            async with self._readers.acquire(timeout=PATIENCE) as connection:
                if len(questions) == 1:
                    return [await self._run(connection, questions[0])]
                async with connection.transaction(isolation="repeatable_read", readonly=True):
                    return [await self._run(connection, question) for question in questions]
        except self._errors as error:
            raise Unavailable(f"the database does not answer: {_said(error)}") from None

    async def _run(self, connection: Any, statement: Statement) -> list[Row]:
        rows: list[Row] = await connection.fetch(numbered(statement.text), *statement.values)
        return rows

    def given(self, columns: Kinds, rows: Sequence[Row]) -> Statement:
        arrays = ", ".join(f"?::{ARRAYS[kind]}" for kind in columns.values())
        lists: Any = zip(*rows, strict=True) if rows else ([] for _ in columns)
        return Statement(f"unnest({arrays}) AS given({', '.join(columns)})", tuple(map(list, lists)))

    async def leads(self) -> bool:
        if self._writer is None or self._writer.is_closed():
            return False
        try:
            if not self._leading:
                self._leading = await self._writer.fetchval("SELECT pg_try_advisory_lock($1, $2)", SERVICE, LEADER)
            return self._leading
        except self._errors as error:
            raise Unavailable(f"the database does not answer: {_said(error)}") from None

    async def others(self) -> bool:
        question = (
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = ? AND objid <> ? AND granted"
        )
        question += " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        [[[count]]] = await self.read(Statement(question, (SERVICE, self.slot)))
        return bool(count)

    async def vacuum(self) -> None:
        await self._writer.execute("VACUUM (ANALYZE)", timeout=3600.0)

    def ready(self) -> str:
        away = self._writer is None or self._writer.is_closed()
        return "the database is away" if away else ""


async def _with_numbers(connection: Any) -> None:
    """Sums of whole numbers are those of Python, as of all other databases, and not decimal ones."""
    await connection.set_type_codec("numeric", schema="pg_catalog", encoder=str, decoder=_number, format="text")


def _number(text: str) -> float:
    return int(text) if text.isdigit() else float(text)


@functools.cache
def numbered(text: str) -> str:
    """Values by their numbers, as PostgreSQL has them.

    >>> numbered("SELECT ? + ?")
    'SELECT $1 + $2'
    """
    parts = text.split("?")
    return "".join(part + place for part, place in zip(parts, [*_places(len(parts) - 1), ""], strict=True))


def _places(count: int) -> list[str]:
    return [f"${number}" for number in itertools.islice(itertools.count(1), count)]


def _said(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
