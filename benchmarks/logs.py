"""How fast logs are evaluated, and in how much memory: beside Python's own reader of JSON lines.

make bench ARGS=logs
python -m benchmarks.logs 100000000      a log of so many lines (10^8 take 9 GB of disk)
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import driftbandit as db
from benchmarks.__main__ import show

ARMS = ["red", "green", "blue", "amber"]
BLOCK = 100_000
MANY = 2_000_000
TOLD = """
spent = time.process_time() - began
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(spent, count, peak)
"""
OF_ARMS = f"""
import sys, time
import driftbandit as db
log = db.Log.read(sys.argv[1])
began = time.process_time()
values = [log.value(arm) for arm in log.arms]
count = log.decisions
{TOLD}
"""
OF_A_POLICY = f"""
import sys, time
import driftbandit as db
log, policy = db.Log.read(sys.argv[1]), db.Policy.parse(sys.argv[2])
log.value(policy)
began = time.process_time()
log.value(policy, seed=1)
count = log.decisions
{TOLD}
"""
BY_JSON = f"""
import json, sys, time
began = time.process_time()
with open(sys.argv[1], "rb") as file:
    count = sum(json.loads(line)["event"] == "decision" for line in file)
{TOLD}
"""


def written(path: Path, decisions: int) -> None:
    """A log as a bandit writes it, with rewards that come up to twenty decisions late."""
    dice = np.random.default_rng(1)
    begun = path.with_suffix(".start")
    db.Bandit(ARMS, db.ThompsonSampling(), seed=1, minimum_probability=0.05, log=begun).select()
    with open(path, "w", encoding="utf-8") as file:
        file.write(begun.read_text(encoding="utf-8").splitlines()[0] + "\n")
        for first in range(0, decisions, BLOCK):
            count = min(BLOCK, decisions - first)
            odds = 0.05 + 0.8 * dice.dirichlet(np.ones(len(ARMS)), count)
            chosen = (np.cumsum(odds, axis=1) < dice.random((count, 1))).sum(axis=1).clip(0, len(ARMS) - 1)
            order = np.argsort(np.arange(count) + dice.integers(1, 20, count), kind="stable").tolist()
            chances, rewards = odds[np.arange(count), chosen].tolist(), dice.integers(0, 2, count).tolist()
            lines, after = [], 0
            for i, (arm, chance) in enumerate(zip(chosen.tolist(), chances, strict=True)):
                id = first + i + 1
                said = json.dumps(ARMS[arm])
                lines.append(
                    f'{{"event": "decision", "id": {id}, "arm": {said}, "probability": {chance}, "time": {id}}}\n'
                )
                while (after < count and order[after] <= i - 20) or (i == count - 1 and after < count):
                    late = order[after]
                    after += 1
                    reward = f'"reward": {float(rewards[late])}, "status": "accepted"'
                    lines.append(f'{{"event": "reward", "id": {first + late + 1}, {reward}}}\n')
            file.write("".join(lines))


def measured(what: str, program: str, *arguments: str) -> dict[str, Any]:
    """Decisions a second of processor time, and the most memory, of a process of its own."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], check=True, capture_output=True, text=True)
    seconds, decisions, peak = map(float, done.stdout.split())
    return {"what": what, "decisions": int(decisions), "a_second": decisions / seconds, "MiB": peak / 2**10}


def run(decisions: int = 1_000_000) -> list[dict[str, Any]]:
    """Decisions a second on one core, and memory, once kernels are kept; beside reading the lines as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        written(path, decisions)
        cases = [("the values of four arms", OF_ARMS, [])]
        if decisions <= MANY:
            policies = ("dts:discount=0.97", "ucb1", "exp3:exploration=0.1")
            cases += [(f"one-step value of {policy}", OF_A_POLICY, [policy]) for policy in policies]
        rows = []
        for what, program, more in cases:
            for _ in range(2):  # the first compiles
                row = measured(what, program, str(path), *more)
            rows.append(row)
        rows.append(measured("json.loads of every line, and nothing else", BY_JSON, str(path)))
    for row in rows:
        row["times_json"] = row["a_second"] / rows[-1]["a_second"]
    return rows


if __name__ == "__main__":
    lines = int(sys.argv[1])
    show(Console(width=140), f"a log of {lines} lines", run(lines // 2))
