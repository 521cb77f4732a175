"""Whether the result of a game fits into memory: asked before anything is played."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue

GIBIBYTE = 1 << 30
CGROUP = Path("/sys/fs/cgroup")


def check_room(policies: int, runs: int, points: int, bins: int, environment: Environment, horizon: int) -> None:
    """`InvalidValue` where a game needs more memory than there is, wherever it is played: its result comes here."""
    needed = bytes_of(policies, runs, points, bins, environment, horizon)
    free = free_bytes()
    if free is not None and needed > free:
        raise InvalidValue(
            f"runs must be so few that the result fits into memory, {free / GIBIBYTE:.1f} GiB of which are free, "
            f"got {runs} of {policies} {'policy' if policies == 1 else 'policies'} with {environment.n_arms} arms, "
            f"which need {needed / GIBIBYTE:.1f} GiB"
        )


def bytes_of(policies: int, runs: int, points: int, bins: int, environment: Environment, horizon: int) -> int:
    """Regret, expected and drawn reward of every run, counts of choices, the static oracle, and a table of means."""
    n_arms = int(environment.n_arms)
    table = 0
    if environment.rested and environment.cycle is None and environment.path() is None:
        table = (horizon + 1) * n_arms  # an arm may be at any reading of its clock
    return 8 * (policies * (3 * runs * points + bins * n_arms) + runs + table)


def free_bytes() -> int | None:
    """Memory that this process can still get: of the machine, of its container, and of its own limit; None: unknown."""
    return min(_limits(), default=None)


def _limits() -> Iterator[int]:
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, ValueError, KeyError):
        lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
        yield {name: int(number) for name, number, *_ in lines}["MemAvailable:"] << 10
    for folder, limit, used in (
        (CGROUP, "memory.max", "memory.current"),
        (CGROUP / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):  # no such group, or "max"
            held = int((folder / used).read_text()) - _cached(folder / "memory.stat")
            yield max(0, int((folder / limit).read_text()) - held)
    with contextlib.suppress(OSError, ValueError):
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            yield max(0, most - pages * resource.getpagesize())


def _cached(path: Path) -> int:
    """Copies of files that a group holds only as long as nobody needs the memory."""
    with contextlib.suppress(OSError, ValueError):
        numbers = dict(line.split() for line in path.read_text().splitlines())
        return int(numbers.get("total_inactive_file") or numbers.get("inactive_file") or 0)
    return 0
