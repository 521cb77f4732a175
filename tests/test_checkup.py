"""`driftbandit doctor`: what works here, what is absent, and what is broken."""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import driftbandit as db
from driftbandit import checkup
from driftbandit.checkup import ABSENT, BROKEN, GOOD, Found
from driftbandit.cli import main

COMMAND = [sys.executable, "-m", "driftbandit", "doctor"]


def looked(monkeypatch, capsys, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["driftbandit", "doctor", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0), capsys.readouterr().out


def by_name() -> dict[str, Found]:
    return {found.what: found for found in checkup.checkup()}


def test_nothing_is_broken_here() -> None:
    done = subprocess.run([*COMMAND, "--json"], capture_output=True, text=True, timeout=300)
    told = json.loads(done.stdout)
    assert (done.returncode, told["works"]) == (0, True), told
    found = {row["what"]: row for row in told["found"]}
    assert found["driftbandit"]["found"] == db.__version__
    assert found["numpy"]["found"].startswith(np.__version__)
    assert {"Python", "numba", "extra serve", "threads", "card", "simulate", "live decisions"} <= found.keys()
    assert "compiled and interpreted alike" in found["simulate"]["found"]


def test_people_get_a_table_and_a_verdict(monkeypatch, capsys) -> None:
    monkeypatch.setattr(checkup, "checkup", lambda: iter([Found("a", GOOD, "1"), Found("b", ABSENT, "none", "get it")]))
    status, out = looked(monkeypatch, capsys)
    assert status == 0
    assert "none; get it" in out
    assert out.endswith("nothing is broken\n")


def test_what_is_broken_is_status_1(monkeypatch, capsys) -> None:
    monkeypatch.setattr(checkup, "checkup", lambda: iter([Found("a", GOOD, "1"), Found("b", BROKEN, "bad")]))
    status, out = looked(monkeypatch, capsys)
    assert (status, out.splitlines()[-1]) == (1, "broken: b")
    status, out = looked(monkeypatch, capsys, "--json")
    assert (status, json.loads(out)["works"]) == (1, False)


def test_packages_are_held_to_their_bounds(monkeypatch) -> None:
    class Ours:
        requires = ("numpy>=9999", "no-such-package>=1", "scipy>=1", "httpx>=9999; extra == 'far'",
                    "no-such-package; extra == 'none'", "scipy; extra == 'there'",
                    "scipy<1; sys_platform == 'plan9'")  # fmt: skip

        class metadata:
            @staticmethod
            def get_all(name):
                return {"Provides-Extra": ["there", "none", "far"], "Requires-Python": [">=99"]}[name]

    real = importlib.metadata.distribution
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Ours if name == "driftbandit" else real(name))
    found = {one.what: one for one in checkup._packages()}
    assert found["Python"].state == BROKEN
    assert found["numpy"] == Found(
        "numpy", BROKEN, f"{np.__version__}, where >=9999 is needed", "pip install 'numpy>=9999'"
    )
    assert found["no-such-package"] == Found(
        "no-such-package", BROKEN, "not installed", "pip install 'no-such-package>=1'"
    )
    assert found["scipy"].state == GOOD
    assert found["extra far"].state == BROKEN
    assert found["extra none"] == Found(
        "extra none", ABSENT, "without no-such-package", "pip install 'driftbandit[none]'"
    )
    assert found["extra there"].state == GOOD


def test_a_package_that_is_not_installed_has_no_bounds(monkeypatch) -> None:
    def missing(name: str):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    [found] = checkup._packages()
    assert (found.state, found.hint) == (ABSENT, "pip install .")


def test_the_cache_may_be_off_or_read_only(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checkup, "cache_folder", lambda: None)
    assert checkup._cache().state == ABSENT
    monkeypatch.setattr(checkup, "cache_folder", lambda: tmp_path)
    assert checkup._cache() == Found("kernel cache", GOOD, f"{tmp_path}: 0 files, 0.0 MB")
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "kernel.1.nbc").write_bytes(bytes(2_000_000))
    assert checkup._cache().found == f"{tmp_path}: 1 files, 2.0 MB"
    monkeypatch.setattr(checkup, "can_write", lambda _: False)
    assert (checkup._cache().state, "only be read" in checkup._cache().found) == (ABSENT, True)


def test_runs_that_differ_are_broken(monkeypatch) -> None:
    simulate = checkup.simulate

    def other(policies, world, **options):
        return simulate(policies, world, **(options | {"seed": options["runs"]}))

    monkeypatch.setattr(checkup, "simulate", other)
    assert checkup._simulation().state == BROKEN


def test_whatever_goes_wrong_is_one_line(monkeypatch) -> None:
    def fails() -> Found:
        raise RuntimeError("two\nlines of trouble " + "x" * 500)

    [found] = checkup._guarded("it", fails)
    assert found.state == BROKEN
    assert found.found.startswith("RuntimeError: two lines of trouble")
    assert len(found.found) <= 200
    monkeypatch.setattr(checkup, "_card", fails)
    monkeypatch.setattr(checkup, "simulate", None)
    monkeypatch.setattr(checkup, "Bandit", None)
    found_all = by_name()
    assert {name for name, one in found_all.items() if one.state == BROKEN} == {"card", "simulate", "live decisions"}
