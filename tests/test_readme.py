"""What the README and the guides print is what happens."""

import doctest
import itertools
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import driftbandit as db
from driftbandit.arena.entrants import entrants

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


OF_LOGS = ("evaluate", "tune")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


PYTHON = [
    pytest.param(code, id=f"{page.name}-{i}")
    for page in PAGES
    for i, code in enumerate(blocks(page, "python"))
    if "cluster" not in code  # those need one; tests/engine/test_cluster.py starts real ones
]
COMMANDS = [
    pytest.param(line, id=line[:60])
    for page in PAGES
    for block in blocks(page, "sh")
    for line in block.splitlines()
    if line.startswith(tuple(f"driftbandit {command}" for command in ("simulate", "probability", "replay", *OF_LOGS)))
    and "my.csv" not in line
    and "--cluster" not in line
    and "cuda" not in line
]


def test_the_first_example_is_there():
    assert len(blocks(ROOT / "README.md", "python")) >= 1


@pytest.mark.parametrize("code", PYTHON)
def test_examples_run_as_printed(code, tmp_path, monkeypatch):
    for optional in ("gymnasium", "river", "optuna"):
        if re.search(rf"^(?:import|from) {optional}\b", code, re.MULTILINE):
            pytest.importorskip(optional, reason=f"{optional} is not installed")
    if code.startswith(">>>"):
        monkeypatch.chdir(tmp_path)
        found = doctest.DocTestParser().get_doctest(code, {}, "example", None, None)
        assert doctest.DocTestRunner().run(found).failed == 0
        return
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert answer.returncode == 0, answer.stderr
    for promised in re.findall(r"^# ?> (.*)$", code, re.MULTILINE):  # a comment "# > …" is what the line before prints
        assert promised in answer.stdout, answer.stdout


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_run_as_printed(line, tmp_path):
    arguments = shlex.split(line, comments=True)[1:]
    arguments = [str(ROOT / each) if each.startswith("examples/") else each for each in arguments]
    arguments += ["--runs", "2"] if arguments[0] == "replay" else []  # long tables, many policies
    if any("mine.py:Fading" in each for each in arguments):
        [own] = [code for code in blocks(ROOT / "README.md", "python") if "class Fading" in code]
        (tmp_path / "mine.py").write_text(own)
    if arguments[0] in OF_LOGS:
        bandit = db.Bandit(["red", "green", "blue"], db.ThompsonSampling(), seed=1, minimum_probability=0.05,
                           log=tmp_path / arguments[1])  # fmt: skip
        for number in range(60):
            bandit.reward(bandit.select(), float(number % 3 == 0))
    answer = subprocess.run(
        [sys.executable, "-c", "from driftbandit.cli import main; main()", *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr


def test_the_arena_takes_the_policy_that_the_readme_shows(tmp_path, monkeypatch):
    [own] = [code for code in blocks(ROOT / "README.md", "python") if "class Fading" in code]
    [line] = [each for block in blocks(ROOT / "README.md", "sh") for each in block.splitlines() if " arena " in each]
    arguments = shlex.split(line)
    (tmp_path / "mine.py").write_text(own)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(db.Policy, "known", dict(db.Policy.known))
    [policy] = [db.Policy.of(text) for flag, text in itertools.pairwise(arguments) if flag == "--policy"]
    assert str(policy) == "fading:discount=0.9"
    assert policy in [each.policy for each in entrants([policy])]


def test_the_sweep_that_is_printed_is_the_file():
    assert (ROOT / "examples" / "sweep.toml").read_text() in blocks(ROOT / "docs" / "command-line.md", "toml")


def test_every_extra_is_in_the_table():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "install.md").read_text()
    assert set(re.findall(r"^\| `pip install '\.\[(\w+)\]'` \|", page, re.MULTILINE)) == set(extras)


def test_the_two_commands_and_every_target_named_in_the_pages_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = "\n".join(page.read_text() for page in [*PAGES, ROOT / "CONTRIBUTING.md"])
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)\b(?=[`\s]*(?:$|\s{2,}|#|ARGS|`))", text, re.MULTILINE))
    assert {"reproduce", "test"} <= named
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_point_at_files_that_exist(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()) + re.findall(
        r'src="(?!https?:)([^"]+)"', page.read_text()
    ):
        assert (page.parent / target).exists(), target
