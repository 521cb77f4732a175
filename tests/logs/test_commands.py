"""`evaluate` and `tune` on the command line: what they print, and what they say of bad input."""

import gzip
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.logs.makers import lived
from tests.test_cli import run

import driftbandit as db


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "log.jsonl"
    lived(path, 300)
    return path


def test_evaluate_prints_one_json_object_of_the_promised_shape(path: Path) -> None:
    answer = run("evaluate", str(path), "--missing", "0", "-p", "ts", "--arm", "red", "--arm", "7", "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    log = db.Log.read(path, missing=0.0)
    assert set(found) == {"decisions", "mean_reward", "ci95", "values", "warnings"}
    assert found["decisions"] == 300
    assert found["mean_reward"] == log.mean_reward.mean
    values = [log.value("red"), log.value(7), log.value(db.ThompsonSampling())]
    assert [(row["mean"], row["low"], row["high"], row["kind"], row["effective_size"]) for row in found["values"]] == [
        (value.mean, value.low, value.high, value.kind, value.effective_size) for value in values
    ]
    assert [row.get("arm", row.get("policy")) for row in found["values"]] == ["red", "7", "ts"]


def test_evaluate_says_all_arms_windows_and_other_intervals(path: Path, tmp_path: Path) -> None:
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    options = ["--missing", "0", "--anytime", "--window", "100", "--json"]
    found = json.loads(run("evaluate", str(packed), *options).stdout)
    log = db.Log.read(path, missing=0.0)
    assert len(found["values"]) == len(log.arms)
    assert len(found["warnings"]) > 6
    assert found["values"][0]["low"] == log.value("red", anytime=True).low
    rows = found["values"][0]["over_time"]
    assert [(row["begin"], row["kind"]) for row in rows] == [(1.0, "arm"), (101.0, "arm"), (201.0, "arm")]
    assert rows[-1]["so_far"] == pytest.approx(found["values"][0]["mean"])
    wide = run("evaluate", str(packed), *options[:-1], "--arm", "red", columns=160).stdout
    printed = [line.split("│") for line in wide.splitlines() if "red" in line][1:]
    assert [[cell.strip() for cell in line[1:6]] for line in printed] == [
        ["red", "arm", f"{row['begin']:.0f}", f"{row['end']:.0f}", f"{row['mean']:.4f}"] for row in rows
    ]
    fine = run("evaluate", str(packed), "--missing", "0", "--window", "1", "--arm", "red").stdout
    assert "the first 50 of 300 windows; --json lists all" in fine
    table = run("evaluate", str(path), "--missing", "0", columns=140).stdout
    assert "300 decisions of dts:discount=0.97, which earned" in table
    assert all(str(arm) in table for arm in log.arms[:4])
    assert "could be" in table
    said = run("evaluate", str(path), "--missing", "0").stderr.splitlines()
    assert said[:5] == [f"driftbandit: warning: {warning}" for warning in found["warnings"][:5]]
    assert said[-1].endswith("more, which --json lists")


@pytest.mark.parametrize("options", [[], ["--live"]])
def test_windows_of_a_policy_are_its_one_step_values_with_the_same_seed(options: list[str], path: Path) -> None:
    given = ["--missing", "0", "-p", "ts", "--seed", "5", "--window", "100", "--json", *options]
    row = json.loads(run("evaluate", str(path), *given).stdout)["values"][-1]
    assert row["kind"] == ("live" if options else "one-step")
    assert {window["kind"] for window in row["over_time"]} == {"one-step"}
    value = db.Log.read(path, missing=0.0).value(db.ThompsonSampling(), seed=5)
    assert row["over_time"][-1]["so_far"] == pytest.approx(value.mean, rel=1e-12)
    assert options or row["mean"] == value.mean


def test_evaluate_values_policies_in_the_place_of_the_logged_one(path: Path) -> None:
    found = json.loads(run("evaluate", str(path), "--missing", "0", "-p", "ucb1", "--live", "--json").stdout)
    assert [row["kind"] for row in found["values"]][-1] == "live"
    assert found["values"][-1]["snips"] is None
    value = db.Log.read(path, missing=0.0).value(db.UCB1(), live=True)
    assert found["values"][-1]["mean"] == value.mean


def test_evaluate_says_what_a_one_step_value_is_and_what_says_more(path: Path) -> None:
    asked = ["evaluate", str(path), "--missing", "0", "-p", "ucb1"]
    said = "one-step: what a policy would earn if it decided alone at each moment"
    assert [line.startswith(said) and "--live says" in line for line in run(*asked).stdout.splitlines()][-1]
    assert said not in run(*asked, "--live").stdout
    assert said not in run(*asked[:-2]).stdout


def test_an_arm_in_the_place_of_a_policy_gets_a_hint(path: Path) -> None:
    answer = run("evaluate", str(path), "--missing", "0", "-p", "red")
    assert answer.returncode == 2
    assert answer.stderr.endswith("got 'red'; it is an arm: --arm red values it\n")
    assert "--arm" not in run("evaluate", str(path), "--missing", "0", "-p", "rot").stderr


def test_tune_prints_one_json_object_of_the_promised_shape(path: Path) -> None:
    options = ["--missing", "0", "-p", "dts:discount=0.9", "-p", "ucb1", "--seed", "3"]
    answer = run("tune", str(path), *options, "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    expected = db.Log.read(path, missing=0.0).tune([db.DiscountedThompsonSampling(discount=0.9), db.UCB1()], seed=3)
    keys = {"best", "sure", "current", "candidates", "longest_half_life", "decisions", "warnings"}
    assert set(found) == keys
    assert (found["best"], found["sure"], found["current"]) == (str(expected.best), expected.sure, "dts:discount=0.97")
    assert found["longest_half_life"] == 75.0
    assert found["candidates"] == [
        {"policy": str(row.policy), "gain": row.gain, "low": row.low, "high": row.high, "beyond": row.beyond}
        for row in expected.candidates
    ]
    assert [row["beyond"] for row in found["candidates"] if row["policy"] == "ucb1"] == [True]
    told = run("tune", str(path), *options, columns=120).stdout
    assert expected.advice in " ".join(told.split())
    assert "ucb1 * " in told
    assert "the log can judge half-lives of up to 75 steps; * remembers longer" in told


@pytest.mark.parametrize("command", ["evaluate", "tune"])
def test_a_picture_is_drawn_where_it_is_asked_for(command: str, path: Path, tmp_path: Path) -> None:
    plot = tmp_path / "picture.svg"
    answer = run(command, str(path), "--missing", "0", "-p", "ucb1", "--plot", str(plot))
    assert answer.returncode == 0, answer.stderr
    assert ElementTree.parse(plot).getroot().tag.endswith("svg")
    wrong = run(command, str(path), "--plot", str(tmp_path / "picture.txt"))
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "plot must end in .svg, .png or .pdf" in wrong.stderr


def test_letters_that_a_picture_cannot_show_are_named_in_one_line(tmp_path: Path) -> None:
    bandit = db.Bandit(["röd", "青い"], db.UniformRandom(), seed=1, log=tmp_path / "log.jsonl")
    for step in range(300):
        bandit.reward(bandit.select(), float(step % 2))
    answer = run("evaluate", "log.jsonl", "--plot", "picture.png", cwd=tmp_path)
    assert (answer.returncode, (tmp_path / "picture.png").exists()) == (0, True)
    assert "青い" in answer.stdout
    assert answer.stderr == "driftbandit: warning: the font of the picture has no letters 青 い\n"


WRONG = {
    "nothing there": (["evaluate", "nope.jsonl"], "log must be a readable file, got 'nope.jsonl' (No such file"),
    "a folder": (["tune", "."], "log must be a file, got '.' (a folder)"),
    "no rewards": (["evaluate", "BARE"], "missing must be given where more than 1% of decisions have no reward"),
    "unknown arm": (["evaluate", "LOG", "--missing", "0", "--arm", "x"], "arm must be one of red, gréen"),
    "unknown policy": (["evaluate", "LOG", "--missing", "0", "-p", "x"], "policy must be one of those that"),
    "no number": (["evaluate", "LOG", "--missing", "x"], "Invalid value for '--missing'"),
    "missing 3": (["tune", "LOG", "--missing", "3"], "missing must be in [0, 1], got 3.0"),
    "same policy": (["tune", "LOG", "--missing", "0", "-p", "dts:discount=0.97"], "candidates must be a policy other"),
    "window 0": (
        ["evaluate", "LOG", "--missing", "0", "--window", "0", "--json"],
        "window must be in (0, inf), got 0.0",
    ),
    "current for nothing": (
        ["evaluate", "LOG", "--missing", "0", "-p", "ts", "--current", "ts"],
        "current must be given with --live and a --policy only, got 'ts'",
    ),
    "another current": (
        ["evaluate", "LOG", "--missing", "0", "-p", "ts", "--live", "--current", "ts"],
        "current must be dts:discount=0.97, which made the log as it says, or not given, got 'ts'",
    ),
    "no file": (["evaluate"], "Missing argument"),
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input_is_one_line_and_status_2(what: str, path: Path, tmp_path: Path) -> None:
    arguments, said = WRONG[what]
    bare = tmp_path / "bare.jsonl"
    bare.write_text("".join(line for line in path.read_text().splitlines(True) if '"reward"' not in line))
    paths = {"LOG": str(path), "BARE": str(bare)}
    answer = run(*(paths.get(each, each) for each in arguments), cwd=tmp_path)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert answer.stderr.startswith("driftbandit: ")
