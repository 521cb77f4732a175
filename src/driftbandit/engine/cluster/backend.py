"""Shards on a Dask cluster: the same tasks that threads work on, wherever there are workers.

Dask is imported here and in the modules beside this one only, so that a machine without a cluster never needs it.
"""

import contextlib
import logging
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from driftbandit.checks import reject
from driftbandit.engine.cluster.sweep import Sweep, one_line
from driftbandit.engine.cluster.workers import Patience
from driftbandit.engine.cpu.shard import Outcome, Shard, suited_block
from driftbandit.engine.cpu.threads import cut
from driftbandit.errors import ClusterError, InvalidValue, MissingExtra
from driftbandit.policies import Rule

NANOSECONDS = {"sampled": 10.0, "index": 3.0, "weighted": 3.0}
"""What a step costs for each arm, by the way a policy selects; measured on one core, and only roughly needed."""
CARD_NANOSECONDS = 0.05
"""The same on a GPU, with all of its threads busy."""
CARD_RUNS = 1 << 14
"""Runs that keep a GPU busy."""
SHARD_SECONDS = 2.0
"""What a shard should take: long against the milliseconds that a task costs, short against the wait for the last."""
SHORTEST_SECONDS = 0.25
WANTED_SHARDS = 16
"""Into how many shards a job is cut, at least, unless they would be shorter than the shortest."""
SHARD_BYTES = 1 << 25
"""The figures of one shard: a worker with many threads holds several."""

ADDRESS = re.compile(r"(?:(?:tcp|tls)://)?(?:[\w.-]+|\[[0-9a-fA-F:.]+(?:%\w+)?\]):(\d{1,5})", re.ASCII)
CHATTER = (
    "asyncio",
    "distributed.batched",
    "distributed.client",
    "distributed.comm",
    "distributed.core",
    "distributed.utils",
    "distributed.utils_comm",
    "tornado.application",
)
"""Loggers that report a lost connection, each in its own words and with tracebacks; we say it in one line."""


class Cluster:
    """The workers of a Dask scheduler.

    Parameters:
        cluster: the scheduler's address, such as "tcp://host:8786", or a Dask client.
        threads: how many tasks to have on the cluster at a time; None: as many as keep every worker busy.
        device, precision: "cuda" runs the shards on the GPUs of the workers.
        connect_timeout: seconds to wait for the scheduler, at the start and when the connection is lost.
        notice_after: seconds without workers before a line says so.
        worker_timeout: seconds without workers before giving up.
    """

    def __init__(
        self,
        cluster: Any,
        threads: int | None = None,
        device: str = "cpu",
        precision: str = "float64",
        *,
        connect_timeout: float = 10.0,
        notice_after: float = 10.0,
        worker_timeout: float = 60.0,
    ) -> None:
        self.replays, self.compiling = False, 0.0  # workers do not tell
        self.arithmetic = "cpu" if device == "cpu" else f"{device} {precision}"
        self.address = checked_address(cluster) if isinstance(cluster, str) else None
        try:
            import distributed
        except ImportError:
            raise MissingExtra("a cluster needs Dask: pip install 'driftbandit[cluster]'") from None
        if self.address is None and not isinstance(cluster, distributed.Client):
            raise reject("cluster", "an address such as tcp://host:8786, or a Dask client", cluster)
        if self.address is None and cluster.asynchronous:
            raise InvalidValue("cluster must be a Dask client that is not asynchronous, got one that is")
        self.cluster = cluster
        self.threads = threads
        self.device = device
        self.precision = precision
        self.patience = Patience(connect_timeout, notice_after, worker_timeout)

    def get_ready(self, shards: Sequence[Shard]) -> None:
        """Nothing: every worker compiles what it needs."""

    def pieces(self, job: Shard) -> list[Shard]:
        """Shards of about equal cost, by the specification alone: what was kept is found again."""
        return cut(job, suited_runs(job, self.device))

    def run(self, shards: Sequence[Shard], done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes as they come; however it ends, nothing of it is left on the cluster."""
        if not shards:
            return
        with quiet(), self._connected() as client:
            sweep = Sweep(client, shards, self.device, self.precision, self.threads, self.patience)
            try:
                yield from sweep.outcomes(done)
            finally:
                sweep.cancel()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Any]:
        """The caller's client, or one of our own that is closed at the end."""
        if self.address is None:
            if self.cluster.status != "running":
                raise ClusterError(f"the Dask client is {self.cluster.status}; make a new one and use that")
            yield self.cluster
            return
        import distributed

        dask: Any = distributed  # has no types
        if self.address.startswith("tls:") and not dask.Security().get_connection_args("client")["ssl_context"]:
            raise ClusterError("tls needs certificates: set them in Dask's configuration, or give a client with them")
        timeout = self.patience.connect
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # other versions of anything, as a table; what matters is checked later
                client = dask.Client(self.address, timeout=timeout, set_as_default=False, name="driftbandit")
        except OSError as error:
            reason = getattr(error.__cause__, "strerror", None)  # such as a name that is not known
            why = f" ({reason})" if reason else ""
            raise ClusterError(
                f"no Dask scheduler answers at {self.address}{why}; start one with: dask scheduler"
            ) from None
        except Exception as error:  # whatever another service there, or a very old Dask, makes it raise
            raise ClusterError(f"no Dask scheduler to work with at {self.address} ({one_line(error)})") from None
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):  # a lost connection cannot be closed, and need not be
                client.close(timeout=timeout)


def checked_address(value: str) -> str:
    """An address such as tcp://host:8786; without a protocol it is tcp."""
    match = ADDRESS.fullmatch(value.strip())
    if match is None or not 0 < int(match[1]) < 2**16:
        raise reject("cluster", "an address such as tcp://host:8786", value)
    return value.strip() if "://" in value else f"tcp://{value.strip()}"


def suited_runs(job: Shard, device: str) -> int:
    """How many runs make a shard of the wanted cost: whole blocks where there is room for one, else a multiple of 8."""
    n_arms = job.environment.n_arms
    rule: Rule = job.policy.rule(n_arms)
    block = CARD_RUNS if device == "cuda" else suited_block(rule, n_arms, job.horizon)
    nanoseconds = CARD_NANOSECONDS if device == "cuda" else NANOSECONDS[rule.selection]
    run_seconds = 1e-9 * nanoseconds * n_arms * job.horizon
    seconds = min(SHARD_SECONDS, max(SHORTEST_SECONDS, run_seconds * job.runs / WANTED_SHARDS))
    runs = int(min(seconds / run_seconds, SHARD_BYTES / (24 * len(job.steps)), job.runs))
    unit = block if runs >= block else 8
    return max(8, runs // unit * unit)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Dask's client says nothing while we watch over it; schedulers and workers in this process still do."""
    loggers = [logging.getLogger(name) for name in CHATTER]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
