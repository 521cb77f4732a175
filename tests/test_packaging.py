"""A release: sources and a wheel of them, checked; the wheel installed into an empty environment, and used there."""

import json
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import driftbandit as db

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)],
        check=True, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def wheel(release):
    [path] = release.glob("driftbandit-*.whl")
    return path


def test_what_a_registry_would_refuse_is_known_before(release):
    pytest.importorskip("twine", reason="twine is needed: make install")
    names = sorted(map(str, release.iterdir()))
    assert len(names) == 2
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *names], capture_output=True, text=True, timeout=120
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_sources_hold_what_builds_and_explains_them(release):
    [path] = release.glob("driftbandit-*.tar.gz")
    with tarfile.open(path) as sources:
        names = {name.partition("/")[2] for name in sources.getnames()}
    assert {"pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} <= names
    assert {"docs/index.md", "docs/site/build.py", "docs/site/static/site.css", "tests/naive.py"} <= names
    assert not any(name.startswith(("site/", "dist/", ".git")) and name != ".gitignore" for name in names)


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
