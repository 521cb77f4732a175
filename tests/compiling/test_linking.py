"""Compiled kernels are kept on disk, are never stale, and are not needed: every folder may be missing or read-only."""

import dis
import importlib.util
import os
import pkgutil
import shutil
import subprocess
import sys
import textwrap
import time
import types
from pathlib import Path
from typing import Any

import pytest

import driftbandit
import driftbandit as db
from driftbandit.compiling import linking, target
from driftbandit.compiling.target import CPU, Processor, cache_folder
from driftbandit.engine.cpu import choice, loop, shard

PACKAGE = Path(driftbandit.__file__).parent

OWN_POLICY = """
import dataclasses
import driftbandit as db
import numpy as np

BONUS = 0.25
TABLE = np.ones(5000)

def probability(x):  # called like a slot of the engine, and none
    return x

def score(p, shared, a, b):
    return probability(a) * 1.0

def learn(p, a, b, reward, chance, amount=1.0):
    return a + amount * sum([BONUS * x for x in (1.0, 2.0)]), b + TABLE[7]

@dataclasses.dataclass(frozen=True, kw_only=True)
class Mine(db.Policy):
    name = "mine"

    def rule(self, n_arms):
        return db.Rule(selection="index", score=score, learn=learn, parameters=(0.0,))

if __name__ == "__main__":
    result = db.simulate(Mine(), db.FromMeans(means=[[0.0, 0.0, 1.0]]), horizon=20, runs=2, seed=3, threads=1)
    print(int((result.dataset["choices"].values[0].max(axis=0) > 0).sum()))
"""
# The first arm to be chosen is chosen for ever while `a` grows; where it falls, all three arms take turns.


def run(script: Path | str, cache: Path | str, *, source: Path | None = None, **environment: str) -> str:
    """What a Python process with this cache folder prints; the package may come from a copied source tree."""
    command = [sys.executable, str(script)] if isinstance(script, Path) else [sys.executable, "-c", script]
    settings = os.environ | {"DRIFTBANDIT_CACHE": str(cache), "PYTHONWARNINGS": "error"} | environment
    if source is not None:
        settings["PYTHONPATH"] = str(source)
    done = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout.strip()


def kernels(cache: Path) -> set[Path]:
    return set(cache.rglob("*.nbc"))


def test_an_edited_policy_never_meets_its_old_kernel(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(OWN_POLICY)
    cache = tmp_path / "cache"
    assert run(script, cache) == "1"
    files = {path: path.stat().st_mtime_ns for path in kernels(cache)}
    assert files
    assert run(script, cache) == "1"
    assert {path: path.stat().st_mtime_ns for path in kernels(cache)} == files, "compiled again without need"
    script.write_text(OWN_POLICY.replace("return a + amount", "return a - amount"))
    assert run(script, cache) == "3"
    assert kernels(cache) > set(files)


def digest(text: str) -> str:
    """The key under which the engine's loop with the rule in this text is kept."""
    scope: dict[str, Any] = {"__name__": "mine"}
    exec(text, scope)
    binding = linking._Binding(CPU, shard.slots_for(scope["Mine"]().rule(3), db.Fast()))
    return binding.bind(loop.play)[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return a + amount", "return a - amount"),
        ("BONUS = 0.25", "BONUS = -0.25"),
        ("amount=1.0", "amount=-1.0"),
        ("[BONUS * x for", "[-BONUS * x for"),
        ("for x in (1.0, 2.0)", "for x in (1.0, 3.0)"),
        ("return probability(a) * 1.0", "return probability(a) * -1.0"),
        ("    return x\n", "    return -x\n"),
        ("TABLE = np.ones(5000)", "TABLE = np.concatenate([np.ones(2500), np.zeros(1), np.ones(2499)])"),
        ("b + TABLE[7]", "b + TABLE[8]"),
    ],
)
def test_whatever_is_edited_in_a_rule_changes_the_key_of_its_kernel(before: str, after: str) -> None:
    assert OWN_POLICY.count(before) == 1
    assert digest(OWN_POLICY) == digest(OWN_POLICY + "# a comment\n")
    assert digest(OWN_POLICY) != digest(OWN_POLICY.replace(before, after))


SUCCESSES = """
import driftbandit as db
result = db.simulate(db.UCB1(), db.FromMeans(means=[[1.0, 0.0]]), horizon=300, runs=4, seed=3, threads=1)
print(int(result.dataset["choices"].values[0, :, 0].sum()))
"""


def test_an_edited_kernel_of_the_package_itself_never_meets_its_old_kernel(tmp_path: Path) -> None:
    source = tmp_path / "src"
    shutil.copytree(PACKAGE, source / "driftbandit", ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert int(run(SUCCESSES, cache, source=source)) > 1100
    rules = source / "driftbandit" / "policies" / "confidence.py"
    text = rules.read_text()
    line = "    return a + 1.0, b + reward\n"
    assert text.count(line) == 1
    rules.write_text(text.replace(line, "    return a + 1.0, b - reward\n"))  # success is failure
    assert int(run(SUCCESSES, cache, source=source)) < 100


@pytest.mark.parametrize("cache", ["", "/dev/null/kernels"], ids=["turned off", "under a file"])
def test_without_a_writable_cache_folder_there_is_none(monkeypatch: pytest.MonkeyPatch, cache: str) -> None:
    monkeypatch.setenv("DRIFTBANDIT_CACHE", cache)
    assert cache_folder.__wrapped__() is None


def test_without_a_writable_home_everything_still_works(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(OWN_POLICY)
    nowhere = {"HOME": "/dev/null/home", "XDG_CACHE_HOME": "/dev/null/cache", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(script)]
    settings = {name: value for name, value in os.environ.items() if name != "DRIFTBANDIT_CACHE"} | nowhere
    done = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_where_nobody_knows_home_kernels_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("DRIFTBANDIT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert cache_folder.__wrapped__() is None


def test_the_cache_folder_is_where_the_variable_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DRIFTBANDIT_CACHE", str(tmp_path / "a" / "b"))
    assert cache_folder.__wrapped__() == tmp_path / "a" / "b"
    assert list((tmp_path / "a" / "b").iterdir()) == []
    monkeypatch.delenv("DRIFTBANDIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    if sys.platform.startswith("linux"):
        assert cache_folder.__wrapped__() == tmp_path / "xdg" / "driftbandit" / "kernels"


SMALL_KERNEL = """
import time
import types
import numpy as np
from driftbandit.compiling.linking import link
from driftbandit.numerics.rng import philox
while time.time() < {start}:
    pass
print(int(link(philox)(*[np.uint64(0)] * 6)[0]) == 0x6627E8D5)
"""


def test_two_processes_may_use_an_empty_cache_at_the_same_time(tmp_path: Path) -> None:
    settings = os.environ | {"DRIFTBANDIT_CACHE": str(tmp_path / "cache"), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-c", SMALL_KERNEL.format(start=time.time() + 2)]
    both = [subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out.strip(), err) == (0, b"True", b"")
    assert run(SMALL_KERNEL.format(start=0), tmp_path / "cache") == "True"
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and ".nb" not in path.name]


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("remains", [0, 0.5], ids=["empty", "half"])
def test_a_damaged_kept_kernel_is_compiled_again(tmp_path: Path, kind: str, remains: float) -> None:
    script = SMALL_KERNEL.format(start=0)
    assert run(script, tmp_path) == "True"
    (kept,) = tmp_path.rglob(f"*.{kind}")
    whole = kept.read_bytes()
    kept.write_bytes(whole[: int(remains * len(whole))])
    assert run(script, tmp_path) == "True"
    (kept,) = tmp_path.rglob(f"*.{kind}")
    assert len(kept.read_bytes()) > 0.9 * len(whole), "whole again"
    assert run(script, tmp_path) == "True"


def test_a_cache_that_was_filled_elsewhere_is_used_and_for_another_processor_filled_again(tmp_path: Path) -> None:
    def used(cache: Path, package: Path, **settings: str) -> tuple[set[str], bytes]:
        """What a process adds to the cache that uses this copy of the package, and what its kernel says."""
        before = {str(path): path.stat().st_mtime_ns for path in cache.rglob("*.nb*")}
        environment = os.environ | {"DRIFTBANDIT_CACHE": str(cache), "PYTHONPATH": str(package)} | settings
        done = subprocess.run(
            [sys.executable, "-c", SMALL_KERNEL.format(start=0)], env=environment, capture_output=True
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return {
            str(path) for path in cache.rglob("*.nb*") if before.get(str(path)) != path.stat().st_mtime_ns
        }, done.stdout

    for place in ("one", "two"):
        shutil.copytree(PACKAGE, tmp_path / place / "driftbandit", ignore=shutil.ignore_patterns("__pycache__"))
    added, told = used(tmp_path / "cache", tmp_path / "one")
    assert {Path(name).suffix for name in added} == {".nbi", ".nbc"}
    shutil.copytree(tmp_path / "cache", tmp_path / "copy")
    for path in (tmp_path / "two").rglob("*.py"):
        os.utime(path, (1e9, 1e9))
    assert used(tmp_path / "copy", tmp_path / "two") == (set(), told)
    added, again = used(tmp_path / "copy", tmp_path / "two", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    assert (len(added), again) == (2, told)
    assert used(tmp_path / "copy", tmp_path / "one") == (set(), told)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_can_only_be_read_is_used(tmp_path: Path) -> None:
    assert run(SMALL_KERNEL.format(start=0), tmp_path) == "True"
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    assert run(SMALL_KERNEL.format(start=0), tmp_path) == "True"
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_folder_that_cannot_be_written_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "can_write", lambda folder: False)
    monkeypatch.setenv("DRIFTBANDIT_CACHE", str(tmp_path))
    assert cache_folder.__wrapped__() == tmp_path
    monkeypatch.setenv("DRIFTBANDIT_CACHE", str(tmp_path / "file"))
    (tmp_path / "file").touch()
    assert cache_folder.__wrapped__() is None


def test_parts_without_slots_are_compiled_once_for_all_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    class Counting(Processor):
        def compile_inner(self, function):
            compiled.append(function.__name__)
            return super().compile_inner(function)

    monkeypatch.setattr(linking, "_shared_parts", {})
    target = Counting()
    for policy in (db.UCB1(), db.DiscountedUCB(discount=0.9)):
        linking._Binding(target, shard.slots_for(policy.rule(3), db.Fast())).bind(choice.choose_index)
    assert compiled.count("philox") == 1
    assert compiled.count("break_ties") == 1
    assert compiled.count("choose_largest") == 2, "one that looks at a slot belongs to its kernel"


def test_a_user_s_helper_that_is_defined_again_is_compiled_again() -> None:
    scope: dict = {"__name__": "notebook"}
    exec("ALPHA = 1.0\ndef helper(x): return 10.0 * x\ndef middle(x): return ALPHA * helper(x)", scope)
    exec("def first(x): return middle(x)", scope)
    assert linking.link(scope["first"])(1.0) == 10.0
    exec("ALPHA = 2.0\ndef helper(x): return 100.0 * x\ndef second(x): return middle(x) + 0.0", scope)
    assert linking.link(scope["second"])(1.0) == 200.0


def test_functions_with_a_closure_can_be_linked_and_keep_their_values_apart() -> None:
    def adder(amount: float):
        def add(x: float) -> float:
            return x + amount

        return add

    assert linking.link(adder(1.0))(2.0) == 3.0
    assert linking.link(adder(5.0))(2.0) == 7.0


def test_a_slot_is_filled_only_where_it_is_open() -> None:
    scope: dict = {}
    exec(
        textwrap.dedent(
            """
            from driftbandit.compiling.slot import OPEN

            slot = OPEN

            def helper(x):
                return 10.0 * x

            def own(x):
                return slot(x) + helper(x)
            """
        ),
        scope,
    )

    def filling(x: float) -> float:
        return x + 1.0

    def never(x: float) -> float:
        return -1000.0

    assert linking.link(scope["own"], slot=filling, helper=never)(2.0) == 23.0
    with pytest.raises(AssertionError, match="slot slot of own is left open"):
        linking.link(scope["own"], helper=never)
    with pytest.raises(AssertionError, match="a slot that link must fill"):
        scope["own"](2.0)


def test_kernels_ask_for_the_widest_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    from driftbandit.compiling.numba_compiler import WIDEST, compilers

    monkeypatch.setattr("driftbandit.compiling.target.cache_folder", lambda: None)  # a kept kernel shows no text
    assert compilers().kernel, "Numba is put together differently: see driftbandit.compiling.numba_compiler"
    kernel = linking.link(widened)
    assert kernel(2.0) == 3.0
    (text,) = kernel.inspect_llvm().values()
    assert WIDEST in text


def widened(x: float) -> float:
    return x + 1.0


def test_parts_of_a_kernel_become_machine_code_only_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.codegen import JITCodeLibrary

    made = []
    finish = JITCodeLibrary._finalize_specific

    def finish_and_tell(library: Any) -> None:
        made.append(library.name)
        finish(library)

    monkeypatch.setattr("driftbandit.compiling.target.cache_folder", lambda: None)
    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", finish_and_tell)
    assert linking.link(whole)(2.0) == 13.0
    assert made == ["whole"]


def inside(x: float) -> float:
    return x * 2.0


def part(x: float) -> float:
    return inside(x) + 1.0


def whole(x: float) -> float:
    return part(x) + inside(inside(x))


FACTOR = 2.0


def helper(x: float) -> float:
    return x * FACTOR


def with_helper(x: float) -> float:
    return helper(x) + 1.0


def test_what_a_user_defines_again_in_one_process_is_linked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = linking.link(with_helper)
    assert before(3.0) == 7.0
    linking.look_again()
    assert linking.link(with_helper) is before
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    linking.look_again()
    assert linking.link(with_helper)(3.0) == 16.0
    monkeypatch.setitem(globals(), "helper", lambda x: -x)
    linking.look_again()
    assert linking.link(with_helper)(3.0) == -2.0


def test_names_of_a_module_are_found_as_dis_finds_them() -> None:
    def told(code: types.CodeType) -> set[str]:
        found = {str(each.argval) for each in dis.get_instructions(code) if each.opname in {"LOAD_GLOBAL", "LOAD_NAME"}}
        return found.union(*(told(const) for const in code.co_consts if isinstance(const, types.CodeType)))

    long = "def far():\n    return (" + ", ".join(f"name_{i}" for i in range(700)) + ", [name_0 for _ in name_1])\n"
    codes = [compile(long, "far.py", "exec"), *(_code_of(name) for name in _modules())]
    for code in codes:
        assert linking.global_names(code) == told(code)
    assert {"name_0", "name_300", "name_699"} < linking.global_names(codes[0])
    assert len(codes) > 100


def _modules() -> list[str]:
    return [each.name for each in pkgutil.walk_packages(driftbandit.__path__, "driftbandit.")]


def _code_of(name: str) -> types.CodeType:
    specification = importlib.util.find_spec(name)
    assert specification is not None
    return specification.loader.get_code(name)  # type: ignore[union-attr]
