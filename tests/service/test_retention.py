"""What a service forgets when it is asked to, and what it must not forget with it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.service.running import Client, Clock, kill, run, serving

from driftbandit.service import transfer
from driftbandit.service.database import Statement, Transaction

DAY = 86400.0


async def count(client: Client, table: str) -> int:
    [[[found]]] = await client.service.store.database.read(Statement(f"SELECT count(*) FROM {table}"))
    return int(found)


@pytest.mark.parametrize(
    "policy", ["dots:discount=0.999999", "ts", "drift-filter", "exp3-s:exploration=0.2,sharing=0.01"]
)
def test_whole_days_of_decisions_go_and_what_was_learned_from_them_stays(policy: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock(1_800_000_000.0 // DAY * DAY + 3600.0)
        context = serving(tmp_path / "s.db", clock, retention=2)
        client = await context.__aenter__()
        await client.create(policy=policy, step_seconds=3600.0)
        made: list[Any] = []
        for _ in range(6):  # a day each
            for step in range(5):
                made.append(await client.decide(key=f"{len(made)}"))
                if step:
                    await client.reward(made[-1]["id"], float(step % 2))
                clock.now += 60.0
            clock.now += DAY - 300.0
        before = await client.look()
        assert await count(client, "decision") == 30
        await client.service.chores.forget()  # nothing more is rewarded
        await client.decide()
        assert await client.reward(made[0]["id"], 1.0) == {"status": "expired"}
        assert await client.reward(made[1]["id"], 1.0) == {"status": "repeated"}
        await client.service.chores.forget()  # and now it goes
        left = await count(client, "decision")
        assert left == 2 * 5 + 1  # two whole days, and today
        assert await client.reward(made[0]["id"], 1.0) == {"status": "expired"}
        assert await client.reward(made[-5]["id"], 1.0) == {"status": "accepted"}
        known = await client.look()
        assert known["decisions"] == before["decisions"] + 1
        await kill(client)
        async with serving(tmp_path / "s.db", clock) as again:
            now = await again.look()
            for mine, its in zip(now["arms"], known["arms"], strict=True):
                assert mine == pytest.approx(its)
            assert (await again.decide())["id"] == 32
            assert await transfer.checked(again.service.store) == []
        await client.http.aclose()

    run(scenario())


def test_keys_that_stand_for_nothing_go(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(key_seconds=10)
            await client.decide(key="a")
            clock.now += 11
            await client.decide(key="b")
            await client.service.chores.forget()
            await client.decide()
            assert await count(client, "key") == 1

    run(scenario())


def test_many_keys_go_part_by_part_whoever_takes_them_anew_meanwhile(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driftbandit.service.store.SOME", 7)
    keys = [f"{number:03}" for number in range(60)]

    def over() -> Transaction[None]:
        yield Statement("UPDATE key SET until = 1.0")

    async def scenario() -> None:
        async with serving(store) as client:
            await client.create()
            await asyncio.gather(*(client.decide(key=key) for key in keys))
            await client.service.store.database.write(over())
            await client.create(name="kept")
            await client.decide("kept", key="kept")
            again = asyncio.gather(*(client.decide(key=key) for key in reversed(keys[::2])))
            await asyncio.gather(client.service.chores.forget(), client.service.chores.forget(), again)
            [rows] = await client.service.store.database.read(Statement("SELECT key FROM key ORDER BY key"))
            assert [key for (key,) in rows] == [*keys[::2], "kept"]
            assert (await client.decide("kept", key="kept"))["repeated"]

    run(scenario())


def test_without_retention_everything_stays(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create()
            await client.decide(count=10)
            clock.now += 300 * DAY
            for _ in range(3):
                await client.service.chores.forget()
                await client.decide()
            assert await count(client, "decision") == 13

    run(scenario())
