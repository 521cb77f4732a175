"""A generator of load, in a process of its own: connections that are kept, each asking again when it is answered.

python -m benchmarks.service_load PORT CONNECTIONS SECONDS KIND [PORT…]

KIND is `decide`, `many` (100 decisions a request), `pair` (a decision, then its reward) or `plain` (an endpoint that
does nothing). More ports are more servers; connections are spread over them. What comes out is JSON.
"""

import asyncio
import json
import os
import re
import sys
import time
from typing import Any

WARMING = 0.5
"""Seconds at the beginning that do not count."""
MOST = 2_000_000
"""Requests, at most."""
BODIES = {"decide": b"{}", "many": b'{"count":100}', "pair": b"{}", "plain": b"{}"}
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
ID = re.compile(rb'"id":(\d+)')


def post(path: bytes, body: bytes) -> bytes:
    head = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
    return head % (path, len(body), body)


class Load:
    """What all connections do, and what became of it."""

    def __init__(self, kind: str, seconds: float) -> None:
        self.kind = kind
        path = b"/plain" if kind == "plain" else b"/v1/experiments/bench/decisions"
        self.first = post(path, BODIES[kind])
        self.begin = time.perf_counter() + WARMING
        self.end = self.begin + seconds
        self.took: list[float] = []
        self.wrong = self.requests = 0


class Connection(asyncio.Protocol):
    """Asks, waits, and asks again."""

    def __init__(self, load: Load, done: "asyncio.Future[None]") -> None:
        self.load, self.done = load, done
        self.got = b""
        self.rewarding = False

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.ask(self.load.first)

    def ask(self, request: bytes) -> None:
        self.asked = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        got = self.got = self.got + data if self.got else data
        cut = got.find(b"\r\n\r\n")
        if cut < 0:
            return
        length = LENGTH.search(got, 0, cut + 2)
        if len(got) < cut + 4 + (int(length[1]) if length else 0):
            return
        self.got = b""
        self.answered(got)

    def answered(self, got: bytes) -> None:
        load, now = self.load, time.perf_counter()
        right = got.startswith(b"HTTP/1.1 200")
        load.wrong += not right
        load.requests += 1
        if load.begin <= now < load.end:
            load.took.append(now - self.asked)
        if now >= load.end or load.requests > MOST or load.wrong > 1000:
            self.transport.close()
            return
        self.rewarding = load.kind == "pair" and right and not self.rewarding
        if self.rewarding:
            id = ID.search(got)
            assert id is not None
            self.ask(post(b"/v1/experiments/bench/rewards", b'{"id":%s,"reward":1}' % id[1]))
        else:
            self.ask(load.first)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)


async def generated(ports: list[int], connections: int, seconds: float, kind: str) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    load = Load(kind, seconds)
    ends = [loop.create_future() for _ in range(connections)]
    for place, end in enumerate(ends):
        port = ports[place % len(ports)]
        await loop.create_connection(lambda end=end: Connection(load, end), "127.0.0.1", port)
    await asyncio.wait_for(asyncio.gather(*ends), seconds + 30.0)
    took = sorted(load.took)
    return {
        "rate": len(took) / seconds, "p50_ms": 1e3 * took[len(took) // 2], "p99_ms": 1e3 * took[len(took) * 99 // 100],
        "wrong": load.wrong, "requests": load.requests,
    }  # fmt: skip


def main() -> None:
    port, connections, seconds, kind, *more = sys.argv[1:]
    if hasattr(os, "sched_setaffinity") and (core := os.environ.get("LOAD_CORE")):
        os.sched_setaffinity(0, {int(core)})
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    print(json.dumps(run(generated([int(port), *map(int, more)], int(connections), float(seconds), kind))))


if __name__ == "__main__":
    main()
