"""The decision service: what it stores a second, and how soon. A service has one core to itself; the load, and the
database, have the other. TMPDIR says on which disk.
"""

import asyncio
import contextlib
import http.client
import json
import math
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from tests.service.database_server import MISSING, DatabaseServer, binaries, told

from driftbandit.service.database import Transaction
from driftbandit.service.process import database_of
from driftbandit.service.rows import GIVEN, DecisionRow
from driftbandit.service.store import Store

ROOT = Path(__file__).parents[1]
SECONDS = 4.0
SETTLED = 6.0
"""Seconds after the start, when what is compiled is compiled, and the collector has been told."""
CONNECTIONS = (1, 32, 128)
SERVE = "from driftbandit.cli import main; main()"
BENCH = {"name": "bench", "arms": ["red", "green", "blue"], "policy": "dots:discount=0.9998", "seed": 1}
NEWS = 100
MANY = 1_000_000
PART = 20_000
ROW = b"x" * 120 + b"\n"


# Where things run


def cores() -> tuple[int | None, int | None]:
    """One for the service, and one for everything else; or nothing where processes cannot be held to a core."""
    if not hasattr(os, "sched_getaffinity"):
        return None, None
    found = sorted(os.sched_getaffinity(0))
    return found[0], found[-1]


FIRST, LAST = cores()


@contextlib.contextmanager
def beside() -> Iterator[None]:
    """What is started here runs on the core that is not the service's."""
    if LAST is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {LAST})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port


class Running(NamedTuple):
    """A server that answers."""

    port: int
    pid: int
    seconds: float
    """That it took until it did."""

    def worked(self) -> float:
        """Seconds of processor time that it has had; none where nobody tells."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return math.nan
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def process(port: int, core: int | None, *command: str, **more: str) -> Iterator[Running]:
    """A server, once it answers."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])} | more
    began = time.perf_counter()
    running = subprocess.Popen([sys.executable, *command], env=environment, stderr=subprocess.DEVNULL)
    if core is not None:
        os.sched_setaffinity(running.pid, {core})
    try:
        while asked(port, "GET", "/readyz")[0] not in (200, 404):
            if running.poll() is not None or time.perf_counter() - began > 120.0:
                raise RuntimeError(f"{' '.join(command)} did not start")
            time.sleep(0.02)
        yield Running(port, running.pid, time.perf_counter() - began)
    finally:
        running.terminate()
        running.wait(30.0)


@contextlib.contextmanager
def service(address: str, core: int | None = FIRST, settled: float = SETTLED) -> Iterator[Running]:
    """A service on a store."""
    port = free_port()
    with process(port, core, "-c", SERVE, "serve", "--port", str(port), DRIFTBANDIT_STORE=address) as running:
        asked(port, "POST", "/v1/experiments", BENCH)
        time.sleep(settled)
        yield running


def asked(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """A status, and an answer; none if nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10.0)
    try:
        sent = None if body is None else json.dumps(body)
        connection.request(method, path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = answer.read()
        return answer.status, json.loads(said) if said.startswith(b"{") else None
    except OSError:
        return 0, None
    finally:
        connection.close()


@contextlib.contextmanager
def databases() -> Iterator[dict[str, str]]:
    """An empty store of each kind, by its address."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"SQLite": f"sqlite:///{folder}/bench.db"}
        place = binaries()
        if place is None:
            print(MISSING)
            yield found
            return
        with beside():
            server = DatabaseServer(place)
        try:
            server.synced()
            asyncio.run(told(server.address(), "CREATE DATABASE bench"))
            yield found | {"PostgreSQL": server.address("bench")}
        finally:
            server.end()


# Measuring


def generated(servers: Sequence[Running], connections: int, kind: str) -> dict[str, Any]:
    """What a load on servers gets, and how much of the time of their cores a request costs."""
    more = {} if LAST is None else {"LOAD_CORE": str(LAST)}
    first, *others = [str(server.port) for server in servers]
    command = [sys.executable, "-m", "benchmarks.service_load", first, str(connections), str(SECONDS), kind, *others]
    before = sum(server.worked() for server in servers)
    done = subprocess.run(command, env=os.environ | more, cwd=ROOT, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    if found.pop("wrong"):
        raise RuntimeError("some requests were not answered 200")
    worked = sum(server.worked() for server in servers) - before
    return found | {"processor_us": 1e6 * worked / found.pop("requests")}


def synced(count: int = 300) -> list[float]:
    """Seconds of appending a row to a file and having it on the disk."""
    took = []
    with tempfile.NamedTemporaryFile() as file:
        for _ in range(count):
            began = time.perf_counter()
            os.write(file.fileno(), ROW)
            getattr(os, "fdatasync", os.fsync)(file.fileno())
            took.append(time.perf_counter() - began)
    return sorted(took)


def disk() -> dict[str, Any]:
    """The machine's fsync time, which every figure of a store depends on."""
    took = synced()
    return {
        "what": "append and fdatasync", "rate": len(took) / sum(took), "p50_ms": 1e3 * median(took),
        "p99_ms": 1e3 * took[len(took) * 99 // 100],
    }  # fmt: skip


def rates() -> list[dict[str, Any]]:
    """Requests a second of one process on one core, and as ratios to what does nothing at as many connections."""
    rows, plain = [disk()], {}
    port = free_port()
    with process(port, FIRST, "-m", "benchmarks.service_plain", str(port)) as nothing:
        for connections in CONNECTIONS:
            found = generated([nothing], connections, "plain")
            plain[connections] = found["rate"]
            rows.append({"what": "Starlette, nothing", "connections": connections, **found})
    with databases() as stores:
        for name, address in stores.items():
            with service(address) as served:
                for kind, connections in [*(("decide", count) for count in CONNECTIONS), ("many", 32), ("pair", 32)]:
                    found = generated([served], connections, kind)
                    decisions = found["rate"] * {"decide": 1.0, "many": 100.0, "pair": 0.5}[kind]
                    row = {"what": f"{name}, {WORDS[kind]}", "connections": connections, **found}
                    rows.append(row | {"decisions": decisions, "to_plain": found["rate"] / plain[connections]})
        rows.append(disk())
    return rows


WORDS = {"decide": "a decision", "many": "100 decisions", "pair": "a decision, then its reward"}


def two_processes() -> list[dict[str, Any]]:
    """Two processes on one PostgreSQL, 128 connections; on two cores the database and the load share one of theirs."""
    with databases() as stores:
        if "PostgreSQL" not in stores:
            return []
        address, rows = stores["PostgreSQL"], []
        with service(address, FIRST, 0.0) as first, service(address, LAST) as second:
            for servers in ([first], [first, second]):
                rows.append({"processes": len(servers), "connections": 128, **generated(servers, 128, "decide")})
            rows.append({"processes": 2, "what": "until a reward is learned", **learned(first.port, second.port)})
    return rows


def learned(first: int, second: int) -> dict[str, Any]:
    """How long it takes until a process has learned a reward that another one was told."""
    news = {"name": "news", "arms": ["red", "green"], "policy": "ts"}
    asked(first, "POST", "/v1/experiments", news)
    time.sleep(1.0)
    took, dice = [], random.Random(1)
    for number in range(1, NEWS + 1):
        _, made = asked(first, "POST", "/v1/experiments/news/decisions", {})
        time.sleep(dice.random() * 0.2)
        asked(first, "POST", "/v1/experiments/news/rewards", {"id": made["id"], "reward": 1})
        began = time.perf_counter()
        while True:
            _, view = asked(second, "GET", "/v1/experiments/news")
            if round(sum(arm["effective_size"] for arm in view["arms"])) == number:
                break
        took.append(time.perf_counter() - began)
    took.sort()
    return {"p50_ms": 1e3 * median(took), "p99_ms": 1e3 * took[len(took) * 99 // 100]}


def starts() -> list[dict[str, Any]]:
    """Seconds until a service is ready whose log has a million rewards and no snapshot; and bytes of each."""
    rows = []
    with databases() as stores:
        for name, address in stores.items():
            port = free_port()
            command = ["-c", SERVE, "serve", "--port", str(port)]
            with process(port, FIRST, *command, DRIFTBANDIT_STORE=address) as empty:
                asked(port, "POST", "/v1/experiments", BENCH)
            before = asyncio.run(size(name, address))
            asyncio.run(filled(address))
            after = asyncio.run(size(name, address))
            with process(port, FIRST, *command, DRIFTBANDIT_STORE=address) as full:
                pass
            rows.append({
                "store": name, "rewards": MANY, "seconds": full.seconds, "empty": empty.seconds,
                "bytes_of_a_decision_with_its_reward": (after - before) / MANY,
            })  # fmt: skip
    return rows


async def filled(address: str) -> None:
    """A million decisions with their rewards, as a service would have stored them, of the last hour."""
    store = Store(database_of(address, "normal"))
    await store.open()
    number, now, dice = await store.number_of("bench"), time.time(), random.Random(1)

    def part(first: int) -> Transaction[None]:
        span = range(first + 1, first + PART + 1)
        times = [now - 3600.0 * (1.0 - id / MANY) for id in span]
        yield from store.decisions_put([
            DecisionRow(number, id, dice.randrange(3), at, at, chance, 3, chance, None, at)
            for id, at, chance in zip(span, times, (dice.random() for _ in span), strict=True)
        ])  # fmt: skip
        rewards = [
            (number, id, float(dice.random() < 0.5), at + 1.0, GIVEN, 0, id, id)
            for id, at in zip(span, times, strict=True)
        ]
        for start in range(0, PART, 1000):
            yield store.rewards_kept(rewards[start : start + 1000])

    await store.take_slot()
    for first in range(0, MANY, PART):
        await store.database.write(part(first))
    await store.database.write(store.sums_put([], {number: MANY}, MANY))
    await store.database.vacuum()
    await store.close()


async def size(name: str, address: str) -> int:
    """Bytes of the tables with what is looked up by."""
    if name == "SQLite":
        return Path(address.removeprefix("sqlite:///")).stat().st_size
    tables = "SELECT oid FROM pg_class WHERE relname IN ('decision', 'reward')"
    [row] = await told(address, f"SELECT sum(pg_total_relation_size(oid))::bigint AS size FROM ({tables}) AS tables")
    return int(row["size"])
