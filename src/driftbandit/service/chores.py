"""What a service does unasked: sums, waits that are over, news of other processes, snapshots, what may be forgotten."""

import asyncio
import contextlib
import itertools
import logging
import math
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from driftbandit.contract import MOST_AT_ONCE
from driftbandit.errors import DriftbanditError
from driftbandit.service.commits import Committer
from driftbandit.service.database import Row, Statement
from driftbandit.service.live_experiment import DAY, LiveExperiment
from driftbandit.service.rows import DEFAULT, NOTHING

FOLLOW, FLUSH, SWEEP, MINUTE, HOUR = 0.1, 1.0, 1.0, 60.0, 3600.0
log = logging.getLogger("driftbandit.service")


class Chores:
    """Tasks that come back."""

    def __init__(self, committer: Committer, clock: Callable[[], float], retention: float | None) -> None:
        self._committer, self._experiments, self._store = committer, committer.experiments, committer.experiments.store
        self._clock = clock
        self._retention = retention
        """Days that decisions are kept, or None for ever."""
        self.followed = time.monotonic()
        """When the rewards of other processes were last read."""
        self.offset = 0.0
        """How far this clock is ahead of the database's, in seconds."""
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
        if self._store.database.shared:
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
            await self._committer.stored()

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
        await self._committer.alone(self._experiments.follow)
        self.followed = time.monotonic()
        before = self._clock()
        [[row]] = await self._store.database.read(Statement(f"SELECT {self._store.database.clock}"))
        self.offset = 0.5 * (before + self._clock()) - float(row[0])

    async def flush(self) -> None:
        """Sums by minute; and a process that nobody asks finds out in this way whether a database is there again."""
        if self._experiments.sums or self._store.database.ready():
            self._committer.also(sums=True)

    async def sweep(self) -> None:
        """Decisions that waited too long get the default reward, or none."""
        waiting = [
            experiment
            for experiment in self._experiments.by_number.values()
            if experiment.terms.wait is not None
            and (experiment.terms.default_reward is not None or not experiment.convergent)
        ]
        if not waiting or not await self._committer.alone(self._store.database.leads):
            return
        slots = list(await self._store.slots())
        for experiment, slot in itertools.product(waiting, slots):
            place = (experiment.number, slot)
            if time.monotonic() >= self._due.get(place, 0.0):
                await self._end_waits(experiment, place)

    async def _end_waits(self, experiment: LiveExperiment, place: tuple[int, int]) -> None:
        """All waits of a slot's decisions that are over."""
        default = experiment.terms.default_reward
        kind = NOTHING if default is None else DEFAULT
        again: float | None = None
        while again is None:
            found = await self._store.overdue(*place, self._swept.get(place, 0), experiment.terms.wait or 0.0)
            for start in range(0, len(found.ids), MOST_AT_ONCE):
                pairs = [(id, default) for id in found.ids[start : start + MOST_AT_ONCE]]
                await self._committer.reward(experiment, pairs, kind)
            self._swept[place], again = found.reached, found.again
        self._due[place] = time.monotonic() + max(again, SWEEP)

    async def minute(self) -> None:
        """What is believed now, and snapshots."""
        experiments = self._experiments

        async def look() -> tuple[list[Row], list[Statement]]:
            rows = [
                row for experiment in experiments.by_number.values() for row in beliefs(experiment, experiments.now)
            ]
            snapshots = [
                self._store.snapshot_put(experiments.snapshot(experiment))
                for experiment in experiments.by_number.values()
            ]
            return rows, snapshots

        if not await self._committer.alone(self._store.database.leads):
            return
        rows, snapshots = await self._committer.alone(look)
        self._committer.also([*(self._store.beliefs_put(rows) if rows else ()), *snapshots])

    async def forget(self) -> None:
        """Keys that stand for nothing any more, and whole days of decisions that are older than is asked for.

        What is left out was no longer to be rewarded since an hour ago, and is in the snapshot that is taken first.
        """
        store, committer = self._store, self._committer
        reached: tuple[int, str] | None = (0, "")
        while reached is not None:
            reached = await committer.alone(partial(store.forget_keys, *reached))
        if self._retention is None or not await committer.alone(store.database.leads):
            return
        if store.database.shared:  # what others have written goes into the snapshot too
            await self.follow()
        await self.minute()
        await committer.stored()
        _, rows = await store.experiments()
        before = (self._clock() // DAY - self._retention) * DAY
        for (row, _), slot in itertools.product(rows, await store.slots()):
            while row.kept_from and await committer.alone(partial(store.forget, row.number, slot, row.kept_from)):
                pass
        committer.also([store.keep_from(row.number, before) for row, _ in rows])


def beliefs(experiment: LiveExperiment, now: float) -> list[Row]:
    """What is believed of each arm, as it is stored."""
    rows: list[Row] = []
    for arm in experiment.replica.summary():
        values = (arm.mean, arm.low, arm.high, arm.observations, arm.probability)
        numbers = experiment.replica.asleep() if arm.arm is None else [arm.arm]
        told: Any = [value if math.isfinite(value) else None for value in values]
        rows += [(experiment.number, int(now // 60.0), number, *told) for number in numbers]
    return rows
