"""Values from a file are checked where they are taken out; what it lacks is an error, or the default that is said."""

import dataclasses

import pytest

import driftbandit as db
from driftbandit.entries import Entries
from driftbandit.online.state import Settings
from driftbandit.specification import whole


def test_a_default_stands_for_what_is_missing_and_for_nothing_else() -> None:
    entries = Entries({"text": "a", "wrong": [], "null": None})
    assert entries.text("text", "b") == "a"
    assert entries.text("missing", "b") == "b"
    assert entries.whole("missing", 9, 3) == 3
    assert entries.real("missing", default=0.5) == 0.5
    assert entries.items("missing", []) == entries.wholes("missing", []) == entries.rows("missing", 2, []) == []
    for name in ("wrong", "null"):
        with pytest.raises(db.InvalidValue, match=f"^{name} must be"):
            entries.text(name, "b")
    with pytest.raises(db.InvalidValue, match=r"^missing must be given, got entries"):
        entries.text("missing")


@dataclasses.dataclass(frozen=True, kw_only=True)
class More(Settings):
    """Settings with a field that files did not have before."""

    later: int = whole(0, 7)


def test_a_setting_that_was_added_later_has_its_default_where_a_file_lacks_it() -> None:
    state = db.Bandit(["a", "b"], db.UCB1(), seed=1).state()["settings"]
    assert More.restored(Entries(state)).later == 7
    assert More.restored(Entries(state | {"later": 2})).later == 2
    with pytest.raises(db.InvalidValue, match=r"^later must be a whole number"):
        More.restored(Entries(state | {"later": "x"}))
