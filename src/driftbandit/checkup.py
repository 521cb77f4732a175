"""What works here: versions and their bounds, the kernel cache, threads, a card, extras, and a small simulation."""

import contextlib
import importlib.metadata
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from driftbandit._version import __version__
from driftbandit.compiling.target import cache_folder, can_write
from driftbandit.crew import cores
from driftbandit.engine.simulation import simulate
from driftbandit.errors import DriftbanditError, MissingExtra
from driftbandit.online import Bandit

NAME = "driftbandit"
State = Literal["good", "absent", "broken"]
GOOD: State = "good"
ABSENT: State = "absent"
BROKEN: State = "broken"


class Found(NamedTuple):
    """One thing that was looked at."""

    what: str
    state: State
    """Absent is what nobody needs who does not use it, and what is slower without; broken is what must be mended."""
    found: str
    hint: str = ""
    """What to do about it."""


def checkup() -> Iterator[Found]:
    """Look at one thing after the other."""
    yield Found(NAME, GOOD, __version__)
    yield from _packages()
    yield from _guarded("kernel cache", _cache)
    yield from _guarded("threads", _threads)
    yield from _guarded("card", _card)
    yield from _guarded("simulate", _simulation)
    yield from _guarded("live decisions", _decisions)


def _guarded(what: str, look: Callable[[], Found]) -> Iterator[Found]:
    """What goes wrong with one thing is what is found of it."""
    try:
        yield look()
    except Exception as error:  # whatever is broken
        told = " ".join(f"{type(error).__name__}: {error}".split())
        yield Found(what, BROKEN, told[:200])


# Packages


def _packages() -> Iterator[Found]:
    """Python, what is needed, and what extras need."""
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    try:
        ours = importlib.metadata.distribution(NAME)
    except importlib.metadata.PackageNotFoundError:
        yield Found("packages", ABSENT, "this package is not installed, so bounds are not known", "pip install .")
        return
    version, wanted = platform.python_version(), (ours.metadata.get_all("Requires-Python") or [""])[0]
    fits = SpecifierSet(wanted).contains(version, prereleases=True)
    yield Found("Python", GOOD if fits else BROKEN, _beside(version, wanted), "" if fits else f"Python {wanted}")
    requirements = [Requirement(text) for text in ours.requires or []]
    for one in requirements:
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            yield _package(one)
    for extra in sorted(ours.metadata.get_all("Provides-Extra") or []):
        needed = [
            one
            for one in requirements
            if one.marker is not None
            and one.marker.evaluate({"extra": extra})
            and not one.marker.evaluate({"extra": ""})
        ]
        yield _extra(extra, [_package(one) for one in needed])


def _package(wanted: Any) -> Found:
    """A package that is needed, or that an extra needs."""
    try:
        version = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return Found(wanted.name, BROKEN, "not installed", f"pip install '{wanted.name}{wanted.specifier}'")
    if not wanted.specifier.contains(version, prereleases=True):
        return Found(
            wanted.name, BROKEN, f"{version}, where {wanted.specifier} is needed",
            f"pip install '{wanted.name}{wanted.specifier}'",
        )  # fmt: skip
    return Found(wanted.name, GOOD, _beside(version, wanted.specifier))


def _beside(version: str, wanted: Any) -> str:
    return f"{version} ({wanted})" if str(wanted) else version


def _extra(name: str, packages: list[Found]) -> Found:
    """An extra: there, not there, or with a package of the wrong version."""
    missing = [one for one in packages if one.found == "not installed"]
    wrong = [one for one in packages if one.state == BROKEN and one not in missing]
    install = f"pip install '{NAME}[{name}]'"
    if wrong:
        return Found(f"extra {name}", BROKEN, "; ".join(f"{one.what} {one.found}" for one in wrong), install)
    if missing:
        return Found(f"extra {name}", ABSENT, f"without {', '.join(one.what for one in missing)}", install)
    return Found(f"extra {name}", GOOD, ", ".join(f"{one.what} {one.found.split()[0]}" for one in packages))


# This machine


def _cache() -> Found:
    folder = cache_folder()
    if folder is None:
        hint = "let DRIFTBANDIT_CACHE name a folder that can be written"
        return Found("kernel cache", ABSENT, "there is none: every process compiles for itself", hint)
    files = list(folder.rglob("*.nb?"))
    size = 0.0
    for path in files:
        with contextlib.suppress(OSError):  # another process may have taken it away
            size += path.stat().st_size / 1e6
    told = f"{folder}: {len(files)} files, {size:.1f} MB"
    if not can_write(folder):
        hint = "let DRIFTBANDIT_CACHE name another folder"
        return Found("kernel cache", ABSENT, f"{told}; it can only be read", hint)
    return Found("kernel cache", GOOD, told)


def _threads() -> Found:
    count = cores()
    return Found("threads", GOOD, f"{count} core{'s' * (count != 1)} for this process, {platform.machine()}")


def _card() -> Found:
    from driftbandit.engine.cuda.card import require_card

    try:
        require_card()
    except MissingExtra as error:
        what, _, hint = str(error).rpartition(": ")
        misfit = "versions that fit together" in what
        return Found("card", BROKEN if misfit else ABSENT, what.replace('device "cuda" needs', "needs"), hint)
    device: Any = importlib.import_module("numba.cuda").get_current_device()
    name = device.name.decode() if isinstance(device.name, bytes) else device.name
    simulate("ts", "fast", horizon=50, runs=64, seed=1, device="cuda", progress=False)
    return Found("card", GOOD, str(name))


def _simulation() -> Found:
    """Compiled and interpreted, the same runs are the same to the bit."""
    began = time.perf_counter()
    policies = ["dts:discount=0.9", "ucb1"]
    few, many = (simulate(policies, "fast", horizon=50, runs=runs, seed=1, progress=False) for runs in (2, 400))
    seconds = time.perf_counter() - began
    if not np.array_equal(few.dataset["regret"].values, many.dataset["regret"].values[:, :2]):
        return Found("simulate", BROKEN, "compiled and interpreted runs differ", "make another kernel cache")
    mean = many.normalized_regret[policies[0]].mean
    if not 0.1 < mean < 0.4:
        return Found("simulate", BROKEN, f"a regret of {mean:.3f}, which is 0.23 elsewhere")
    return Found("simulate", GOOD, f"800 runs of 50 steps, compiled and interpreted alike, in {seconds:.1f} s")


def _decisions() -> Found:
    began = time.perf_counter()
    bandit = Bandit(["red", "green"], "dots:discount=0.9", seed=1)
    bandit.warm_up()
    chance = bandit.select().probability
    bandit.reward(bandit.select(), 1.0)
    if abs(chance - 0.5) > 1e-12:
        raise DriftbanditError(f"the odds of two new arms are {chance!r}")
    return Found("live decisions", GOOD, f"compiled in {time.perf_counter() - began:.1f} s")
