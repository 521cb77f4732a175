"""Databases that are away, and stores of other versions."""

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.service.database_server import Databases, told
from tests.service.running import run, serving

import driftbandit as db
from driftbandit.service import schema
from driftbandit.service.database import Statement, Transaction, Unavailable
from driftbandit.service.postgres import numbered
from driftbandit.service.process import database_of
from driftbandit.service.store import Store


def test_a_database_that_is_away_is_answered_503_and_it_goes_on_by_itself(
    postgres: str, all_databases: Databases
) -> None:
    if all_databases.given:
        pytest.skip("a database that is not of these tests alone is not ended")

    async def scenario() -> None:
        async with serving(postgres) as client:
            await client.create()
            made = await client.decide(key="before")
            all_databases.server.kill(signal.SIGQUIT)
            error = await client.decide(status=503)
            assert "\n" not in error["error"]
            assert (await client.ask("GET", "/readyz", 503))["status"] == "not ready"
            assert (await client.reward(made["id"], 1.0, status=503))["error"]
            await client.ask("GET", "/livez")
            assert await client.ask("GET", "/v1/experiments/headline/log", 503)
            await asyncio.to_thread(all_databases.server.start)
            end = time.monotonic() + 60.0
            while client.service.unready():
                assert time.monotonic() < end, client.service.unready()
                await asyncio.sleep(0.05)
            assert (await client.decide(key="before"))["id"] == made["id"]
            assert await client.reward(made["id"], 1.0) == {"status": "accepted"}
            assert (await client.decide())["id"] == 2
            assert sum(arm["effective_size"] for arm in (await client.look())["arms"]) == pytest.approx(1.0, abs=0.9)

    run(scenario())


def test_a_database_that_is_not_there_is_one_line() -> None:
    async def scenario() -> None:
        for address in ("postgresql://nobody@127.0.0.1:1/none", "postgresql:///none?host=/nowhere"):
            with pytest.raises(Unavailable, match=r"^store must be a PostgreSQL database that answers \(.*\)$"):
                async with serving(address):
                    pass

    run(scenario())


async def version(address: str) -> str:
    opened = database_of(address, "full")
    await opened.open()
    [[[value]]] = await opened.read(Statement("SELECT value FROM meta WHERE name = 'version'"))
    await opened.close()
    return str(value)


def spoiled(text: str) -> Transaction[None]:
    yield Statement(text)


def test_a_store_of_a_newer_version_is_refused(store: str) -> None:
    async def scenario() -> None:
        opened = Store(database_of(store, "full"))
        await opened.open()
        await opened.database.write(spoiled("UPDATE meta SET value = '77' WHERE name = 'version'"))
        await opened.close()
        with pytest.raises(
            db.InvalidValue, match=r"^store must be of version 1 at most, got 77 \(by a newer version\)$"
        ):
            async with serving(store):
                pass
        assert await version(store) == "77"

    run(scenario())


def test_a_store_of_an_older_version_is_brought_up_to_date_whole_or_not_at_all(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with serving(store) as client:
            await client.create()
            made = await client.decide()
        monkeypatch.setattr(schema, "VERSION", 3)
        first = "ALTER TABLE experiment ADD COLUMN note {text}; UPDATE experiment SET note = 'old';"
        monkeypatch.setattr(schema, "MIGRATIONS", {1: first, 2: "ALTER TABLE nowhere ADD COLUMN x {whole};"})
        with pytest.raises(db.DriftbanditError):
            await Store(database_of(store, "full")).open()
        assert await version(store) == "1"
        monkeypatch.setitem(schema.MIGRATIONS, 2, "CREATE TABLE more (number {whole} PRIMARY KEY);")
        async with serving(store) as client:
            assert await client.reward(made["id"], 1.0) == {"status": "accepted"}
            [notes, more] = await client.service.store.database.read(
                Statement("SELECT note FROM experiment"), Statement("SELECT count(*) FROM more")
            )
            assert (notes, more) == ([("old",)], [(0,)])
        assert await version(store) == "3"

    run(scenario())


def test_processes_that_begin_at_once_make_the_tables_once(postgres: str) -> None:
    async def scenario() -> None:
        stores = [Store(database_of(postgres, "full")) for _ in range(4)]
        await asyncio.gather(*(each.open() for each in stores))
        assert sorted(each.slot for each in stores) == [0, 1, 2, 3]
        await asyncio.gather(*(each.close() for each in stores))
        rows = await told(postgres, "SELECT value FROM meta WHERE name = 'version'")
        assert [row["value"] for row in rows] == [str(schema.VERSION)]

    run(scenario())


def looked_up(plan: Any) -> Iterator[tuple[str, str]]:
    """The tables of a plan, each with what its rows are found by."""
    if "Relation Name" in plan:
        yield plan["Relation Name"], plan.get("Index Cond", "")
    for part in plan.get("Plans", []):
        yield from looked_up(part)


@pytest.mark.parametrize("rows", [0, 3000])
def test_rewards_find_their_decisions_by_their_ids_however_many_there_are(rows: int, postgres: str) -> None:
    async def scenario() -> None:
        async with serving(postgres) as client:
            await client.create()
            for _ in range(0, rows, 1000):
                await client.decide(count=1000)
            store = client.service.store
            given = [(1, id, 1.0, "given", id, 0, None) for id in range(1, 4)]
            asking = store.rewards_put(given)
            statements = [next(asking), asking.send([])]
            statements += [store.decisions_of([(1, 1, 3)]), store.rewards_page(1, 0, 0, 100)]
            for statement in statements:
                database: Any = store.database
                question = "EXPLAIN (FORMAT JSON) " + numbered(statement.text)
                [[said]] = await database._writer.fetch(question, *statement.values)
                found = dict(looked_up(json.loads(said)[0]["Plan"]))
                assert "id" in found["decision"], said
                if "reward" in found and statement is statements[1]:
                    assert "decision" in found["reward"], said

    run(scenario())
