"""The package says what it does under the name `driftbandit`, to whoever listens, and nothing to others."""

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

import driftbandit as db
from driftbandit.compiling.gears import geared_part
from driftbandit.engine.cluster.sweep import Sweep, Task
from driftbandit.errors import Interrupted

NAME = "driftbandit"


def plus(a: float, b: float) -> float:
    """A function that nothing else compiles."""
    return a + b


def test_nobody_hears_anything_unless_they_listen(tmp_path: Path) -> None:
    program = (
        "import driftbandit as db\n"
        "bandit = db.Bandit(['a', 'b'], 'ts', seed=1, log='log.jsonl')\n"
        "bandit.select()\nbandit.warm_up()\n"
        "import logging\nlogging.getLogger('driftbandit.cluster').warning('unheard')\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert [type(each) for each in logging.getLogger(NAME).handlers] == [logging.NullHandler]


def test_what_is_compiled_is_said(caplog: pytest.LogCaptureFixture) -> None:
    gears = geared_part(plus)
    with caplog.at_level(logging.INFO, NAME):
        assert gears.wait(1.0, 2.0) == 3.0
        gears.compile()
    assert [record.name for record in caplog.records] == ["driftbandit.compiling"]
    assert caplog.messages[0].startswith("plus is compiled, or was kept: after ")


def test_logs_that_are_opened_and_recovered_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "log.jsonl"
    with caplog.at_level(logging.INFO, "driftbandit.log"):
        bandit = db.Bandit(["a", "b"], "ts", seed=1, log=path)
        bandit.reward(bandit.select(), 1.0)
        del bandit
        with path.open("a") as file:
            file.write('{"event": "decis')
        with pytest.warns(UserWarning, match="cut off"):
            db.Bandit.recover(tmp_path / "none.json", path)
    assert caplog.messages == [
        f"log {path}: begins",
        f"recovered from nothing and 2 lines of {path}: 1 decisions",
        f"log {path}: goes on",
        f"log {path}: what stands after its last whole line does not count",
    ]


def test_parts_of_a_game_that_are_kept_are_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from driftbandit.engine.checkpoints import Keeper
    from driftbandit.engine.cpu.shard import run_shard
    from driftbandit.engine.cpu.threads import Threads
    from driftbandit.engine.games import Game, play_games

    game = Game((db.ThompsonSampling(), db.UCB1()), db.Fast(), 20, 4)
    backend = Threads(1)
    [first, *others] = [piece for job in game.jobs() for piece in backend.pieces(job)]
    assert others
    Keeper(tmp_path, backend.arithmetic).keep(first, run_shard(first))
    with caplog.at_level(logging.INFO, "driftbandit.keep"):
        [(_, result)] = play_games([game], backend, False, tmp_path)
    assert caplog.messages == [f"1 of {1 + len(others)} parts are kept in {tmp_path}, and not played again"]
    assert result.dataset.identical(db.simulate(["ts", "ucb1"], "fast", horizon=20, runs=4, progress=False).dataset)


def test_shards_that_a_cluster_lost_are_said(caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("distributed")
    sweep = object.__new__(Sweep)  # without a cluster: only what is sent again
    sweep.attempts, sweep.todo, sweep.environments = __import__("collections").Counter(), [], {}
    with caplog.at_level(logging.WARNING, "driftbandit.cluster"):
        sweep._again(Task(None, [3, 4]), OSError("gone"))
    assert caplog.messages == ["2 shards are sent again (OSError)"]
    assert sweep.todo == [3, 4]


def test_the_command_line_shows_warnings(tmp_path: Path) -> None:
    program = (
        "import logging, sys\nfrom driftbandit.cli import main, program\n"
        "@program.app.command('complain')\ndef complain():\n"
        "    logging.getLogger('driftbandit.cluster').warning('no workers yet')\n"
        "    logging.getLogger('driftbandit.keep').info('unheard')\n"
        "sys.argv[1:] = ['complain']\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "driftbandit: warning: no workers yet\n"


def test_errors_are_raised_and_not_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps({"event": "no log"}) + "\n")
    with caplog.at_level(logging.DEBUG, NAME), pytest.raises(db.InvalidValue):
        db.Bandit(["a", "b"], "ts", log=tmp_path / "log.jsonl")
    assert caplog.messages == []
    assert issubclass(Interrupted, KeyboardInterrupt)
