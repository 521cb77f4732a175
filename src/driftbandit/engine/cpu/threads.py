"""Shards on the threads of this machine."""

import contextlib
import dataclasses
import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from driftbandit.compiling.target import cache_folder, can_write
from driftbandit.engine.cpu.shard import Outcome, Shard, Stopped, kernel_for, run_shard, slots_for
from driftbandit.engine.cpu.small import OURS, played_small

if TYPE_CHECKING:
    from concurrent.futures import Future

    Coming = Future[Any]
    """A kernel that another process was asked for."""

SHARD_RUNS = 512
"""Runs in a shard: enough to fill a block, few enough to keep every thread busy to the end."""

MOST_OTHERS = 7
"""Processes that compile beside this one, at most."""
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
        kernels = _kernels_of(shards)
        with self._others(shards, kernels) as coming:
            yield from self._share_out(shards, _Todo(kernels, coming), done)

    @contextlib.contextmanager
    def _others(self, shards: Sequence[Shard], kernels: Sequence[Hashable]) -> "Iterator[Mapping[Hashable, Coming]]":
        """All kernels that nobody has compiled yet, but the first, asked of other processes: Numba has one lock."""
        from driftbandit.crew import Crew, cores  # late, as few need it

        examples = dict(reversed(list(zip(kernels, shards, strict=True))))
        missing = [kernel for kernel in dict.fromkeys(kernels) if _is_missing(examples[kernel])]
        folder, size = cache_folder(), min(self.threads, cores(), MOST_OTHERS + 1, len(missing)) - 1
        if size < 1 or folder is None or not can_write(folder):
            yield {}
            return
        with Crew(size, {"DRIFTBANDIT_CACHE": str(folder)}) as crew:
            yield {kernel: crew.ask(compiled_here, smallest(examples[kernel])) for kernel in missing[1:]}

    def _share_out(
        self, shards: Sequence[Shard], todo: "_Todo", done: Callable[[int], None]
    ) -> Iterator[tuple[int, Outcome]]:
        news: queue.SimpleQueue[int | tuple[int, Outcome] | BaseException] = queue.SimpleQueue()
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                index = todo.take()
                if index is None:
                    return
                try:
                    todo.wait_for(index, stop)
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

    def __init__(self, kernels: Sequence[Hashable], coming: "Mapping[Hashable, Coming]" = MappingProxyType({})) -> None:
        self._lock = threading.Lock()
        self._kernel = kernels
        self._coming = coming
        self._left: dict[Hashable, deque[int]] = {}
        for index, kernel in enumerate(kernels):
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
            kernel = min(choice, key=lambda kernel: (self._is_elsewhere(kernel), self._left[kernel][0]))
            if kernel in self._coming and not any(map(self._is_here, self._begun)):
                self._coming[kernel].cancel()  # what no other process has begun is compiled here
            self._begun.add(kernel)
            index = self._left[kernel].popleft()
            if not self._left[kernel]:
                del self._left[kernel]
            return index

    def _is_here(self, kernel: Hashable) -> bool:
        """Whether a kernel is being compiled in this process."""
        future = self._coming.get(kernel)
        return kernel not in self._ready and (future is None or future.cancelled())

    def _is_elsewhere(self, kernel: Hashable) -> bool:
        """Whether another process is at work on a kernel."""
        return kernel in self._coming and self._coming[kernel].running()

    def wait_for(self, index: int, stop: threading.Event) -> None:
        """Until no other process is at work on the kernel of a shard; if one failed, it is compiled here."""
        from concurrent import futures  # late: it takes a while

        coming = self._coming.get(self._kernel[index])
        while coming is not None and not coming.done() and not stop.is_set():
            futures.wait([coming], 0.2)

    def finished(self, index: int) -> None:
        """The shard has been played, so its kernel is compiled."""
        with self._lock:
            self._ready.add(self._kernel[index])


def _kernels_of(shards: Sequence[Shard]) -> list[Hashable]:
    """What the kernel of each shard is linked from."""
    known: dict[tuple[int, int], Hashable] = {}
    for shard in shards:
        who = (id(shard.policy), id(shard.environment))  # the shards keep both alive
        if who not in known:
            slots = slots_for(shard.policy.rule(shard.environment.n_arms), shard.environment)
            known[who] = tuple(sorted(slots.items(), key=lambda slot: slot[0]))
    return [known[id(shard.policy), id(shard.environment)] for shard in shards]


def _is_missing(shard: Shard) -> bool:
    """Whether the kernel of a shard is of this package, and neither compiled nor kept."""
    if not all(type(part).__module__.startswith(OURS) for part in (shard.policy, shard.environment)):
        return False
    kernel = kernel_for(shard.policy.rule(shard.environment.n_arms), shard.environment)
    return not kernel.overloads and not os.path.isdir(kernel.kept_in)


def smallest(shard: Shard) -> Shard:
    """The least that can be played with the same kernel."""
    return dataclasses.replace(shard, horizon=1, first_run=0, runs=1, steps=(1,), bin_width=1)


def compiled_here(shard: Shard) -> None:
    """Play a shard in this process, which leaves its kernel in the folder of kernels."""
    run_shard(shard)


def cut(job: Shard, runs: int) -> list[Shard]:
    """A job as shards of this many runs."""
    return [
        dataclasses.replace(job, first_run=first, runs=min(runs, job.first_run + job.runs - first))
        for first in range(job.first_run, job.first_run + job.runs, runs)
    ]
