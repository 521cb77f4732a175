"""Tables of the command line fit the terminal, whatever its width, and no word is broken where there is room for it."""

import json
import sys

import pytest

import driftbandit as db
from driftbandit.cli import main
from driftbandit.cli.printing import fitted, print_table

LONG = "dots:discount=0.97,prior_successes=0.5"


def printed(arguments: list[str], width: int, monkeypatch, capsys) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys, "argv", ["driftbandit", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    assert end.value.code == 0, err
    return out


@pytest.mark.parametrize("width", [40, 50, 60, 72, 80, 100, 120, 160, 240])
@pytest.mark.parametrize("command", ["policies", "environments"])
def test_listings_break_no_word(command: str, width: int, monkeypatch, capsys) -> None:
    out = printed([command], width, monkeypatch, capsys)
    assert max(map(len, out.splitlines())) <= width
    kind = db.Policy if command == "policies" else db.Environment
    words = set(out.replace(",", " ").replace("│", " ").replace("=", " ").split())
    for name, cls in kind.known.items():
        if cls.__module__.startswith("driftbandit."):
            assert name in words
            assert set(cls.meanings()) <= words, "names of parameters are whole"


@pytest.mark.parametrize("width", [30, 45, 60, 80, 100, 160])
def test_figures_are_never_broken(width: int, monkeypatch, capsys) -> None:
    game = ["simulate", "fast", "-p", LONG, "-p", "ts", "--horizon", "20", "--runs", "5"]
    out = printed(game, width, monkeypatch, capsys)
    told = printed([*game, "--json"], width, monkeypatch, capsys)
    for row in json.loads(told)["policies"]:
        for name, half in (("normalized_regret", "ci95"), ("mean_reward", "mean_reward_ci95")):
            assert f"{row[name]:.4f} ± {row[half]:.4f}"[: width - 28] in out
    assert max(map(len, out.splitlines())) <= width
    if width >= len(LONG):
        assert LONG in out


def test_room_is_shared() -> None:
    assert fitted([10, 20], [4, 4], 100) == [10, 20]
    assert fitted([10, 90, 90], [4, 4, 4], 60) == [10, 25, 25]
    assert fitted([5, 90], [5, 8], 13) == [5, 8]
    assert fitted([], [], 10) == []


@pytest.mark.parametrize("width", [20, 80])
def test_empty_cells_wide_letters_and_names_like_markup(width: int, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    print_table("", {"policy": ["[red]x[/]", "日本語" * 3, ""], "mean": ["", "0.1", "0.2"]})
    out = capsys.readouterr().out
    assert "[red]x[/]" in out
    assert "日本語" in out
    print_table("nothing", {"policy": [], "mean": []})
    assert "nothing" in capsys.readouterr().out


def test_one_policy_is_described_with_what_each_parameter_takes(monkeypatch, capsys, tmp_path) -> None:
    out = printed(["policies", "glr-kl-ucb"], 160, monkeypatch, capsys)
    assert out.startswith("glr-kl-ucb: GLR-klUCB: ")
    assert "written as glr-kl-ucb:exploration=…,false_alarm=…; in Python GLRKLUCB" in out
    for words in (
        "a number in (0, 1]",
        "arm or all",
        "a whole number from 10 to 65536",
        "true or false",
        "must be told",
    ):
        assert words in out
    path = tmp_path / "own_described.py"
    path.write_text(
        "import dataclasses\nfrom typing import ClassVar\nimport driftbandit as db\n"
        "@dataclasses.dataclass(frozen=True, kw_only=True)\nclass Mine(db.UCB1):\n"
        '    """UCB1 of mine. More.\n\n    Parameters:\n        extra: whatever.\n    """\n'
        '    name: ClassVar[str] = "own-described"\n    extra: int = 3\n'
    )
    found = json.loads(printed(["policies", f"{path}:Mine", "--json"], 80, monkeypatch, capsys))
    assert (found["name"], found["summary"]) == ("own-described", "UCB1 of mine")
    assert found["parameters"][1] == {
        "parameter": "extra", "takes": "as its class says", "default": 3, "needed": False, "means": "whatever.",
    }  # fmt: skip


def test_every_parameter_says_what_it_takes_and_means() -> None:
    for kind in (db.Policy, db.Environment):
        for name, cls in kind.known.items():
            if not cls.__module__.startswith("driftbandit."):
                continue
            for parameter, meaning in cls.meanings().items():
                assert meaning, f"{name} {parameter}"
                assert cls.__dataclass_fields__[parameter].metadata["allowed"], f"{name} {parameter}"


def test_help_says_how_policies_and_numbers_are_written(monkeypatch, capsys) -> None:
    for command in ("simulate", "replay", "evaluate", "tune", "arena", "warm"):
        out = " ".join(printed([command, "--help"], 200, monkeypatch, capsys).split())
        assert "NAME:PARAMETER=VALUE" in out
        assert "`driftbandit policies NAME`" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["policies", "nonsense"], "policy must be one of those that `driftbandit policies` lists"),
        (["policies", ""], "policy must be one of those"),
        (["environments", "ts"], "environment must be one of those"),
        (["policies", "nowhere.py:Mine"], "policy must be a readable Python file, got 'nowhere.py'"),
    ],
)
def test_a_name_that_is_not_known_is_one_line(arguments, message, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["driftbandit", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    err = capsys.readouterr().err
    assert (end.value.code, len(err.splitlines())) == (2, 1)
    assert err.startswith(f"driftbandit: {message}")
