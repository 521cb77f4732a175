"""The command line, as a person or a script meets it: in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import driftbandit as db
from driftbandit.cli import main
from driftbandit.policies.policy import FAMILIES

COMMAND = [sys.executable, "-c", "from driftbandit.cli import main; main()"]


def run(*arguments, columns=None, **options):
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment |= {"COLUMNS": str(columns)} if columns else {}
    command = [*COMMAND, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, **options)


def test_simulate_prints_one_json_object_of_the_promised_shape():
    answer = run("simulate", "fast", "--policy", "dts:discount=0.4", "--policy", "sw-ucb:window=24",
                 "--horizon", "200", "--runs", "50", "--seed", "1", "--json")  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert {name: found[name] for name in ("environment", "horizon", "runs", "seed")} == {
        "environment": "fast", "horizon": 200, "runs": 50, "seed": 1,
    }  # fmt: skip
    first, second = found["policies"]
    assert list(first) == [
        "policy", "parameters", "normalized_regret", "ci95", "static_regret", "mean_reward",
        "static_regret_ci95", "mean_reward_ci95",
    ]  # fmt: skip
    assert first["policy"] == "dts"
    assert first["parameters"] == {
        "discount": 0.4, "prior_successes": 1.0, "prior_failures": 1.0, "discounted_arms": "all",
    }  # fmt: skip
    assert second["parameters"] == {"window": 24, "confidence": 0.5, "bound": 1.0}
    expected = db.simulate(
        [db.DiscountedThompsonSampling(discount=0.4), db.SlidingWindowUCB(window=24)],
        db.Fast(),
        horizon=200,
        runs=50,
        seed=1,
    )
    assert [row["normalized_regret"] for row in found["policies"]] == [
        value.mean for value in expected.normalized_regret.values()
    ]
    assert [row["ci95"] for row in found["policies"]] == [value.ci95 for value in expected.normalized_regret.values()]
    for measure in ("static_regret", "mean_reward"):
        estimates = getattr(expected, measure).values()
        assert [row[f"{measure}_ci95"] for row in found["policies"]] == [value.ci95 for value in estimates]


def test_simulate_shows_a_table_and_writes_what_it_is_asked_to(tmp_path):
    answer = run("simulate", "sinusoidal:period=333,n_arms=7", "--policy", "dots:discount=0.9,prior_successes=0.5",
                 "--horizon", "50", "--runs", "8", "--save", "r.nc", "--plot", "r.svg", cwd=tmp_path)  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert "dots:discount=0.9,prior_successes=0.5" in answer.stdout
    assert "±" in answer.stdout
    assert db.Result.load(tmp_path / "r.nc").runs == 8
    assert "<svg" in (tmp_path / "r.svg").read_text()


def test_one_run_has_no_interval_and_its_json_is_still_valid():
    answer = run("simulate", "abrupt:n_arms=6", "-p", "ts", "--horizon", "10", "--runs", "1", "--json")
    found = json.loads(answer.stdout)["policies"][0]
    assert found["ci95"] is found["static_regret_ci95"] is found["mean_reward_ci95"] is None


def test_means_come_from_a_csv_file(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("red,green\n0.1,0.9\n0.2,0.8\n")
    answer = run("simulate", str(path), "-p", "ts", "--horizon", "20", "--runs", "4", "--json")
    assert answer.returncode == 0, answer.stderr
    assert "2 arms" in json.loads(answer.stdout)["environment"]


def test_replay_prints_what_simulate_prints_and_blocks_and_yardsticks():
    options = ["-p", "ts", "-p", "d-ucb:discount=0.9", "--runs", "20", "--seed", "1", "--json"]
    answer = run("replay", "weather", *options)
    assert answer.returncode == 0, answer.stderr
    found, simulated = json.loads(answer.stdout), json.loads(run("simulate", "weather", *options).stdout)
    blocks = [row.pop("block_ci95") for row in found["policies"]]
    assert {name: found[name] for name in simulated} == simulated
    assert set(found) - set(simulated) == {
        "repeat", "delay", "blocks", "uniform", "best_arm", "rolling_oracle", "differences", "warnings",
    }  # fmt: skip
    expected = db.replay(
        db.datasets.weather(), [db.ThompsonSampling(), db.DiscountedUCB(discount=0.9)], runs=20, seed=1
    )
    assert blocks == [expected.by_block[label].ci95 for label in expected.policies]
    best = expected.by_block["best single arm"]
    assert found["best_arm"] == {"arm": "New York", "mean_reward": best.mean, "block_ci95": best.ci95}
    assert found["rolling_oracle"]["window"] == 73
    assert found["differences"][0] == {
        "policy": "d-ucb:discount=0.9", "other": "ts",
        "mean_reward": expected.difference("d-ucb:discount=0.9", "ts").mean,
        "ci95": expected.difference("d-ucb:discount=0.9", "ts").ci95,
        "block_ci95": expected.difference_by_block("d-ucb:discount=0.9", "ts").ci95,
    }  # fmt: skip
    assert len(found["differences"]) == 3
    assert found["warnings"] == []


def test_replay_plays_usual_policies_draws_and_warns(tmp_path):
    path = tmp_path / "shares.csv"
    path.write_text("day,red,green\n" + "".join(f"d{t},0.2,0.{t % 9}\n" for t in range(1, 41)))
    answer = run("replay", str(path), "--repeat", "3", "--delay", "2", "--runs", "3", "--split", "0.5",
                 "--plot", str(tmp_path / "r.svg"))  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert len(answer.stderr.splitlines()) == 1
    assert answer.stderr.startswith("driftbandit: warning: rows of shares are repeated")
    for words in ("ts", "dts:discount=0.89", "drift-filter", "confidence=0.02", "rolling oracle", "chosen before"):
        assert words in answer.stdout
    assert "<svg" in (tmp_path / "r.svg").read_text()
    told = json.loads(run("replay", str(path), "-p", "ts", "--repeat", "3", "--runs", "1", "--json").stdout)
    assert len(told["warnings"]) == 1
    assert told["policies"][0]["mean_reward_ci95"] is None


def test_names_of_arms_are_no_markup(tmp_path):
    path = tmp_path / "[b]table.csv"
    path.write_text('"[/]","two\nlines"\n0.9,0.1\n0.8,0.2\n')
    answer = run("replay", str(path), "-p", "ts", "--runs", "2", columns=200)
    assert answer.returncode == 0, answer.stderr
    assert "best single arm, [/]" in answer.stdout
    assert "[b]table.csv" in answer.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "means must have at least one row"),
        (b"\xff\xfe\x00", "means must be a readable CSV file, got 'table.csv' (not UTF-8 text)"),
        (b"a,b\n0.1,0.2\n0.3\n", "means must have 2 columns in every row, got 1 in line 3 of 'table.csv'"),
        (b"day,a\nMon,0.1\n", "means must be a table with a row a step, at least two columns (arms)"),
        (b"a,b\n0.1,1.2\n", "means must be in [0, 1], got '1.2' in line 2, column 2 of 'table.csv'"),
        (b"a,b\n0.1,x\n", "means must be in [0, 1], got 'x' in line 2, column 2 of 'table.csv'"),
        (b"a,b\n0.1,nan\n", "means must be in [0, 1], got 'nan' in line 2, column 2 of 'table.csv'"),
        (b"day,a,b\nMon,0.1,0.2\nTue,0.1,\n", "means must be in [0, 1], got '' in line 3, column 3 of 'table.csv'"),
        (b"0.1;0.9\n", "means must be a CSV file, got '0.1;0.9' in the first line of 'table.csv'"),
        (None, "means must be a CSV file, got 'table.csv' (a folder)"),
    ],
)
@pytest.mark.parametrize("command", [["replay"], ["simulate", "-p", "ts"], ["arena", "--table"]], ids=lambda c: c[0])
def test_a_wrong_table_is_one_line_and_status_2(command, content, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("table.csv").mkdir() if content is None else Path("table.csv").write_bytes(content)
    monkeypatch.setattr(sys, "argv", ["driftbandit", *command, "table.csv"])
    with pytest.raises(SystemExit) as end:
        main()
    err = capsys.readouterr().err
    assert end.value.code == 2
    assert err.startswith(f"driftbandit: {message}")
    assert len(err.splitlines()) == 1


def test_probability_is_exact_and_prints_json():
    answer = run("probability", "30.5,20.3", "28.2,25.9", "--json")
    found = json.loads(answer.stdout)["probabilities"]
    assert found[1] == pytest.approx(0.2048360, abs=1e-7)
    assert sum(found) == pytest.approx(1, abs=1e-14)
    assert "Beta(30.5, 20.3)" in run("probability", "30.5,20.3", "28.2,25.9", "--optimistic").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "fast", "-p", "dts:discount=1.2"], "discount must be in (0, 1], got 1.2"),
        (["simulate", "fast", "-p", "dts:discount=nan"], "discount must be in (0, 1], got nan"),
        (["simulate", "fast", "-p", "dts"], "dts needs discount"),
        (["simulate", "fast", "-p", "nonsense"], "policy must be one of"),
        (["simulate", "nowhere", "-p", "ts"], "environment must be one of"),
        (["simulate", "fast:n_arms=1", "-p", "ts"], "n_arms must be a whole number"),
        (["simulate", "fast", "-p", "ts", "-p", "ts"], "policies must all be different"),
        (["simulate", "fast"], "policy must be given at least once"),
        (["simulate", "fast", "-p", "ts", "--horizon", "0"], "horizon must be a whole number"),
        (["simulate", "fast", "-p", "ts", "--runs", "-1"], "runs must be a whole number"),
        (["simulate", "fast", "-p", "ts", "--runs", "many"], "--runs"),
        (["simulate", "fast", "-p", "ts", "--seed", "-1"], "seed must be a whole number"),
        (["simulate", "fast", "-p", "ts", "--threads", "0"], "threads must be a whole number"),
        (["simulate", "fast", "-p", "ts", "--device", "abacus"], 'device must be "cpu" or "cuda"'),
        (["simulate", "fast", "-p", "ts", "--precision", "float32"], "precision must be"),
        (["simulate", "fast", "-p", "ts", "--plot", "x.txt"], "plot must end in"),
        (["simulate", "fast", "-p", "ts", "--save", "/no/such/folder/x.nc"], "save must be in a folder that exists"),
        (["simulate", "missing.csv", "-p", "ts"], "means must be a readable CSV file"),
        (["simulate"], "environment"),
        (["probability", "0,1", "1,1"], "a posterior must be two finite numbers above 0, as in 30.5,20.3, got '0,1'"),
        (["probability", "one,two"], "a posterior must be written as 30.5,20.3"),
        (["probability", "1,2,3"], "a posterior must be written as 30.5,20.3"),
        (["probability", "-1,2", "3,4"], "above 0, as in 30.5,20.3, got '-1,2'"),
        (["probability", "--nonsense"], "a posterior must be written as 30.5,20.3, got '--nonsense'"),
        (["simulate", "fast", "-p", "ts", "--horizon", "1.5"], "--horizon"),
        (["simulate", "fast", "-p", "ts", "--horizon", "nan"], "--horizon"),
        (["simulate", "fast", "-p", "ts", "--runs", "1e400"], "--runs"),
        (["simulate", "fast", "-p", "ts", "--runs", "1e10"], "runs must be so few that the result fits into memory"),
        (["replay", "missing.csv"], "means must be a readable CSV file, got 'missing.csv' (No such file or directory)"),
        (["replay", "."], "environment must be one of those"),
        (["replay", "fast"], "table must be an array, the path of a CSV file, or an environment with a table"),
        (["replay", "weather", "-p", "nonsense"], "policy must be one of"),
        (["replay", "weather", "--repeat", "0"], "repeat must be a whole number of at least 1, got 0"),
        (["replay", "weather", "--delay", "-1"], "delay must be a whole number of at least 0, got -1"),
        (["replay", "weather", "--split", "1.5"], "split must be in (0, 1), got 1.5"),
        (["replay", "weather", "--split", "half"], "--split"),
        (["replay", "weather", "--blocks", "1"], "blocks must be a whole number of at least 2, got 1"),
        (["replay", "weather", "--plot", "x.txt"], "plot must end in"),
        (["simulate", "fast", "-p", "drift-filtre"], "got 'drift-filtre' (did you mean drift-filter?)"),
        (["replay", "weather:by=day"], "weather has the parameters"),
        (["reproduce", "--only", "nothing"], "nothing"),
        (["reproduce", "--profile", "nothing"], "profile must be"),
        (["nonsense"], "nonsense"),
        (["simulate", "fast", "-p", "ts", "--nonsense"], "--nonsense"),
    ],
)
def test_a_wrong_value_is_one_line_and_status_2(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["driftbandit", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert end.value.code == 2
    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    assert err.startswith("driftbandit: ")
    assert message in err


@pytest.mark.parametrize("option", ["--save", "--plot"])
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_file_that_cannot_be_written_is_noticed_before_anything_is_played(
    option, kind, tmp_path, monkeypatch, capsys
):
    path = tmp_path / "it.svg"
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    monkeypatch.setattr("driftbandit.engine.simulate", lambda *_, **__: pytest.fail("something is played"))
    monkeypatch.setattr(sys, "argv", ["driftbandit", "simulate", "fast", "-p", "ts", option, str(path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert f"{option[2:]} must be a file, got " in capsys.readouterr().err


def test_ctrl_c_stops_long_work_at_once_and_says_so_in_one_line():
    long = ["simulate", "slow", "-p", "ts", "--horizon", "1000000", "--runs", "100000", "--threads", "1"]
    process = subprocess.Popen([*COMMAND, *long], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(8)  # starting up and compiling take their time; the work itself would take an hour
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert len(err.strip().splitlines()) == 1, err
    assert err.startswith("driftbandit: interrupted")


def test_output_that_nobody_reads_is_not_an_error():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        answer = subprocess.run([*COMMAND, "policies"], stdout=closed, stderr=subprocess.PIPE, text=True, timeout=60)
    assert "Traceback" not in answer.stderr


def test_policies_and_environments_are_listed():
    for command, kind in (("policies", db.Policy), ("environments", db.Environment)):
        ours = [name for name, known in kind.known.items() if known.__module__.startswith("driftbandit.")]
        assert len(ours) > 5
        listed = run(command).stdout
        assert all(name in listed for name in ours)


def test_policies_are_listed_by_family_with_what_they_must_be_told():
    listed = json.loads(run("policies", "--json").stdout)["policies"]
    by_name = {row["name"]: row for row in listed}
    assert by_name["sw-ucb"] == {
        "name": "sw-ucb",
        "class": "SlidingWindowUCB",
        "family": "Upper bounds and other indices",
        "summary": "Sliding-window UCB (SW-UCB): counts and means over the last τ steps",
        "needs": ["window"],
        "defaults": {"confidence": 0.5, "bound": 1.0},
        "tuned_by": ["horizon", "change_points"],
    }
    text = run("policies").stdout
    for row in listed:
        known = db.Policy.known[row["name"]]
        assert getattr(db, row["class"]) is known
        assert row["family"] in FAMILIES
        assert 10 < len(row["summary"]) < 160
        assert text.index(row["family"]) < text.index(f"│ {row['name']} ")


def test_environments_are_listed_as_json_too():
    listed = json.loads(run("environments", "--json").stdout)["environments"]
    assert {row["name"] for row in listed} == {
        name for name, cls in db.Environment.known.items() if cls.__module__.startswith("driftbandit.")
    }


def test_version_is_printed():
    assert run("--version").stdout.strip() == db.__version__


def test_help_names_every_command():
    text = run("--help").stdout
    assert all(name in text for name in ("simulate", "replay", "probability", "reproduce", "policies"))
    assert Path(sys.executable).exists()


def test_a_game_on_a_csv_is_as_long_as_the_file(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("red,green\n" + "0.2,0.8\n" * 7)
    answer = run("simulate", str(path), "--policy", "ts", "--runs", "5", "--json")
    assert json.loads(answer.stdout)["horizon"] == 7


def test_no_command_shows_the_help_and_is_no_error():
    answer = run()
    assert "simulate" in answer.stdout
    assert answer.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_cannot_be_written_gives_one_line():
    with open("/dev/full", "w") as full:
        answer = subprocess.run([*COMMAND, "policies"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert answer.returncode == 1
    assert "Traceback" not in answer.stderr


def test_whole_numbers_may_be_written_as_1e2():
    answer = run("simulate", "fast", "-p", "ts", "--horizon", "1e2", "--runs", "5e0", "--seed", "1e1", "--json")
    found = json.loads(answer.stdout)
    assert (found["horizon"], found["runs"], found["seed"]) == (100, 5, 10)


def test_a_seed_of_64_bits_is_kept_to_the_last():
    answer = run(
        "simulate", "fast", "-p", "uniform", "--horizon", "2", "--runs", "2", "--seed", str(2**64 - 1), "--json"
    )
    assert json.loads(answer.stdout)["seed"] == 2**64 - 1


def test_a_pipe_is_as_wide_as_it_is_said_to_be():
    for columns in (50, 200):
        listed = run("policies", columns=columns).stdout
        assert max(map(len, listed.splitlines())) <= columns
    assert max(map(len, run("policies").stdout.splitlines())) > 100


@pytest.mark.parametrize("command", ["simulate", "environments"])
def test_help_shows_how_tables_of_numbers_are_written(command):
    text = " ".join(run(command, "--help", columns=200).stdout.replace("│", " ").split())
    assert "piecewise:levels=0.1 0.9; 0.9 0.1,change_points=500" in text
    db.Environment.parse("piecewise:levels=0.1 0.9; 0.9 0.1,change_points=500")
