"""Whatever is killed under load: what was answered is there, nothing is there twice, and all processes know the same,
which is what one bandit knows that saw everything in order.
"""

import asyncio
import random
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.service.database_server import Databases
from tests.service.fleet import Fleet, fleet
from tests.service.noted_load import EXPERIMENTS, ORDERED, Load, Noted

from driftbandit.replica import Replica
from driftbandit.service import transfer
from driftbandit.service.database import Statement
from driftbandit.service.known_experiments import KnownExperiments
from driftbandit.service.process import database_of
from driftbandit.service.rows import DEFAULT, DecisionRow, RewardRow
from driftbandit.service.store import Store

Killing = Callable[[Fleet, Load, random.Random], Awaitable[None]]
MORE = 20
"""Rewards that are accepted between kills, at least."""


def killing_processes(kills: int, slowest: float) -> Killing:
    """So many SIGKILLs, of any process, whatever it does; sometimes of all at once, or of one that just begins."""

    async def kill(processes: Fleet, load: Load, dice: random.Random) -> None:
        done = 0
        while done < kills:
            await load.goes_on(MORE)
            await asyncio.sleep(dice.uniform(0.0, slowest))
            victims = processes.ports if dice.random() < 0.2 else [dice.choice(processes.ports)]
            for again in range(2 if dice.random() < 0.2 else 1):
                await asyncio.sleep(dice.uniform(0.0, again * slowest))
                for port in victims:
                    processes.kill(port)
                done += len(victims)
                await asyncio.gather(*(processes.start(port) for port in victims))

    return kill


def killing_the_database(databases: Databases, kills: int) -> Killing:
    """The server of PostgreSQL is killed, or ends in need, and comes back some time later."""

    async def kill(processes: Fleet, load: Load, dice: random.Random) -> None:
        for number in range(kills):
            await load.goes_on(MORE)
            await asyncio.sleep(dice.uniform(0.0, 1.0))
            databases.server.kill(signal.SIGKILL if number % 2 == 0 else signal.SIGQUIT)
            await asyncio.sleep(dice.uniform(0.0, 1.0))
            await asyncio.to_thread(databases.server.start)
            await processes.ready()

    return kill


def survived(store: str, count: int, folder: Path, killing: Killing, seed: int) -> Noted:
    """Load while something is killed, and what must be true afterwards."""
    experiments = EXPERIMENTS | (ORDERED if count == 1 else {})

    async def scenario() -> Noted:
        async with fleet(store, count, folder) as processes:
            await processes.create(experiments)
            load = Load(processes.ports, list(experiments), seed)
            running = asyncio.create_task(load.run())
            dying = asyncio.create_task(killing(processes, load, random.Random(seed)))
            await asyncio.wait([running, dying], return_when=asyncio.FIRST_COMPLETED)
            await load.goes_on(5 * MORE)  # what nobody has to learn again
            load.stop()
            await asyncio.gather(running, dying)
            await processes.ready()
            await asyncio.sleep(EXPERIMENTS["waiting"]["wait"] + 2.5)  # all waits are over, and a sweep has been
            known = await processes.agree()
            await asyncio.to_thread(processes.end)
        opened = Store(database_of(store, "full"))
        await opened.open()
        try:
            loaded = KnownExperiments(opened, float)
            await loaded.load(count=False, snapshots=False)
            for name in experiments:
                rows = await log_of(opened, loaded.by_name[name].number)
                check_store(name, rows, load.noted, loaded)
                check_evidence(name, rows, known, loaded)
            await check_keys(opened, load.noted, loaded)
            assert await transfer.checked(opened) == []
        finally:
            await opened.close()
        return load.noted

    return asyncio.run(scenario())


Rows = list[tuple[DecisionRow, RewardRow | None]]


async def log_of(store: Store, experiment: int) -> Rows:
    """All decisions of an experiment, in the order of time, with their rewards."""
    return await store.decided_between(experiment, 0.0, 1e12, 1 << 40)


def check_store(name: str, rows: Rows, noted: Noted, loaded: KnownExperiments) -> None:
    """What was answered is there as it was answered, and there is no more than may be."""
    arms = loaded.by_name[name].arms
    there = {row.id: (arms[row.arm].name, row.probability, row.time) for row, _ in rows}
    answered = {id: told[1:] for (experiment, id), told in noted.decisions.items() if experiment == name}
    assert answered.items() <= there.items()
    assert len(there) - len(answered) <= noted.lost[name]  # stored, and killed before it could say so
    waits = "wait" in EXPERIMENTS.get(name, {})
    accepted = {id: value for (experiment, id), value in noted.accepted.items() if experiment == name}
    rewards = {row.id: reward for row, reward in rows if reward is not None}
    assert accepted.keys() <= rewards.keys()
    for id, reward in rewards.items():
        if reward.kind == DEFAULT:
            assert waits
            assert id not in accepted
        elif id in accepted:
            assert reward.value == accepted[id]
        else:  # its answer was lost, and the one after it was "repeated"
            assert reward.value in noted.values[name, id]
    if waits:
        assert rewards.keys() == there.keys()
    else:
        assert rewards.keys() == {id for experiment, id in noted.values if experiment == name}


def check_evidence(name: str, rows: Rows, known: list[dict[str, Any]], loaded: KnownExperiments) -> None:
    """Every process knows what one replica knows that saw all decisions and rewards in order."""
    experiment = loaded.by_name[name]
    moment = max(row.time for row, _ in rows) + 10.0
    if experiment.convergent:
        alone = Replica(range(len(experiment.arms)), experiment.settings, experiment.begun, lambda: moment)
        for row, reward in rows:
            if reward is not None:
                assert reward.value is not None
                alone.learn(row.as_made, reward.value)
        expected = alone.evidence()
    else:  # the order is that of the log
        loaded.now = moment
        expected = experiment.replica.evidence()
    for one in known:
        replica = Replica.restored(one["known"][name], experiment.settings, lambda: moment)
        found = replica.evidence()
        assert found.keys() == expected.keys()
        for arm in expected:
            np.testing.assert_allclose(found[arm], expected[arm], rtol=1e-12, atol=1e-12)


async def check_keys(store: Store, noted: Noted, loaded: KnownExperiments) -> None:
    """A key is of the decisions that were answered for it, and of no others."""
    [rows] = await store.database.read(Statement("SELECT experiment, key, first, count FROM key"))
    found = {(loaded.by_number[number].name, key): [*range(first, first + count)] for number, key, first, count in rows}
    assert found == noted.keys


def report(noted: Noted) -> str:
    counted = f"{len(noted.decisions)} decisions and {len(noted.accepted)} rewards answered"
    return f"{counted}, {noted.lost.total()} decisions without an answer, {noted.again} tried again"


def test_processes_on_postgresql_are_killed(postgres: str, tmp_path: Path) -> None:
    survived(postgres, 2, tmp_path, killing_processes(3, 0.4), seed=1)


def test_a_process_on_sqlite_is_killed(tmp_path: Path) -> None:
    survived(f"sqlite:///{tmp_path / 's.db'}", 1, tmp_path, killing_processes(3, 0.4), seed=2)


def test_the_database_is_killed(postgres: str, all_databases: Databases, tmp_path: Path) -> None:
    if all_databases.given:
        pytest.skip("a database that is not of these tests alone is not killed")
    survived(postgres, 2, tmp_path, killing_the_database(all_databases, 1), seed=3)


@pytest.mark.slow
def test_processes_on_postgresql_are_killed_100_times(postgres: str, tmp_path: Path) -> None:
    print(report(survived(postgres, 2, tmp_path, killing_processes(100, 1.0), seed=11)))


@pytest.mark.slow
def test_a_process_on_sqlite_is_killed_100_times(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 's.db'}"
    print(report(survived(store, 1, tmp_path, killing_processes(100, 1.0), seed=12)))


@pytest.mark.slow
def test_the_database_is_killed_20_times(postgres: str, all_databases: Databases, tmp_path: Path) -> None:
    if all_databases.given:
        pytest.skip("a database that is not of these tests alone is not killed")
    all_databases.server.synced()
    print(report(survived(postgres, 2, tmp_path, killing_the_database(all_databases, 20), seed=13)))
