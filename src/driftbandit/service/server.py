"""`driftbandit serve`: the application behind a server of HTTP, until a signal ends it."""

import asyncio
import logging
import signal
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from driftbandit.errors import InvalidValue
from driftbandit.service.app import Application
from driftbandit.service.options import Options
from driftbandit.service.process import Service

HEAD = 10.0
"""Seconds in which the head of a request must have come."""
UNTAKEN = 15.0
"""Seconds in which somebody must take some of what waits to be sent to them."""
GRACE = 8
"""Seconds in which requests that are there are answered when the service ends."""
LONGEST_HEAD = 1 << 16
"""Bytes that the head of a request may have."""
BACKLOG = 2048
log = logging.getLogger("driftbandit.service")


class Protocol(HttpToolsProtocol):
    """A connection, which is closed if the head of a request is too long or takes too long, or what was answered is not
    taken.

    While nothing is being answered, whatever comes must be the head of a request soon: neither the rest of a body that
    was refused nor empty lines keep a connection.
    """

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._untaken = 0
        self._unfinished = 0
        """Bytes that came since a head began."""
        self._expected: asyncio.TimerHandle | None = None
        self._expect()
        self._watch()

    def data_received(self, data: bytes) -> None:
        self._unfinished += len(data)
        super().data_received(data)
        if self._expected is None and (self.cycle is None or self.cycle.response_complete):
            self._expect()
        if self._unfinished > LONGEST_HEAD and self._expected is not None:
            self._give_up()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect()
        self._length = self._unfinished = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        self._length += len(name) + len(value)
        if self._length > LONGEST_HEAD:
            raise ValueError("the head of a request is too long")  # answered with 400
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._expect_nothing()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_nothing()
        self._watched.cancel()
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        self._untaken = 0
        super().resume_writing()

    def _expect(self) -> None:
        self._expect_nothing()
        self._expected = self.loop.call_later(HEAD, self._give_up)

    def _expect_nothing(self) -> None:
        if self._expected is not None:
            self._expected.cancel()
            self._expected = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _watch(self) -> None:
        """Now and then: something that waits to be taken, and not less of it than before, is not waited for."""
        left = self.transport.get_write_buffer_size()
        if self._untaken and left >= self._untaken:
            self.transport.abort()
            return
        self._untaken = left
        self._watched: asyncio.TimerHandle = self.loop.call_later(UNTAKEN, self._watch)


class Server(uvicorn.Server):
    """Begins when the service has, and ends in good order at the first signal; at once at the second."""

    def __init__(self, config: uvicorn.Config, service: Service, address: str) -> None:
        super().__init__(config)
        self._service, self._address = service, address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._service.start()
        await super().startup(sockets)

        log.info("driftbandit serves %s at %s", self._service.shown_store, self._address)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.stopping = True
        await super().shutdown(sockets)
        await self._service.stop()
        log.info("driftbandit has ended: everything that was answered is stored")

    def handle_exit(self, sig: int, frame: Any) -> None:
        if self.should_exit:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        self.should_exit = True


def configured(service: Service) -> uvicorn.Config:
    """How the server is set up."""
    options = service.options
    return uvicorn.Config(
        Application(service), loop="auto", http=Protocol, ws="none", lifespan="off", log_config=None,
        access_log=False, server_header=False, date_header=False, proxy_headers=bool(options.trusted_proxy),
        forwarded_allow_ips=options.trusted_proxy or None, limit_concurrency=options.connections,
        timeout_keep_alive=5, timeout_graceful_shutdown=GRACE,
    )  # fmt: skip


def bound(options: Options) -> socket.socket:
    """The socket that is listened on."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family, backlog=BACKLOG)
    except OSError as error:
        said = f"host and port must be free, got {options.host} {options.port} ({error.strerror or error})"
        raise InvalidValue(said) from None


def serve(options: Options) -> None:
    """Serve until a signal comes."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    service = Service(options)
    listening = bound(options)
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    server = Server(configured(service), service, f"http://{shown}:{port}{options.root_path}/")
    server.run(sockets=[listening])
