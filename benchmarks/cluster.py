"""What a Dask cluster costs and gives: the same sweep without one, with one worker, and with two.

python -m benchmarks.cluster            a sweep of about a minute
python -m benchmarks.cluster 10         of about ten seconds
"""

import contextlib
import dataclasses
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import driftbandit as db
from driftbandit.engine.cluster.backend import Cluster
from driftbandit.engine.cluster.remote import pack
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.engine.games import Game

POLICIES = (
    db.DiscountedThompsonSampling(discount=0.97),
    db.SlidingWindowUCB(window=89),
    db.Exp3(exploration=0.1),
)
HORIZON = 5000


def run(seconds: float = 60.0) -> list[dict[str, Any]]:
    """Workers on a cluster: overhead, speed-up, bytes a shard, and what a task and a byte cost the scheduler."""
    simulate(256)  # kernels are compiled
    trial = max(timed(lambda: simulate(2048))[0], timed(lambda: simulate(2048))[0])
    runs = max(2048, round(2048 * seconds / trial))
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder)) as (scheduler, address, start):
        start()
        simulate(256, cluster=address)  # and loaded by the worker
        alone, _ = timed(lambda: simulate(runs))
        one, result = timed(lambda: simulate(runs, cluster=address))
        again, expected = timed(lambda: simulate(runs))
        start()
        wait_for(address, 2)
        simulate(256, cluster=address)
        cpu = scheduler_seconds(scheduler)
        two, other = timed(lambda: simulate(runs, cluster=address))
        cpu = scheduler_seconds(scheduler) - cpu
        for finished in (result, other):
            assert finished.dataset.identical(expected.dataset), "the cluster must give the same bits"
        local = (alone + again) / 2
        rows: list[dict[str, Any]] = [
            {"what": "no cluster, one thread", "seconds": local},
            {"what": "one worker", "seconds": one, "ratio": one / local, "wanted": "at most 1.15 of no cluster"},
            {"what": "two workers", "seconds": two, "ratio": one / two, "wanted": "at least 1.6 times one worker"},
        ]
        rows += sizes(runs, cpu, two)
        rows += [small_tasks(scheduler, address), large_results(scheduler, address)]
    return rows


def sizes(runs: int, cpu: float, wall: float) -> list[dict[str, Any]]:
    """The shards of the sweep on the wire."""
    game = Game(POLICIES, db.Fast(), HORIZON, runs)
    backend = Cluster("tcp://nowhere:1")
    rows = []
    total = 0
    for job in game.jobs():
        pieces = backend.pieces(job)
        total += len(pieces)
        took, outcome = timed(lambda piece=pieces[0]: run_shard(piece))
        rows.append(
            {
                "what": f"a shard of {job.policy}", "tasks": len(pieces), "runs": pieces[0].runs, "seconds": took,
                "bytes_there": len(pickle.dumps(pieces[0])), "bytes_back": wire_bytes(pack(outcome)),
            }
        )  # fmt: skip
    rows.append({"what": "scheduler during the sweep of two workers", "tasks": total, "cpu_share": cpu / wall})
    return rows


def small_tasks(scheduler: subprocess.Popen[bytes], address: str, tasks: int = 2000) -> dict[str, Any]:
    """What a task costs the scheduler, with next to nothing in it."""
    job = Game((db.UniformRandom(),), db.Fast(), 1, 8 * tasks).jobs()[0]
    shards = [dataclasses.replace(job, first_run=8 * number, runs=8) for number in range(tasks)]
    return measure("tasks of 8 runs and one step", scheduler, address, shards)


def large_results(scheduler: subprocess.Popen[bytes], address: str, tasks: int = 20) -> dict[str, Any]:
    """What a byte costs, with next to no work in it."""
    job = Game((db.UCB1(),), db.Fast(), 250, 4096).jobs()[0]
    shards = [dataclasses.replace(job, seed=number) for number in range(tasks)]
    return measure("tasks with large results", scheduler, address, shards)


def measure(what: str, scheduler: subprocess.Popen[bytes], address: str, shards: list[Shard]) -> dict[str, Any]:
    size = wire_bytes(pack(run_shard(shards[0])))
    backend = Cluster(address, threads=64)  # so many at a time that nothing waits for this client
    list(backend.run(shards[:8], lambda run_steps: None))
    cpu, own = scheduler_seconds(scheduler), time.process_time()
    wall, _ = timed(lambda: sum(1 for _ in backend.run(shards, lambda run_steps: None)))
    cpu, own = scheduler_seconds(scheduler) - cpu, time.process_time() - own
    return {
        "what": what, "tasks": len(shards), "seconds": wall, "tasks_a_second": len(shards) / wall,
        "bytes_back": size, "megabytes_a_second": len(shards) * size / wall / 1e6,
        "scheduler_ms_a_task": 1000 * cpu / len(shards), "client_ms_a_task": 1000 * own / len(shards),
    }  # fmt: skip


def simulate(runs: int, cluster: str | None = None) -> db.Result:
    threads = 1 if cluster is None else None
    return db.simulate(
        POLICIES, db.Fast(), horizon=HORIZON, runs=runs, seed=1, threads=threads, cluster=cluster, progress=False
    )


def wire_bytes(value: Any) -> int:
    """What Dask sends for it."""
    from distributed.protocol import dumps, to_serialize

    return sum(memoryview(frame).nbytes for frame in dumps({"data": to_serialize(value)}))


def scheduler_seconds(scheduler: subprocess.Popen[bytes]) -> float:
    """Processor time that the scheduler has used."""
    import psutil

    times = psutil.Process(scheduler.pid).cpu_times()
    return float(times.user + times.system)


def timed(function: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    result = function()
    return time.perf_counter() - began, result


def wait_for(address: str, workers: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=60)


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, Any]]:
    """A scheduler on loopback, its address, and a function that starts a worker of one thread; all ended at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def start(module: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options, "--host", "127.0.0.1", "--no-dashboard"]
        started.append(
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ.copy())
        )
        return started[-1]

    try:
        file = folder / "scheduler.json"
        scheduler = start("dask_scheduler", "--port", "0", "--scheduler-file", str(file))
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.2)  # the file is written in two goes
        address = json.loads(file.read_text())["address"]
        worker = ("dask_worker", address, "--no-nanny", "--nthreads", "1", "--local-directory", str(folder))
        yield scheduler, address, lambda: start(*worker)
    finally:
        for process in reversed(started):
            process.kill()
            process.wait(60)


if __name__ == "__main__":
    for row in run(*(float(argument) for argument in sys.argv[1:2])):
        print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()))
