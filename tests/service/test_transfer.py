"""Experiments out of a store and into one, and stores that are checked."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.online.scenes import POLICIES, ids
from tests.service.running import Client, Clock, run, serving
from tests.service.test_reading import played

import driftbandit as db
from driftbandit.errors import InvalidValue
from driftbandit.service import reports, transfer
from driftbandit.service.database import Statement
from driftbandit.service.known_experiments import KnownExperiments
from driftbandit.service.process import database_of
from driftbandit.service.store import Store

ARMS = ["a", "b", "c"]


async def into(path: Path, name: str, log: Path, now: float = 1_900_000_000.0) -> transfer.Imported:
    store = Store(database_of(f"sqlite:///{path}", "normal"))
    await store.open()
    try:
        return await transfer.imported(store, name, log, now)
    finally:
        await store.close()


def logged(path: Path, policy: db.Policy, step_seconds: float | None, clock: Clock) -> db.Bandit:
    """A bandit that has decided for a while; rewards come late, arms come and go, masks are given."""
    dice = random.Random(2)
    bandit = db.Bandit(
        ARMS, policy, seed=9, step_seconds=step_seconds, clock=clock, minimum_probability=0.05, log=path
    )  # fmt: skip
    open_ones: list[db.Decision] = []
    for step in range(60):
        clock.now += dice.expovariate(0.2)
        if step == 20:
            bandit.add("d")
        if step == 40:
            bandit.remove("b")
            open_ones = [one for one in open_ones if one.arm != "b"]
        among = [arm for arm in bandit.arms if arm != "a"] if step % 5 == 0 else None
        open_ones.append(bandit.select(arms=among))
        while open_ones and dice.random() < 0.5:
            bandit.reward(open_ones.pop(dice.randrange(len(open_ones))).id, float(dice.random() < 0.5))
    return bandit


@pytest.mark.parametrize("step_seconds", [10.0, None], ids=["clock", "decisions"])
@pytest.mark.parametrize("policy", POLICIES, ids=ids)
def test_the_log_of_a_bandit_goes_on_in_a_service(
    policy: db.Policy, step_seconds: float | None, tmp_path: Path
) -> None:
    if not policy.rule(3).knows_odds:
        pytest.skip("such a policy writes no log")
    clock = Clock()
    bandit = logged(tmp_path / "log.jsonl", policy, step_seconds, clock)

    async def scenario() -> None:
        found = await into(tmp_path / "s.db", "taken", tmp_path / "log.jsonl", clock.now)
        assert found.decisions == 60
        async with serving(tmp_path / "s.db", clock) as client:
            view = await client.look("taken")
            odds = bandit.probabilities()
            for arm in view["arms"]:
                assert arm["probability"] == pytest.approx(odds[arm["name"]], rel=1e-9, abs=1e-12)
            assert view["decisions"] == 60
            made, twin = await client.decide("taken"), bandit.select()
            assert (made["id"], made["arm"]) == (twin.id, twin.arm)
        store = Store(database_of(f"sqlite:///{tmp_path / 's.db'}", "normal"))
        await store.open()
        assert await transfer.checked(store) == []
        await store.close()

    run(scenario())


def test_what_goes_out_comes_in_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        clock = Clock()
        async with serving(tmp_path / "s.db", clock) as client:
            await client.create(wait=300.0, default_reward=0.0)
            await played(client, clock, 120, arms=True)
            clock.now += 301.0
            await client.service.chores.sweep()
            before = await client.look()
            lines = [json.dumps(event) async for event in transfer.exported(client.service.store, client.experiment())]
        log = tmp_path / "out.jsonl"
        log.write_text("\n".join(lines) + "\n", encoding="utf-8")
        found = await into(tmp_path / "t.db", "again", log, clock.now)
        assert (found.decisions, found.rewards) == (before["decisions"], before["rewards"])
        async with serving(tmp_path / "t.db", clock) as client:
            after = await client.look("again")
            mine = {arm["name"]: arm for arm in after["arms"]}
            for arm in before["arms"]:
                for name in ("mean", "effective_size", "probability"):
                    assert mine[arm["name"]][name] == pytest.approx(arm[name], rel=1e-9, abs=1e-12)

    run(scenario())


BAD: list[tuple[str, dict[str, Any] | str, str]] = [
    (
        "an id twice",
        {"event": "decision", "id": 3, "arm": "a", "probability": 0.5, "time": 1e10},
        "id must be a new one",
    ),
    ("no probability", {"event": "decision", "id": 90, "arm": "a", "probability": 0, "time": 1e10}, "probability must"),
    (
        "an arm that is not there",
        {"event": "decision", "id": 90, "arm": "x", "probability": 1, "time": 1e10},
        "arm must",
    ),
    ("a reward for nobody", {"event": "reward", "id": 90, "reward": 1, "status": "accepted"}, "id must be a decision"),
    ("a clock that was set", {"event": "time", "time": 5.0}, "event must be"),
]


@pytest.mark.parametrize(("line", "said"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_log_that_makes_no_sense_leaves_nothing_behind(line: dict[str, Any], said: str, tmp_path: Path) -> None:
    clock = Clock()
    path = tmp_path / "log.jsonl"
    bandit = logged(path, db.ThompsonSampling(), 10.0, clock)
    del bandit
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")

    async def scenario() -> None:
        with pytest.raises(InvalidValue, match=rf"log.jsonl, line \d+: {said}"):
            await into(tmp_path / "s.db", "taken", path)
        async with serving(tmp_path / "s.db", clock) as client:
            assert (await client.ask("GET", "/v1/experiments"))["experiments"] == []
            [rows] = await client.service.store.database.read(Statement("SELECT count(*) FROM decision"))
            assert rows == [(0,)]

    run(scenario())


def told(event: dict[str, Any]) -> dict[str, Any]:
    """What an event says that must not change on the way."""
    return {name: event[name] for name in ("event", "id", "arm", "probability", "time", "reward") if name in event}


async def out_of(path: Path, name: str) -> list[dict[str, Any]]:
    store = Store(database_of(f"sqlite:///{path}", "normal"))
    await store.open()
    try:
        experiments = KnownExperiments(store, float)
        await experiments.load(count=False)
        return [event async for event in transfer.exported(store, experiments.by_name[name])]
    finally:
        await store.close()


@pytest.mark.parametrize("step_seconds", [10.0, None], ids=["clock", "decisions"])
def test_a_log_keeps_its_order(step_seconds: float | None, tmp_path: Path) -> None:
    """Also where time stands still: many decisions and rewards have the same."""
    clock, visitors = Clock(), random.Random(3)
    bandit = db.Bandit(
        ARMS, db.DiscountedThompsonSampling(discount=0.97), seed=3, step_seconds=step_seconds, clock=clock,
        minimum_probability=0.02, log=tmp_path / "log.jsonl",
    )  # fmt: skip
    waiting: list[db.Decision] = []
    for visitor in range(600):
        clock.now += visitor % 50 == 0
        waiting.append(bandit.select())
        while waiting and visitors.random() < 0.6:
            decision = waiting.pop(visitors.randrange(len(waiting)))
            bandit.reward(decision.id, float(visitors.random() < {"a": 0.3, "b": 0.5, "c": 0.7}[decision.arm]))
    for decision in waiting:
        bandit.reward(decision.id, 0.0)
    path, out = tmp_path / "s.db", tmp_path / "out.jsonl"
    before = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()]

    async def scenario() -> db.Log:
        await into(path, "taken", tmp_path / "log.jsonl", clock.now)
        after = await out_of(path, "taken")
        assert [told(event) for event in after[1:]] == [told(event) for event in before[1:]]
        out.write_text("".join(json.dumps(event) + "\n" for event in after), encoding="utf-8")
        async with serving(path, clock) as client:
            experiment = client.experiment("taken")
            rows = await client.service.store.decided_between(experiment.number, 0.0, 1e12, 10_000)
            return db.Log.of(reports.told(experiment, rows))

    reported = run(scenario())
    log, again, policy = db.Log.read(tmp_path / "log.jsonl"), db.Log.read(out), db.ThompsonSampling()
    for other in (again, reported):
        assert other.value(policy).mean == pytest.approx(log.value(policy).mean, rel=1e-12)


@pytest.mark.parametrize("step_seconds", [10.0, None], ids=["clock", "decisions"])
def test_the_log_of_a_bandit_that_was_recovered_comes_in(step_seconds: float | None, tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "log.jsonl"
    bandit = logged(path, db.DiscountedThompsonSampling(discount=0.99), step_seconds, clock)
    spans: dict[int, None] = {0: None}
    waiting = 0
    while len(spans) < 3 or sorted(spans) == list(spans):  # places are drawn at random: one that goes back comes soon
        bandit.save(tmp_path / "bandit.json")
        bandit = db.Bandit.recover(tmp_path / "bandit.json", path, clock=clock)
        for step in range(20):
            clock.now += 1.0
            decision = bandit.select()
            if step % 4:
                bandit.reward(decision.id, float(step % 3 == 0))
            waiting = decision.id
        spans = dict.fromkeys([*spans, waiting])
    bandit.reward(waiting, 1.0)
    odds = bandit.probabilities()
    before = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    async def scenario() -> None:
        found = await into(tmp_path / "s.db", "taken", path, clock.now)
        assert found.decisions == 60 + 20 * (len(spans) - 1)
        assert 0 < found.renumbered < found.decisions
        after = await out_of(tmp_path / "s.db", "taken")
        new: dict[int, int] = {}
        lines = [
            event
            for event in before
            if event["event"] == "decision" or (event["event"] == "reward" and event["status"] == "accepted")
        ]
        for event, other in zip(lines, (event for event in after if event["event"] != "start"), strict=True):
            assert new.setdefault(event["id"], other["id"]) == other["id"]
            assert told(event) | {"id": 0} == told(other) | {"id": 0}
        made = [other for _, other in new.items()]
        assert made == sorted(set(made))
        assert sum(old != other for old, other in new.items()) == found.renumbered
        async with serving(tmp_path / "s.db", clock) as client:
            view = await client.look("taken")
            assert {arm["name"]: pytest.approx(arm["probability"], rel=1e-9) for arm in view["arms"]} == odds
            assert (await client.decide("taken"))["id"] == max(made) + 1
            for old, other in new.items():
                if old != other:  # nobody else has it
                    assert await client.reward(old, 1.0, "taken") == {"status": "expired"}
        store = Store(database_of(f"sqlite:///{tmp_path / 's.db'}", "normal"))
        await store.open()
        assert await transfer.checked(store) == []
        await store.close()

    run(scenario())


DAMAGE = {
    "DELETE FROM decision WHERE id = 4": "1 rewards are of decisions that are not there",
    "UPDATE decision SET probability = 0 WHERE id = 2": "1 decisions have no probability in (0, 1]",
    "UPDATE decision SET arm = 77 WHERE id = 2": "1 decisions are for arms that never were",
    "UPDATE reward SET value = 1 - value": "the snapshot of headline leads to other evidence than its log",
    "UPDATE rollup SET decisions = decisions + 1 WHERE minute = -1": "sums of headline, arm number ",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found(damage: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", Clock()) as client:
            await client.create()
            for _ in range(6):
                made = await client.decide()
                await client.reward(made["id"], 1.0)
        store = Store(database_of(f"sqlite:///{tmp_path / 's.db'}", "normal"))
        await store.open()
        assert await transfer.checked(store) == []

        def spoil() -> Any:
            yield Statement(damage)

        await store.database.write(spoil())
        assert any(text.startswith(DAMAGE[damage]) for text in await transfer.checked(store))
        await store.close()

    run(scenario())


__all__ = ["Client"]
