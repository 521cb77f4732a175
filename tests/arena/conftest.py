"""One small arena, shared by the tests that look at what it leaves behind."""

from pathlib import Path

import pytest

from driftbandit.arena import Competition, compete

MINE = '''
"""A policy of a user's own."""

import dataclasses
from typing import ClassVar

import driftbandit as db


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mine(db.UCB1):
    """UCB1 with a small bonus."""

    name: ClassVar[str] = "mine"
    confidence: float = 0.1


class Nameless(db.UCB1):
    """A policy that has no name of its own."""


NUMBER = 7
'''
ONLY = ["f-dsw-1", "stationary-2"]
RUNS = 3


@pytest.fixture(scope="session")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "mine_in_the_arena.py"
    path.write_text(MINE)
    return path


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "my means.csv"
    rows = [("0.9,0.2", "0.1,0.8")[step // 50 % 2] for step in range(200)]
    path.write_text("red,green\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory, mine: Path, table: Path) -> Competition:
    return compete(
        tmp_path_factory.mktemp("arena"), [*ONLY, "tables"], [f"{mine}:Mine", "dts:discount=0.93"], [table],
        runs=RUNS, seed=5, progress=False,
    )  # fmt: skip
