"""Shards that go to the card in one launch: their numbers in tables, and their outcomes out of them."""

import collections
import dataclasses
import itertools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numba import float32, float64
from numpy.typing import NDArray

from driftbandit.compiling.linking import link
from driftbandit.engine.cpu.shard import REWARDS, Outcome, Shard, means_table, spread_of
from driftbandit.engine.cuda import kernel, layout, memory, steps, watch
from driftbandit.engine.cuda.layout import Member
from driftbandit.engine.cuda.target import REGISTERS, WEIGHT_REGISTERS, Gpu, cuda
from driftbandit.engine.step import numbers, one_run
from driftbandit.engine.step.rule_slots import rule_slots
from driftbandit.environments import Environment, Path
from driftbandit.policies import Rule

SHARED_BYTES = 48 * 1024
"""Shared memory that every card gives a block without being asked."""
NEVER = 2**63
"""A number of steps that no game has."""
SEEN = ["cycle", "row", "means_start", "best_start"]
"""What a shard's record says of the means of its environment."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """What the shards of one launch have in common: a compiled kernel, a seed, and the shape of a block."""

    slots: tuple[tuple[str, Any], ...]
    seed: int
    threads: int
    shared_bytes: int


def kind_of(shard: Shard, rule: Rule, gpu: Gpu, threads: int) -> Kind:
    """The kind of launch that a shard belongs to."""
    environment, n_arms = shard.environment, shard.environment.n_arms
    path = environment.path()
    own = path is not None or environment.rested
    real_bytes = np.dtype(gpu.real).itemsize
    arm_reals = len(rule.initial) + (rule.selection == "weighted")
    threads, shared_bytes = _block(n_arms, arm_reals * real_bytes + 16 * own, threads)
    in_shared = shared_bytes > 0
    weighted, sampled = rule.selection == "weighted", rule.selection == "sampled"
    if not in_shared:
        decide = steps.choose_from_many_by_weight if weighted else steps.choose_from_many
    else:
        decide = steps.choose_by_weight if weighted else steps.choose_by_score
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
            "attempted": one_run.attempted_score if sampled else one_run.index_score,
            "reward_of": REWARDS[environment.rewards],
            "first_mean": path and path.first,
            "next_mean": path and path.following,
            "room_of": memory.room_in_shared_memory if in_shared else memory.room_on_the_card,
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
    counts = kernel.TALLY_STEPS * n_arms * 4
    width = threads
    while n_arms <= steps.MOST_TIES and width >= min(threads, 32):
        needed = bytes_an_arm * (n_arms | 1) * width + counts
        if needed <= SHARED_BYTES:
            return width, needed
        width //= 2
    return threads, 0


def _numbers(rule: Rule, path: Path | None) -> dict[str, tuple[float, ...]]:
    """The real numbers of a shard, by the slot that reads them, in their order in the table."""
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
    column = 0
    for slot, values in _numbers(rule, path).items():
        if slot == "decay_of" and len(set(values)) == 1:
            found[slot] = numbers.repeated_reader(len(values), column)  # one register, not many
        else:
            found[slot] = numbers.row_reader(len(values), column)
        column += len(values)
    return found


def kernel_of(kind: Kind, gpu: Gpu, rule: Rule) -> Any:
    """The kernel that a launch of this kind runs; compiled at the first."""
    weights = WEIGHT_REGISTERS if rule.selection == "weighted" else None
    return link(kernel.play_runs, gpu.with_registers(weights if kind.shared_bytes else REGISTERS), **dict(kind.slots))


class Batch:
    """Shards of one kind, played by launches that hold all of their runs."""

    def __init__(self, kind: Kind, gpu: Gpu, members: Sequence[Member], stride: int) -> None:
        self.kind = kind
        self.gpu = gpu
        self.members = members
        self.last_step = max(shard.horizon for _, shard, _ in members)
        self.stride = min(stride, self.last_step)
        self.next_step = 1
        self.launched = 0
        self.slots = dict(kind.slots)
        self.kernel = kernel_of(kind, gpu, members[0].rule)
        self.shards: Any = np.zeros(len(members), layout.shard_record(gpu.real))
        tables = [_numbers(rule, shard.environment.path()).values() for _, shard, rule in members]
        self.numbers: NDArray[Any] = np.array([[*itertools.chain(*table)] for table in tables], gpu.real)
        self.sizes: dict[str, int] = collections.defaultdict(int)
        self._fill()
        self.stream = cuda.stream()
        self._allocate()

    def _fill(self) -> None:
        """The shards' records, their parts of the flat arrays, and which block plays which runs."""
        starts: dict[tuple[int, ...], int] = {}
        first = []
        for i, (_, shard, rule) in enumerate(self.members):
            n_arms, threads = shard.environment.n_arms, self.kind.threads
            positions = -(-shard.runs // threads) * threads
            ring = rule.steps_window if rule.steps_window < shard.horizon else 0  # none leaves a longer window
            past = min(rule.ring, shard.horizon)
            facts = {
                "n_arms": n_arms, "runs": shard.runs, "positions": positions, "horizon": shard.horizon,
                "first_run": shard.first_run, "window": rule.steps_window, "ring": ring, "past": past,
                "own_window": rule.window if rule.window_of == "choices" else 0, "restart": rule.restart or NEVER,
                "steps_start": starts.setdefault(shard.steps, sum(map(len, starts))), "points": len(shard.steps),
                "bin_width": shard.bin_width, "spread": spread_of(shard.environment),
                "explore": 0.0 if callable(rule.explore) else rule.explore,
            }  # fmt: skip
            sizes = {
                "arms_start": n_arms * positions, "runs_start": positions, "ring_start": ring * positions,
                "past_start": n_arms * past * positions, "figures_start": shard.runs * len(shard.steps),
                "choices_start": -(-shard.horizon // shard.bin_width) * n_arms,
            }  # fmt: skip
            for name, value in (facts | {name: self.sizes[name] for name in sizes}).items():
                self.shards[name][i] = value
            for name, size in sizes.items():
                self.sizes[name] += size
            first.append(np.arange(0, positions, threads))
        self.blocks: Any = np.zeros(sum(map(len, first)), layout.BLOCK)
        self.blocks["shard"] = np.repeat(np.arange(len(self.members)), [len(block) for block in first])
        self.blocks["first_position"] = np.concatenate(first)
        self.steps = np.array([step for steps in starts for step in steps], np.uint64)

    def _allocate(self) -> None:
        """The arrays on the card."""
        resumed = self.stride < self.last_step
        rule, rewards = self.members[0].rule, self.members[0].shard.environment.rewards
        real = self.gpu.real
        arms = self.sizes["arms_start"] if resumed or not self.slots["shared_room"] else 1
        walks = arms if self.slots["own_means"] else 1
        runs = self.sizes["runs_start"] if resumed else 1
        ring = max(1, self.sizes["ring_start"])
        kept = np.uint8 if rule.binary or rewards == "bernoulli" else real  # of an arm's last rewards
        self.apart = np.uint64(arms)
        self.state = layout.RunState(
            own=self._array(arms * len(rule.initial), real),
            common=self._array((max(1, len(rule.common)), runs), real),
            means=self._array(walks, np.float64), clocks=self._array(walks, np.uint64),
            ring_arms=self._array(ring, np.uint32), ring_rewards=self._array(ring, real),
            past=self._array(max(1, self.sizes["past_start"]), kept),
            counts=self._array(self.sizes["arms_start"] if rule.ring else 1, np.int64),
            totals=self._array(runs, real), sums=self._array((runs, len(layout.Sums._fields)), np.float64),
        )  # fmt: skip
        self.figures = self._array((self.sizes["figures_start"], len(layout.Sums._fields)), np.float64)
        self.choices = self._sent(np.zeros(self.sizes["choices_start"], np.int64))
        self.fixed = [self._sent(array) for array in (self.blocks, self.numbers, self.steps)]

    def _array(self, shape: Any, dtype: type) -> Any:
        return cuda.device_array(shape, dtype, stream=self.stream)

    def _sent(self, array: NDArray[Any]) -> Any:
        return cuda.to_device(array, stream=self.stream)

    def launch(self) -> bool:
        """Play the next steps, and say in `launched` how many run-steps that will be; False if there are none left.

        Returns at once: the work is done when the stream has come so far.
        """
        first, last = self.next_step, min(self.next_step + self.stride - 1, self.last_step)
        if first > self.last_step:
            return False
        means, best = self._tables(first, last)
        blocks, numbers, steps = self.fixed
        self.reads = layout.Launch(
            np.uint64(self.kind.seed), first, last, self.apart, blocks, self._sent(self.shards), numbers,
            self._sent(means), self._sent(best), steps,
        )  # fmt: skip
        shape = (len(self.blocks), self.kind.threads, self.stream, self.kind.shared_bytes)
        with warnings.catch_warnings():  # a small launch is not worth a warning: others run beside it
            warnings.filterwarnings("ignore", message=".*Grid size")
            self.kernel[shape](*self.reads, *self.state, self.figures, self.choices)
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
            self.shards[SEEN][i] = NEVER, 0, 0, 0
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
            self.shards[SEEN][i] = cycle or NEVER, row, start, best_start
        flat = np.concatenate([table.reshape(-1) for table in tables])
        return flat, np.concatenate([table.max(axis=1) for table in tables])

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """The outcome of every shard; waits for the card."""
        choices, figures = (array.copy_to_host(stream=self.stream) for array in (self.choices, self.figures))
        self.stream.synchronize()
        for i, (index, shard, _) in enumerate(self.members):
            start = int(self.shards[i].figures_start)
            stop = start + shard.runs * len(shard.steps)
            regret, expected, reward = figures[start:stop].T.reshape(-1, shard.runs, len(shard.steps))
            start = int(self.shards[i].choices_start)
            n_arms, bins = shard.environment.n_arms, -(-shard.horizon // shard.bin_width)
            counts = choices[start : start + bins * n_arms].reshape(bins, n_arms)
            yield index, Outcome(regret, expected, reward, counts)
