"""Names of arms are text that is shown as it is, and what looks like an arm, an id or a reward is taken as one."""

import copy
import decimal
import fractions
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import driftbandit as db
from driftbandit.online import Bandit

TS = db.ThompsonSampling()
ODD = [
    "[/]",
    "[red]bold[/red]",
    "<script>alert(1)</script>",
    "$x^2$",
    "naïve 🎲",
    "a\nb",
    "\\[b]",
    "% {}",
    "",
    " ",
    "x" * 10_000,
    "$\\nothing$",
]


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    bandit = Bandit(ODD, TS, seed=1, log=tmp_path / "log.jsonl")
    for _ in range(30):
        bandit.reward(bandit.select().id, 1.0)
    console = Console(file=io.StringIO(), width=200)
    console.print(bandit)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    for name in ODD:
        assert name.replace("\n", " ").strip() in shown or name == "a\nb" or len(name) > 100
    bandit.plot(limit=len(ODD)).canvas.draw()
    bandit.save(tmp_path / "bandit.json")
    assert Bandit.load(tmp_path / "bandit.json").arms == tuple(ODD)
    assert Bandit.recover(tmp_path / "bandit.json", tmp_path / "log.jsonl").arms == tuple(ODD)


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises(db.InvalidValue, match="arm must be a text without lone surrogates"):
        Bandit(["\ud800", "b"], TS, seed=1)
    bandit = Bandit(["a", "b"], TS, seed=1)
    with pytest.raises(db.InvalidValue, match="arm must be a text without lone surrogates"):
        bandit.add("\udfff")
    assert bandit.arms == ("a", "b")


def test_numbers_and_texts_of_numpy_are_names() -> None:
    bandit = Bandit(np.arange(3), TS, seed=1)
    assert bandit.arms == (0, 1, 2)
    assert {type(arm) for arm in bandit.arms} == {int}
    bandit.add(np.str_("text"))
    bandit.remove(np.int64(1))
    assert bandit.arms == (0, 2, "text")
    assert bandit.select(arms=[np.int64(2)]).arm == 2
    json.dumps(bandit.state())
    for wrong in (True, np.bool_(True), 1.0, None, b"x"):
        with pytest.raises(db.InvalidValue, match="arm must be a text or a whole number"):
            bandit.add(wrong)  # type: ignore[arg-type]


def test_a_decision_stands_for_its_id_and_any_number_is_a_reward() -> None:
    bandit = Bandit(["a", "b"], TS, seed=1)
    values = [1, np.float32(0.0), fractions.Fraction(1, 2), decimal.Decimal("0.25"), True, np.True_, np.int64(1)]
    for value in values:
        assert bandit.reward(bandit.select(), value) == "accepted"  # type: ignore[arg-type]
    assert bandit.rewards([(bandit.select(), 1.0), (np.int64(bandit.select().id), 0.0)]) == ["accepted"] * 2  # type: ignore[list-item]
    for wrong in ("1", None, [], {}, True, 1.5, -1, 2**60):
        with pytest.raises(db.InvalidValue, match="id must be"):
            bandit.reward(wrong, 1.0)  # type: ignore[arg-type]
    with pytest.raises(db.InvalidValue, match="reward must be"):
        bandit.reward(bandit.select(), decimal.Decimal("NaN"))  # type: ignore[arg-type]


def test_a_bandit_that_is_copied_says_what_to_do_instead() -> None:
    bandit = Bandit(["a", "b"], TS, seed=1)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"take its state\(\) and give it to Bandit.from_state"):
            attempt(bandit)
