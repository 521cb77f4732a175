"""One sweep on a cluster: shards go out, a bounded number at a time, until every outcome is in."""

import collections
import contextlib
import dataclasses
import logging
import pickle
import queue
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from driftbandit.checks import shown
from driftbandit.engine.cluster.remote import hand_over, unpack, work
from driftbandit.engine.cluster.workers import Patience, Roster, lost, misfit
from driftbandit.engine.cpu.shard import Outcome, Shard, Stopped
from driftbandit.environments import Environment
from driftbandit.errors import ClusterError, InvalidValue
from driftbandit.identity import identity

log = logging.getLogger("driftbandit.cluster")
SHARD_THREADS = 400
"""Threads up to which a task is one shard; beyond, it is several: a scheduler then sees some 200 tasks a second."""
MOST_ATTEMPTS = 5
"""How often a shard goes out again when its task was dropped; each time Dask itself tries four workers."""
LARGE_ENVIRONMENT = 1 << 16
"""Bytes beyond which an environment is sent apart from its shards."""
MOST_TASKS = 500
"""Tasks in one message to the scheduler."""
GLANCE = 1.0
"""Seconds between two looks at the workers."""


class Task(NamedTuple):
    """Shards on their way, by their places in the sweep."""

    future: Any
    places: list[int]


class Sweep:
    """Shards on their way through a cluster. `_bring` runs in the client's thread, all else in the caller's."""

    def __init__(
        self, client: Any, shards: Sequence[Shard], device: str, precision: str, at_once: int | None, patience: Patience
    ) -> None:
        self.client = client
        self.address = str(client.scheduler.address)
        self.shards = shards
        self.options = {"wanted": identity(), "device": device, "precision": precision}
        self.at_once = at_once
        self.patience = patience
        self.roster = Roster(client, self.address, device, precision, patience)
        self.todo = collections.deque(range(len(shards)))
        self.tasks: dict[str, Task] = {}
        self.attempts: collections.Counter[int] = collections.Counter()
        self.environments: dict[int, Any] = {}
        self.news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.session = uuid.uuid4().hex[:12]
        self.sent = 0
        self.next_glance = 0.0
        self.lost_since: float | None = None

    def outcomes(self, done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """Every outcome with its place, as they come."""
        self.roster.check_scheduler()
        while self.todo or self.tasks:
            if self._in_touch():
                self._send()
            for key, answer in self._answers():
                task = self.tasks.pop(key)
                task.future.release()
                if not isinstance(answer, list):
                    self._again(task, answer)
                    continue
                for place, arrays in zip(task.places, answer, strict=True):
                    done(self.shards[place].runs * self.shards[place].horizon)
                    yield place, unpack(arrays)

    def cancel(self) -> None:
        """Take back what is queued or running."""
        futures = [task.future for task in self.tasks.values()]
        futures += [future for future in self.environments.values() if future is not None]
        self.tasks.clear()
        self.environments.clear()
        if futures and self.client.status == "running":
            with contextlib.suppress(Exception):  # where the connection is lost, the scheduler drops them itself
                self.client.cancel(futures, force=True)

    def _answers(self) -> list[tuple[str, Any]]:
        """What has come in; waits a moment for the first, no longer, so that Ctrl-C is heard."""
        try:
            first = self.news.get(timeout=0.2)
        except queue.Empty:
            return []
        return [first, *(self.news.get_nowait() for _ in range(self.news.qsize()))]

    async def _bring(self, key: str, future: Any) -> None:
        """Wait for a task and fetch what it returned."""
        try:
            answer = await self.client.gather(future, asynchronous=True)
        except BaseException as error:
            answer = error
        self.news.put((key, answer))

    def _in_touch(self) -> bool:
        """Whether the scheduler is there; looks at the workers now and then."""
        now = time.monotonic()
        if self.client.status == "running":
            if now < self.next_glance and self.lost_since is None:
                return True
            self.next_glance = now + GLANCE
            with contextlib.suppress(OSError):
                self.roster.look(now)
                self.lost_since = None
                return True
        self.roster.look_again()
        if self.lost_since is None:
            log.warning("the scheduler at %s does not answer", self.address)
        self.lost_since = self.lost_since or now
        if self.client.status in {"closing", "closed"} or now - self.lost_since > self.patience.connect:
            raise lost(self.address)
        return False

    def _send(self) -> None:
        """Top up what the cluster has: two tasks a thread, so that none waits for us."""
        threads = self.roster.threads
        room = min((self.at_once or 2 * threads + 2) - len(self.tasks), MOST_TASKS) if threads else 0
        bundles: list[list[int]] = []
        while self.todo and len(bundles) < room:
            bundles.append(self._bundle(threads))
        if not bundles:
            return
        keys = [self._key(self.shards[places[0]]) for places in bundles]
        try:
            shards, environments = zip(*map(self._parts, bundles), strict=True)
            futures = self.client.map(
                work, shards, environments, keys, key=keys, pure=False, resources=self.roster.resources, **self.options
            )
        except Exception as error:
            if self.client.status == "running":  # then it is the specification that cannot travel
                raise ClusterError(f"a shard cannot be sent ({one_line(error)})") from None
            self.todo.extend(place for places in bundles for place in places)
            return
        for key, future, places in zip(keys, futures, bundles, strict=True):
            self.tasks[key] = Task(future, places)
            self.client.loop.add_callback(self._bring, key, future)

    def _bundle(self, threads: int) -> list[int]:
        """The shards of one task: one, or several in the same environment where there are very many threads."""
        size = min(threads // SHARD_THREADS, len(self.todo) // (4 * threads))
        places = [self.todo.popleft()]
        environment = self.shards[places[0]].environment
        while self.todo and len(places) < size and self.shards[self.todo[0]].environment is environment:
            places.append(self.todo.popleft())
        return places

    def _parts(self, places: list[int]) -> tuple[list[Shard], Any]:
        """The shards of a task, and their environment where it is so large that it goes apart."""
        shards = [self.shards[place] for place in places]
        environment = shards[0].environment
        if id(environment) not in self.environments:
            large = len(pickle.dumps(environment)) > LARGE_ENVIRONMENT
            self.environments[id(environment)] = self._hand_over(environment) if large else None
        apart = self.environments[id(environment)]
        if apart is not None:
            shards = [dataclasses.replace(shard, environment=cast(Environment, None)) for shard in shards]
        return shards, apart

    def _hand_over(self, environment: Environment) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it is large is why it goes apart
            self.sent += 1
            key = f"driftbandit-environment-{self.session}-{self.sent}"
            return self.client.submit(hand_over, environment, key=key, pure=False)

    def _key(self, shard: Shard) -> str:
        """Named for the dashboard; of this session, so that the same sweep of somebody else is never taken back."""
        self.sent += 1
        return f"driftbandit-{shard.policy.name}-{self.session}-{self.sent}"

    def _again(self, task: Task, answer: Any) -> None:
        """A task without outcomes: its shards go out again where that may help, else the sweep ends."""
        import distributed

        if isinstance(answer, str):
            raise misfit("a worker", answer)
        if isinstance(answer, InvalidValue):  # about a policy or an environment of a user's own, as anywhere else
            raise InvalidValue(str(answer))
        dropped = (distributed.CancelledError, distributed.KilledWorker, Stopped, OSError)
        if isinstance(answer, Exception) and not isinstance(answer, dropped):
            self.roster.look_again()
            with contextlib.suppress(OSError):
                self.roster.look(time.monotonic())  # says better what is wrong where a worker does not fit
            while answer.__cause__ is not None:  # Dask wraps what could not be loaded in advice
                answer = answer.__cause__
            hint = "; the scheduler and the workers need it too" if isinstance(answer, ImportError) else ""
            raise ClusterError(f"a shard failed on the cluster ({one_line(answer)}){hint}")
        self.attempts.update(task.places)
        if max(self.attempts[place] for place in task.places) > MOST_ATTEMPTS:
            policy = self.shards[task.places[0]].policy
            raise ClusterError(f"runs of {policy} lost worker after worker; look at the workers' memory and logs")
        log.warning("%d shards are sent again (%s)", len(task.places), type(answer).__name__)
        self.todo.extend(task.places)
        self.environments = {  # those that were dropped with their scheduler are handed over again
            number: future
            for number, future in self.environments.items()
            if future is None or future.status in {"pending", "finished"}
        }


def one_line(error: BaseException) -> str:
    """An error of somebody else, short."""
    return shown(f"{type(error).__name__}: {error}")[1:-1]
