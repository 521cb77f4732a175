"""Settings of all tests: property tests are repeatable, and full-scale checks run only when asked for."""

import pytest
from hypothesis import settings

from driftbandit.compiling import gears

settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")

# What runs live is compiled at its first call: which gear answers must not depend on how busy the machine is, and a
# thread that compiles would disturb the filters of warnings, which belong to the whole process.
gears._background.start = gears._background.compile_all  # type: ignore[method-assign]


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
