"""Processes of a service that are killed, and what they know."""

import asyncio
import contextlib
import json
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.service.noted_load import ARMS, PAUSE, ask
from tests.service.serving_process import Process

COMMAND = [sys.executable, str(Path(__file__).with_name("watched.py"))]
PATIENCE = 90.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
    return port


class Fleet:
    """So many processes of one store, each on its port, whoever is killed."""

    def __init__(self, store: str, count: int, folder: Path) -> None:
        self._store, self._folder = store, folder
        self.ports = [free_port() for _ in range(count)]
        self._processes: dict[int, Process] = {}
        self.slots: set[int] = set()
        """That processes had which told what they know."""

    async def start(self, port: int) -> None:
        """A process, which takes its time until it answers."""
        self._processes[port] = await asyncio.to_thread(
            Process, "--port", str(port), folder=self._folder, command=COMMAND, DRIFTBANDIT_STORE=self._store,
            KNOWN=str(self._known(port)),
        )  # fmt: skip

    def kill(self, port: int) -> None:
        self._processes[port].end(signal.SIGKILL)

    def end(self) -> None:
        """All that run, as an operator does; each must end well."""
        for process in self._processes.values():
            if process.process.poll() is None:
                assert process.end() == 0, process.said

    def end_now(self) -> None:
        """Whatever they do."""
        for process in self._processes.values():
            if process.process.poll() is None:
                process.end(signal.SIGKILL)

    async def ready(self) -> None:
        """All of them answer."""
        end = time.monotonic() + PATIENCE
        for port, process in self._processes.items():
            while not await healthy(port):
                assert process.process.poll() is None, process.said
                assert time.monotonic() < end, process.said
                await asyncio.sleep(PAUSE)

    async def create(self, experiments: dict[str, dict[str, Any]]) -> None:
        for name, settings in experiments.items():
            answer = await ask(self.ports[0], "/v1/experiments", {"name": name, "arms": ARMS, "seed": 3} | settings)
            assert answer is not None, name
            assert answer[0] == 201, answer
        await asyncio.sleep(0.5)  # until the others know

    def _known(self, port: int) -> Path:
        return self._folder / f"known-{port}.json"

    async def knows(self, port: int) -> dict[str, Any]:
        """What a process knows now."""
        place = self._known(port)
        place.unlink(missing_ok=True)
        self._processes[port].process.send_signal(signal.SIGUSR1)
        async with asyncio.timeout(PATIENCE):
            while not place.exists():
                await asyncio.sleep(PAUSE)
        found: dict[str, Any] = json.loads(place.read_text())
        self.slots.add(found["slot"])
        return found

    async def agree(self) -> list[dict[str, Any]]:
        """What each of them knows when all have read the log to its end."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = [await self.knows(port) for port in self.ports]
                if all(one["vector"] == found[0]["vector"] for one in found):
                    return found
                await asyncio.sleep(PAUSE)


async def healthy(port: int) -> bool:
    """Whether a process says that it is ready."""
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        said = await reader.read()
        writer.close()
        await writer.wait_closed()
        return said.startswith(b"HTTP/1.1 200")
    return False


@contextlib.asynccontextmanager
async def fleet(store: str, count: int, folder: Path) -> AsyncIterator[Fleet]:
    """Processes that run, and are ended with the test."""
    found = Fleet(store, count, folder)
    try:
        await asyncio.gather(*(found.start(port) for port in found.ports))
        await found.ready()
        yield found
    finally:
        found.end_now()
