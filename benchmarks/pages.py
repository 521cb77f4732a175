"""How large the pages of the service are, and how long they take: an experiment of 6 arms with a full day of minutes.

make bench ARGS=pages
"""

import asyncio
import math
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

from driftbandit.service.app import Application
from driftbandit.service.database import Statement, one_by_one
from driftbandit.service.options import Options
from driftbandit.service.process import Service

ARMS, MINUTES, TIMES = 6, 1440, 40
SETTINGS = {
    "name": "headline", "arms": [f"arm {k}" for k in range(ARMS)], "policy": "dots:discount=0.9999",
    "step_seconds": 1.0, "minimum_probability": 0.01, "wait": 1800.0, "default_reward": 0.0, "seed": 7,
}  # fmt: skip
COMPILED = 20.0
"""Seconds until what odds need is compiled, which goes on in the background."""


def rows(now: float) -> list[Statement]:
    """A day, minute by minute, as the service stores it."""
    found = []
    for minute in range(int(now // 60) - MINUTES, int(now // 60)):
        for arm in range(ARMS):
            odds = 0.1 + 0.3 * math.sin(minute / 90.0 + arm) ** 2
            made = round(100 * odds)
            sums = (made, 100 * odds, made / odds, made / odds**2, made, 0.3 * made, made / odds, made / odds**2,
                    0.3 * made / odds, 0.3 * made / odds**2, 0)  # fmt: skip
            found.append(Statement(f"INSERT INTO rollup VALUES ({', '.join('?' * 15)})", (1, minute, 0, arm, *sums)))
            mean = 0.3 + 0.1 * math.sin(minute / 200.0 + arm)
            belief = (1, minute, arm, mean, mean - 0.05, mean + 0.05, 80.0, odds)
            found.append(Statement(f"INSERT INTO belief VALUES ({', '.join('?' * 8)})", belief))
    return found


async def measured(folder: Path) -> list[dict[str, Any]]:
    """Each page, many times."""
    begun = [time.time() - 60.0 * MINUTES]
    service = Service(Options(store=f"sqlite:///{folder / 'bench.db'}"), lambda: begun[0] or time.time())
    await service.start()
    transport: Any = httpx.ASGITransport(app=Application(service))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60.0) as client:
        made = await client.post("/v1/experiments", json=SETTINGS)
        begun[0] = 0.0  # it is there since a day
        number = service.experiments.by_name[made.json()["name"]].number
        assert number == 1, number
        decisions = (await client.post("/v1/experiments/headline/decisions", json={"count": 1000})).json()["decisions"]
        rewards = [{"id": each["id"], "reward": 1.0} for each in decisions]
        await client.post("/v1/experiments/headline/rewards", json={"rewards": rewards})
        await service.committer.stored()
        await service.store.database.write(one_by_one(rows(service.clock())))
        await asyncio.sleep(COMPILED)
        found = []
        for path in ("/livez", "/", *(f"/experiments/headline?window={word}" for word in ("1h", "24h", "7d"))):
            times, answer = [], await client.get(path)
            spent = time.process_time()
            for _ in range(TIMES):
                began = time.perf_counter()
                answer = await client.get(path)
                times.append(1000.0 * (time.perf_counter() - began))
            spent = 1000.0 * (time.process_time() - spent) / TIMES
            assert answer.status_code == 200, answer.text
            found.append({
                "page": path, "kB": len(answer.content) / 1000.0, "ms, median": statistics.median(times),
                "ms, slowest tenth": sorted(times)[-TIMES // 10], "ms of a processor": spent,
            })  # fmt: skip
    await service.stop()
    return found


def run() -> list[dict[str, Any]]:
    """Pages of the service, 6 arms, 24 h of minutes; /livez answers nothing but that."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measured(Path(folder)))
