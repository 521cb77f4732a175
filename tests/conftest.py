"""Settings of all tests: property tests are repeatable, and full-scale checks run only when asked for."""

import collections
from typing import Any

import pytest
from hypothesis import settings

from driftbandit.compiling import gears

settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")

gears.most_interpreted = 100  # type: ignore[attr-defined]  # calls before one is compiled: most tests have fewer
_calls: collections.Counter[int] = collections.Counter()


def _counted(self: gears.Gears, *arguments: Any) -> Any:
    """What runs live is compiled here and after so many calls: which gear answers must not depend on how busy the
    machine is, and a thread that compiles would disturb the filters of warnings, which belong to the whole process.
    """
    _calls[id(self)] += 1
    if _calls[id(self)] > gears.most_interpreted:  # type: ignore[attr-defined]
        return self.wait(*arguments)
    return _call(self, *arguments)


_call = gears.Gears.__call__
gears.Gears.__call__ = _counted  # type: ignore[method-assign]
gears._background.start = lambda: None  # type: ignore[method-assign]


@pytest.fixture(autouse=True)
def kernels_for_small_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests are about kernels, however small their games; those about small games say so."""
    monkeypatch.setattr("driftbandit.engine.cpu.small.MOST_INTERPRETED", 0)


@pytest.fixture(autouse=True)
def no_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All cores have tests to run already: other processes that compile would take from them what they give."""
    monkeypatch.setattr("driftbandit.engine.cpu.threads.MOST_OTHERS", 0)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("-m"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow and len(slow) < len(items):
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]
