"""Whether a change costs speed: games and live decisions of this tree beside those of another commit, in turns.

    python -m benchmarks.beside COMMIT                     every policy that both have
    python -m benchmarks.beside COMMIT --only "game: dots"  rows that begin so
    python -m benchmarks.beside COMMIT --pairs 5           more processes: where memory lies changes a loop by percents

A process of either tree plays the same block when it is told to, one at a time and on one core, as cores differ; which
goes first changes from round to round, and every pair of processes plays some rounds. A ratio is this tree's processor
time through the other's: the median over rounds, with an interval of 95% (order statistics). `at_best` is the ratio of
the two shortest times, which what else the machine does disturbs least.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.__main__ import show

ROOT = Path(__file__).parents[1]
GAME_RUNS, GAME_STEPS, LIVE_DECISIONS, LIVE_ARMS = 500, 1000, 2000, 4
WORKER = f"""
import json, sys, time
import driftbandit as db
from driftbandit.engine.cpu.shard import Shard, run_shard

def game(policy):
    run_shard(Shard(policy, db.Fast(), 2, 1, 0, 16, (2,)))
    shard = Shard(policy, db.Fast(), {GAME_STEPS}, 1, 0, {GAME_RUNS}, ({GAME_STEPS},))
    return lambda: run_shard(shard)

def live(policy):
    bandit = db.Bandit(range({LIVE_ARMS}), policy, seed=1)
    getattr(bandit, "warm_up", lambda: None)()
    def decide():
        for _ in range({LIVE_DECISIONS}):
            decision = bandit.select()
            bandit.reward(decision.id, 1.0 if decision.arm == 2 else 0.0)
    return decide

for line in sys.stdin:
    kind, text = json.loads(line)
    if kind != "again":
        try:
            block = {{"game": game, "live": live}}[kind](db.Policy.parse(text))
            block()
        except db.InvalidValue:
            block = None
    began = time.process_time()
    if block is not None:
        block()
    print(time.process_time() - began if block is not None else -1.0, flush=True)
"""


class Tree:
    """A process that plays blocks with the package of one tree."""

    def __init__(self, source: Path, cache: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(source / "src"), "DRIFTBANDIT_CACHE": cache}
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(self._process.pid, {max(os.sched_getaffinity(0))})

    def seconds(self, kind: str, text: str = "") -> float:
        """What one block took; −1 where the tree has no such policy."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([kind, text]), file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def end(self) -> None:
        self._process.communicate()


def policies() -> list[str]:
    from benchmarks.speed import CASES

    return [str(policy) for policy, _, _ in CASES]


def compared(trees: Callable[[], tuple[Tree, Tree]], pairs: int, rounds: int, only: str) -> list[dict[str, Any]]:
    """A row for every policy and kind of use that both trees have."""
    rows = []
    chosen = [(kind, policy) for kind in ("game", "live") for policy in policies()]
    for kind, policy in chosen:
        what, times = f"{kind}: {policy}", []
        if not what.startswith(only):
            continue
        for _ in range(pairs):
            here, there = trees()
            try:
                if min(here.seconds(kind, policy), there.seconds(kind, policy)) < 0.0:
                    break
                for number in range(rounds):
                    pair = {tree: tree.seconds("again") for tree in ((here, there) if number % 2 else (there, here))}
                    times.append((pair[here], pair[there]))
            finally:
                here.end()
                there.end()
        if times:
            rows.append({"what": what, **summed_up(kind, np.array(times))})
            print("{ratio:.3f} ({low:.3f} to {high:.3f}), {at_best:.3f} at best  {what}".format(**rows[-1]), flush=True)
    return rows


def summed_up(kind: str, times: Any) -> dict[str, Any]:
    unit = 1e9 / (GAME_RUNS * GAME_STEPS) if kind == "game" else 1e6 / LIVE_DECISIONS
    ours, theirs = times.T
    ratios, count = np.sort(ours / theirs), len(times)
    reach = round(0.98 * np.sqrt(count))  # ranks either side of the median
    return {
        "unit": "ns a step" if kind == "game" else "us a decision",
        "this": float(ours.min() * unit),
        "other": float(theirs.min() * unit),
        "at_best": float(ours.min() / theirs.min()),
        "ratio": float(np.median(ratios)),
        "low": float(ratios[max(0, count // 2 - reach)]),
        "high": float(ratios[min(count - 1, count // 2 + reach)]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside", description=__doc__.splitlines()[0])
    parser.add_argument("commit", help="what to compare with")
    parser.add_argument("--only", default="", help="rows that begin so")
    parser.add_argument("--pairs", type=int, default=3, help="processes of either tree, one after the other")
    parser.add_argument("--rounds", type=int, default=15, help="how often each of them plays a block")
    parser.add_argument("--out", type=Path, default=Path("build/beside.json"), help="where the JSON goes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", str(other), options.commit], cwd=ROOT, check=True)
        try:
            rows = compared(
                lambda: (Tree(ROOT, f"{folder}/here"), Tree(other, f"{folder}/there")),
                options.pairs, options.rounds, options.only,
            )  # fmt: skip
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(other)], cwd=ROOT, check=True)
    show(Console(width=None if sys.stdout.isatty() else 140), f"this tree beside {options.commit}", rows)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
