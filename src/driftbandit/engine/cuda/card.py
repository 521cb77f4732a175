"""Shards on an NVIDIA card, through Numba: whole sweeps at once.

Shards whose policies share a rule and whose environments are of one kind go to the card in one launch, whatever their
parameters, numbers of arms, runs or horizons; the launches of different kinds run side by side. Per-run figures come
back by run number and counts are whole numbers, so the shape of the launches leaves no trace in the results.
"""

import collections
import dataclasses
import functools
import importlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from driftbandit.engine.cpu.shard import Outcome, Shard
from driftbandit.engine.cpu.threads import cut
from driftbandit.engine.cuda.layout import Member
from driftbandit.errors import InvalidValue, MissingExtra
from driftbandit.policies import Rule

THREADS = 128
"""Threads in a block: few, so that a shard of some thousand runs still spreads over the card."""
PIECE_BYTES = 1 << 32
"""Memory that one shard may take on the card."""
LAUNCH_NUMBERS = 1 << 34
"""(arm, run, step) in one launch: about a second, so that Ctrl-C is heard."""
THREAD_NUMBERS = 1 << 19
"""(arm, step) in one launch, which a single thread plays one after the other: about a second again."""
SHORTEST_LAUNCH = 64
"""Steps in one launch, at least."""
INSTALL = "pip install 'driftbandit[gpu]'"


class Card:
    """The first NVIDIA card of this machine, in double or single precision."""

    def __init__(self, precision: str = "float64", threads: int = THREADS) -> None:
        require_card()
        self.arithmetic = f"cuda {precision}"
        self.gpu = _gpu(precision)
        self.threads = threads

    def pieces(self, job: Shard) -> list[Shard]:
        """The whole job, or parts whose numbers fit on the card together with others."""
        rule = job.policy.rule(job.environment.n_arms)
        check_arguments(rule, type(job.policy).__name__)
        return cut(job, max(self.threads, PIECE_BYTES // _bytes(job, rule, 1)))

    def run(self, shards: Sequence[Shard], done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes, kind by kind; the card works on the next ones while the caller takes one."""
        room = self._room()
        waiting: collections.deque[tuple[Any, int]] = collections.deque()
        for make, size in self._batches(shards, room):
            while waiting and size + sum(used for _, used in waiting) > room:
                yield from _finished(waiting.popleft()[0], done)
            batch = make()
            batch.launch()
            waiting.append((batch, size))
        spent = []  # kept to the end: memory is freed only when the card stands still
        while waiting:
            spent.append(waiting.popleft()[0])
            yield from _finished(spent[-1], done)

    def _batches(self, shards: Sequence[Shard], room: int) -> Iterator[tuple[Callable[[], Any], int]]:
        """Shards by kind, in batches that fit; the longest first, so that the card does not idle at the end."""
        from driftbandit.engine.cuda.batch import Batch, Kind, kind_of

        kinds: dict[Kind, list[Member]] = {}
        for index, shard in enumerate(shards):
            rule = shard.policy.rule(shard.environment.n_arms)
            kinds.setdefault(kind_of(shard, rule, self.gpu, self.threads), []).append(Member(index, shard, rule))
        for kind, members in sorted(kinds.items(), key=lambda item: -max(shard.horizon for _, shard, _ in item[1])):
            members.sort(key=lambda member: -member.shard.horizon * member.shard.environment.n_arms)
            for group in _fitting(members, room // 4):
                stride = _stride(group)
                size = sum(_bytes(shard, rule, shard.runs) for _, shard, rule in group)
                yield functools.partial(Batch, kind, self.gpu, group, stride), size

    def _room(self) -> int:
        """Bytes on the card to be used: most of what is free now."""
        from driftbandit.engine.cuda.target import cuda

        free = cuda.current_context().get_memory_info()[0]
        return int(min(free, 1 << 40) * 3 // 4)  # the simulator's memory has no end


def check_arguments(rule: Rule, name: str) -> None:
    """A card's compiler knows no starred arguments: say so in one line, where it would take a screen."""
    parts = [(field.name, getattr(rule, field.name)) for field in dataclasses.fields(rule) if field.name != "interval"]
    for inner in (rule.posterior, rule.sampler):
        if inner is not None:
            parts += [(field.name, getattr(inner, field.name)) for field in dataclasses.fields(inner)]
    for part, function in parts:
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & inspect.CO_VARARGS:
            told = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
            raise InvalidValue(f'{part} of {name} must name its arguments one by one on device "cuda", got *{told}')


def _finished(batch: Any, done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of a batch that was launched; long games are followed launch by launch."""
    more = True
    while more:
        batch.stream.synchronize()
        done(batch.launched)
        more = batch.launch()
    yield from batch.outcomes()


def _fitting(members: list[Member], room: int) -> Iterator[list[Member]]:
    """The members in groups that take no more than so many bytes."""
    group: list[Member] = []
    used = 0
    for member in members:
        size = _bytes(member.shard, member.rule, member.shard.runs)
        if group and used + size > room:
            yield group
            group, used = [], 0
        group.append(member)
        used += size
    yield group


def _stride(members: Sequence[Member]) -> int:
    """How many steps a launch plays."""
    width = sum(shard.runs * shard.environment.n_arms for _, shard, _ in members)
    arms = max(shard.environment.n_arms for _, shard, _ in members)
    return int(max(SHORTEST_LAUNCH, min(LAUNCH_NUMBERS // width, THREAD_NUMBERS // arms)))


def _bytes(shard: Shard, rule: Rule, runs: int) -> int:
    """What so many runs of a shard take on the card, at most."""
    window = 12 * rule.steps_window if rule.steps_window < shard.horizon else 0
    arm = 8 * len(rule.initial) + 16 + (8 + 8 * min(rule.ring, shard.horizon) if rule.ring else 0)
    return runs * (24 * len(shard.steps) + arm * int(shard.environment.n_arms) + window + 8 * len(rule.common) + 64)


@functools.cache
def _gpu(precision: str) -> Any:
    from driftbandit.engine.cuda.target import Gpu

    return Gpu(precision)


def require_card() -> None:
    """Say in one line what is missing, if anything is."""
    try:
        cuda: Any = importlib.import_module("numba.cuda")
        importlib.import_module("numba.cuda.libdevice")
    except ImportError:
        raise MissingExtra(f'device "cuda" needs numba-cuda, which is not installed: {INSTALL}') from None
    if not cuda.is_available():
        raise MissingExtra(
            'device "cuda" needs an NVIDIA card, its driver and the CUDA libraries, and not all were found; '
            f"with a card and a driver in place: {INSTALL}"
        )
