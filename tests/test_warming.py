"""Kernels compiled beforehand are those that decisions and simulations use."""

import os
import subprocess
import sys
from pathlib import Path

import driftbandit as db
from driftbandit.warming import usual_policies

COMMAND = [sys.executable, "-m", "driftbandit", "warm"]
SERVICE = """
import driftbandit as db
bandit = db.Bandit(range(3), db.SlidingWindowUCB(window=7), seed=1)
bandit.warm_up()
bandit.reward(bandit.select(), 1.0)
db.simulate(db.SlidingWindowUCB(window=5), db.Abrupt(n_arms=3), horizon=3000, runs=9, progress=False)
"""


def test_every_policy_of_this_package_is_warmed_unless_some_are_named() -> None:
    ours = {name for name, kind in db.Policy.known.items() if kind.__module__.startswith("driftbandit.")}
    assert {policy.name for policy in usual_policies()} >= ours


def test_what_was_compiled_beforehand_is_not_compiled_again_whatever_the_parameters(tmp_path: Path) -> None:
    settings = os.environ | {"DRIFTBANDIT_CACHE": str(tmp_path)}
    command = [*COMMAND, "--policy", "sw-ucb:window=100", "--environment", "abrupt"]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    *lines, last = done.stdout.splitlines()
    assert [line.split(" s  ")[1] for line in lines] == [
        "sw-ucb:window=100, live",
        f"sw-ucb:window=100, {db.Abrupt()}",
    ]
    assert last == f"kept in {tmp_path}"
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")}
    assert before
    subprocess.run([sys.executable, "-c", SERVICE], env=settings, check=True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")} == before


def test_without_a_folder_there_is_nothing_to_fill() -> None:
    settings = os.environ | {"DRIFTBANDIT_CACHE": ""}
    done = subprocess.run([*COMMAND, "--policy", "ts"], env=settings, capture_output=True, text=True)
    assert done.returncode == 2
    assert (
        done.stderr == "driftbandit: DRIFTBANDIT_CACHE must name a folder that can be written, for kernels to be kept\n"
    )


def test_logs_find_their_kernels_compiled(tmp_path: Path) -> None:
    program = """
import sys
from numba.core import event
import driftbandit as db
from driftbandit import warming
if sys.argv[1] == "warm":
    print(*(what for what, _ in warming.warm([db.UCB1()], [], logs=True)), sep="|")
else:
    with event.install_recorder("numba:compile") as compiled:
        list(warming._of_logs([db.UCB1()]))
    print(len(compiled.buffer))
"""
    for what, said in (("warm", "ucb1, live|logs: lines and arms|logs: ucb1"), ("again", "0")):
        environment = os.environ | {"DRIFTBANDIT_CACHE": str(tmp_path)}
        answer = subprocess.run(
            [sys.executable, "-c", program, what], env=environment, capture_output=True, text=True, timeout=300
        )
        assert answer.stdout.strip() == said, answer.stderr
