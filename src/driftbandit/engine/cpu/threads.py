"""Shards on the threads of this machine."""

import dataclasses
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence

from driftbandit.engine.cpu.shard import Outcome, Shard, Stopped, run_shard, slots_for
from driftbandit.engine.cpu.small import played_small

SHARD_RUNS = 512
"""Runs in a shard: enough to fill a block, few enough to keep every thread busy to the end."""

PATIENCE = 2.0
"""Seconds to wait for threads to stop. One that is still compiling a kernel stops by itself when that is done."""


class Threads:
    """The cores of this machine, one thread each unless told otherwise."""

    arithmetic = "cpu"
    replays = False

    def __init__(self, threads: int | None = None) -> None:
        self.compiling = 0.0
        self.threads = threads or os.cpu_count() or 1

    def get_ready(self, shards: Sequence[Shard]) -> None:
        """Nothing: a thread compiles what it needs while others play."""

    def pieces(self, job: Shard) -> list[Shard]:
        """Shards of 512 runs."""
        return cut(job, SHARD_RUNS)

    def run(self, shards: Sequence[Shard], done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes as they come; `done` is called in the caller's thread."""
        small = played_small(shards)
        if small is not None:
            for index, outcome in enumerate(small):
                done(shards[index].runs * shards[index].horizon)
                yield index, outcome
            return
        from numba.core import event

        with event.install_timer("numba:compiler_lock", self._compiled):  # held, or waited for, by any thread
            yield from self._run(shards, done)

    def _compiled(self, seconds: float) -> None:
        self.compiling += seconds

    def _run(self, shards: Sequence[Shard], done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        news: queue.SimpleQueue[int | tuple[int, Outcome] | BaseException] = queue.SimpleQueue()
        todo = _Todo(shards)
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                index = todo.take()
                if index is None:
                    return
                try:
                    news.put((index, run_shard(shards[index], done=news.put, stop=stop.is_set)))
                    todo.finished(index)
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
                    done(0)  # nothing yet, perhaps because a kernel is being compiled
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


class _Todo:
    """Shards by the kernel they need: while one thread has a kernel compiled, others play what is compiled already."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._lock = threading.Lock()
        known: dict[tuple[int, int], Hashable] = {}
        self._kernel = []
        for shard in shards:
            who = (id(shard.policy), id(shard.environment))  # the shards keep both alive
            if who not in known:
                known[who] = _kernel_of(shard)
            self._kernel.append(known[who])
        self._left: dict[Hashable, deque[int]] = {}
        for index, kernel in enumerate(self._kernel):
            self._left.setdefault(kernel, deque()).append(index)
        self._begun: set[Hashable] = set()
        self._ready: set[Hashable] = set()

    def take(self) -> int | None:
        """The next shard, in order as far as kernels allow; None where there are no more."""
        with self._lock:
            new = [kernel for kernel in self._left if kernel not in self._begun]
            ready = [kernel for kernel in self._left if kernel in self._ready]
            compiling = len(self._begun) > len(self._ready)
            choice = (ready or new or list(self._left)) if compiling else (new or ready)
            if not choice:
                return None
            kernel = min(choice, key=lambda kernel: self._left[kernel][0])
            self._begun.add(kernel)
            index = self._left[kernel].popleft()
            if not self._left[kernel]:
                del self._left[kernel]
            return index

    def finished(self, index: int) -> None:
        """The shard has been played, so its kernel is compiled."""
        with self._lock:
            self._ready.add(self._kernel[index])


def _kernel_of(shard: Shard) -> Hashable:
    """What the kernel of a shard is linked from."""
    slots = slots_for(shard.policy.rule(shard.environment.n_arms), shard.environment)
    return tuple(sorted(slots.items(), key=lambda slot: slot[0]))


def cut(job: Shard, runs: int) -> list[Shard]:
    """A job as shards of this many runs."""
    return [
        dataclasses.replace(job, first_run=first, runs=min(runs, job.first_run + job.runs - first))
        for first in range(job.first_run, job.first_run + job.runs, runs)
    ]
