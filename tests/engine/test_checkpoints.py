"""Kept parts and cluster workers are known by everything that an outcome depends on."""

import dataclasses
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftbandit as db
from driftbandit.engine.checkpoints import Keeper, fingerprint
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.identity import hash_of_sources, identity
from rules import RULES

EDITABLE = """
import dataclasses
from typing import ClassVar
import numpy as np
import driftbandit as db

def half(x):
    return 0.5 * x

@dataclasses.dataclass(frozen=True, kw_only=True)
class Mine(db.Policy):
    name: ClassVar[str] = "edited"

    def rule(self, n_arms):
        return db.Rule(selection="index", score=mean, learn=observe, parameters=(), decay=0.9)

def mean(p, shared, a, b):
    return b / a if a > 0.001 else 2.0

def observe(p, a, b, reward, probability):
    return a + 1.0, b + half(reward)

@dataclasses.dataclass(frozen=True, kw_only=True)
class Tide(db.Environment):
    name: ClassVar[str] = "edited-tide"
    n_arms: int = 2

    def means_at(self, clock):
        return np.stack([level(clock), 1.0 - level(clock)], axis=1)

def level(clock):
    return 0.5 + 0.4 * np.sin(clock / 9.0)
"""


@pytest.fixture(autouse=True)
def names_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.Policy, "known", dict(db.Policy.known))
    monkeypatch.setattr(db.Environment, "known", dict(db.Environment.known))


def written(*edits: tuple[str, str]) -> Shard:
    """A shard of the policy and the environment above, after some edits of their text."""
    text = EDITABLE
    for before, after in edits:
        assert before in text
        text = text.replace(before, after)
    names: dict[str, Any] = {"__name__": "mine"}
    exec(text, names)
    return Shard(names["Mine"](), names["Tide"](), 20, 1, 0, 4, (20,))


def test_an_unchanged_policy_and_environment_find_what_was_kept(tmp_path: Path) -> None:
    keeper, outcome = Keeper(tmp_path, "cpu"), run_shard(written())
    keeper.keep(written(), outcome)
    found = keeper.find(written())
    assert found is not None
    for one, other in zip(found, outcome, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    "edit",
    [
        ("decay=0.9", "decay=0.5"),
        ("return 0.5 * x", "return 0.25 * x"),
        ("parameters=()", "parameters=(1.0,)"),
        ("decay=0.9", "decay=0.9, initial=(1.0, 0.0)"),
        ("decay=0.9", "decay=0.9, explore=0.1"),
        ("decay=0.9", "decay=0.9, drift=(0.0, 0.01)"),
        ("decay=0.9", "decay=0.9, restart=7"),
        ("else 2.0", "else 3.0"),
        ("0.4 * np.sin", "0.3 * np.sin"),
        ("1.0 - level(clock)", "0.9 - level(clock)"),
        ("n_arms: int = 2", "n_arms: int = 2\n    height: ClassVar[float] = 0.5"),
    ],
    ids=lambda edit: edit[1],
)
def test_what_an_edited_policy_or_environment_made_before_is_not_found(tmp_path: Path, edit: tuple[str, str]) -> None:
    keeper = Keeper(tmp_path, "cpu")
    keeper.keep(written(), run_shard(written()))
    assert keeper.find(written(edit)) is None


def test_no_two_rules_have_one_fingerprint() -> None:
    rules = [
        *RULES.values(),
        *(policy.rule(4) for policy in (db.UCB1(), db.ThompsonSampling(), db.Exp3(exploration=0.5))),
    ]
    assert len({str(fingerprint(rule)) for rule in rules}) == len(rules)
    for rule in rules:
        for field in dataclasses.fields(rule):
            assert field.name in fingerprint(rule)


def test_another_number_anywhere_in_the_package_is_another_package(tmp_path: Path) -> None:
    root = Path(db.__file__).parent
    copy = tmp_path / "driftbandit"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert hash_of_sources(copy) == hash_of_sources(root)
    assert hash_of_sources(root)[:8] in identity()
    changes = {
        "numerics/single_precision.py": r"ODDS_BLUR = ",
        "compiling/numba_compiler.py": r"import ",
        "checks.py": r"def ",
        "datasets/weather.csv": r"2013-",
    }
    for name, pattern in changes.items():
        text = (copy / name).read_text(encoding="utf-8")
        (copy / name).write_text(re.sub(pattern, r"\g<0>  ", text, count=1), encoding="utf-8")
        assert hash_of_sources(copy) != hash_of_sources(root)
        (copy / name).write_text(text, encoding="utf-8")
    assert hash_of_sources(copy) == hash_of_sources(root)
