"""docs/design.md says what is there: its picture, its loop, and every file that it names."""

import re
import runpy
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "driftbandit"


def test_the_picture_shows_the_layers_that_are_checked() -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "figures" / "layers.py"))
    assert drawn["PICTURE"].read_text(encoding="utf-8") == drawn["picture"](), "python docs/figures/layers.py"
    there = {path.stem for path in SOURCE.iterdir() if not path.name.startswith("_")}
    assert {name for layer in drawn["layers"]() for name in layer} == there - {"py"}
    for package, parts in drawn["PARTS"].items():
        folders = {path.parent.name for path in (SOURCE / package).glob("*/__init__.py")}
        assert {name for name, _ in parts} == folders


def test_the_loop_is_the_one_that_defines_a_run() -> None:
    (loop,) = re.findall(r"```py\n(for t in range.*?)```", TEXT, flags=re.DOTALL)
    assert textwrap.indent(loop, "    ") in (ROOT / "tests" / "naive.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`([\w/]+\.py)`", TEXT))))
def test_every_file_that_is_named_is_there(named: str) -> None:
    assert (ROOT / named).is_file() or list(SOURCE.rglob(named)), named
