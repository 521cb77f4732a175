"""Settings of all tests: property tests are repeatable, and full-scale checks run only when asked for."""

import pytest
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("-m"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow and len(slow) < len(items):
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]
