"""What a store stands on: transactions on one connection that writes, and questions on others.

Statements are written once for all databases, with `?` in the place of values. Rows that a statement takes in are a
table `given` in it, so that any number of them is one statement. A transaction is a generator: it yields statements,
gets what they returned, and all of it counts, or nothing if it raises.
"""

import abc
import asyncio
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

from driftbandit.errors import DriftbanditError

Row = tuple[Any, ...]
Kinds = Mapping[str, str]
"""Columns: a name, and whether it is "whole", "real" or "text"."""


class Unavailable(DriftbanditError):
    """The database is away, or does not take what is written."""


class Statement(NamedTuple):
    """A statement and its values."""

    text: str
    values: tuple[Any, ...] = ()


Result = TypeVar("Result")
Taken = TypeVar("Taken", bound=Row)
Transaction = Generator[Statement, list[Row], Result]


class Database(abc.ABC):
    """One database, of which this process is one of the writers, or the only one."""

    shared: ClassVar[bool]
    """Whether several processes may write."""
    types: ClassVar[Kinds]
    """What kinds of columns are called."""
    clock: ClassVar[str]
    """The time in seconds, in a statement."""
    suffix: ClassVar[str] = ""
    """What stands behind a table that has rows in the order of its key."""

    slot: int
    """The number of this process among those that write; ids of its decisions begin with it."""

    def there(self) -> bool:
        """Whether there is a database to connect to, as far as that can be seen from here."""
        return True

    @abc.abstractmethod
    async def open(self) -> None:
        """Connect, with a slot of its own."""

    @abc.abstractmethod
    async def close(self) -> None:
        """Give everything back."""

    @abc.abstractmethod
    async def write(self, work: Transaction[Result], single: bool = False) -> Result:
        """All that it yields, or nothing; when this comes back it is on the disk. A `single` statement, or none, needs
        no beginning and no end.
        """

    @abc.abstractmethod
    async def read(self, *questions: Statement) -> list[list[Row]]:
        """Answers, all of one moment."""

    @abc.abstractmethod
    def given(self, columns: Kinds, rows: Sequence[Row]) -> Statement:
        """Rows as a table: what stands behind FROM, and values."""

    async def leads(self) -> bool:
        """Whether this process, of all that write, does what one has to do."""
        return True

    async def others(self) -> bool:
        """Whether other processes have this database open to write."""
        return False

    async def checked(self) -> list[str]:
        """What is wrong with the files of a database, by its own account."""
        return []

    @abc.abstractmethod
    async def vacuum(self) -> None:
        """Give back to the disk what is not used any more."""

    def ready(self) -> str:
        """Why nothing can be written now, or nothing."""
        return ""


def one_by_one(statements: Iterable[Statement]) -> Transaction[None]:
    """Statements of a transaction, whatever they return: a list cannot be sent anything, as a generator is."""
    generator: Any = (statement for statement in statements)
    yield from generator


def chunks(rows: Sequence[Taken], most: int) -> Iterable[Sequence[Taken]]:
    """Rows in parts that one statement can take."""
    return (rows[start : start + most] for start in range(0, len(rows), most))


async def settled(task: "asyncio.Future[Any]") -> Any:
    """The result of a task that goes on to its end even if whoever waits for it is cancelled."""
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
