"""What a service does unasked: sums, waits that are over, news of other processes, snapshots, what may be forgotten."""

import asyncio
import contextlib
import itertools
import logging
import math
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from driftbandit.errors import DriftbanditError
from driftbandit.service.contract import MOST_AT_ONCE
from driftbandit.service.database import Row, Statement
from driftbandit.service.experiment import DAY, Experiment
from driftbandit.service.rows import DEFAULT, NOTHING

if TYPE_CHECKING:
    from driftbandit.service.service import Service

FOLLOW, FLUSH, SWEEP, MINUTE, HOUR = 0.1, 1.0, 1.0, 60.0, 3600.0
log = logging.getLogger("driftbandit.service")


class Chores:
    """Tasks that come back."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._tasks: list[asyncio.Task[None]] = []
        self._swept: dict[tuple[int, int], int] = {}
        """By experiment and slot, up to which decision waits are dealt with."""
        self._due: dict[tuple[int, int], float] = {}
        """Likewise, when to look again."""

    def start(self) -> None:
        """Begin."""
        chores: list[tuple[float, Callable[[], Awaitable[None]]]] = [
            (FLUSH, self.flush), (SWEEP, self.sweep), (MINUTE, self.minute), (HOUR, self.forget),
        ]  # fmt: skip
        if self._service.store.database.shared:
            chores.append((FOLLOW, self.follow))
        self._tasks = [asyncio.create_task(self._again(every, chore)) for every, chore in chores]

    async def stop(self) -> None:
        """End, and leave a snapshot behind."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        with contextlib.suppress(DriftbanditError):
            await self.minute()
            await self._service.committer.stored()

    async def _again(self, every: float, chore: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(every)
            try:
                await chore()
            except DriftbanditError as error:
                log.warning("%s: %s", chore.__name__, error)
            except Exception:
                log.exception("%s failed", chore.__name__)

    async def follow(self) -> None:
        """What other processes have stored."""
        service = self._service
        await service.committer.alone(service.experiments.follow)
        service.followed = time.monotonic()
        before = service.clock()
        [[row]] = await service.store.database.read(Statement(f"SELECT {service.store.database.clock}"))
        service.offset = 0.5 * (before + service.clock()) - float(row[0])

    async def flush(self) -> None:
        """Sums by minute."""
        if self._service.experiments.sums:
            self._service.committer.also(sums=True)

    async def sweep(self) -> None:
        """Decisions that waited too long get the default reward, or none."""
        service = self._service
        waiting = [
            experiment
            for experiment in service.experiments.by_number.values()
            if experiment.terms.wait is not None
            and (experiment.terms.default_reward is not None or not experiment.convergent)
        ]
        if not waiting or not await service.committer.alone(service.store.database.leads):
            return
        slots = list(await service.store.slots())
        for experiment, slot in itertools.product(waiting, slots):
            place = (experiment.number, slot)
            if time.monotonic() >= self._due.get(place, 0.0):
                await self._end_waits(experiment, place)

    async def _end_waits(self, experiment: Experiment, place: tuple[int, int]) -> None:
        """All waits of a slot's decisions that are over."""
        service, default = self._service, experiment.terms.default_reward
        kind = NOTHING if default is None else DEFAULT
        again = 0.0
        while not again:
            found = await service.store.overdue(*place, self._swept.get(place, 0), experiment.terms.wait or 0.0)
            for start in range(0, len(found.ids), MOST_AT_ONCE):
                pairs = [(id, default) for id in found.ids[start : start + MOST_AT_ONCE]]
                await service.committer.reward(experiment, pairs, kind)
            self._swept[place], again = found.reached, found.again
        self._due[place] = time.monotonic() + max(again, SWEEP)

    async def minute(self) -> None:
        """What is believed now, and snapshots."""
        service = self._service
        experiments = service.experiments

        async def look() -> tuple[list[Row], list[Statement]]:
            rows = [
                row for experiment in experiments.by_number.values() for row in beliefs(experiment, experiments.now)
            ]
            snapshots = [
                service.store.snapshot_put(experiments.snapshot(experiment))
                for experiment in experiments.by_number.values()
            ]
            return rows, snapshots

        if not await service.committer.alone(service.store.database.leads):
            return
        rows, snapshots = await service.committer.alone(look)
        service.committer.also([*(service.store.beliefs_put(rows) if rows else ()), *snapshots])

    async def forget(self) -> None:
        """Keys that stand for nothing any more, and whole days of decisions that are older than is asked for.

        What is left out was no longer to be rewarded since an hour ago, and is in the snapshot that is taken first.
        """
        service = self._service
        store, committer = service.store, service.committer
        committer.also([Statement(f"DELETE FROM key WHERE until < {store.database.clock}")])
        if service.options.retention is None or not await committer.alone(store.database.leads):
            return
        await self.minute()
        await committer.stored()
        _, rows = await store.experiments()
        before = (service.clock() // DAY - service.options.retention) * DAY
        for (row, _), slot in itertools.product(rows, await store.slots()):
            while row.kept_from and await committer.alone(partial(store.forget, row.number, slot, row.kept_from)):
                pass
        committer.also([store.keep_from(row.number, before) for row, _ in rows])


def beliefs(experiment: Experiment, now: float) -> list[Row]:
    """What is believed of each arm, as it is stored."""
    rows: list[Row] = []
    for arm in experiment.replica.summary():
        values = (arm.mean, arm.low, arm.high, arm.observations, arm.probability)
        numbers = experiment.replica.asleep() if arm.arm is None else [arm.arm]
        told: Any = [value if math.isfinite(value) else None for value in values]
        rows += [(experiment.number, int(now // 60.0), number, *told) for number in numbers]
    return rows
