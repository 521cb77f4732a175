"""Stores that services are tested on: a file of SQLite, and a database of PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.service.database_server import Databases, databases


@pytest.fixture(scope="session")
def all_databases() -> Iterator[Databases]:
    """Where databases come from; nothing is started yet."""
    with databases() as found:
        yield found


@pytest.fixture
def postgres(all_databases: Databases) -> str:
    """The address of a new database of PostgreSQL."""
    if why := all_databases.why_not():
        pytest.skip(why)
    return all_databases.new()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new store, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 's.db'}"
    address: str = request.getfixturevalue("postgres")
    return address
