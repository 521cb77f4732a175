"""Arms and experiments that another process has made a moment ago, and that this one has not heard of."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.service.database_server import told
from tests.service.running import Client, Clock, run, serving


@contextlib.asynccontextmanager
async def deaf(address: str, *clocks: Clock) -> AsyncIterator[list[Client]]:
    """Two processes, or as many as there are clocks, which hear of each other only when they are told to."""
    async with contextlib.AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(serving(address, clock)) for clock in clocks or (None, None)]
        for client in clients:
            for task in client.service.chores._tasks:
                task.cancel()
        yield clients


async def follow(*clients: Client) -> None:
    for client in clients:
        await client.service.chores.follow()


def same(*clients: Client) -> None:
    """All know the same."""
    now = time.time() + 60.0
    for client in clients:
        client.service.experiments.now = now
    first, *others = [client.experiment().replica.evidence() for client in clients]
    assert sum(map(sum, first.values())) > 0.0
    for other in others:
        assert other == {arm: pytest.approx(numbers) for arm, numbers in first.items()}


def test_a_reward_is_learned_by_a_process_that_does_not_know_its_arm_yet(postgres: str) -> None:
    async def scenario() -> None:
        async with deaf(postgres) as (first, second):
            await first.create()
            await follow(second)
            await first.change(add=["new"], only=["new"])
            made = await first.decide()
            assert await second.reward(made["id"], 1.0) == {"status": "accepted"}
            await follow(first, second)
            assert second.experiment().replica.evidence()[3][-1] > 0.9
            same(first, second)

    run(scenario())


def test_a_key_has_its_decision_in_a_process_that_does_not_know_its_arm_yet(postgres: str) -> None:
    async def scenario() -> None:
        async with deaf(postgres) as (first, second):
            await first.create()
            await follow(second)
            await first.change(add=["new"], only=["new"])
            made = await first.decide(key="user 42")
            assert await second.decide(key="user 42") == made | {"repeated": True}

    run(scenario())


def test_what_is_read_with_arms_that_are_not_known_yet_is_to_be_asked_for_again(postgres: str) -> None:
    async def scenario() -> None:
        async with deaf(postgres) as (first, second):
            await first.create()
            await follow(second)
            await first.change(add=["new"], only=["new"])
            await first.reward((await first.decide())["id"], 1.0)
            await first.service.chores.minute()
            await first.flush()
            asked = [f"/v1/experiments/headline/{what}" for what in ("history", "log", "report")]
            for status in (503, 200):
                for path in asked:
                    answer = await second.http.get(path)
                    assert answer.status_code == status, (path, answer.text)
                    assert ("retry-after" in answer.headers) is (status == 503)
                for path in ("/v1/experiments/headline", "/experiments/headline?window=1h", "/"):
                    assert (await second.http.get(path)).status_code == 200
                await follow(second)

    run(scenario())


@pytest.mark.parametrize("there", [False, True])
def test_rewards_of_what_came_while_the_log_is_read_are_learned(there: bool, postgres: str) -> None:
    """A reward is read together with its experiment, or its arm, of which there was no word a moment before."""

    async def scenario() -> None:
        async with deaf(postgres) as (first, second):
            if there:
                await first.create()
                await follow(second)
            store = second.service.store
            real = store.slots

            async def slots() -> Any:  # follow has just asked what changed
                store.slots = real  # type: ignore[method-assign]
                if there:
                    await first.change(add=["new"], only=["new"])
                else:
                    await first.create()
                await first.reward((await first.decide())["id"], 1.0)
                return await real()

            store.slots = slots  # type: ignore[method-assign]
            await follow(second)
            await follow(second)
            same(first, second)

    run(scenario())


def test_arms_have_the_same_numbers_everywhere_though_clocks_differ(postgres: str) -> None:
    async def scenario() -> None:
        now = time.time() + 10.0
        async with deaf(postgres, Clock(now), Clock(now - 0.9)) as (first, second):
            await first.create()
            await follow(second)
            await first.change(add=["first"])
            await follow(second)
            await second.change(add=["second"], remove=["first"])  # by its clock, before that came
            await first.decide(count=10)
            await follow(first, second)
            async with serving(postgres, Clock(now)) as third:
                for client in (first, second, third):
                    replica = client.experiment().replica
                    assert [replica.has(number) for number in range(5)] == [True, True, True, False, True]
                    assert replica.state()["arms"] == first.experiment().replica.state()["arms"]

    run(scenario())


def test_a_process_that_nobody_asks_finds_its_database_again(postgres: str) -> None:
    async def scenario() -> None:
        async with serving(postgres) as client:
            await client.create()
            await client.decide()
            await client.flush()
            await told(postgres, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                                 "AND datname = current_database()")  # fmt: skip
            answers = []
            while len(answers) < 5 or (answers[-1] != 200 and len(answers) < 100):
                await asyncio.sleep(0.1)
                answers.append((await client.http.get("/readyz")).status_code)
            assert 503 in answers
            assert answers[-1] == 200

    run(scenario())
