"""Where the nanoseconds of a step go: every part of the run loop timed by itself, on the state of a real game.

Each part is the engine's own function, linked into a loop over steps; `whole` is the run loop itself. Processor
time, the least of several repeats.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import driftbandit as db
from driftbandit.elementary import log
from driftbandit.engine import observing, shard
from driftbandit.engine.choosing import choose_largest
from driftbandit.engine.layout import Record, choose, observe, score
from driftbandit.engine.playing import take_in
from driftbandit.linking import CPU, link
from driftbandit.rng import BOOST, SCORE, draw
from driftbandit.sampling import normal_pair

N_ARMS, RUNS, STEPS = 4, 512, 500
ENVIRONMENT = db.Fast()
ZERO = np.uint64(0)
POLICIES = [
    db.DiscountedThompsonSampling(discount=0.97),
    db.DiscountedThompsonSampling(discount=0.4),
    db.DiscountedThompsonSampling(discount=0.97, prior_successes=1e-3, prior_failures=1e-3),
    db.DiscountedUCB(discount=0.95),
    db.Exp3(exploration=0.1),
]


def words_only(seed, first, steps, evidence, desk):
    for t in range(1, steps + 1):
        for k in range(evidence[0].shape[0]):
            for r in range(evidence[0].shape[1]):
                words = draw(seed, first + np.uint64(r), np.uint64(t), np.uint64(k), SCORE, ZERO)
                desk.scores[k, r] = words[0] ^ words[1] ^ words[2] ^ words[3]


def normals_only(seed, first, steps, evidence, desk):
    for t in range(1, steps + 1):
        for k in range(evidence[0].shape[0]):
            for r in range(evidence[0].shape[1]):
                words = draw(seed, first + np.uint64(r), np.uint64(t), np.uint64(k), SCORE, ZERO)
                n, m, _ = normal_pair(words[0], words[1])
                desk.scores[k, r] = n + m


def logarithms_only(seed, first, steps, evidence, desk):
    for t in range(1, steps + 1):
        for k in range(evidence[0].shape[0]):
            for r in range(evidence[0].shape[1]):
                desk.scores[k, r] = log(evidence[0][k, r] + t)


def first_attempts(parameters, seed, first, steps, evidence, desk):
    a, b = evidence
    for t in range(1, steps + 1):
        for k in range(a.shape[0]):
            row = desk.doubtful[k * a.shape[1] : (k + 1) * a.shape[1]]
            for r in range(a.shape[1]):
                run = first + np.uint64(r)
                words = draw(seed, run, np.uint64(t), np.uint64(k), SCORE, ZERO)
                more = draw(seed, run, np.uint64(t), np.uint64(k), BOOST, ZERO)
                desk.scores[k, r], sure = score(parameters, 0.0, a[k, r], b[k, r], words, more)
                row[r] = not sure


def choices_only(parameters, seed, first, steps, evidence, desk):
    for t in range(1, steps + 1):
        choose(parameters, 1.0, (seed, first, np.uint64(t)), evidence, desk)


def largest_only(seed, first, steps, desk):
    for t in range(1, steps + 1):
        choose_largest((seed, first, np.uint64(t)), desk)


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
    rows = []
    for policy in POLICIES:
        rule = policy.rule(N_ARMS)
        seed, first = np.uint64(1), ZERO
        evidence = (np.full((N_ARMS, RUNS), rule.initial[0]), np.full((N_ARMS, RUNS), rule.initial[1]))
        memory = shard._memory(rule, STEPS, RUNS)
        world = shard._world(ENVIRONMENT, STEPS, seed, 0, RUNS)
        desk = shard._desk(N_ARMS, RUNS)
        at = [np.zeros((RUNS, 1)) for _ in range(3)]
        counts = np.zeros((STEPS, N_ARMS), np.int64)
        record = Record(np.zeros(RUNS), np.zeros(RUNS), np.zeros(RUNS), np.array([STEPS]), *at, counts, 1)
        slots = {
            "choose": shard.CHOOSERS[rule.selection],
            "observe": observing.observe_shared,
            "reward_of": observing.bernoulli_reward,
            **{
                name: getattr(rule, name)
                for name in ("score", "accepted", "probability", "context", "learn", "unlearn")
            },
        }
        kernel = shard.kernel_for(rule, ENVIRONMENT)
        game = (rule.parameters, seed, first, 1, STEPS, 0.0, evidence, memory, world, desk, record)
        whole = nanoseconds(kernel, *game)
        kernel(*game)
        row: dict[str, Any] = {"policy": str(policy), "whole": whole}
        if rule.selection == "sampled":
            row["random words"] = nanoseconds(link(words_only), seed, first, STEPS, evidence, desk)
            row["+ normals"] = nanoseconds(link(normals_only), seed, first, STEPS, evidence, desk)
            row["first attempts"] = nanoseconds(
                link(first_attempts, CPU, **slots), rule.parameters, seed, first, STEPS, evidence, desk
            )
            row["doubtful %"] = 100 * float(desk.doubtful[: N_ARMS * RUNS].mean())
        row["choosing"] = nanoseconds(
            link(choices_only, CPU, **slots), rule.parameters, seed, first, STEPS, evidence, desk
        )
        if rule.selection != "weighted":
            row["of it largest"] = nanoseconds(link(largest_only), seed, first, STEPS, desk)
        row["observing"] = nanoseconds(link(observations_only, CPU, **slots), seed, first, STEPS, world, desk, record)
        row["counting"] = nanoseconds(link(counting_only), STEPS, desk, record)
        row["learning"] = nanoseconds(
            link(learning_only, CPU, **slots), rule.parameters, seed, first, STEPS, evidence, memory, desk
        )
        rows.append(row)
    return rows


def nanoseconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Processor time for one step of one run, the least of several repeats."""
    function(*arguments)
    best = np.inf
    for _ in range(15):
        began = time.process_time()
        function(*arguments)
        best = min(best, time.process_time() - began)
    return best / (STEPS * RUNS) * 1e9
