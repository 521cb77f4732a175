"""A process may fork, end or be ended at any moment of the background compilation: nothing hangs, nothing is said."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FORKING = """
import os, sys, time
import driftbandit as db
bandit = db.Bandit(range(4), db.UCB1(), seed=1)
bandit.reward(bandit.select(), 1.0)
time.sleep(float(sys.argv[1]))
child = os.fork()
for _ in range(5):
    bandit.reward(bandit.select(), 1.0)
bandit.warm_up()
bandit.select()
if child:
    assert os.waitpid(child, 0)[1] == 0
assert bandit._chooser._compiled is not None
print("done", flush=True)
os._exit(0)
"""
ENDING = """
import sys, time
import driftbandit as db
bandit = db.Bandit(range(4), db.Policy.parse(sys.argv[2]), seed=1)
print("ready", flush=True)
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    bandit.reward(bandit.select(), 1.0)
    time.sleep(0.001)
"""
WAYS = {"normally": 0, "terminated": -signal.SIGTERM, "killed": -signal.SIGKILL}
PATIENCE = 60.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
@pytest.mark.parametrize("seconds", [0.12, 1.0])
def test_a_fork_waits_for_the_kernel_in_hand_and_both_go_on(seconds: float, tmp_path: Path) -> None:
    settings = os.environ | {"DRIFTBANDIT_CACHE": str(tmp_path), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-c", FORKING, str(seconds)]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=2 * PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\ndone\n", "")


def test_a_process_that_ends_while_a_kernel_is_compiled_says_nothing(tmp_path: Path) -> None:
    assert ended(6, tmp_path) == []


@pytest.mark.slow
def test_a_thousand_processes_end_at_any_moment_of_the_compilation(tmp_path: Path) -> None:
    assert ended(1000, tmp_path) == []


def ended(count: int, folder: Path) -> list[tuple[str, float, int, str]]:
    """Start so many processes, two at a time, and end each at some moment; those of which something is to be said."""
    luck = random.Random(3)
    wrong, running = [], []
    for number in range(count):
        way, moment = list(WAYS)[number % 3], 3.0 * luck.random()
        cache = folder / f"cache {number % 2}"
        if luck.random() < 0.25 and len(running) < 2:
            shutil.rmtree(cache, ignore_errors=True)
        policy = luck.choice(["ucb1", "dts:discount=0.9", "exp3:exploration=0.1"])
        command = [sys.executable, "-c", ENDING, str(moment if way == "normally" else PATIENCE), policy]
        process = subprocess.Popen(
            command,
            env=os.environ | {"DRIFTBANDIT_CACHE": str(cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        running.append((process, way, moment, process.stdout.readline() and time.monotonic()))
        if len(running) == 2 or number == count - 1:
            wrong += [answer for each in running if (answer := end_of(*each))]
            running = []
    return wrong


def end_of(
    process: subprocess.Popen[str], way: str, moment: float, began: float
) -> tuple[str, float, int | None, str] | None:
    """End a process when its moment has come; what is wrong with its end."""
    if way != "normally":
        time.sleep(max(0.0, began + moment - time.monotonic()))
        process.send_signal(-WAYS[way])
    try:
        _, said = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return way, moment, None, "did not end"
    return None if (process.returncode, said) == (WAYS[way], "") else (way, moment, process.returncode, said)
