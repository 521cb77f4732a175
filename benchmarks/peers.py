"""Libraries a user would pick instead, timed in the same run as ours. `make peers` installs them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import driftbandit as db
from benchmarks.peer_loops import MEANS
from benchmarks.speed import timed
from driftbandit.engine.cpu.shard import Shard, run_shard

PYTHON = Path(".venv-peers/bin/python")


def run() -> list[dict[str, Any]]:
    """Other libraries, Thompson sampling with K = 4, one thread: microseconds a step."""
    if not PYTHON.exists():
        return [{"library": "(none installed: make peers)", "us_per_step": None, "times_ours": None}]
    steps, runs = 5000, 2000
    policy = db.DiscountedThompsonSampling(discount=0.97)
    shard = Shard(policy, db.FromMeans(means=[MEANS]), steps, 1, 0, runs, (steps,))
    run_shard(shard)
    seconds, _ = timed(lambda: run_shard(shard))
    ours = seconds / (steps * runs) * 1e6
    answer = subprocess.run(
        [PYTHON, "-m", "benchmarks.peer_loops"], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    rows = [{"library": "driftbandit: discounted Thompson sampling", "us_per_step": ours, "times_ours": 1.0}]
    for name, theirs in json.loads(answer.stdout).items():
        rows.append({"library": name, "us_per_step": theirs, "times_ours": theirs / ours})
    return rows
