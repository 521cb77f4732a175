"""Shards on an NVIDIA card, through Numba: whole sweeps at once.

Shards whose policies share a rule and whose environments are of one kind go to the card in one launch, whatever their
parameters, numbers of arms, runs or horizons; the launches of different kinds run side by side. Per-run figures come
back by run number and counts are whole numbers, so the shape of the launches leaves no trace in the results.
"""

import collections
import concurrent.futures
import contextlib
import dataclasses
import functools
import importlib
import importlib.metadata
import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftbandit.crew import FEWEST_CORES, Crew, cores
from driftbandit.engine.cpu.shard import Outcome, Shard
from driftbandit.engine.cpu.threads import cut, smallest
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
FEWEST_KERNELS = 3
"""So many are compiled sooner by other processes than by this one, those processes' start included."""
KERNELS_EACH = 2
"""What a process compiles: starting one takes as long as a kernel, and the first kernels are there sooner."""
CONTEXT_BYTES = 3 << 28
"""What a process that only compiles takes of the card's memory, at most."""
INSTALL = "pip install 'driftbandit[gpu]'"
TRIED = "pip install 'numpy<2.6' 'numba==0.68.*' 'numba-cuda==0.30.*'"


class Planned(NamedTuple):
    """A batch that is still to be made."""

    kernel: Any
    make: Callable[[], Any]
    size: int
    """Bytes on the card."""
    example: Member
    """The first of its members."""


class Card:
    """The first NVIDIA card of this machine, in double or single precision."""

    replays = True

    def __init__(self, precision: str = "float64", threads: int = THREADS) -> None:
        require_card()
        self.arithmetic = f"cuda {precision}"
        self.gpu = _gpu(precision)
        self.precision = precision
        self.threads = threads
        self.compiling = 0.0
        self._coming: dict[Any, concurrent.futures.Future[Any]] = {}

    def pieces(self, job: Shard) -> list[Shard]:
        """The whole job, or parts whose numbers fit on the card together with others."""
        rule = job.policy.rule(job.environment.n_arms)
        check_arguments(rule, type(job.policy).__name__)
        return cut(job, max(self.threads, PIECE_BYTES // _bytes(job, rule, 1)))

    def get_ready(self, shards: Sequence[Shard]) -> None:
        """Have the kernels that these shards need compiled by other processes, side by side; `run` waits for each."""
        self._get_kernels(list(self._plans(shards, self._room())))

    def run(self, shards: Sequence[Shard], done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes, kind by kind; the card works on the next ones while the caller takes one."""
        room = self._room()
        todo = list(self._plans(shards, room))
        self._get_kernels(todo)
        waiting: collections.deque[tuple[Any, int]] = collections.deque()
        while todo:
            plan = next((plan for plan in todo if self._is_there(plan.kernel)), None)
            full = plan is not None and plan.size + sum(used for _, used in waiting) > room
            if waiting and (plan is None or full):
                yield from _finished(waiting.popleft()[0], done)
            elif plan is None:
                self._wait(done)
            else:
                todo.remove(plan)
                waiting.append((self._launched(plan), plan.size))
        spent = []  # kept to the end: memory is freed only when the card stands still
        while waiting:
            spent.append(waiting.popleft()[0])
            yield from _finished(spent[-1], done)

    def _get_kernels(self, plans: Sequence[Planned]) -> None:
        """Ask other processes for what is not kept yet, the first shards' kernels first, if they are of any use."""
        from driftbandit.engine.cuda.target import is_missing, kernel_folder

        needed = {plan.kernel: plan.example for plan in sorted(plans, key=lambda plan: plan.example.number)}
        missing = [kernel for kernel in needed if is_missing(kernel) and kernel not in self._coming]
        folder, most = kernel_folder(), self._room() // 3 // CONTEXT_BYTES
        size = min(cores() - 1, -(-len(missing) // KERNELS_EACH), most)
        if cores() < FEWEST_CORES or len(missing) < FEWEST_KERNELS or size < 2 or folder is None:
            return
        crew = Crew(size, {"DRIFTBANDIT_CACHE": str(folder)})
        for kernel in missing:
            question = (smallest(needed[kernel].shard), self.precision, self.threads)
            self._coming[kernel] = crew.ask(compiled_here, *question)
        crew.dismiss()

    def _is_there(self, kernel: Any) -> bool:
        """Whether no other process is at work on a kernel; if one failed, it is compiled here."""
        return kernel not in self._coming or self._coming[kernel].done()

    def _wait(self, done: Callable[[int], None]) -> None:
        """Until another kernel is there, or for a moment, so that Ctrl-C is heard."""
        began = time.monotonic()
        coming = [future for future in self._coming.values() if not future.done()]
        concurrent.futures.wait(coming, 0.2, concurrent.futures.FIRST_COMPLETED)
        self.compiling += time.monotonic() - began
        done(0)

    def _launched(self, plan: Planned) -> Any:
        began, new = time.monotonic(), not plan.kernel.overloads
        batch = plan.make()
        batch.launch()
        self.compiling += new * (time.monotonic() - began)
        return batch

    def _plans(self, shards: Sequence[Shard], room: int) -> Iterator[Planned]:
        """Shards by kind, in batches that fit; the longest first, so that the card does not idle at the end."""
        from driftbandit.engine.cuda.batch import Batch, Kind, kernel_of, kind_of

        kinds: dict[Kind, list[Member]] = {}
        for index, shard in enumerate(shards):
            rule = shard.policy.rule(shard.environment.n_arms)
            kinds.setdefault(kind_of(shard, rule, self.gpu, self.threads), []).append(Member(index, shard, rule))
        for kind, members in sorted(kinds.items(), key=lambda item: -max(shard.horizon for _, shard, _ in item[1])):
            members.sort(key=lambda member: -member.shard.horizon * member.shard.environment.n_arms)
            for group in _fitting(members, room // 4):
                size = sum(_bytes(shard, rule, shard.runs) for _, shard, rule in group)
                make = functools.partial(Batch, kind, self.gpu, group, _stride(group))
                first = min(group, key=lambda member: member.number)
                yield Planned(kernel_of(kind, self.gpu, first.rule), make, size, first)

    def _room(self) -> int:
        """Bytes on the card to be used: most of what is free now."""
        from driftbandit.engine.cuda.target import cuda

        free = cuda.current_context().get_memory_info()[0]
        return int(min(free, 1 << 40) * 3 // 4)  # the simulator's memory has no end


def compiled_here(shard: Shard, precision: str, threads: int) -> None:
    """Play a shard in this process, which leaves its kernel in the folder of kernels."""
    for _ in Card(precision, threads).run([shard], lambda _: None):
        pass


def check_arguments(rule: Rule, name: str) -> None:
    """What a card cannot play, in one line: beliefs, and starred arguments, which its compiler does not know."""
    if rule.beliefs is not None:
        raise InvalidValue(
            f'device must be "cpu" for {name}, which believes more of an arm than a card holds, got "cuda"'
        )
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
    trouble = _trouble(cuda)
    if trouble is not None:
        names = {"NumPy": "numpy", "Numba": "numba", "numba-cuda": "numba-cuda"}
        found = ", ".join(f"{name} {_version_of(package)}" for name, package in names.items())
        raise MissingExtra(
            f'device "cuda" needs versions that fit together, got {found} ({trouble}); these were tried: {TRIED}'
        )


@functools.cache
def _trouble(cuda: Any) -> str | None:
    """What goes wrong with a kernel that does nothing: packages that do not fit together fail at the first one."""
    try:
        with _older_names():
            cuda.jit("void()")(_nothing)
    except Exception as error:  # whatever a name that is gone leads to
        return (" ".join(str(error).split()) or type(error).__name__)[:120]
    return None


def _nothing() -> None:
    return None


@contextlib.contextmanager
def _older_names() -> Iterator[None]:
    """NumPy as numba-cuda knows it: up to 0.30 it looks once for a name that NumPy 2.5 has no more."""
    added = {name: other for name, other in {"row_stack": np.vstack}.items() if not hasattr(np, name)}
    vars(np).update(added)
    try:
        yield
    finally:
        for name in added:
            delattr(np, name)


def _version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(none)"
