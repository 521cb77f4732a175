"""Shards on the threads of this machine."""

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence

from driftbandit.engine.shard import Outcome, Shard, Stopped, run_shard

Done = Callable[[int], None]


def run_on_threads(shards: Sequence[Shard], threads: int | None, done: Done) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of all shards, each with its place in the sequence, as they come.

    `done` is called in the caller's thread with the number of run-steps that were finished since the last call.
    """
    workers = min(threads or os.cpu_count() or 1, len(shards))
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

    crew = [threading.Thread(target=work, daemon=True, name=f"driftbandit-{i}") for i in range(workers)]
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
        for thread in crew:
            thread.join()
