"""Shards that go to the card in one launch: their numbers in tables, and their outcomes out of them."""

import collections
import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import float32, float64
from numpy.typing import NDArray

from driftbandit.compiling.linking import link
from driftbandit.engine.cpu.shard import REWARDS, Outcome, Shard, means_table, spread_of
from driftbandit.engine.cuda import kernel as at
from driftbandit.engine.cuda import memory, steps, watch
from driftbandit.engine.cuda.target import Gpu, cuda
from driftbandit.engine.step import numbers, one_run
from driftbandit.engine.step.rule_slots import rule_slots
from driftbandit.environments import Environment, Path
from driftbandit.policies import Rule

SHARED_BYTES = 48 * 1024
"""Shared memory that every card gives a block without being asked."""
NEVER = 2**63
"""A number of steps that no game has."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """What the shards of one launch have in common: a compiled kernel, a seed, and the shape of a block."""

    slots: tuple[tuple[str, Any], ...]
    seed: int
    threads: int
    shared_bytes: int

    @property
    def owns_means(self) -> bool:
        """Whether every run has means of its own."""
        return bool(dict(self.slots)["own_means"])

    @property
    def in_shared_memory(self) -> bool:
        """Whether the arms' numbers are in shared memory."""
        return bool(dict(self.slots)["shared_room"])


def kind_of(shard: Shard, rule: Rule, gpu: Gpu, threads: int) -> Kind:
    """The kind of launch that a shard belongs to."""
    environment, n_arms = shard.environment, shard.environment.n_arms
    path = environment.path()
    own = path is not None or environment.rested
    real_bytes = np.dtype(gpu.real).itemsize
    arm_reals = len(rule.initial) + (rule.selection == "weighted")
    threads, shared_bytes = _block(n_arms, arm_reals * real_bytes + 16 * own, threads)
    in_shared = shared_bytes > 0
    if rule.selection == "weighted":
        decide = steps.choose_by_weight if in_shared else steps.choose_from_many_by_weight
    elif in_shared:
        decide = steps.choose_by_sample if rule.selection == "sampled" else steps.choose_by_index
    else:
        decide = steps.choose_from_many
    if path is not None:
        begin, move = steps.begin_walks, steps.walk_rested if environment.rested else steps.walk_restless
    elif own:
        begin, move = steps.begin_rested, steps.move_rested
    else:
        begin, move = steps.begin_nothing, steps.move_nothing
    slots = (
        rule_slots(rule, watch, watch)
        | _readers(rule, path)
        | {
            "own_of": memory.reader(len(rule.initial)),
            "put_own": memory.writer(len(rule.initial)),
            "arm_at": one_run.counted,
            "settled": one_run.sampled_score if rule.selection == "sampled" else one_run.index_score,
            "reward_of": REWARDS[environment.rewards],
            "first_mean": path and path.first,
            "next_mean": path and path.following,
            "room": memory.room_in_shared_memory if in_shared else memory.room_on_the_card,
            "windowed": rule.steps_window > 0,
            "ringed": rule.ring > 0,
            "looked_back": rule.history,
            "restarts": rule.steps_window > 0 and (rule.restart > 0 or rule.alarm is not None),
            "drifting": any(rule.drifts),
            "mixed": len(set(rule.decays)) > 1,
            "fading": numbers.first_factor if len(set(rule.decays)) == 1 else numbers.no_factor,
            "aged": numbers.scaled_by(len(rule.initial)),
            "drifted": numbers.moved_by(len(rule.initial)),
            "common_at": numbers.reader(len(rule.common)),
            "put_common_at": numbers.writer(len(rule.common)),
            "trials": rule.binary and environment.rewards != "bernoulli",
            "decide": decide,
            "see": steps.see_own if own else steps.see_shared,
            "begin": begin,
            "move": move,
            "shared_room": in_shared,
            "own_means": own,
            "arm_reals": arm_reals,
            "real_type": float32 if gpu.real is np.float32 else float64,
            "real_bytes": real_bytes,
        }
    )
    return Kind(tuple(sorted(slots.items())), shard.seed, threads, shared_bytes)


def _block(n_arms: int, bytes_an_arm: int, threads: int) -> tuple[int, int]:
    """Threads in a block and its shared memory; none where the arms are too many for it."""
    counts = at.TALLY_STEPS * n_arms * 4
    width = threads
    while n_arms <= steps.MOST_TIES and width >= min(threads, 32):
        needed = bytes_an_arm * (n_arms | 1) * width + counts
        if needed <= SHARED_BYTES:
            return width, needed
        width //= 2
    return threads, 0


def _numbers(rule: Rule, path: Path | None) -> dict[str, tuple[float, ...]]:
    """The real numbers of a shard behind the first few, by the slot that reads them, in their order in the table."""
    return {
        "decay_of": tuple(map(float, rule.decays)),
        "drift_of": tuple(map(float, rule.drifts)),
        "initial_of": tuple(map(float, rule.initial)),
        "start_of": tuple(map(float, rule.common)),
        "path_of": () if path is None else path.numbers,
        "parameters_of": tuple(map(float, rule.parameters)),
    }


def _readers(rule: Rule, path: Path | None) -> dict[str, Any]:
    """What reads a shard's numbers from the table."""
    found: dict[str, Any] = {}
    column = at.OTHER_NUMBERS
    for slot, values in _numbers(rule, path).items():
        if slot == "decay_of" and len(set(values)) == 1:
            found[slot] = numbers.repeated_reader(len(values), column)  # one register, not many
        else:
            found[slot] = numbers.row_reader(len(values), column)
        column += len(values)
    return found


def _row(shard: Shard, rule: Rule) -> list[float]:
    """The real numbers of a shard."""
    first = [spread_of(shard.environment), 0.0 if callable(rule.explore) else rule.explore]
    return [*first, *(number for values in _numbers(rule, shard.environment.path()).values() for number in values)]


class Batch:
    """Shards of one kind, played by launches that hold all of their runs."""

    def __init__(self, kind: Kind, gpu: Gpu, members: Sequence[tuple[int, Shard, Rule]], stride: int) -> None:
        self.kind = kind
        self.gpu = gpu
        self.members = members
        self.last_step = max(shard.horizon for _, shard, _ in members)
        self.stride = min(stride, self.last_step)
        self.next_step = 1
        self.launched = 0
        self.kernel = link(at.play_runs, gpu, **dict(kind.slots))
        self.whole = np.zeros((len(members), at.WHOLE_COLUMNS), np.uint64)
        self.numbers: NDArray[Any] = np.array([_row(shard, rule) for _, shard, rule in members], gpu.real)
        self.sizes: dict[int, int] = collections.defaultdict(int)
        self.blocks = self._fill()
        self.stream = cuda.stream()
        self._allocate()

    def _fill(self) -> NDArray[np.uint64]:
        """The shards' numbers, their places in the flat arrays, and which block plays which runs."""
        steps: list[int] = []
        starts: dict[tuple[int, ...], int] = {}
        blocks = []
        for i, (_, shard, rule) in enumerate(self.members):
            n_arms = shard.environment.n_arms
            places = -(-shard.runs // self.kind.threads) * self.kind.threads
            if shard.steps not in starts:
                starts[shard.steps] = len(steps)
                steps += shard.steps
            window = rule.steps_window if rule.steps_window < shard.horizon else 0  # none leaves a longer one
            past = min(rule.ring, shard.horizon)
            size = {at.ARM_START: n_arms * places, at.RUN_START: places, at.RING_START: window * places}
            size[at.PAST_START] = n_arms * past * places
            size[at.COUNT_START] = n_arms * places if past else 0
            size[at.FIGURES] = at.SUMS * shard.runs * len(shard.steps)
            size[at.CHOICES] = -(-shard.horizon // shard.bin_width) * n_arms
            for column, value in {
                at.ARMS: n_arms, at.RUNS: shard.runs, at.PLACES: places, at.HORIZON: shard.horizon,
                at.FIRST_RUN: shard.first_run, at.WINDOW: rule.steps_window, at.RESTART: rule.restart or NEVER,
                at.RING: window, at.PAST: past, at.OWN_WINDOW: rule.window if rule.window_of == "choices" else 0,
                at.STEPS: starts[shard.steps], at.POINTS: len(shard.steps), at.BIN_WIDTH: shard.bin_width,
            }.items():  # fmt: skip
                self.whole[i, column] = value
            for column, value in size.items():
                self.whole[i, column] = self.sizes[column]
                self.sizes[column] += value
            first = np.arange(0, places, self.kind.threads, dtype=np.uint64)
            blocks.append(np.column_stack([np.full_like(first, i), first]))
        self.steps = np.array(steps, np.uint64)
        return np.ascontiguousarray(np.concatenate(blocks))

    def _allocate(self) -> None:
        """The arrays on the card. What only a later launch of the same games reads is left out if there is none."""
        resumed = self.stride < self.last_step
        arms = self.sizes[at.ARM_START] if resumed or not self.kind.in_shared_memory else 1
        walks = arms if self.kind.owns_means else 1
        runs = self.sizes[at.RUN_START] if resumed else 1
        ring = max(1, self.sizes[at.RING_START])
        real = self.gpu.real
        self.whole[:, at.APART] = arms
        rule, rewards = self.members[0][2], self.members[0][1].environment.rewards
        past = max(1, self.sizes[at.PAST_START]), np.uint8 if rule.binary or rewards == "bernoulli" else real
        shapes: list[tuple[Any, type]] = [
            (arms * len(rule.initial), real), ((max(1, len(rule.common)), runs), real), (walks, np.float64),
            (walks, np.uint64), (ring, np.uint32), (ring, real), past, (max(1, self.sizes[at.COUNT_START]), np.int64),
            (runs, real), ((at.SUMS, runs), np.float64),
        ]  # fmt: skip
        self.state = [cuda.device_array(shape, dtype, stream=self.stream) for shape, dtype in shapes]
        self.figures = cuda.device_array(self.sizes[at.FIGURES], np.float64, stream=self.stream)
        self.choices = cuda.to_device(np.zeros(self.sizes[at.CHOICES], np.int64), stream=self.stream)
        fixed = (self.blocks, self.numbers, self.steps)
        self.fixed = [cuda.to_device(array, stream=self.stream) for array in fixed]

    def launch(self) -> bool:
        """Play the next steps, and say in `launched` how many run-steps that will be; False if there are none left.

        Returns at once: the work is done when the stream has come so far.
        """
        first, last = self.next_step, min(self.next_step + self.stride - 1, self.last_step)
        if first > self.last_step:
            return False
        tables = self._tables(first, last)
        self.tables = [cuda.to_device(array, stream=self.stream) for array in (self.whole, *tables)]
        whole, table, best = self.tables
        blocks, numbers, steps = self.fixed
        shape = (len(self.blocks), self.kind.threads, self.stream, self.kind.shared_bytes)
        with warnings.catch_warnings():  # a small launch is not worth a warning: others run beside it
            warnings.filterwarnings("ignore", message=".*Grid size")
            self.kernel[shape](
                np.uint64(self.kind.seed), first, last, blocks, whole, numbers, table, best, steps,
                *self.state, self.figures, self.choices,
            )  # fmt: skip
        self.launched = sum(shard.runs * max(0, min(last, shard.horizon) - first + 1) for _, shard, _ in self.members)
        self.next_step = last + 1
        return True

    def _tables(self, first: int, last: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The means that these steps need, each environment's once, and the best of every row."""
        tables: list[NDArray[np.float64]] = [np.zeros((1, 1))]
        found: dict[tuple[Environment, int, int], tuple[int, int, int]] = {}
        size = rows = 1
        for i, (_, shard, _) in enumerate(self.members):
            environment = shard.environment
            self.whole[i, [at.CYCLE, at.ROW, at.TABLE, at.BEST]] = NEVER, 0, 0, 0
            if environment.path() is not None or first > shard.horizon:
                continue
            cycle = environment.cycle if environment.cycle and environment.cycle <= shard.horizon else None
            if cycle:
                span = (1, cycle)
            elif environment.rested:
                span = (1, shard.horizon + 1)
            else:
                span = (first, min(last, shard.horizon))
            key = (environment, *span)
            if key not in found:
                found[key] = (len(tables), size, rows)
                tables.append(means_table(environment, *span))
                size += tables[-1].size
                rows += len(tables[-1])
            _, start, best_start = found[key]
            row = (first - 1) % cycle if cycle and not environment.rested else 0
            self.whole[i, [at.CYCLE, at.ROW, at.TABLE, at.BEST]] = cycle or NEVER, row, start, best_start
        flat = np.concatenate([table.reshape(-1) for table in tables])
        return flat, np.concatenate([table.max(axis=1) for table in tables])

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """The outcome of every shard; waits for the card."""
        choices = self.choices.copy_to_host(stream=self.stream)
        figures = self.figures.copy_to_host(stream=self.stream)
        self.stream.synchronize()
        for i, (index, shard, _) in enumerate(self.members):
            shape = (at.SUMS, shard.runs, len(shard.steps))
            start = int(self.whole[i, at.FIGURES])
            regret, expected, reward = figures[start : start + int(np.prod(shape))].reshape(shape)
            n_arms = shard.environment.n_arms
            start = int(self.whole[i, at.CHOICES])
            bins = -(-shard.horizon // shard.bin_width)
            counts = choices[start : start + bins * n_arms].reshape(bins, n_arms)
            yield index, Outcome(regret, expected, reward, counts)
