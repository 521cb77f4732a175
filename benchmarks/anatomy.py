"""Where the nanoseconds of a step go: every part of the run loop timed by itself, on the state of a real game.

Each part is the engine's own function, linked into a loop over steps; `whole` is the run loop itself. Processor
time, the least of several repeats.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import driftbandit as db
from driftbandit.compiling.linking import link
from driftbandit.compiling.target import CPU
from driftbandit.engine.cpu import shard
from driftbandit.engine.cpu.block import Tally
from driftbandit.engine.cpu.choice import choose_largest, draw_words, first_attempts, list_doubtful, repeat_attempts
from driftbandit.engine.cpu.loop import take_in
from driftbandit.engine.step.parts import attempted_first, choose, observe, own_of, shaped
from driftbandit.engine.step.rule_functions import attempt
from driftbandit.numerics.rng import BOOST, SCORE, draw

N_ARMS, RUNS, STEPS = 4, 512, 500
ENVIRONMENT = db.Fast()
ZERO = np.uint64(0)
ONE = np.uint64(1)
LABELS: dict[db.Policy, str] = {
    db.DiscountedThompsonSampling(discount=0.97): "dTS .97",
    db.DiscountedThompsonSampling(discount=0.4): "dTS .4",
    db.DiscountedThompsonSampling(discount=0.97, prior_successes=1e-3, prior_failures=1e-3): "dTS .97, prior .001",
    db.DiscountedUCB(discount=0.95): "D-UCB .95",
    db.Exp3(exploration=0.1): "EXP3",
}


def words_only(seed, first, steps, evidence, desk):
    for t in range(1, steps + 1):
        for k in range(evidence.shape[0]):
            draw_words((seed, first, np.uint64(t)), k, SCORE, desk.words[:4])


def double_attempts(parameters, seed, first, steps, evidence, desk):
    """What first attempts would take in double precision, and in one loop with their words."""
    n_arms, _, n = evidence.shape
    for t in range(1, steps + 1):
        for k in range(n_arms):
            arm = evidence[k]
            row = desk.doubtful[k * n : (k + 1) * n]
            for r in range(n):
                run = first + np.uint64(r)
                words = draw(seed, run, np.uint64(t), np.uint64(k), SCORE, ZERO)
                more = draw(seed, run, np.uint64(t), np.uint64(k), BOOST, ZERO)
                desk.scores[k, r], sure = attempt(shaped(parameters, 0.0, own_of(arm, r)), words, more)
                row[r] = not sure


def attempts_only(parameters, seed, first, steps, evidence, desk):
    for t in range(1, steps + 1):
        first_attempts(parameters, 0.0, (seed, first, np.uint64(t)), evidence, desk)


def repeats_only(parameters, seed, first, steps, evidence, desk, doubtful):
    """The doubtful attempts of one step, as often as there are steps."""
    n_arms, _, n = evidence.shape
    for _ in range(steps):
        for i in range(n_arms * n):
            desk.doubtful[i] = doubtful[i]
        left = list_doubtful(desk, n_arms * n)
        repeat_attempts(parameters, 0.0, (seed, first, ONE), evidence, desk, left, attempted_first)


def in_double(parameters, seed, first, steps, evidence, desk, found):
    """How many attempts are unclear, and how many runs too close to call."""
    n_arms, _, n = evidence.shape
    for t in range(1, steps + 1):
        place = (seed, first, np.uint64(t))
        first_attempts(parameters, 0.0, place, evidence, desk)
        left = list_doubtful(desk, n_arms * n)
        found[0] += repeat_attempts(parameters, 0.0, place, evidence, desk, left, attempted_first)
        found[1] += choose_largest(desk)


def choices_only(parameters, seed, first, steps, evidence, desk):
    for t in range(1, steps + 1):
        choose(parameters, 1.0, (seed, first, np.uint64(t)), evidence, desk)


def largest_only(steps, desk):
    for _ in range(steps):
        choose_largest(desk)


def observations_only(seed, first, steps, world, desk, record):
    for t in range(1, steps + 1):
        observe((seed, first, np.uint64(t)), world, desk, record)


def learning_only(parameters, seed, first, steps, evidence, memory, desk):
    for t in range(1, steps + 1):
        take_in(parameters, (seed, first, np.uint64(t)), t, evidence, memory, False, desk)


def counting_only(steps, desk, record):
    for t in range(steps):
        for r in range(desk.chosen.size):
            record.choices[t, desk.chosen[r]] += 1


def run() -> list[dict[str, Any]]:
    """Where the nanoseconds of a step go, K = 4, one thread: each part by itself, in ns for one step of one run."""
    columns: dict[str, dict[str, Any]] = {}
    for policy in LABELS:
        rule = policy.rule(N_ARMS)
        seed, first = np.uint64(1), ZERO
        evidence = np.tile(np.array(rule.initial)[:, None], (N_ARMS, 1, RUNS))
        memory = shard._memory(rule, ENVIRONMENT, STEPS, RUNS)
        world = shard._world(ENVIRONMENT, STEPS, seed, 0, RUNS)
        desk = shard._desk(rule, N_ARMS, RUNS)
        at = [np.zeros((RUNS, 1)) for _ in range(3)]
        counts = np.zeros((STEPS, N_ARMS), np.int64)
        record = Tally(np.zeros(RUNS), np.zeros(RUNS), np.zeros(RUNS), np.array([STEPS]), *at, counts, 1)
        slots = shard.slots_for(rule, ENVIRONMENT)
        kernel = shard.kernel_for(rule, ENVIRONMENT)
        game = (rule.parameters, seed, first, 1, STEPS, 0.0, evidence, memory, world, desk, record)
        whole = nanoseconds(kernel, *game)
        kernel(*game)
        row: dict[str, Any] = {"the whole step": whole}
        if rule.selection == "sampled":
            common = (rule.parameters, seed, first, STEPS, evidence, desk)
            row["random words"] = nanoseconds(link(words_only), seed, first, STEPS, evidence, desk)
            row["attempts in double"] = nanoseconds(link(double_attempts, CPU, **slots), *common)
            row["first attempts"] = nanoseconds(link(attempts_only, CPU, **slots), *common)
            doubtful = desk.doubtful.copy()
            row["repeats"] = nanoseconds(link(repeats_only, CPU, **slots), *common, doubtful)
            found = np.zeros(2, np.int64)
            link(in_double, CPU, **slots)(*common, found)
            row["doubtful %"] = 100 * float(doubtful[: N_ARMS * RUNS].mean())
            row["unclear %"] = 100 * float(found[0]) / (STEPS * RUNS * N_ARMS)
            row["too close %"] = 100 * float(found[1]) / (STEPS * RUNS)
        row["choosing"] = nanoseconds(
            link(choices_only, CPU, **slots), rule.parameters, seed, first, STEPS, evidence, desk
        )
        if rule.selection != "weighted":
            row["of it largest"] = nanoseconds(link(largest_only, CPU, **slots), STEPS, desk)
        row["observing"] = nanoseconds(link(observations_only, CPU, **slots), seed, first, STEPS, world, desk, record)
        row["counting"] = nanoseconds(link(counting_only), STEPS, desk, record)
        row["learning"] = nanoseconds(
            link(learning_only, CPU, **slots), rule.parameters, seed, first, STEPS, evidence, memory, desk
        )
        columns[LABELS[policy]] = row
    parts = dict.fromkeys(part for row in columns.values() for part in row)
    return [{"part": part} | {label: row.get(part) for label, row in columns.items()} for part in parts]


def nanoseconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Processor time for one step of one run, the least of several repeats."""
    function(*arguments)
    best = np.inf
    for _ in range(15):
        began = time.process_time()
        function(*arguments)
        best = min(best, time.process_time() - began)
    return best / (STEPS * RUNS) * 1e9
