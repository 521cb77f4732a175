"""One small reproduction of everything, shared by the tests that look at what it leaves behind."""

import pytest

from driftbandit.paper import Reproduction, reproduce


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce(tmp_path_factory.mktemp("reproduction"), runs=8, seed=5, progress=False)
