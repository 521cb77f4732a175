"""A policy from a file, and one line for everything that can be wrong with it."""

import sys

import pytest

import driftbandit as db

policy_of = db.Policy.of


def test_a_text_names_a_policy_of_the_package_or_of_a_file(mine) -> None:
    assert policy_of("dts:discount=0.9") == db.DiscountedThompsonSampling(discount=0.9)
    own = policy_of(f"{mine}:Mine")
    assert (type(own).__name__, own.confidence) == ("Mine", 0.1)
    assert policy_of(f"{mine}:Mine:confidence=0.2").confidence == 0.2
    assert type(policy_of(f"{mine}:Mine:confidence=0.2")) is type(own), "a file is imported once"


def test_a_file_does_not_take_the_name_of_another_module(tmp_path, mine) -> None:
    path = tmp_path / "colorsys.py"  # one of Python's own that nobody here has imported
    path.write_text(mine.read_text().replace('"mine"', '"other-mine"'))
    assert policy_of(f"{path}:Mine").name == "other-mine"
    import colorsys

    assert hasattr(colorsys, "rgb_to_hsv")


def test_a_file_that_failed_is_read_again_when_it_was_mended(tmp_path, mine) -> None:
    path = tmp_path / "mended_policy.py"
    path.write_text("def broken(:\n")
    with pytest.raises(db.InvalidValue, match="SyntaxError"):
        policy_of(f"{path}:Mine")
    assert "mended_policy" not in sys.modules
    path.write_text(mine.read_text().replace('"mine"', '"mended"') + "# mended\n")
    assert policy_of(f"{path}:Mine").name == "mended"


def test_what_a_class_of_a_file_needs_is_said_as_it_is_written(tmp_path, mine) -> None:
    path = tmp_path / "needing_policy.py"
    path.write_text(
        mine.read_text().replace('"mine"', '"needing"')
        + """

@dataclasses.dataclass(frozen=True, kw_only=True)
class Needing(Mine):
    name: ClassVar[str] = "needing-more"
    discount: float
"""
    )
    with pytest.raises(db.InvalidValue) as error:
        policy_of(f"{path}:Needing")
    assert str(error.value) == f"{path}:Needing needs discount, as in {path}:Needing:discount=…"
    assert policy_of(f"{path}:Needing:discount=0.5").discount == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("FOLDER/none.py:Mine", "policy must be a readable Python file, got"),
        ("FOLDER:Mine", "policy must be"),
        ("MINE", "policy must be written as FILE.py:Class or name:parameter=value"),
        ("MINE:", "policy must be written as FILE.py:Class"),
        ("MINE:Yours", "policy must name a class of .*, which has Mine, Nameless, got 'Yours'"),
        ("MINE:NUMBER", "policy must be a class that derives from driftbandit.Policy, got NUMBER of"),
        ("MINE:dataclasses", "policy must be a class that derives from driftbandit.Policy, got dataclasses of"),
        ("MINE:Nameless", "policy must have a name of its own"),
        ("MINE:Mine:discount=1", ".*:Mine has the parameters confidence, got 'discount'"),
        ("BROKEN:Mine", r"policy must be in a file that can be imported, got .* \(ZeroDivisionError: "),
        ("nonsense", "policy must be one of .*, got 'nonsense'"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, mine, text, message) -> None:
    broken = tmp_path / "broken_policy.py"
    broken.write_text("1 / 0\n")
    given = text.replace("FOLDER", str(tmp_path)).replace("MINE", str(mine)).replace("BROKEN", str(broken))
    with pytest.raises(db.InvalidValue, match=f"^{message}") as error:
        policy_of(given)
    assert "\n" not in str(error.value)
