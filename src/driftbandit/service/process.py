"""A running service: its parts, what they begin and end with, and whether it can answer."""

import asyncio
import gc
import logging
import sys
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from driftbandit import checks
from driftbandit.compiling.gears import Gears
from driftbandit.errors import InvalidValue
from driftbandit.service.chores import Chores
from driftbandit.service.commits import Committer
from driftbandit.service.database import Database
from driftbandit.service.guard import Rates, Tokens, check_host
from driftbandit.service.known_experiments import KnownExperiments
from driftbandit.service.live_experiment import LiveExperiment
from driftbandit.service.metrics import Metrics
from driftbandit.service.options import Options
from driftbandit.service.reports import Reports
from driftbandit.service.store import Store

MOST_INTERPRETED = 12
"""Arms of which odds are worked out without a compiler; for more, a service is ready when that is done."""
LONGEST_LAG = 5.0
"""Seconds without news of other processes, after which a process is not ready."""
LARGEST_OFFSET = 1.0
"""Seconds by which the clock may differ from the database's."""
FREEZE = 5.0
"""Seconds after the start until what is there by then is no business of the garbage collector any more."""
SWITCH = 2e-4
"""Seconds after which threads take turns."""
log = logging.getLogger("driftbandit.service")


class Service:
    """Everything that a process has."""

    def __init__(self, options: Options, clock: Callable[[], float] = time.time) -> None:
        self.options = options
        self.tokens = Tokens(options.tokens)
        check_host(options.host, self.tokens)
        if self.tokens.needed and not self.tokens.all:
            hint = "driftbandit token new makes one"
            raise InvalidValue(f"tokens must be a file with a token at least, got {options.tokens} ({hint})")
        self.rates = Rates(options.rate)
        self.clock = clock
        self.store = Store(database_of(options.store, options.sync, clock))
        self.experiments: KnownExperiments
        self.committer: Committer
        self.chores: Chores
        self.metrics = Metrics(self)
        self.reports = Reports(self.store, clock)
        self.stopping = False
        self.started = False
        self._kernels: list[Gears] = []

    async def start(self) -> None:
        """Open the store, learn what it says, and begin."""
        sys.setswitchinterval(SWITCH)
        await self.store.open()
        try:
            self.experiments = KnownExperiments(self.store, self.clock)
            await self.experiments.load()
            self.tokens.key = await self.store.session_key()
        except BaseException:
            await self.store.close()
            raise
        for experiment in self.experiments.by_number.values():
            self.prepare(experiment)
        self.committer = Committer(self.experiments, self.metrics.commit.observe)
        self.committer.start()
        self.chores = Chores(self.committer, self.clock, self.options.retention)
        self.chores.start()
        self.started = True
        asyncio.get_running_loop().call_later(FREEZE, settle)

    async def stop(self) -> None:
        """Store what waits and what is known, and give everything back."""
        self.stopping = True
        if not self.started:
            return
        await self.chores.stop()
        await self.committer.stop()
        await self.store.close()

    def prepare(self, experiment: LiveExperiment) -> None:
        """Have what an experiment runs compiled, in the background."""
        for gears, arguments in experiment.replica.functions():
            gears.soon(*arguments)
            if len(experiment.numbers) > MOST_INTERPRETED:
                self._kernels.append(gears)

    @property
    def shown_store(self) -> str:
        """The store, without what nobody should read."""
        parts = urlsplit(self.options.store)
        return (
            self.options.store if parts.scheme == "sqlite" else f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
        )

    @property
    def lag(self) -> float:
        """Seconds since the rewards of other processes were read."""
        return time.monotonic() - self.chores.followed if self.store.database.shared else 0.0

    @property
    def offset(self) -> float:
        """How far this clock is ahead of the database's, in seconds."""
        return self.chores.offset

    def unready(self) -> list[str]:
        """Why this process should not be asked now, or nothing."""
        if not self.started or self.stopping:
            return ["stopping" if self.stopping else "starting"]
        reasons = [self.committer.down, self.store.database.ready()]
        if self.committer.ended:
            reasons.append("nothing is stored any more")
        if self.lag > LONGEST_LAG:
            reasons.append(f"the log was last read {self.lag:.0f} s ago")
        if abs(self.offset) > LARGEST_OFFSET:
            reasons.append(f"the clock is off by {self.offset:+.1f} s from the database's")
        self._kernels = [gears for gears in self._kernels if gears.kernel is None]
        if self._kernels:
            reasons.append("odds of many arms are being compiled")
        return [reason for reason in reasons if reason]


def settle() -> None:
    """What is there now stays: the collector need not go through the heap of a compiler again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def database_of(address: str, sync: str, clock: Callable[[], float] = time.time) -> Database:
    """The database at an address.

    >>> database_of("mysql://here", "full")
    Traceback (most recent call last):
    ...
    driftbandit.errors.InvalidValue: store must be sqlite:///PATH or postgresql://…, got 'mysql://…'
    """
    scheme = urlsplit(address).scheme
    if scheme == "sqlite":
        from driftbandit.service.sqlite import SQLite

        path = address.removeprefix("sqlite://")
        path = path[1:] if path.startswith("/") else path
        if not path:
            raise checks.reject("store", "sqlite:///PATH or postgresql://…", address)
        return SQLite(path, sync, clock)
    if scheme in ("postgresql", "postgres"):
        from driftbandit.service.postgres import PostgreSQL

        return PostgreSQL(address)
    raise checks.reject("store", "sqlite:///PATH or postgresql://…", f"{scheme}://…" if scheme else address)
