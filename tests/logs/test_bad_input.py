"""Bad input of `evaluate`, `tune` and `replay`, a row each: refused in one line, or answered with a warning."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.logs.test_bad_logs import Lines, changed, good, inserted, written
from tests.test_cli import run

STEPS = 300
LINES = 1 + 2 * STEPS


def certain(lines: Lines) -> None:
    for line in lines[1::2]:
        line["probability"] = 1.0


def unrewarded(lines: Lines) -> None:
    del lines[2 :: 2 * 20]


def orphaned(lines: Lines) -> None:
    del lines[1 :: 2 * 20]


def backwards(lines: Lines) -> None:
    """Rewards that stand before their decisions."""
    for place in range(1, len(lines) - 1, 2 * 20):
        lines[place : place + 2] = reversed(lines[place : place + 2])


REFUSED: dict[str, tuple[Callable[[Lines], object], str]] = {
    "an empty file": (lambda lines: lines.clear(), "log must have decisions, got none in log.jsonl"),
    "a start and nothing else": (lambda lines: lines.__delitem__(slice(1, None)), "got none in log.jsonl"),
    "no known event": (inserted(17, event="coffee"), "log.jsonl, line 17 must be an event such as start, decision"),
    "no probability": (changed(10, probability="absent"), "log.jsonl, line 10: probability must be given"),
    "probability 0": (changed(10, probability=0.0), "log.jsonl, line 10: probability must be in (0, 1], got 0.0"),
    "probability -1": (changed(10, probability=-1), "line 10: probability must be in (0, 1], got -1"),
    "probability 2": (changed(10, probability=2), "line 10: probability must be in (0, 1], got 2"),
    "probability NaN": (changed(10, probability=math.nan), "line 10: probability must be in (0, 1], got nan"),
    "probability text": (changed(10, probability="0.5"), "line 10: probability must be in (0, 1], got '0.5'"),
    "certain choices": (certain, f"all {STEPS} probabilities are 1; log with minimum_probability"),
    "reward 2": (changed(11, reward=2.0), "log.jsonl, line 11: reward must be in [0, 1], got 2.0"),
    "two rewards": (
        inserted(12, event="reward", id=5, reward=1.0, status="accepted"),
        "log.jsonl, line 12: id must be a decision that waits for its reward (it had one), got 5",
    ),
    "rewards without decisions": (orphaned, "line 2: a reward must come after its decision, got 15 of"),
    "rewards before decisions": (backwards, "line 2: a reward must come after its decision, got 15 of"),
    "time goes back": (
        changed(10, time=2), "line 10: time must be at least 4.0 in this replica (two logs of one replica?), got 2",
    ),
    "an id twice": (changed(10, id=4), "line 10: id must be a new one (two logs of one replica?), got 4"),
    "no rewards": (unrewarded, "missing must be given where more than 1% of decisions have no reward, got 15 of"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_bad_log_is_refused_in_one_line(what: str, tmp_path: Path) -> None:
    change, said = REFUSED[what]
    lines = good(STEPS)
    change(lines)
    written(tmp_path / "log.jsonl", lines)
    refused(["evaluate", "log.jsonl"], said, tmp_path)


FILES: dict[str, tuple[list[str], str]] = {
    "no file": (["evaluate", "nope.jsonl"], "log must be a readable file, got 'nope.jsonl' (No such file"),
    "a folder": (["evaluate", "."], "log must be a file, got '.' (a folder)"),
    "not UTF-8": (["evaluate", "latin.jsonl"], "latin.jsonl, line 1 must be an event of a bandit's log, got '{"),
    "no JSON": (["tune", "text.jsonl"], "text.jsonl, line 17 must be an event of a bandit's log, got 'hello'"),
    "an unknown arm": (["evaluate", "good.jsonl", "--arm", "z"], "arm must be one of a, b, got 'z'"),
    "an unknown policy": (["evaluate", "good.jsonl", "-p", "zz"], "policy must be one of those that"),
    "tune, and no start": (["tune", "bare.jsonl"], "current must be given: the policy that made the log"),
    "live, and no start": (["evaluate", "bare.jsonl", "-p", "ts", "--live"], "current must be given: the policy that"),
    "a ragged table": (["replay", "ragged.csv"], "means must have 2 columns in every row, got 3 in line 3"),
    "one arm": (["replay", "narrow.csv"], "means must be a table with a row a step, at least two columns (arms)"),
    "a share of 2": (["replay", "large.csv"], "means must be in [0, 1], got '2' in line 3, column 2"),
    "no number": (["replay", "words.csv"], "means must be in [0, 1], got 'x' in line 3, column 2"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad input")
    lines = good(STEPS)
    written(folder / "good.jsonl", lines)
    written(folder / "bare.jsonl", lines[1:])
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "latin.jsonl").write_bytes(text.replace('"a"', '"\xe9"').encode("latin-1"))
    (folder / "text.jsonl").write_text("\n".join([*text.splitlines()[:16], "hello", *text.splitlines()[16:]]) + "\n")
    tables = {"ragged": ".1,.2\n.1,.2,.3\n", "narrow": ".1\n.2\n", "large": ".1,.2\n.1,2\n", "words": ".1,.2\n.1,x\n"}
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_text(("a\n" if name == "narrow" else "a,b\n") + rows)
    return folder


@pytest.mark.parametrize("what", FILES)
def test_a_bad_file_is_refused_in_one_line(what: str, folder: Path) -> None:
    arguments, said = FILES[what]
    refused(arguments, said, folder)


def refused(arguments: list[str], said: str, folder: Path) -> None:
    answer = run(*arguments, cwd=folder)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert answer.stderr.startswith("driftbandit: ")


def heavy(lines: Lines) -> None:
    """One decision that was chosen with hardly any probability."""
    lines[9]["probability"] = 0.02


def misstated(lines: Lines) -> None:
    for line in lines[1::2]:
        line["probability"] = 0.4


WARNED: dict[str, tuple[Callable[[Lines], object], str]] = {
    "weights that are not 1 on average": (misstated, "the mean weight is 1.250"),
    "few that tell": (lambda lines: lines.__delitem__(slice(91, None)), "the log tells as much of it as 22 decisions"),
    "few decisions": (lambda lines: lines.__delitem__(slice(201, None)), "100 decisions are few"),
    "one large weight": (heavy, "one decision has 14% of all weight"),
    "no start": (lambda lines: lines.__delitem__(0), "the log has no start: its arms are those that were chosen"),
    "a torn end": (lambda lines: lines.append({"event": "dec"}), f"what stands from line {LINES + 1} on is cut off"),
    "a reward without its decision": (
        lambda lines: lines.__delitem__(9), "1 rewards are of decisions that are not in the log, and do not count",
    ),
    "a decision without its reward": (lambda lines: lines.__delitem__(10), "1 decisions have no reward"),
}  # fmt: skip


@pytest.mark.parametrize("what", WARNED)
def test_an_odd_log_is_answered_with_a_warning(what: str, tmp_path: Path) -> None:
    change, said = WARNED[what]
    lines = good(STEPS)
    change(lines)
    path = written(tmp_path / "log.jsonl", lines)
    if what == "a torn end":
        path.write_text(path.read_text()[:-3])
    answer = run("evaluate", str(path), "--json")
    assert answer.returncode == 0, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout)
    assert said in " ".join(found["warnings"])
    assert said in answer.stderr


def test_repeated_shares_are_warned_of_and_dates_are_the_names_of_steps(tmp_path: Path) -> None:
    (tmp_path / "days.csv").write_text("day,a,b\n2012-01-01,.1,.9\n2012-01-02,.5,.5\n2012-01-03,.2,.4\n")
    answer = run("replay", "days.csv", "-p", "ts", "--repeat", "2", "--runs", "2", "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["best_arm"]["arm"] == "b"
    assert "rows of shares are repeated" in " ".join(json.loads(answer.stdout)["warnings"])
    assert "driftbandit: warning: rows of shares are repeated" in answer.stderr
