"""What is asked of a service, and what becomes of it: decisions, rewards, arms, waits, keys, and starting again."""

import asyncio
import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.online.scenes import POLICIES, ids
from tests.service.running import HEADLINE, Client, Clock, clock_of, kill, run, serving

import driftbandit as db
from driftbandit.contract import Change
from driftbandit.replica import Made, Replica
from driftbandit.service import views
from driftbandit.service.database import Statement

ARMS = [f"arm {place}" for place in range(4)]


def test_a_decision_has_its_exact_probability_and_a_reward_counts_once(store: str) -> None:
    async def scenario() -> None:
        clock = clock_of(store)
        async with serving(store, clock) as client:
            await client.create()
            first = await client.decide()
            assert first == {"id": 1, "arm": first["arm"], "probability": 1 / 3, "time": clock.now}
            assert await client.reward(1, 1.0) == {"status": "accepted"}
            assert await client.reward(1, 0.0) == {"status": "repeated"}
            assert await client.reward(2, 0.0) == {"status": "unknown"}
            assert await client.reward((5 << 40) + 1, 0.0) == {"status": "unknown"}
            expected = db.selection_probabilities([(2, 1), (1, 1), (1, 1)], optimistic=True)
            second = await client.decide()
            floored = 0.01 + 0.97 * np.array(expected)
            assert second["probability"] == pytest.approx(floored[0 if second["arm"] == first["arm"] else 1], abs=1e-12)
            many = await client.decide(count=5)
            assert [one["id"] for one in many["decisions"]] == [3, 4, 5, 6, 7]
            body = {"rewards": [{"id": 3, "reward": 1}, {"id": 3, "reward": 1}, {"id": 4, "reward": 0.5}]}
            answer = await client.ask("POST", "/v1/experiments/headline/rewards", json=body)
            assert answer == {"statuses": ["accepted", "repeated", "accepted"]}
            found = await client.look()
            assert (found["decisions"], found["rewards"], found["pending"]) == (7, 3, 4)
            assert sum(arm["probability"] for arm in found["arms"]) == pytest.approx(1.0)

    run(scenario())


def test_a_service_decides_as_a_bandit_with_the_same_seed(store: str) -> None:
    async def scenario() -> None:
        clock, dice = clock_of(store), random.Random(1)
        bandit = db.Bandit(
            HEADLINE["arms"], db.DiscountedOptimisticThompsonSampling(discount=0.99), seed=7, step_seconds=1.0,
            minimum_probability=0.01, clock=clock,
        )  # fmt: skip
        async with serving(store, clock) as client:
            await client.create()
            for _ in range(200):
                clock.now += dice.expovariate(1.0)
                decision, twin = await client.decide(), bandit.select()
                assert (decision["id"], decision["arm"], decision["time"]) == (twin.id, twin.arm, twin.time)
                assert decision["probability"] == pytest.approx(twin.probability, rel=1e-12)
                if dice.random() < 0.7:
                    reward = float(dice.random() < 0.4)
                    bandit.reward(twin.id, reward)
                    await client.reward(twin.id, reward)

    run(scenario())


def test_one_key_is_one_decision(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(key_seconds=100)
            first = await client.decide(key="user 42")
            again = await client.decide(key="user 42")
            assert again == first | {"repeated": True}
            both = await asyncio.gather(*(client.decide(key="at once") for _ in range(20)))
            assert len({one["id"] for one in both}) == 1
            assert sum("repeated" not in one for one in both) == 1
            three = await client.decide(key="three", count=3)
            repeated = await client.decide(key="three", count=3)
            assert [one["id"] for one in repeated["decisions"]] == [one["id"] for one in three["decisions"]]
            error = await client.decide(key="three", count=2, status=409)
            assert error == {"error": "key must be used for as many decisions as before, 3, got 2"}
            clock.now += 101.0
            assert "repeated" not in await client.decide(key="user 42")
            assert (await client.look())["decisions"] == 6

    run(scenario())


def test_a_wait_is_not_over_at_its_very_end_and_nobody_looks_again_and_again_until_it_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(wait=8, default_reward=0.0)
            id = (await client.decide())["id"]
            clock.now += 8.0
            client.service.chores._due.clear()
            await asyncio.wait_for(client.service.chores.sweep(), 5.0)
            assert await client.reward(id, 1.0) == {"status": "accepted"}

    run(scenario())


def test_many_keys_at_once_fit_where_a_statement_takes_few_values(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create()
            database: Any = client.service.store.database
            for connection in (database._writer, database._reader):
                connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32766)  # as SQLite is built unless told
            decide, experiment = client.service.committer.decide, client.experiment()
            made = await asyncio.gather(*(decide(experiment, None, f"user {each}", 1) for each in range(7000)))
            again = await asyncio.gather(*(decide(experiment, None, f"user {each}", 1) for each in range(7000)))
            assert [each.rows for each in again] == [each.rows for each in made]
            assert len({each.rows[0].id for each in made}) == 7000

    run(scenario())


def test_a_change_made_while_memory_was_made_anew_is_placed_by_the_log(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create(policy="cusum-ucb:threshold=5,exploration=0.1", step_seconds=None)
            await client.decide(count=3)
            before = client.experiment()
            before.select(None, 5)  # drawn, and never stored
            await client.service.committer.alone(client.service.experiments.load)
            await views.changed(client.service, before, Change(add=["new"]), None)
            assert client.experiment().arms[-1].added_after == 3

    run(scenario())


def test_an_experiment_that_changes_while_it_is_read_is_shown_as_it_was_at_one_moment(store: str) -> None:
    async def scenario() -> None:
        async with serving(store) as client:
            await client.create()
            real, experiments = views.counts, client.service.experiments
            changing = [True]

            async def counts(*asked: Any) -> Any:
                if changing and changing.pop():
                    await client.change(add=["new"], only=["new"])
                return await real(*asked)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(views, "counts", counts)
                found = await client.look()
            assert experiments.by_name["headline"].version == 2
            assert (found["version"], found["only"], len(found["arms"])) == (1, None, 3)
            assert all(arm["eligible"] for arm in found["arms"])

    run(scenario())


def test_a_wait_that_is_over_counts_as_the_default_and_nothing_after_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(wait=60, default_reward=0.0)
            ids = [(await client.decide())["id"] for _ in range(4)]
            clock.now += 59.0
            assert await client.reward(ids[0], 1.0) == {"status": "accepted"}
            clock.now += 2.0
            assert await client.reward(ids[1], 1.0) == {"status": "expired"}
            await client.service.chores.sweep()
            assert await client.reward(ids[2], 1.0) == {"status": "repeated"}
            found = await client.look()
            assert (found["rewards"], found["pending"]) == (4, 0)
            assert sum(arm["effective_size"] for arm in found["arms"]) == pytest.approx(4 * 0.99**61)
            await client.service.chores.sweep()
            assert (await client.look())["rewards"] == 4

    run(scenario())


def test_arms_come_and_go_and_numbers_do_not_come_back(store: str) -> None:
    async def scenario() -> None:
        async with serving(store, clock_of(store)) as client:
            await client.create()
            green = await client.decide(arms=["green"])
            found = await client.change(add=["black"], remove=["green"])
            assert [arm["name"] for arm in found["arms"]] == ["red", "blue", "black"]
            assert await client.reward(green["id"], 1.0) == {"status": "removed"}
            await client.change(add=["green"])
            assert (await client.look())["arms"][-1]["effective_size"] == 0.0
            await client.change(only=["red", "green"])
            drawn = {(await client.decide())["arm"] for _ in range(40)}
            assert drawn == {"red", "green"}
            assert await client.decide(arms=["black"], status=422) == {
                "error": "arms must be such that one at least is eligible now, got none"
            }
            await client.change(only=None, state="stopped")
            assert await client.decide(status=409) == {"error": "headline is stopped"}
            assert (await client.change(state="running"))["state"] == "running"

    run(scenario())


def test_changes_that_make_no_sense_are_refused_whole(store: str) -> None:
    async def scenario() -> None:
        async with serving(store, clock_of(store)) as client:
            before = await client.create(minimum_probability=0.3)
            for change, said in (
                ({"add": ["red"]}, "add must be new names, got 'red'"),
                ({"add": ["a", "a"]}, "arms must be different names, got ['a', 'a']"),
                ({"add": ["a"]}, "minimum_probability must be at most 1/4 for 4 arms, got 0.3"),
                ({"remove": ["red", "green", "blue"]}, "remove must be such that one arm at least is left, got "),
                ({"remove": ["none"]}, "arms must be among red, green, blue, got 'none'"),
                ({"only": ["none"]}, "only must be among red, green, blue, got 'none'"),
            ):
                assert (await client.change(status=422, **change))["error"].startswith(said)
            assert (await client.look()) | {"lag": 0.0} == before | {"lag": 0.0}
            tag = {"If-Match": '"7"'}
            await client.ask("PATCH", "/v1/experiments/headline", 409, json={"add": ["a"]}, headers=tag)
            await client.create(status=200, minimum_probability=0.3)
            await client.create(status=409, minimum_probability=0.2)

    run(scenario())


def _settings(policy: db.Policy, step_seconds: float | None) -> dict[str, Any]:
    return {"policy": str(policy), "step_seconds": step_seconds, "arms": ARMS, "minimum_probability": 0.02}


@pytest.mark.parametrize("step_seconds", [10.0, None], ids=["clock", "decisions"])
@pytest.mark.parametrize("policy", POLICIES, ids=ids)
def test_whatever_the_policy_a_killed_service_goes_on_from_its_log(
    policy: db.Policy, step_seconds: float | None, tmp_path: Path
) -> None:
    """With a snapshot and without one; it then knows what a service that never stopped knows."""

    async def scenario() -> None:
        clock, dice = Clock(), random.Random(3)
        path = tmp_path / "s.db"
        async with serving(tmp_path / "whole.db", clock) as whole:
            clients = [whole]
            await whole.create(**_settings(policy, step_seconds))
            first = serving(path, clock)
            killed = await first.__aenter__()
            await killed.create(**_settings(policy, step_seconds))
            for part in range(3):
                clients = [whole, killed]
                await _play(clients, clock, dice, part)
                if part == 1:
                    await killed.service.chores.minute()
                    await killed.service.chores.flush()
                    await killed.decide(arms=ARMS[:3])
                    await whole.decide(arms=ARMS[:3])
                await kill(killed)
                await killed.http.aclose()
                first = serving(path, clock)
                killed = await first.__aenter__()
                _same(whole, killed)
            await _play([whole, killed], clock, dice, 3)
            _same(whole, killed)
            for client in (whole, killed):  # sums by minute are those of the log, whatever was killed
                await client.flush()
            sums = [await _sums(client) for client in (whole, killed)]
            assert sums[0] == sums[1]
            await killed.http.aclose()
            await killed.service.stop()

    run(scenario())


async def _play(clients: list[Client], clock: Clock, dice: random.Random, part: int) -> None:
    """The same on all of them."""
    open_ids: list[int] = []
    for step in range(12):
        clock.now += dice.expovariate(0.2)
        among = {"arms": dice.sample(ARMS, 3)} if dice.random() < 0.2 else {}
        made = [await client.decide(**among) for client in clients]
        assert all(one == made[0] for one in made)
        open_ids.append(made[0]["id"])
        while open_ids and dice.random() < 0.5:
            id, reward = open_ids.pop(dice.randrange(len(open_ids))), float(dice.random() < 0.4)
            answers = [await client.reward(id, reward) for client in clients]
            assert all(one == answers[0] for one in answers)
        if step == 6 and part == 1:
            for client in clients:
                await client.change(add=["new"], remove=[ARMS[3]])
                await client.change(remove=["new"], add=[ARMS[3]])


def _same(one: Client, other: Client) -> None:
    first, second = one.experiment().replica, other.experiment().replica
    assert first.last == second.last
    assert first.odds() == pytest.approx(second.odds(), rel=1e-9, abs=1e-12)  # beliefs are judged for it
    mine, its = first.evidence(), second.evidence()
    assert mine.keys() == its.keys()
    for arm in mine:
        np.testing.assert_allclose(mine[arm], its[arm], rtol=1e-12, atol=1e-12)


async def _sums(client: Client) -> list[Any]:
    fields = "minute, arm, sum(decisions), round(sum(weight), 9), sum(rewards), round(sum(paid), 9)"
    question = (
        f"SELECT {fields} FROM rollup WHERE decisions > 0 OR rewards > 0 GROUP BY minute, arm ORDER BY minute, arm"
    )
    [rows] = await client.service.store.database.read(Statement(question))
    return rows


def test_a_store_that_does_not_take_what_is_written_is_answered_503_and_nothing_is_learned(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create()
            made = await client.decide()
            database: Any = client.service.store.database
            await database._in(0, lambda: database._writer.execute("PRAGMA query_only = ON").fetchall())
            error = await client.reward(made["id"], 1.0, status=503)
            assert error["error"].startswith("the store does not take what is written")
            for _ in range(100):
                if not client.service.unready():
                    break
                await asyncio.sleep(0.05)
            assert await client.reward(made["id"], 1.0) == {"status": "accepted"}
            assert (await client.decide())["id"] == 2

    run(scenario())


def test_two_processes_on_one_file_are_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db"):
            with pytest.raises(db.InvalidValue, match=r"no other process serves.*for several processes use PostgreSQL"):
                async with serving(tmp_path / "s.db"):
                    pass

    run(scenario())


def test_the_log_in_the_store_is_what_one_library_replica_learns(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock, dice = Clock(), random.Random(5)
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(arms=ARMS)
            for part in range(4):
                await _play([client], clock, dice, part if part != 1 else 0)
            experiment = client.experiment()
            [rows] = await client.service.store.database.read(
                Statement(
                    "SELECT d.id, d.arm, d.time, d.stamp, d.used, d.eligible, r.value FROM decision d JOIN reward r "
                    "ON r.experiment = d.experiment AND r.decision = d.id ORDER BY d.id"
                )
            )
            alone = Replica(range(4), experiment.settings, experiment.begun, clock)
            for *made, value in rows:
                alone.learn(Made(*made), value)
            mine, its = experiment.replica.evidence(), alone.evidence()
            for arm in mine:
                np.testing.assert_allclose(mine[arm], its[arm], rtol=1e-12, atol=1e-12)
            assert json.loads(json.dumps(experiment.replica.state())) == experiment.replica.state()

    run(scenario())
