"""How long the first answers take: each in a fresh process, with nothing compiled and with everything."""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPEATS = 3
ROOT = Path(__file__).parents[1]
LIVE = """
import time
began = time.perf_counter()
import driftbandit as db
imported = time.perf_counter()
bandit = db.Bandit(["a", "b", "c", "d"], db.DiscountedThompsonSampling(discount=0.97), seed=1)
spent = []
for number in range(5):
    start = time.perf_counter()
    decision = bandit.select()
    decision.probability
    bandit.reward(decision.id, 1.0)
    spent.append(time.perf_counter() - start)
print(imported - began, spent[0], min(spent[1:]))
"""
FULL_SPEED = """
import time
import driftbandit as db
began = time.perf_counter()
bandit = db.Bandit(["a", "b", "c", "d"], db.DiscountedThompsonSampling(discount=0.97), seed=1)
while bandit._chooser._compiled is None:
    bandit.reward(bandit.select().id, 1.0)
    time.sleep(0.01)
print(time.perf_counter() - began)
"""
SMALLEST = ["simulate", "fast", "--policy", "dts:discount=0.4", "--horizon", "10", "--runs", "1"]
CLI = "import sys; from driftbandit.cli import main; sys.argv = ['driftbandit', *sys.argv[1:]]; main()"


def run() -> list[dict[str, Any]]:
    """Seconds until the first answers, the shortest of three; goals of a machine with two idle cores."""
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    rows = [{"what": "python -c pass", **both(lambda cache: wall(cache, "pass"))}]
    told = both_told(LIVE, 3)
    for what, place, goal in (
        ("import driftbandit", 0, 0.3),
        ("then the first select, probability and reward", 1, 0.05),
        ("the next, with another probability", 2, None),
    ):
        rows.append({"what": what, **{kind: told[kind][place] for kind in told}, "goal_cold": goal})
    full = both_told(FULL_SPEED, 1)
    rows.append({"what": "until decisions are compiled", **{kind: full[kind][0] for kind in full}})
    for what, arguments, cold, warm in (
        ("driftbandit probability", ["probability", "30.5,20.3", "28.2,25.9", "3,4"], 1.0, None),
        ("driftbandit " + " ".join(SMALLEST), SMALLEST, 5.0, 1.5),
    ):
        seconds = both(lambda cache, arguments=arguments: wall(cache, CLI, *arguments))
        rows.append({"what": what, **seconds, "goal_cold": cold, "goal_warm": warm})
    seconds = both(lambda cache: wall(cache, example[1]), repeats=1)
    rows.append({"what": "the README's first example", **seconds, "goal_cold": 12.0})
    return rows


def both(measure: Any, repeats: int = REPEATS) -> dict[str, Any]:
    """The least of a few measurements, each with a cache of its own that is empty, and with one that is full."""
    found: dict[str, Any] = {"nothing_compiled": [], "everything_compiled": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(repeats):
            found["nothing_compiled"].append(measure(f"{folder}/{number}"))
        for _ in range(repeats):
            found["everything_compiled"].append(measure(f"{folder}/0"))
    return {kind: min(values) for kind, values in found.items()}


def both_told(program: str, count: int) -> dict[str, list[float]]:
    """The same for what a program says itself: the least of each of its numbers."""
    found: dict[str, list[list[float]]] = {"nothing_compiled": [], "everything_compiled": []}
    with tempfile.TemporaryDirectory() as folder:
        wall(f"{folder}/full", CLI, "warm", "--policy", "dts:discount=0.97")
        for number in range(REPEATS):
            for kind, cache in (("nothing_compiled", f"{folder}/{number}"), ("everything_compiled", f"{folder}/full")):
                done = subprocess.run(
                    [sys.executable, "-c", program], env=with_cache(cache), check=True, capture_output=True, text=True
                )
                found[kind].append([float(word) for word in done.stdout.split()])
    return {kind: [min(row[place] for row in rows) for place in range(count)] for kind, rows in found.items()}


def wall(cache: str, program: str, *arguments: str) -> float:
    """Seconds of a whole process."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env=with_cache(cache),
            cwd=folder,
            check=True,
            capture_output=True,
        )
    return time.perf_counter() - began


def with_cache(cache: str) -> dict[str, str]:
    return os.environ | {"DRIFTBANDIT_CACHE": cache}
