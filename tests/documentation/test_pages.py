"""The pages: every public name has its place, links lead on, and a built site is whole."""

import re
from pathlib import Path

import pytest

import driftbandit as db

from .sources import ROOT, SITE, links, pages, reference

BUILT = pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="the site is needed: make docs")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    pages.Pages(folder).write(reference.write(folder))
    return folder


def test_every_public_name_is_in_the_reference_once(written: Path) -> None:
    text = "\n".join(path.read_text() for path in (written / "reference").rglob("*.rst"))
    documented = re.findall(r"^\.\. (?:autoclass|autofunction):: (\S+)$", text, re.MULTILINE)
    documented += map(
        ".".join, re.findall(r"^\.\. py:currentmodule:: (\S+)\n\n\.\. py:data:: (\S+)$", text, re.MULTILINE)
    )
    assert len(documented) == len(set(documented))
    assert {f"driftbandit.{name}" for name in db.__all__} - set(documented) == {"driftbandit.datasets"}, "a module"
    values = {id(value) for value in reference.names().values()}
    for module in reference.modules():
        assert {name for name in reference.listed(module) if id(getattr(module, name)) not in values} == set()
    assert {name for name in reference.names() if name != "driftbandit.datasets"} == set(documented)


def test_every_page_is_in_the_table_of_contents(written: Path) -> None:
    home = (written / "index.md").read_text()
    for path in (ROOT / "docs").glob("*.md"):
        assert path.stem == "index" or f"\n{path.stem}\n" in home
    for name in re.findall(r"^```\{toctree\}\n.*?\n\n(.*?)\n```", home, re.MULTILINE | re.DOTALL):
        for page in name.split():
            assert (written / f"{page}.md").is_file() or (written / f"{page}.rst").is_file()


def test_links_to_files_become_links_to_pages(tmp_path: Path) -> None:
    made = pages.Pages(tmp_path)
    made.names = {ROOT / "docs" / "live.md": "live", ROOT / "CHANGELOG.md": "changelog"}
    text = (
        '[a](docs/live.md#time) `x` [b](tools/house.py) <img src="docs/images/layers.svg">\n```\n[c](docs/live.md)\n```'
    )
    assert made.rewritten(text, ROOT, "changelog") == (
        '[a](live.md#time) `x` [b](source/tools-house.py.md) <img src="images/layers.svg">\n```\n[c](docs/live.md)\n```'
    )
    assert made.waiting == [ROOT / "tools" / "house.py"]


def test_a_notebook_becomes_a_page(tmp_path: Path) -> None:
    path = tmp_path / "one.ipynb"
    path.write_text(
        '{"cells": [{"cell_type": "markdown", "source": ["# One"]}, {"cell_type": "code", "source": ["1 + 1"], '
        '"outputs": [{"data": {"text/plain": ["2"]}}, {"text": ["said\\n"]}, {"data": {"text/html": ["<b>3</b>"]}}]}]}'
    )
    assert pages.notebook(path).split("\n\n") == [
        "# One", "```python\n1 + 1\n```", "`````\n2\n`````", "`````\nsaid\n`````",
        '`````{raw} html\n<div class="answer"><b>3</b></div>\n`````\n',
    ]  # fmt: skip


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a><a href="https://x.y">4</a>'
        '<script src="https://x.y/z.js"></script><img src="d.png">'
    )
    (tmp_path / "b.html").write_text('<p id="here">')
    assert links.faults(tmp_path) == [
        "a.html: fetches https://x.y/z.js",
        "a.html: b.html#gone leads to no such place on that page",
        "a.html: c.html leads nowhere",
        "a.html: d.png leads nowhere",
    ]


@BUILT
def test_the_built_site_has_every_public_name_and_no_fault() -> None:
    assert links.faults(SITE) == []
    text = "".join(path.read_text() for path in (SITE / "reference").rglob("*.html"))
    places = set(re.findall(r'id="(driftbandit\.[\w.]+)"', text))
    assert set(reference.names()) - places <= {"driftbandit.datasets"}, "make docs"
    for method in ("Result.difference", "Bandit.recover", "Log.value", "DiscountedUCB.tuned"):
        assert f"driftbandit.{method}" in places
