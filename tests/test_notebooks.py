"""The notebooks of examples/ run, and print what the files say."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "tools" / "notebooks.py").is_file():
    pytest.skip("a package of the sources without its tools", allow_module_level=True)
sys.path.append(str(ROOT / "tools"))

import notebooks  # noqa: E402  # found only now

FILES = sorted((ROOT / "examples").glob("*.ipynb"))


def told(outputs: list[dict[str, Any]]) -> str:
    """What there is to read."""
    return "".join("".join(one.get("text") or one["data"]["text/plain"]) for one in outputs)


def test_there_are_notebooks() -> None:
    assert [path.name for path in FILES] == ["comparison.ipynb", "live_and_log.ipynb"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_runs_and_prints_what_it_says(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for count, (cell, outputs) in enumerate(notebooks.executed(notebook, figures=False), start=1):
        assert cell["execution_count"] == count
        assert told(cell["outputs"]) == told(outputs), f"python tools/notebooks.py {path.relative_to(ROOT)}"
        kinds = [set(one.get("data", {})) - {"image/svg+xml"} for one in cell["outputs"]]
        assert kinds == [set(one.get("data", {})) for one in outputs]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_notebook_is_whole_small_and_safe(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert len(text) < 250_000
    figures = 0
    for cell in notebook["cells"]:
        fields = {"cell_type", "id", "metadata", "source"}
        code = cell["cell_type"] == "code"
        assert set(cell) == fields | ({"execution_count", "outputs"} if code else set())
        for output in cell.get("outputs", []):
            shown = "".join("".join(each) for each in output.get("data", {}).values())
            assert "<script" not in shown
            assert not re.search(r'(src|href)="(?!#)', shown)
            figures += "<svg" in shown
    assert figures >= 1


def test_a_cell_gives_what_it_prints_and_its_last_value() -> None:
    names: dict[str, Any] = {}
    assert notebooks.outputs("x = 2\nprint('a')\nx + 1", names, 3, True) == [
        {"name": "stdout", "output_type": "stream", "text": ["a\n"]},
        {"data": {"text/plain": ["3"]}, "execution_count": 3, "metadata": {}, "output_type": "execute_result"},
    ]
    assert notebooks.outputs("y = x", names, 4, True) == []
    assert notebooks.outputs("None", names, 5, True) == []
    with pytest.raises(ZeroDivisionError):
        notebooks.outputs("1 / 0", names, 6, True)
