"""Clients that ask a service whose processes are killed, and note down what they were told."""

import asyncio
import collections
import contextlib
import json
import random
from typing import Any, NamedTuple

TIMEOUT = 5.0
"""Seconds until an answer counts as lost."""
PAUSE = 0.02
"""Seconds until something is tried again."""
PATIENCE = 120.0
"""Seconds until something must have been answered."""
ARMS = ["red", "green", "blue"]
EXPERIMENTS: dict[str, dict[str, Any]] = {
    "kept": {"policy": "dots:discount=0.999"},
    "waiting": {
        "policy": "exp3-ix:learning_rate=0.05",
        "wait": 0.5,
        "default_reward": 0.0,
        "minimum_probability": 0.05,
    },
}
"""What the load is about: one waits for ever, one not long."""
ORDERED: dict[str, dict[str, Any]] = {"in-order": {"policy": "drift-filter"}}
"""One that only one process can learn."""


class Told(NamedTuple):
    """A decision, as it was answered."""

    experiment: str
    arm: str
    probability: float
    time: float


class Noted:
    """What clients were told."""

    def __init__(self) -> None:
        self.decisions: dict[tuple[str, int], Told] = {}
        self.keys: dict[tuple[str, str], list[int]] = {}
        self.values: dict[tuple[str, int], list[float]] = collections.defaultdict(list)
        """All that was sent as the reward of a decision."""
        self.accepted: dict[tuple[str, int], float] = {}
        self.statuses: collections.Counter[str] = collections.Counter()
        self.lost: collections.Counter[str] = collections.Counter()
        """Decisions that were asked for without a key and not answered, by experiment."""
        self.again = 0
        """Attempts after the first."""


REFUSED = (0, None)
"""Nobody listens: nothing was done."""


async def ask(port: int, path: str, body: Any, timeout: float = TIMEOUT) -> tuple[int, Any] | None:
    """A request on a connection of its own: its status and answer, REFUSED, or None if no answer came."""
    sent = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
    writer = None
    try:
        async with asyncio.timeout(timeout):
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                return REFUSED
            writer.write(f"{head}Content-Length: {len(sent)}\r\n\r\n".encode() + sent)
            got = await reader.read()
        first, _, rest = got.partition(b"\r\n\r\n")
        return int(first.split(b" ", 2)[1]), json.loads(rest)
    except (OSError, TimeoutError, IndexError, ValueError):  # cut off, perhaps within an answer
        return None
    finally:
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


class Load:
    """Clients of some processes, until they are told to stop; what they began they then end."""

    def __init__(self, ports: list[int], experiments: list[str], seed: int) -> None:
        self.ports, self.experiments, self.noted = ports, experiments, Noted()
        self._dice = random.Random(seed)
        self._ending = False

    async def run(self, clients: int = 12) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(self._client(number))

    def stop(self) -> None:
        self._ending = True

    async def goes_on(self, more: int) -> None:
        """Until so many more rewards were accepted."""
        enough = len(self.noted.accepted) + more
        async with asyncio.timeout(PATIENCE):
            while len(self.noted.accepted) < enough:
                await asyncio.sleep(PAUSE)

    async def _client(self, client: int) -> None:
        dice, number = self._dice, 0
        while not self._ending:
            number += 1
            experiment = dice.choice(self.experiments)
            key = f"{client}/{number}" if dice.random() < 0.6 else None
            ids = await self._decide(experiment, key, dice.choice([1, 1, 1, 4]))
            for id in ids:
                if dice.random() < 0.8:
                    value = dice.choice([0.0, 0.25, 1.0])
                    rewards = [self._reward(experiment, id, value)]
                    if dice.random() < 0.1:  # somebody else says something else
                        rewards.append(self._reward(experiment, id, 0.5))
                    await asyncio.gather(*rewards)

    async def _answered(self, path: str, body: Any, again: bool = True) -> Any:
        """The answer to a request, which is sent until there is one."""
        async with asyncio.timeout(PATIENCE):
            while True:
                answer = await ask(self._dice.choice(self.ports), path, body)
                if answer is not None and answer[0] == 200:
                    return answer[1]
                assert answer is None or answer[0] in (REFUSED[0], 503), answer
                if not again:
                    return REFUSED if answer == REFUSED else None
                self.noted.again += 1
                await asyncio.sleep(PAUSE)

    async def _decide(self, experiment: str, key: str | None, count: int) -> list[int]:
        noted = self.noted
        body: dict[str, Any] = {"count": count} | ({} if key is None else {"key": key})
        answer = await self._answered(f"/v1/experiments/{experiment}/decisions", body, again=key is not None)
        if answer is None or answer == REFUSED:
            noted.lost[experiment] += count if answer is None else 0
            await asyncio.sleep(PAUSE)
            return []
        made = answer["decisions"] if count > 1 else [answer]
        for one in made:
            place = experiment, one["id"]
            assert place not in noted.decisions, f"{place} was given to two"
            noted.decisions[place] = Told(experiment, one["arm"], one["probability"], one["time"])
        ids = [one["id"] for one in made]
        if key is not None:
            noted.keys[experiment, key] = ids
        return ids

    async def _reward(self, experiment: str, id: int, value: float) -> None:
        noted, place = self.noted, (experiment, id)
        noted.values[place].append(value)
        body = {"id": id, "reward": value}
        status = (await self._answered(f"/v1/experiments/{experiment}/rewards", body))["status"]
        noted.statuses[status] += 1
        if status == "accepted":
            assert place not in noted.accepted, f"{place} was rewarded twice"
            noted.accepted[place] = value
        else:  # "unknown" would be a decision that was answered and lost
            assert status == "repeated" or (status == "expired" and experiment == "waiting"), (place, status)
