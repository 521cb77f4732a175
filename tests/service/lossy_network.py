"""A network between a client and a service that loses answers, and brings answers and requests too late."""

import asyncio
import contextlib
import random
import re
from collections.abc import AsyncIterator

LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


async def message(reader: asyncio.StreamReader) -> bytes:
    """A request, or an answer, as a whole."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = LENGTH.search(head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


class LossyNetwork:
    """Brings requests to processes at random.

    Parameters:
        ports: of the processes.
        loss: how likely it is that something goes wrong with a request.
        late: seconds after which nobody waits any more.
    """

    def __init__(self, ports: list[int], loss: float, late: float, seed: int) -> None:
        self._ports, self._loss, self._late, self._dice = ports, loss, late, random.Random(seed)
        self.requests = 0
        self.spoiled = {"answer lost": 0, "answer late": 0, "request late": 0}
        self._open: set[asyncio.Task[None]] = set()

    async def listen(self) -> int:
        """On a port of its own."""
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._between(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _between(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", self._dice.choice(self._ports))
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                request = await message(reader)
                self.requests += 1
                fate = self._dice.choice(list(self.spoiled)) if self._dice.random() < self._loss else ""
                if fate:
                    self.spoiled[fate] += 1
                if fate == "request late":  # it is done all the same, perhaps after it was sent again
                    await asyncio.sleep(self._late)
                outer.write(request)
                answer = await message(inner)
                if fate == "answer lost":
                    break
                if fate == "answer late":
                    await asyncio.sleep(self._late)
                writer.write(answer)
                await writer.drain()
        for end in (outer, writer):
            end.close()
            with contextlib.suppress(OSError):
                await end.wait_closed()

    async def close(self) -> None:
        """When everything that is on its way has arrived."""
        self._server.close()
        await asyncio.gather(*self._open)


@contextlib.asynccontextmanager
async def lossy(ports: list[int], loss: float, late: float, seed: int) -> AsyncIterator[tuple[LossyNetwork, str]]:
    """A network, and the address at which it takes requests."""
    network = LossyNetwork(ports, loss, late, seed)
    port = await network.listen()
    try:
        yield network, f"http://127.0.0.1:{port}"
    finally:
        await network.close()
