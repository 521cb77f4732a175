"""A client that loses answers and asks again, over and over: no decision is made twice, and no reward counts twice."""

import asyncio
import collections
import dataclasses
import random
from pathlib import Path

import pytest
from tests.service.fleet import fleet
from tests.service.lossy_network import lossy
from tests.service.noted_load import ARMS

from driftbandit.client import AsyncClient
from driftbandit.online.decision import RewardStatus
from driftbandit.service import transfer
from driftbandit.service.database import Statement
from driftbandit.service.process import database_of
from driftbandit.service.store import Store

TIMEOUT = 0.06
CALLERS = 24


def retried(store: str, processes: int, calls: int, folder: Path) -> int:
    """So many decisions with their rewards, of which half the attempts fail; how often something was sent again."""
    told: dict[int, tuple[str, float, float]] = {}

    async def call(client: AsyncClient, caller: int) -> None:
        dice, bandit = random.Random(caller), client.experiment("kept")
        for number in range(calls // CALLERS):
            key = None if dice.random() < 0.5 else f"{caller}/{number}"
            made = await bandit.select(key=key)
            assert made.id not in told, "one decision for two calls"
            reward = dice.choice([0.0, 1.0])
            told[made.id] = made.arm, made.probability, reward
            assert await bandit.reward(made, reward) is RewardStatus.ACCEPTED

    async def scenario() -> int:
        async with fleet(store, processes, folder) as running:
            await running.create({"kept": {"policy": "dots:discount=0.999"}})
            async with (
                lossy(running.ports, 0.5, 2.0 * TIMEOUT, seed=1) as (network, address),
                AsyncClient(address, timeout=TIMEOUT, deadline=600.0) as client,
            ):
                client.persistence = dataclasses.replace(client.persistence, luck=lambda: 0.0)
                await asyncio.gather(*(call(client, caller) for caller in range(CALLERS)))
            await asyncio.to_thread(running.end)
        opened = Store(database_of(store, "full"))
        await opened.open()
        try:
            questions = ("SELECT id, arm, probability FROM decision", "SELECT decision, value FROM reward",
                         "SELECT first, count FROM key")  # fmt: skip
            decisions, rewards, keys = await opened.database.read(*map(Statement, questions))
            assert await transfer.checked(opened) == []
        finally:
            await opened.close()
        assert {id: (ARMS[arm], probability) for id, arm, probability in decisions} == {
            id: row[:2] for id, row in told.items()
        }
        assert dict(rewards) == {id: row[2] for id, row in told.items()}
        assert collections.Counter(keys) == collections.Counter((id, 1) for id in told)
        assert min(network.spoiled.values()) > 0.1 * sum(network.spoiled.values())
        return network.requests - 2 * len(told)

    return asyncio.run(scenario())


def test_a_client_that_loses_answers_gets_one_decision_and_one_reward_for_each_call(tmp_path: Path) -> None:
    assert retried(f"sqlite:///{tmp_path / 's.db'}", 1, 10 * CALLERS, tmp_path) > 10 * CALLERS


@pytest.mark.slow
def test_10_000_retries_on_sqlite(tmp_path: Path) -> None:
    again = retried(f"sqlite:///{tmp_path / 's.db'}", 1, 5500, tmp_path)
    print(f"sent again {again} times")
    assert again >= 10_000


@pytest.mark.slow
def test_10_000_retries_at_two_processes_on_postgresql(postgres: str, tmp_path: Path) -> None:
    again = retried(postgres, 2, 5500, tmp_path)
    print(f"sent again {again} times")
    assert again >= 10_000
