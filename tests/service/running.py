"""A service within a test: started, asked through its application, and stopped."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx

from driftbandit.service.app import Application
from driftbandit.service.live_experiment import LiveExperiment
from driftbandit.service.options import Options
from driftbandit.service.process import Service

HEADLINE: dict[str, Any] = {
    "name": "headline", "arms": ["red", "green", "blue"], "policy": "dots:discount=0.99", "step_seconds": 1.0,
    "minimum_probability": 0.01, "seed": 7,
}  # fmt: skip
Asked = Callable[..., Awaitable[httpx.Response]]


def run(scenario: Coroutine[Any, Any, Any]) -> Any:
    """A scenario, from beginning to end."""
    return asyncio.run(scenario)


class Client:
    """Asks a service, and hands back what it says."""

    def __init__(self, service: Service, secret: str | None = None) -> None:
        self.service = service
        transport = httpx.ASGITransport(app=Application(service))  # type: ignore[arg-type]
        headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
        self.http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8787", headers=headers)

    async def ask(self, method: str, path: str, status: int = 200, **more: Any) -> Any:
        """The body of an answer, which must have this status."""
        answer = await self.http.request(method, path, **more)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json() if answer.headers.get("content-type", "").startswith("application/json") else answer.text

    async def create(self, status: int = 201, **settings: Any) -> Any:
        return await self.ask("POST", "/v1/experiments", status, json=HEADLINE | settings)

    async def decide(self, name: str = "headline", status: int = 200, **question: Any) -> Any:
        return await self.ask("POST", f"/v1/experiments/{name}/decisions", status, json=question)

    async def reward(self, id: int, reward: float, name: str = "headline", status: int = 200) -> Any:
        body = {"id": id, "reward": reward}
        return await self.ask("POST", f"/v1/experiments/{name}/rewards", status, json=body)

    async def change(self, name: str = "headline", status: int = 200, **change: Any) -> Any:
        return await self.ask("PATCH", f"/v1/experiments/{name}", status, json=change)

    async def look(self, name: str = "headline") -> Any:
        return await self.ask("GET", f"/v1/experiments/{name}")

    async def flush(self) -> None:
        """Store all sums by minute."""
        await self.service.committer.stored()

    def experiment(self, name: str = "headline") -> LiveExperiment:
        return self.service.experiments.by_name[name]


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def clock_of(store: str) -> Clock:
    """A clock for a store. PostgreSQL has one of its own, which says when an experiment began: this is after it."""
    return Clock(time.time() + 10.0) if store.startswith("postgresql") else Clock()


@contextlib.asynccontextmanager
async def serving(
    path: Path | str, clock: Clock | None = None, secret: str | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A service on a file, or at the address of a database."""
    store = str(path) if "://" in str(path) else f"sqlite:///{path}"
    more = {} if clock is None else {"clock": clock}
    service = Service(Options(**({"store": store} | options)), **more)
    await service.start()
    client = Client(service, secret)
    try:
        yield client
    finally:
        await client.http.aclose()
        await service.stop()


async def kill(client: Client) -> None:
    """End a service as a kill does: nothing more is stored, and nobody is told."""
    service = client.service
    for task in [*service.chores._tasks, service.committer._task]:
        assert task is not None
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    await service.store.close()
    service.started = False
