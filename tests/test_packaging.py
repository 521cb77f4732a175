"""The wheel: built, installed into an empty environment without the source tree, and used there."""

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import driftbandit as db

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)],
        check=True, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    [path] = folder.glob("driftbandit-*.whl")
    return path


def test_the_wheel_holds_the_package_its_types_and_its_licence(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "driftbandit/py.typed" in names
    assert "driftbandit/engine/cpu/choice.py" in names
    tables = {"CARDS.md", "flights-by-day.csv", "flights-by-hour.csv", "weather.csv"}
    assert {f"driftbandit/datasets/{name}" for name in tables} <= set(names)
    pages = {"icon.svg", "page.css", "page.js"}
    assert {f"driftbandit/service/dashboard/{name}" for name in pages} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests", "benchmarks", "docs")) for name in names)
    assert db.__version__ in wheel.name


def test_the_command_works_from_the_wheel_in_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)],
        check=True, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    command = tmp_path / "empty" / "bin" / "driftbandit"
    answer = subprocess.run(
        [command, "simulate", "weather", "--policy", "ucb1", "--horizon", "10", "--runs", "2", "--json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["policies"][0]["policy"] == "ucb1"
    where = subprocess.run(
        [python, "-c", "import driftbandit; print(driftbandit.__file__)"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert str(tmp_path) in where.stdout
