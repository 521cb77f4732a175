"""Shards on the threads of this machine."""

import dataclasses
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from driftbandit.engine.shard import Outcome, Shard, Stopped, run_shard

SHARD_RUNS = 512
"""Runs in a shard: enough to fill a block, few enough to keep every thread busy to the end."""

PATIENCE = 2.0
"""Seconds to wait for threads to stop. One that is still compiling a kernel stops by itself when that is done."""


class Threads:
    """The cores of this machine, one thread each unless told otherwise."""

    arithmetic = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or os.cpu_count() or 1

    def pieces(self, job: Shard) -> list[Shard]:
        """Shards of 512 runs."""
        return cut(job, SHARD_RUNS)

    def run(self, shards: Sequence[Shard], done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes as they come; `done` is called in the caller's thread."""
        news: queue.SimpleQueue[int | tuple[int, Outcome] | BaseException] = queue.SimpleQueue()
        todo = iter(enumerate(shards))
        lock = threading.Lock()
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                with lock:
                    index, shard = next(todo, (-1, None))
                if shard is None:
                    return
                try:
                    news.put((index, run_shard(shard, done=news.put, stop=stop.is_set)))
                except Stopped:
                    return
                except BaseException as error:
                    news.put(error)
                    return

        crew = [threading.Thread(target=work, daemon=True) for _ in range(min(self.threads, len(shards)))]
        for thread in crew:
            thread.start()
        finished = 0
        try:
            while finished < len(shards):
                try:
                    item = news.get(timeout=0.2)  # with a timeout, so that Ctrl-C is heard at once
                except queue.Empty:
                    continue
                if isinstance(item, BaseException):
                    raise item
                if isinstance(item, int):
                    done(item)
                else:
                    finished += 1
                    yield item
        finally:
            stop.set()
            deadline = time.monotonic() + PATIENCE
            for thread in crew:
                thread.join(max(0.0, deadline - time.monotonic()))


def cut(job: Shard, runs: int) -> list[Shard]:
    """A job as shards of this many runs."""
    return [
        dataclasses.replace(job, first_run=first, runs=min(runs, job.first_run + job.runs - first))
        for first in range(job.first_run, job.first_run + job.runs, runs)
    ]
