"""The files around a release: workflows run what is there, hooks run what `make check` runs, bounds are whole."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
if not WORKFLOWS:
    pytest.skip("a package of the sources without its workflows", allow_module_level=True)
sys.path.append(str(ROOT / "tools"))

import lowest  # noqa: E402  # found only now

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def steps(path: Path) -> list[dict[str, str]]:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_makes_targets_that_exist(path: Path) -> None:
    text = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert text["permissions"] == {"contents": "read"}
    assert text.keys() >= {"name", "jobs", True}, "`on` is read as true"
    made = {name for step in steps(path) for name in re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))}
    assert made
    assert made <= TARGETS
    for step in steps(path):
        assert ("run" in step) != ("uses" in step)
        assert re.fullmatch(r"[\w-]+/[\w-]+@[\w./-]+", step.get("uses", "actions/checkout@v4"))


def test_tests_run_on_every_system_and_python_that_is_promised() -> None:
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    matrix = tests["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert matrix["python"] == ["3.11", "3.12", "3.13"]
    assert PROJECT["project"]["requires-python"] == f">={matrix['python'][0]}"


def test_publishing_needs_a_tag_and_no_password() -> None:
    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text(encoding="utf-8")
    told = yaml.safe_load(text)
    assert told[True] == {"push": {"tags": ["v*"]}}
    assert told["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert told["jobs"]["publish"]["needs"] == "build"
    assert not re.search(r"secrets\.|password", text.replace("without any password", ""))


def test_hooks_run_what_make_check_runs() -> None:
    [repository] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert repository["repo"] == "local"
    entries = [hook["entry"].removeprefix(".venv/bin/") for hook in repository["hooks"]]
    [recipe] = re.findall(r"^check:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert entries == [line.strip().removeprefix("$(BIN)/") for line in recipe.splitlines()]


def test_templates_of_issues_are_forms_with_a_field_for_what_is_needed() -> None:
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.stem != "config":
            assert form.keys() >= {"name", "description", "body"}
            assert any(field.get("validations", {}).get("required") for field in form["body"])


def test_the_lowest_versions_are_those_of_every_requirement() -> None:
    found = lowest.constraints(PROJECT, [*PROJECT["project"]["optional-dependencies"], "docs"])
    names = [line.split("==")[0] for line in found]
    assert len(names) == len(set(names))
    assert {"numpy", "numba", "asyncpg", "starlette", "numba-cuda", "sphinx"} <= set(names)
    assert f"numpy=={re.search(r'numpy>=([0-9.]+)', str(PROJECT))[1]}" in found
    with pytest.raises(SystemExit, match="has no lower bound"):
        lowest.constraints(
            {"project": {"dependencies": ["numpy"], "optional-dependencies": {}}, "dependency-groups": {}}, []
        )


def test_make_tries_tests_that_exist_on_the_lowest_versions() -> None:
    [short] = re.findall(r"^SHORT := ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    named = short.replace("\\", "").split()
    assert len(named) > 5
    assert all((ROOT / name).is_file() for name in named)
