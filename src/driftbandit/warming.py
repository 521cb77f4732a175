"""Kernels compiled beforehand, such as while an image is built: what a service or a study will run."""

import dataclasses
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from driftbandit.compiling.target import cache_folder, can_write
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
from driftbandit.logs import Log
from driftbandit.online import Bandit
from driftbandit.policies import Policy

USUAL = {
    "discount": 0.97,
    "threshold": 25,
    "exploration": 0.1,
    "learning_rate": 0.1,
    "batch": 100,
    "window": 100,
    "false_alarm": 0.01,
    "sharing": 0.001,
    "temperature": 0.1,
    "future": 0.95,
    "horizon": 5000,
    "movement": 0.03,
}
"""Values for what policies must be told; kernels are the same for all of them."""


def usual_policies() -> list[Policy]:
    """Every policy that is known, with the defaults of what it need not be told."""
    found = []
    for _, kind in sorted(Policy.known.items()):
        needed = [field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING]
        if all(name in USUAL for name in needed):
            found.append(kind(**{name: USUAL[name] for name in needed}))
    return found


LOGGED = 30_000
"""Decisions of a log of which nothing is interpreted."""


def warm(
    policies: Sequence[Policy], environments: Sequence[Environment], logs: bool = False
) -> Iterator[tuple[str, float]]:
    """Compile what policies run live, in these environments and on logs; each as it is done, with its seconds."""
    folder = cache_folder()
    if folder is None or not can_write(folder):
        raise InvalidValue("DRIFTBANDIT_CACHE must name a folder that can be written, for kernels to be kept")
    for policy in policies:
        began = time.perf_counter()
        Bandit(range(2), policy, seed=1).warm_up()
        yield f"{policy}, live", time.perf_counter() - began
        for environment in environments:
            began = time.perf_counter()
            run_shard(Shard(policy, environment, 2, 1, 0, 2, (1, 2)))
            yield f"{policy}, {environment}", time.perf_counter() - began
    if logs:
        yield from _of_logs(policies)


def _of_logs(policies: Sequence[Policy]) -> Iterator[tuple[str, float]]:
    """What reading a long log runs, and valuing arms and policies by it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        Bandit(["a", "b"], Policy.build("uniform", {}), seed=1, log=path).select()
        start = path.read_text(encoding="utf-8").splitlines(keepends=True)[0]
        lines = "".join(
            f'{{"event": "decision", "id": {i}, "arm": "{"ab"[i % 2]}", "probability": 0.5, "time": {i}}}\n'
            f'{{"event": "reward", "id": {i}, "reward": {i % 3 % 2}.0, "status": "accepted"}}\n'
            for i in range(1, LOGGED + 1)
        )
        path.write_text(start + lines, encoding="utf-8")
        began, log = time.perf_counter(), Log.read(path)
        log.value("a")
        yield "logs: lines and arms", time.perf_counter() - began
        for policy in policies:
            began = time.perf_counter()
            log.value(policy)
            yield f"logs: {policy}", time.perf_counter() - began
