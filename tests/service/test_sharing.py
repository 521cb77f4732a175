"""Several processes share one experiment: each learns from the log what the others were told."""

import asyncio
import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.online.scenes import POLICIES
from tests.service.database_server import told
from tests.service.running import Client, Clock, clock_of, kill, run, serving

import driftbandit as db
from driftbandit.replica import Replica, Settings
from driftbandit.service import transfer
from driftbandit.service.process import database_of
from driftbandit.service.store import Store

ARMS = [f"arm {place}" for place in range(4)]
SHARED = [
    "dots:discount=0.99", "ots", "sw-ts:window=50", "d-ucb:discount=0.97", "exp3-ix:learning_rate=0.1",
    "rexp3:exploration=0.2,batch=30",
]  # fmt: skip


def converges(policy: db.Policy, step_seconds: float | None) -> bool:
    return Replica(ARMS, Settings.of(policy, step_seconds=step_seconds, seed=1), 0.0, float).convergent


async def followed(*clients: Client) -> None:
    """All have read what the others stored."""
    for client in clients:
        await client.service.chores.follow()


async def played(clients: list[Client], clock: Clock, dice: random.Random, decisions: int) -> None:
    """Decisions of any process, rewards at any process, in any order; some at all of them at once."""
    waiting: list[int] = []
    for step in range(decisions):
        clock.now += dice.expovariate(1.0)
        among = {"arms": dice.sample(ARMS[:3], 2)} if dice.random() < 0.2 else {}
        waiting.append((await dice.choice(clients).decide(**among))["id"])
        while waiting and dice.random() < 0.5:
            id, reward = waiting.pop(dice.randrange(len(waiting))), dice.choice([0.0, 0.25, 1.0])
            asked = clients if dice.random() < 0.2 else [dice.choice(clients)]
            answers = await asyncio.gather(*(client.reward(id, reward) for client in asked))
            statuses = sorted(answer["status"] for answer in answers)
            assert statuses == ["accepted", *["repeated"] * (len(asked) - 1)]
        if step == decisions // 2:
            await clients[0].change(add=["new"], remove=[ARMS[3]])
            await followed(*clients)
            waiting.clear()


def evidence(client: Client, now: float) -> dict[int, list[float]]:
    client.service.experiments.now = now
    return client.experiment().replica.evidence()


def same(one: dict[int, list[float]], other: dict[int, list[float]]) -> None:
    assert one.keys() == other.keys()
    for arm in one:
        np.testing.assert_allclose(one[arm], other[arm], rtol=1e-12, atol=1e-12)


async def learned_in_order(client: Client, clock: Clock) -> dict[int, list[float]]:
    """What one replica knows that sees decisions, rewards and changes of arms in the order of time."""
    experiment = client.experiment()
    alone = Replica(range(len(ARMS)), experiment.settings, experiment.begun, clock)
    rows = await client.service.store.decided_between(experiment.number, 0.0, 1e12, 1 << 40)
    changes = sorted(
        (arm.added or arm.removed or 0.0, arm.number) for arm in experiment.arms if arm.added or arm.removed
    )
    for row, reward in rows:
        while changes and changes[0][0] <= row.made:
            arm = experiment.arms[changes.pop(0)[1]]
            experiment_change(alone, arm)
        if reward is not None:
            assert reward.value is not None
            alone.learn(row.as_made, reward.value)
    return alone.evidence()


def experiment_change(alone: Replica, arm: Any) -> None:
    if arm.removed is None:
        alone.add(arm.number, json.loads(arm.start), arm.added)
    else:
        alone.remove(arm.number)


@pytest.mark.parametrize("policy", SHARED)
def test_rewards_go_to_any_process_and_all_know_what_one_knows_that_saw_all(policy: str, postgres: str) -> None:
    async def scenario() -> None:
        clock, dice = clock_of(postgres), random.Random(4)
        async with serving(postgres, clock) as first, serving(postgres, clock) as second:
            await first.create(arms=ARMS, policy=policy, step_seconds=10.0)
            await followed(second)
            await played([first, second], clock, dice, 60)
            await followed(first, second)
            clock.now += 30.0
            expected = await learned_in_order(first, clock)
            same(evidence(first, clock.now), expected)
            same(evidence(second, clock.now), expected)
            async with serving(postgres, clock) as third:  # from a snapshot and the log, or from the log alone
                same(evidence(third, clock.now), expected)
                assert third.service.store.slot == 2
            for client in (first, second):
                await client.flush()
            for mine, other in zip(*[(await client.look())["arms"] for client in (first, second)], strict=True):
                for name, value in mine.items():
                    assert value == (pytest.approx(other[name], rel=1e-9) if isinstance(value, float) else other[name])
            wrong = await transfer.checked(first.service.store)
            assert [each for each in wrong if "came before" not in each] == []  # the clock here is set by hand

    run(scenario())


def test_a_process_that_begins_anew_takes_a_free_slot_and_goes_on_after_its_last_number(postgres: str) -> None:
    async def scenario() -> None:
        first, second = serving(postgres), serving(postgres)
        one, other = await first.__aenter__(), await second.__aenter__()
        await one.create()
        await followed(other)
        assert [(await one.decide())["id"] for _ in range(3)] == [1, 2, 3]
        assert [(await other.decide())["id"] for _ in range(2)] == [(1 << 40) + 1, (1 << 40) + 2]
        await kill(one)
        await one.http.aclose()
        async with serving(postgres) as third:
            assert third.service.store.slot == 0
            assert (await third.decide())["id"] == 4
            assert await third.reward((1 << 40) + 1, 1.0) == {"status": "accepted"}
            assert await other.reward((1 << 40) + 1, 1.0) == {"status": "repeated"}
        await other.http.aclose()
        await other.service.stop()

    run(scenario())


def test_a_process_that_is_cut_off_comes_back_by_itself(postgres: str) -> None:
    """The database ends its connections: what it asked for meanwhile is answered 503, and nothing is lost."""

    async def scenario() -> None:
        async with serving(postgres) as client, serving(postgres) as other:
            await client.create()
            await followed(other)
            made = [(await client.decide(key=f"{number}"))["id"] for number in range(5)]
            await told(postgres, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                                 "AND datname = current_database()")  # fmt: skip
            again = await until_answered(client, "key 5")
            for number, id in enumerate(made):
                repeated = await until_answered(other, f"{number}")
                assert (repeated["id"], repeated["repeated"]) == (id, True)
            assert await client.reward(again["id"], 1.0) == {"status": "accepted"}
            assert {client.service.store.slot, other.service.store.slot} <= {0, 1, 2, 3}
            assert client.service.store.slot != other.service.store.slot
            assert client.service.unready() == []

    run(scenario())


async def until_answered(client: Client, key: str) -> Any:
    """A decision, from a service that may first have to come back."""
    for _ in range(200):
        answer = await client.http.post("/v1/experiments/headline/decisions", json={"key": key})
        if answer.status_code == 200:
            return answer.json()
        assert answer.status_code == 503, answer.text
        await asyncio.sleep(0.05)
    raise AssertionError("the service did not come back")


def test_what_only_one_process_can_learn_is_refused_in_one_line(postgres: str) -> None:
    async def scenario() -> None:
        async with serving(postgres) as client:
            refused = 0
            for number, policy in enumerate(POLICIES):
                for step_seconds in (10.0, None):
                    settings = {"name": f"e{number}", "policy": str(policy), "step_seconds": step_seconds}
                    if converges(policy, step_seconds):
                        await client.create(**settings)
                        continue
                    said = (await client.create(status=422, **settings))["error"]
                    assert said == (
                        "policy must be one that several processes can share (rewards that add up, by the clock), got "
                        f"{policy} with step_seconds {step_seconds}; a service on SQLite takes any"
                    )
                    refused += 1
            assert refused > len(POLICIES)

    run(scenario())


def test_batches_in_any_order_do_not_stop_each_other(postgres: str) -> None:
    """Three processes reward the same decisions in orders of their own, with keys that they share."""

    async def scenario() -> None:
        dice = random.Random(6)
        async with serving(postgres) as first, serving(postgres) as second, serving(postgres) as third:
            clients = [first, second, third]
            await first.create()
            await followed(second, third)
            ids = [one["id"] for one in (await first.decide(count=400))["decisions"]]

            async def rewards(client: Client) -> list[tuple[int, str]]:
                found = []
                for part in range(0, 400, 100):
                    some = dice.sample(ids[part : part + 100], 100)
                    body = {"rewards": [{"id": id, "reward": 1} for id in some]}
                    answer = await client.ask("POST", "/v1/experiments/headline/rewards", json=body)
                    found += [*zip(some, answer["statuses"], strict=True)]
                return found

            async def decisions(client: Client) -> list[tuple[str, int]]:
                keys = dice.sample([f"user {number}" for number in range(60)], 60)
                made = await asyncio.gather(*(client.decide(key=key) for key in keys))
                return [(key, one["id"]) for key, one in zip(keys, made, strict=True)]

            answers = await asyncio.gather(*(work(client) for client in clients for work in (rewards, decisions)))
            statuses = [pair for part in answers[::2] for pair in part]
            assert sorted(id for id, status in statuses if status == "accepted") == sorted(ids)
            assert sum(status == "repeated" for _, status in statuses) == 800
            assert len({pair for part in answers[1::2] for pair in part}) == 60
            await followed(*clients)
            for client in clients[1:]:
                same(evidence(client, time.time() + 60.0), evidence(first, client.service.experiments.now))
        [row] = await told(postgres, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        assert row["deadlocks"] == 0

    run(scenario())


def test_one_of_several_processes_ends_waits_and_a_late_reward_does_not_count(postgres: str) -> None:
    async def scenario() -> None:
        async with serving(postgres) as first, serving(postgres) as second:
            await first.create(wait=1.0, default_reward=0.0)
            await followed(second)
            made = [(await client.decide())["id"] for client in (first, second) * 10]
            for id in made[:6]:
                assert await second.reward(id, 1.0) == {"status": "accepted"}
            for _ in range(100):
                if (await first.look())["pending"] == 0:
                    break
                await asyncio.sleep(0.1)
            for id in made:
                assert await first.reward(id, 1.0) == {"status": "repeated"}
            rows = await told(
                postgres, "SELECT kind, count(*), sum(value) AS sum FROM reward GROUP BY kind ORDER BY kind"
            )
            assert [tuple(row) for row in rows] == [("default", 14, 0.0), ("given", 6, 6.0)]

    run(scenario())


def test_the_log_of_several_processes_is_one_that_the_library_reads(postgres: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        clock, dice = clock_of(postgres), random.Random(8)
        begin = clock.now - 60.0
        async with serving(postgres, clock) as first, serving(postgres, clock) as second:
            await first.create(arms=ARMS, step_seconds=10.0)
            await followed(second)
            await played([first, second], clock, dice, 80)
            await followed(first, second)
            lines, after = [], ""
            while True:
                client = dice.choice([first, second])
                answer = await client.http.get(f"/v1/experiments/headline/log?limit=30&after={after}")
                if not answer.text:
                    break
                lines += answer.text.splitlines()
                after = answer.headers["x-next-after"]
            for client in (first, second):
                await client.service.chores.minute()
                await client.flush()
            question = f"from={begin}&to={clock.now + 60}"
            points = (await second.ask("GET", f"/v1/experiments/headline/history?{question}&step=600"))["points"]
            assert sum(point["decisions"] for point in points) == 80
            steps = {point["begin"] for point in points if point["decisions"]}
            assert sum(point["odds"] for point in points) == pytest.approx(len(steps), abs=1e-9)
            report = await first.ask("GET", f"/v1/experiments/headline/report?{question}&missing=0")
            assert {value["target"] for value in report["values"]} >= {"logged", "uniform", ARMS[0]}
            view = await first.look()
        log = tmp_path / "log.jsonl"
        log.write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert db.Log.read(log, missing=0.0).decisions == 80
        other = (await told(postgres, "SELECT current_database() AS name"))[0]["name"] + "_out"
        await told(postgres, f"CREATE DATABASE {other}")
        opened = Store(database_of(postgres.replace(other.removesuffix("_out"), other), "full"))
        await opened.open()
        try:
            found = await transfer.imported(opened, "again", log, clock.now)
            assert (found.decisions, found.rewards) == (view["decisions"], view["rewards"])
            assert await transfer.checked(opened) == []
        finally:
            await opened.close()

    run(scenario())


def test_nothing_comes_in_while_somebody_serves(postgres: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(postgres):
            opened = Store(database_of(postgres, "full"))
            await opened.open()
            with pytest.raises(db.InvalidValue, match="nobody serves"):
                await transfer.imported(opened, "x", tmp_path / "none.jsonl", 0.0)
            await opened.close()

    run(scenario())
