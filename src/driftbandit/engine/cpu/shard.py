"""A shard: some runs of one policy in one environment, as a pure function of its specification.

Threads, GPUs and cluster workers all work on shards. What a shard returns depends on its specification alone, never on
where or how often it was run, nor on the size of the blocks it was cut into.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.compiling.linking import link
from driftbandit.compiling.target import CPU, Target
from driftbandit.engine.cpu import choice, context, loop, observation, watch
from driftbandit.engine.cpu.afterwards import check_numbers
from driftbandit.engine.cpu.block import VECTOR, Desk, Memory, Mind, Reals, Tally, Waiting, World
from driftbandit.engine.step import numbers
from driftbandit.engine.step.forms import mean_at_start
from driftbandit.engine.step.rule_slots import rule_slots
from driftbandit.environments import Environment
from driftbandit.environments.validation import means_of
from driftbandit.policies import Policy, Rule
from driftbandit.policies.posterior import larger, sampler_of

CHOOSERS = {
    "sampled": choice.choose_sampled,
    "index": choice.choose_index,
    "weighted": choice.choose_weighted,
}
REWARDS = {
    "bernoulli": observation.bernoulli_reward,
    "mean": observation.mean_reward,
    "beta": observation.beta_reward,
    "normal": observation.normal_reward,
}
WITHOUT_VECTORS = {"attempted_first": choice.exactly, "rough": None, "apart": larger}
"""Single precision first only pays where many numbers are handled at once; decisions are the same."""
BLOCK_NUMBERS = 1 << 15
"""How many pairs (arm, run) a block holds: its arrays then stay in the second-level cache."""
LARGEST_BLOCK = 512
WINDOW_NUMBERS = 1 << 20
"""How many observations the windows and histories of a block may hold."""
BELIEF_NUMBERS = 1 << 17
"""How many numbers the beliefs of a block have together: half a megabyte."""
PAGE = 4096
CALL_NUMBERS = 1 << 22
"""How many (arm, run, step) one call of a kernel handles: some hundredths of a second, so that Ctrl-C is heard."""


@dataclasses.dataclass(frozen=True)
class Shard:
    """Runs `first_run` … `first_run + runs − 1` of a policy in an environment."""

    policy: Policy
    environment: Environment
    horizon: int
    seed: int
    first_run: int
    runs: int
    steps: tuple[int, ...]
    """The steps at which the figures of every run are kept."""
    bin_width: int = 1
    """How many steps share one count of choices."""


class Outcome(NamedTuple):
    """What a shard returns: cumulative figures `[run, point]`, and choices `[bin, arm]`."""

    regret: Reals
    expected: Reals
    reward: Reals
    choices: NDArray[np.int64]


class Stopped(Exception):  # not an error: somebody asked for it
    """The work was asked to stop."""


def run_shard(
    shard: Shard,
    done: Callable[[int], None] = lambda run_steps: None,
    stop: Callable[[], bool] = lambda: False,
    block_size: int | None = None,
    target: Target | None = None,
) -> Outcome:
    """Run a shard on this processor, compiled or interpreted, with the same outcome.

    `done` is told of finished run-steps; `stop` is asked between calls.
    """
    bins = -(-shard.horizon // shard.bin_width)
    n_arms = shard.environment.n_arms
    shape = (shard.runs, len(shard.steps))
    outcome = Outcome(np.empty(shape), np.empty(shape), np.empty(shape), np.zeros((bins, n_arms), np.int64))
    size = block_size or suited_block(shard.policy.rule(n_arms), n_arms, shard.horizon)
    for start in range(0, shard.runs, size):
        count = min(size, shard.runs - start)
        rows = slice(start, start + count)
        _run_block(shard, shard.first_run + start, count, _rows_of(outcome, rows), done, stop, target or CPU)
    return outcome


def suited_block(rule: Rule, n_arms: int, horizon: int) -> int:
    """How many runs to play side by side."""
    size = min(LARGEST_BLOCK, 2 * BLOCK_NUMBERS // (n_arms * max(2, len(rule.initial))))
    if 0 < rule.steps_window < horizon:
        size = min(size, WINDOW_NUMBERS // rule.window)
    if rule.beliefs is not None:
        size = min(size, BELIEF_NUMBERS // (n_arms * rule.beliefs.initial.size))
    if rule.ring > 0:
        size = min(size, WINDOW_NUMBERS // (min(rule.ring, horizon) * n_arms))
    return max(8, size // 8 * 8)


def _rows_of(outcome: Outcome, rows: slice) -> Outcome:
    return Outcome(outcome.regret[rows], outcome.expected[rows], outcome.reward[rows], outcome.choices)


def _run_block(
    shard: Shard,
    first_run: int,
    runs: int,
    out: Outcome,
    done: Callable[[int], None],
    stop: Callable[[], bool],
    target: Target,
) -> None:
    environment, n_arms = shard.environment, shard.environment.n_arms
    rule = shard.policy.rule(n_arms)
    kernel = kernel_for(rule, environment, target)
    seed = np.uint64(shard.seed)
    evidence = placed(4, (n_arms, len(rule.initial), runs))
    evidence[:] = np.array(rule.initial, np.float64)[:, None]
    memory = _memory(rule, environment, shard.horizon, runs)
    world = _world(environment, shard.horizon, seed, first_run, runs, target)
    desk = _desk(rule, n_arms, runs)
    record = Tally(
        placed(1.5, runs), placed(3.5, runs), placed(6.5, runs), np.array(shard.steps, np.int64), *out, shard.bin_width
    )
    total = 0.0
    numbers = len(rule.initial) if rule.beliefs is None else rule.beliefs.initial.size
    stride = max(1, CALL_NUMBERS // (n_arms * runs * max(1, numbers // 32)))
    for first_step in range(1, shard.horizon + 1, stride):
        if stop():
            raise Stopped
        last_step = min(first_step + stride - 1, shard.horizon)
        view = _at(world, environment, first_step, last_step)
        total = kernel(
            tuple(map(float, rule.parameters)),
            seed,
            np.uint64(first_run),
            first_step,
            last_step,
            total,
            evidence,
            memory,
            view,
            desk,
            record,
        )
        check_numbers(shard.policy, environment, evidence, desk, world, last_step)
        done(runs * (last_step - first_step + 1))


def kernel_for(rule: Rule, environment: Environment, target: Target = CPU) -> Any:
    """The run loop with this rule and this kind of environment linked in."""
    slots = slots_for(rule, environment)
    return link(loop.play, target, **(slots if target.vectors else slots | WITHOUT_VECTORS))


def slots_for(rule: Rule, environment: Environment) -> dict[str, Any]:
    """What the engine's open slots are filled with."""
    own, move = observation.observe_own, observation.move_rested
    path = environment.path()
    if path is not None:
        move = observation.walk_rested if environment.rested else observation.walk_restless
    elif not environment.rested:
        own = observation.observe_shared
    slots = rule_slots(rule, context, watch) | block_slots(rule)
    slots |= {"observe": own, "reward_of": REWARDS[environment.rewards], "move": move}
    return slots if path is None else slots | {"next_mean": path.following}


def block_slots(rule: Rule) -> dict[str, Any]:
    """What only a block of runs needs of a rule: its choice, and where its numbers are."""
    slots = {
        "choose": CHOOSERS[rule.selection],
        "own_of": numbers.reader(len(rule.initial)),
        "put_own": numbers.writer(len(rule.initial)),
        "common_of": numbers.reader(len(rule.common)),
        "put_common": numbers.writer(len(rule.common)),
        "shared_of": context.shared_by_run if rule.own_context else context.shared_in_block,
        "apart": larger,
    }
    if rule.selection == "sampled":
        sampler = sampler_of(rule)
        slots |= {
            "shape_of": numbers.reader(sampler.size),
            "put_shape": numbers.writer(sampler.size),
            "attempted_first": choice.exactly if sampler.rough is None else choice.roughly,
            "rough": sampler.rough,
            "apart": sampler.apart,
            "draw_more": choice.draw_words if sampler.boosted else choice.no_words,
        }
    return slots


def _memory(rule: Rule, environment: Environment, horizon: int, runs: int) -> Memory:
    window = rule.steps_window
    rows = window if window < horizon else 0  # nothing leaves a window that outlasts the game
    arms = environment.n_arms if rule.ring else 0
    trials = rule.binary or environment.rewards == "bernoulli"
    return Memory(
        decay=tuple(map(float, rule.decays)),
        drift=tuple(map(float, rule.drifts)),
        mixed=len(set(rule.decays)) > 1,
        drifts=any(rule.drifts),
        fading=float(rule.one_decay),
        window=window,
        restart=rule.restart,
        initial=tuple(map(float, rule.initial)),
        binary=rule.binary,
        arms=np.full((rows, runs), -1, np.int64),
        rewards=np.zeros((rows, runs)),
        common=np.tile(np.array(rule.common, np.float64).reshape(-1, 1), (1, runs)),
        start=tuple(map(float, rule.common)),
        own_window=rule.window if rule.window_of == "choices" else 0,
        explore=0.0 if callable(rule.explore) else float(rule.explore),
        history=rule.history,
        past=np.zeros((arms, runs, min(rule.ring, horizon)), np.uint8 if rule.ring and trials else np.float64),
        past_count=np.zeros((arms, runs), np.int64),
        mind=_mind(rule, environment.n_arms, runs),
        there=np.arange(environment.n_arms),
        mean=np.zeros(runs),
    )


def _mind(rule: Rule, n_arms: int, runs: int) -> Mind:
    """What is believed at the start of a game."""
    beliefs = rule.beliefs
    none = np.zeros(0, np.float32)
    if beliefs is None:
        nobody = np.zeros(0, np.int64)
        return Mind((), none[:, None], none[:, None, None], nobody, nobody, np.zeros(0), none)
    return Mind(
        beliefs.tables,
        np.tile(beliefs.common, (runs, 1)),
        np.tile(beliefs.initial, (runs, n_arms, 1)),
        np.arange(n_arms),
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms),
        np.empty(beliefs.room, np.float32),
    )


def _desk(rule: Rule, n_arms: int, runs: int) -> Desk:
    room = n_arms * runs + VECTOR
    size = sampler_of(rule).size if rule.selection == "sampled" else 0
    probability = placed(6, runs)
    probability[:] = 1.0
    return Desk(
        placed(0, (n_arms, runs)),
        placed(3, runs, np.int64),
        probability,
        placed(5, runs),
        np.empty((8, runs), np.uint32),
        np.empty(room, np.bool_),
        Waiting(
            np.empty(room, np.int64),
            np.empty(room, np.uint64),
            np.empty(room, np.uint64),
            np.empty((size, room)),
            np.empty(room),
        ),
        np.empty(room, np.bool_),
        np.empty(room, np.int64),
        np.empty(runs, np.int64),
        *(placed(eighth, runs) for eighth in (1, 2, 7, 7.5)),
    )


def placed(eighth: float, shape: Any, dtype: type = np.float64) -> Any:
    """An array of zeros that starts so many eighths into a page of memory.

    Rows of 512 numbers are a page long. A load at the same place of its page as a recent store looks to a processor as
    if it depended on it, and waits: so arrays that one loop reads and writes start at different places.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + 2 * PAGE, np.uint8)
    start = -room.ctypes.data % PAGE + int(eighth * PAGE / 8)
    return room[start : start + size].view(dtype).reshape(shape)


def _world(environment: Environment, horizon: int, seed: np.uint64, first_run: int, runs: int, target: Target) -> World:
    """The environment of a block at its first step."""
    n_arms = environment.n_arms
    fractional = environment.rewards != "bernoulli"
    spread = spread_of(environment)
    none = np.zeros((0, n_arms))
    path = environment.path()
    if path is not None:
        mean, clock = np.empty((n_arms, runs)), np.ones((n_arms, runs), np.int64)
        link(start_walks, target, first_mean=path.first)(path.numbers, seed, np.uint64(first_run), mean)
        return World(none, 1, 0, mean, clock, path.numbers, spread, fractional)
    cycle = environment.cycle if environment.cycle is not None and environment.cycle <= horizon else 0
    table = means_table(environment, 1, cycle or horizon + 1) if cycle or environment.rested else none
    if environment.rested:
        mean, clock = np.repeat(table[:1].T, runs, axis=1).copy(), np.ones((n_arms, runs), np.int64)
        return World(table, 1, cycle, mean, clock, (), spread, fractional)
    return World(table, 1, cycle, none, np.zeros((0, 0), np.int64), (), spread, fractional)


def spread_of(environment: Environment) -> float:
    """The number that the law of rewards has beside the mean."""
    return environment.deviation if environment.rewards == "normal" else environment.concentration


def _at(world: World, environment: Environment, first_step: int, last_step: int) -> World:
    """The world with the means of these steps at hand."""
    if world.table.shape[0] or world.mean.shape[0]:
        return world
    return world._replace(table=means_table(environment, first_step, last_step), first_clock=first_step)


@functools.lru_cache(maxsize=8)
def means_table(environment: Environment, first_clock: int, last_clock: int) -> Reals:
    """The means at these readings of the clock, a row each; shared between threads, so not to be written."""
    table = means_of(environment, np.arange(first_clock, last_clock + 1))
    table.flags.writeable = False
    return table


def start_walks(path: Any, seed: np.uint64, first_run: np.uint64, mean: Reals) -> None:
    """The first mean of every arm in every run."""
    for k in range(mean.shape[0]):
        for r in range(mean.shape[1]):
            mean[k, r] = mean_at_start(path, seed, first_run + np.uint64(r), np.uint64(k))
