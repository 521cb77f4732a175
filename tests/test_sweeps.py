"""`simulate --file`: a sweep from a TOML file, checked before it begins, and resumed after it was stopped."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import driftbandit as db
from driftbandit.campaign.sweep_file import games_of
from driftbandit.cli import main

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "driftbandit"]
SWEEP = """
horizon = [30, 40]
runs = 5
seed = [1, 2]
policies = ["ts", { name = "dts", discount = [0.9, 0.97], discounted_arms = ["all", "played"] }]
environments = ["fast", { name = "abrupt", period = [10, 20], n_arms = 3 }]
"""


def played(arguments: list[str], monkeypatch, capsys) -> str:
    monkeypatch.setattr(sys, "argv", ["driftbandit", "simulate", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert end.value.code == 0, err
    return out


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


def test_a_file_is_the_product_of_all_it_lists(sweep: Path) -> None:
    games = games_of(sweep)
    assert [(str(game.environment), game.horizon, game.seed) for game in games[:5]] == [
        ("fast", 30, 1), ("fast", 30, 2), ("fast", 40, 1), ("fast", 40, 2), ("abrupt:period=10.0,n_arms=3", 30, 1),
    ]  # fmt: skip
    assert len(games) == 12
    assert list(map(str, games[0].policies)) == [
        "ts", "dts:discount=0.9", "dts:discount=0.9,discounted_arms=played", "dts:discount=0.97",
        "dts:discount=0.97,discounted_arms=played",
    ]  # fmt: skip
    assert {game.runs for game in games} == {5}
    few = games_of(sweep, horizon=7, runs=2, seed=9)
    assert {(game.horizon, game.runs, game.seed) for game in few} == {(7, 2, 9)}
    assert len(few) == 3


def test_what_is_not_said_is_usual(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text('policies = ["ts"]\nenvironments = ["fast", "besson", "weather"]\n')
    usual = [db.Environment.of(name).usual_horizon or 5000 for name in ("fast", "besson", "weather")]
    assert [(game.horizon, game.runs, game.seed) for game in games_of(path)] == [(each, 1000, 0) for each in usual]


def test_rows_are_those_of_simulate(sweep: Path, monkeypatch, capsys) -> None:
    rows = [json.loads(line) for line in played(["-f", str(sweep), "--json-lines"], monkeypatch, capsys).splitlines()]
    assert len(rows) == 60
    games = games_of(sweep)
    for place in (0, 7):
        game = games[place]
        names = [option for policy in game.policies for option in ("-p", str(policy))]
        same = played([str(game.environment), *names, "--horizon", str(game.horizon), "--runs", "5", "--seed",
                       str(game.seed), "--json-lines"], monkeypatch, capsys)  # fmt: skip
        assert rows[5 * place : 5 * place + 5] == [json.loads(line) for line in same.splitlines()]
    whole = json.loads(played(["-f", str(sweep), "--json"], monkeypatch, capsys))
    assert whole == {"rows": rows}
    table = played(["-f", str(sweep)], monkeypatch, capsys)
    assert table.count("dts:discount=0.97,discounted_arms=played") == 12
    assert "abrupt:period=20.0,n_arms=3, 5 runs of 40 steps, seed 2" in table


def test_finished_games_are_not_played_again(sweep: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    arguments = ["-f", str(sweep), "--json-lines", "--keep", str(tmp_path / "kept")]
    first = played(arguments, monkeypatch, capsys)
    kept = sorted((tmp_path / "kept" / "results").iterdir())
    assert len(kept) == 60
    assert not (tmp_path / "kept" / "parts").exists()
    times = [path.stat().st_mtime_ns for path in kept]
    kept[0].write_bytes(b"damaged")
    with monkeypatch.context() as only:
        only.setattr("driftbandit.campaign.sweeps.condensed", None)
        with pytest.raises(TypeError, match="NoneType"):  # the damaged one is played
            played(arguments, only, capsys)
    capsys.readouterr()
    assert played(arguments, monkeypatch, capsys) == first
    assert [path.stat().st_mtime_ns for path in kept][1:] == times[1:]
    sweep.write_text(SWEEP.replace('["ts", ', '["ts", "ucb1", '))
    assert len(played(arguments, monkeypatch, capsys).splitlines()) == 72
    assert len(list((tmp_path / "kept" / "results").iterdir())) == 72


def test_a_sweep_that_is_interrupted_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text('runs = 2000\nhorizon = [10, 2000000]\npolicies = ["ts"]\nenvironments = ["fast"]\n')
    command = [*COMMAND, "simulate", "-f", str(path), "--json-lines", "--keep", str(tmp_path / "kept")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = process.stdout.readline()
    assert json.loads(first)["horizon"] == 10, "each game is printed as soon as it is finished"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(err.splitlines()) == 1
    assert err.startswith("driftbandit: interrupted after ")
    assert f"kept in {tmp_path / 'kept'}" in err
    path.write_text(path.read_text().replace("[10, 2000000]", "10"))
    again = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert again.stdout == first
    del command[-2:]
    path.write_text(path.read_text().replace("horizon = 10", "horizon = [10, 2000000]"))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == first
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, len(err.splitlines())) == (130, 1)
    assert "nothing was kept: --keep FOLDER does" in err


def test_the_example_is_a_sweep(monkeypatch, capsys) -> None:
    path = ROOT / "examples" / "sweep.toml"
    games = games_of(path)
    assert [len(games), len(games[0].policies)] == [4, 6]
    lines = played(["-f", str(path), "--runs", "2", "--horizon", "20", "--json-lines"], monkeypatch, capsys)
    assert len(lines.splitlines()) == 24


def test_classes_and_tables_from_files(tmp_path: Path) -> None:
    (tmp_path / "means.csv").write_text("red,green\n0.1,0.9\n0.2,0.8\n")
    (tmp_path / "mine_of_sweeps.py").write_text(
        "import dataclasses\nfrom typing import ClassVar\nimport driftbandit as db\n"
        "@dataclasses.dataclass(frozen=True, kw_only=True)\nclass Mine(db.UCB1):\n"
        '    """UCB1."""\n    name: ClassVar[str] = "mine-of-sweeps"\n'
    )
    path = tmp_path / "sweep.toml"
    path.write_text(
        f'policies = [{{ name = "{tmp_path}/mine_of_sweeps.py:Mine", confidence = [0.1, 0.2] }}]\n'
        f'environments = ["{tmp_path}/means.csv", {{ name = "{tmp_path}/means.csv", repeat = [2, 3] }}]\n'
    )
    games = games_of(path)
    assert [str(policy) for policy in games[0].policies] == [
        "mine-of-sweeps:confidence=0.1", "mine-of-sweeps:confidence=0.2",
    ]  # fmt: skip
    assert [game.horizon for game in games] == [2, 4, 6]


GOOD = 'policies = ["ts"]\nenvironments = ["fast"]\n'
WRONG = {
    "": "policies must be given, got keys []",
    'policies = ["ts"]\n': "environments must be given, got keys ['policies']",
    "not toml": "file must be TOML, got ",
    GOOD + "runs = \n": "file must be TOML, got ",
    GOOD + "polices = 1\n": "keys must be policies, environments, horizon, runs or seed, got 'polices'",
    GOOD + "runs = 0\n": "runs must be a whole number of at least 1, got 0",
    GOOD + "runs = nan\n": "runs must be a whole number of at least 1, got nan",
    GOOD + "runs = [1, 2]\n": "runs must be a whole number of at least 1, got [1, 2]",
    GOOD + 'runs = "5"\n': "runs must be a whole number of at least 1, got '5'",
    GOOD + "runs = true\n": "runs must be a whole number of at least 1, got True",
    GOOD + "horizon = []\n": "horizon must be a whole number, or a list of at least one, got []",
    GOOD + "horizon = [5, 5]\n": "horizon must be different numbers, got [5, 5]",
    GOOD + "horizon = 2.5\n": "horizon must be a whole number from 1",
    GOOD + "horizon = inf\n": "horizon must be a whole number from 1",
    GOOD + "seed = -1\n": "seed must be a whole number from 0",
    GOOD + "seed = 2024-01-01\n": "seed must be a whole number from 0",
    GOOD + "[runs]\nmany = 5\n": "runs must be a whole number of at least 1, got {'many': 5}",
    'policies = "ts"\nenvironments = ["fast"]\n': "policies must be a list of at least one text or table, got 'ts'",
    'policies = []\nenvironments = ["fast"]\n': "policies must be a list of at least one text or table, got []",
    'policies = [5]\nenvironments = ["fast"]\n': "policies[0] must be a text, or a table with a name, got 5",
    'policies = ["ts", "tss"]\nenvironments = ["fast"]\n': "policies[1]: policy must be one of those that",
    'policies = ["ts", "ts"]\nenvironments = ["fast"]\n': "policies must all be different, got 'ts' twice",
    'policies = [{ discount = 0.5 }]\nenvironments = ["fast"]\n': "policies[0]: name must be a text, got None",
    'policies = [{ name = "dts:discount=0.5" }]\nenvironments = ["fast"]\n':
        "policies[0]: name must be without parameters, which have keys of their own, got 'dts:discount=0.5'",
    'policies = [{ name = "dts" }]\nenvironments = ["fast"]\n': "policies[0]: dts needs discount, as in dts:discount=…",
    'policies = [{ name = "dts", discount = 2 }]\nenvironments = ["fast"]\n':
        "policies[0]: discount must be in (0, 1], got 2",
    'policies = [{ name = "dts", discount = [] }]\nenvironments = ["fast"]\n':
        "policies[0]: discount must be a value, or a list of at least one, got []",
    'policies = [{ name = "dts", discount = [[0.5]] }]\nenvironments = ["fast"]\n':
        "policies[0]: discount must be a number, a text, true or false, or a list of such",
    'policies = [{ name = "ts", nonsense = 1 }]\nenvironments = ["fast"]\n':
        "policies[0]: ts has the parameters prior_successes, prior_failures, got 'nonsense'",
    'policies = ["ts"]\nenvironments = [{ name = "nowhere.csv" }]\n':
        "environments[0]: means must be a readable CSV file, got 'nowhere.csv'",
    'policies = ["ts"]\nenvironments = ["nowhere.py:Mine"]\n':
        "environments[0]: environment must be a readable Python file, got 'nowhere.py'",
    'policies = ["ts"]\nenvironments = [{ name = "abrupt", period = [10, nan] }]\n':
        "environments[0]: period must be in",
    'policies = [{ name = "dts", discount = [' + ", ".join(f"0.{k}" for k in range(10001, 10401)) + "] }]\n"
    + 'environments = ["fast"]\nseed = [' + ", ".join(map(str, range(300))) + "]\n": "games must be at most 100000",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_named_in_one_line_before_anything_is_played(text: str, tmp_path: Path, monkeypatch, capsys):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    monkeypatch.setattr("driftbandit.cli.playing.play_sweep", lambda *_: pytest.fail("something is played"))
    monkeypatch.setattr(sys, "argv", ["driftbandit", "simulate", "-f", str(path)])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert (end.value.code, out, len(err.splitlines())) == (2, "", 1)
    told = err.removeprefix("driftbandit: ")
    assert told.removeprefix("wrong.toml: ").startswith(WRONG[text]), err
    assert told.startswith("wrong.toml: ") or "must be TOML" in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fast"], "environment must not be given with --file, got 'fast'"),
        (["-p", "ts"], "policy must not be given with --file, got ['ts']"),
        (["--save", "x.nc"], "save must not be given with --file, got 'x.nc'"),
        (["--plot", "x.svg"], "plot must not be given with --file, got 'x.svg'"),
        (["--json", "--json-lines"], "json must not be given with json-lines, got both"),
        (["--runs", "0"], "sweep.toml: runs must be a whole number of at least 1, got 0"),
        (["--keep", "."], "keep must be a new folder, an empty one, or one that simulate -f has made, got '.'"),
        (["--device", "abacus"], 'device must be "cpu" or "cuda", got'),
    ],
)
def test_what_does_not_go_with_a_file_is_refused(sweep: Path, arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["driftbandit", "simulate", "-f", str(sweep), *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert (end.value.code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"a" * 10 + b"\x00", b"[" * 5000])
def test_a_file_that_is_none_is_one_line(content, tmp_path: Path, monkeypatch, capsys):
    path = tmp_path / "it.toml"
    path.mkdir() if content is None else path.write_bytes(content)
    monkeypatch.setattr(sys, "argv", ["driftbandit", "simulate", "-f", str(path)])
    with pytest.raises(SystemExit) as end:
        main()
    err = capsys.readouterr().err
    assert end.value.code == 2
    assert err.startswith("driftbandit: file must be")
    assert len(err.splitlines()) == 1
