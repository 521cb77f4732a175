"""Every policy beside every other: what a step costs, how it may learn live, and what is known of its odds."""

import time
from typing import Any

import numpy as np

import driftbandit as db
import examples
from driftbandit.engine.cpu.shard import Shard, run_shard

ENVIRONMENT = db.Fast()
STEPS, RUNS, FEWER = 1000, 1024, 64
"""Of policies with beliefs, which take a hundred times as long, there are fewer runs."""
REPEATS = 3
LEARNING = {"additive": "any order, mergeable", "by arm": "by arm, as rewards come", "sequential": "in order"}


def run() -> list[dict[str, Any]]:
    """One thread, four arms: nanoseconds a step, also as a ratio to Thompson sampling in the same run."""
    rows = [measured(policy) for policy in examples.LONG]
    first = next(row["step_ns"] for row in rows if row["policy"] == "ts")
    return [{**row, "to_ts": row["step_ns"] / first} for row in rows]


def measured(policy: db.Policy) -> dict[str, Any]:
    rule = policy.rule(ENVIRONMENT.n_arms)
    runs = RUNS if rule.beliefs is None else FEWER
    shard = Shard(policy, ENVIRONMENT, STEPS, 1, 0, runs, (STEPS,))
    run_shard(Shard(policy, ENVIRONMENT, 2, 1, 0, 16, (2,)))  # compile
    best = np.inf
    for _ in range(REPEATS):
        began = time.perf_counter()
        run_shard(shard)
        best = min(best, time.perf_counter() - began)
    sure = rule.selection == "index" and rule.explore == 0.0 and not (rule.beliefs is not None and rule.beliefs.lucky)
    return {
        "policy": str(policy),
        "step_ns": best / (STEPS * runs) * 1e9,
        "live": LEARNING[rule.learning],
        "odds": "0 or 1" if sure else "exact" if rule.knows_odds else "unknown",
        "card": "yes" if rule.beliefs is None else "no",
    }
