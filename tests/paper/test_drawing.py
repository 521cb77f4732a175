"""Figures that several processes draw are those that one draws, to the byte."""

from concurrent.futures import Future
from pathlib import Path

import pytest

from driftbandit import crew
from driftbandit.paper import drawing, reproduce

ONLY = ["environments", "tables", "d-ucb-fast"]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for part in ("figures", "numbers") for path in (folder / part).iterdir()}


def test_several_processes_draw_what_one_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "cores", lambda: 1)
    reproduce(tmp_path / "one", ONLY, "text", runs=4, progress=False)
    alone = drawing._drawn
    here = []

    def noted(part, found, folder):
        here.append(part)
        return alone(part, found, folder)

    monkeypatch.setattr(drawing, "_drawn", noted)
    monkeypatch.setattr(crew, "cores", lambda: 4)
    with monkeypatch.context() as patience:
        patience.setattr(Future, "cancel", lambda self: False)  # nothing is drawn here that others can draw
        made = reproduce(tmp_path / "several", ONLY, "text", runs=4, progress=False)
    assert here == []
    assert files(tmp_path / "several") == files(tmp_path / "one")
    assert len(files(tmp_path / "one")) > 10
    for word in ("playing", "compiling", "judging", "writing", "drawing", "the rest"):
        assert word in made.times
    assert f": {made.times.split(',')[0]}" in made.report.read_text(encoding="utf-8")
    reproduce(tmp_path / "together", ONLY, "text", runs=4, progress=False)
    assert files(tmp_path / "together") == files(tmp_path / "one")
    here.clear()
    kept = drawing.drawn_from_store
    monkeypatch.setattr(drawing, "drawn_from_store", lambda *question: kept(*question))  # which cannot be sent
    reproduce(tmp_path / "several", ONLY, "text", runs=4, progress=False)
    assert len(here) == 7
    assert files(tmp_path / "several") == files(tmp_path / "one")
