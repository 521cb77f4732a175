"""Shells complete commands, options, and the names and parameters of policies and environments."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import driftbandit as db
from driftbandit.cli.completing import environment_offers, policy_offers

COMMAND = [sys.executable, "-m", "driftbandit"]
OURS = [name for name, kind in db.Policy.known.items() if kind.__module__.startswith("driftbandit.")]


def asked(shell: str, line: str) -> str:
    words = line.split(" ")
    told = {"_DRIFTBANDIT_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        told |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    else:
        told |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=60, env=os.environ | told)
    assert done.stderr == ""
    return done.stdout


def test_names_and_then_parameters_are_offered() -> None:
    assert {name for name, _ in policy_offers("")} >= set(OURS)
    assert [name for name, _ in policy_offers("sw-")] == ["sw-kl-ucb", "sw-ts", "sw-ucb"]
    assert policy_offers("sw-ts")[0][1] == db.SlidingWindowThompsonSampling.summary()
    assert [name for name, _ in policy_offers("dts:")] == [
        "dts:discount=", "dts:prior_successes=", "dts:prior_failures=", "dts:discounted_arms=",
    ]  # fmt: skip
    assert policy_offers("dts:discount=0.9,dis") == [("dts:discount=0.9,discounted_arms=", "all or played")]
    assert policy_offers("dts:discount=0.9") == []
    assert policy_offers("nonsense:") == policy_offers("mine.py:M") == []
    [(name, takes)] = environment_offers("abrupt:n_a")
    assert (name, takes[:26]) == ("abrupt:n_arms=", "a whole number from 2 to 1")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script_and_its_answers(shell: str, tmp_path: Path) -> None:
    settings = os.environ | {"_DRIFTBANDIT_COMPLETE": f"source_{shell}"}
    script = subprocess.run(COMMAND, capture_output=True, text=True, timeout=60, env=settings, check=True).stdout
    assert "_DRIFTBANDIT_COMPLETE" in script
    assert "sw-kl-ucb" in asked(shell, "driftbandit simulate fast -p sw-")


def test_commands_options_and_arguments_complete() -> None:
    offers = {"doc": "doctor", "replay fl": "flights", "evaluate log.jsonl --current kl": "kl-ucb"}
    for line, offered in offers.items():
        assert offered in asked("bash", f"driftbandit {line}")


def test_installing_writes_where_the_shell_looks(tmp_path: Path) -> None:
    settings = os.environ | {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    for shell, name in (("bash", ".bash_completions/driftbandit.sh"), ("zsh", ".zfunc/_driftbandit"),
                        ("fish", ".config/fish/completions/driftbandit.fish")):  # fmt: skip
        done = subprocess.run([*COMMAND, "--install-completion", shell], capture_output=True, text=True, timeout=60,
                              env=settings)  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "_DRIFTBANDIT_COMPLETE" in (tmp_path / name).read_text()
    shown = subprocess.run([*COMMAND, "--show-completion", "zsh"], capture_output=True, text=True, timeout=60,
                           env=settings)  # fmt: skip
    assert shown.stdout.strip() == (tmp_path / ".zfunc" / "_driftbandit").read_text().strip()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_itself_completes(tmp_path: Path) -> None:
    tool = tmp_path / "driftbandit"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m driftbandit "$@"\n')
    tool.chmod(0o755)
    program = f"""
PATH={tmp_path}:$PATH
eval "$(_DRIFTBANDIT_COMPLETE=source_bash driftbandit)"
COMP_WORDS=(driftbandit simulate fast --policy drift)
COMP_CWORD=4
_driftbandit_completion driftbandit
echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "--norc", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("drift-filter\n", "")
