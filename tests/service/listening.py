"""A service in a thread of its own: behind a real port, or asked through its application by those who cannot await."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx
from tests.service.running import Client as Inside
from tests.service.running import Clock, serving

from driftbandit.service.options import Options
from driftbandit.service.process import Service
from driftbandit.service.server import Server, bound, configured


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def __call__(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(170.0)  # a report may wait for compilers

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextlib.contextmanager
def looping() -> Iterator[Loop]:
    """A loop, while it is needed."""
    loop = Loop()
    try:
        yield loop
    finally:
        loop.end()


class Bridge(httpx.BaseTransport):
    """Brings requests of a thread to a transport that is awaited."""

    def __init__(self, loop: Loop, inner: httpx.AsyncBaseTransport) -> None:
        self._loop, self._inner = loop, inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        async def answered() -> httpx.Response:
            sent = httpx.Request(request.method, request.url, headers=request.headers, content=request.content)
            response = await self._inner.handle_async_request(sent)
            return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())

        request.read()
        response: httpx.Response = self._loop(answered())
        return response


@contextlib.contextmanager
def within(loop: Loop, path: Path, clock: Clock | None = None, **options: Any) -> Iterator[Inside]:
    """A service on a file, running in that loop."""
    context = serving(path, clock, **options)
    inside: Inside = loop(context.__aenter__())
    try:
        yield inside
    finally:
        loop(context.__aexit__(None, None, None))


@contextlib.contextmanager
def listening(path: Path, port: int = 0, **options: Any) -> Iterator[int]:
    """A service behind a port of this machine; which one, if none was asked for."""
    service = Service(Options(store=f"sqlite:///{path}", port=port, **options))
    server, place = Server(configured(service), service, "here"), bound(service.options)
    found: int = place.getsockname()[1]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            thread.join(0.01)
        yield found
    finally:
        server.should_exit = True
        thread.join(30.0)
        assert not thread.is_alive()
