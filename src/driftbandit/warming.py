"""Kernels compiled beforehand, such as while an image is built: what a service or a study will run."""

import dataclasses
import time
from collections.abc import Iterator, Sequence

from driftbandit.compiling.target import cache_folder, can_write
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
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


def warm(policies: Sequence[Policy], environments: Sequence[Environment]) -> Iterator[tuple[str, float]]:
    """Compile what policies run live, and in these environments; each as it is done, with the seconds it took."""
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
