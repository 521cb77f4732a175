"""Pictures of values: a panel for each target, with what is drawn taken from the log."""

import io
from pathlib import Path

import numpy as np
from tests.logs.makers import lived

import driftbandit as db
from driftbandit.figures import values


def test_every_arm_has_a_panel_with_its_values(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 300)
    log = db.Log.read(path, missing=0.0)
    figure = log.plot(["red", 7, db.UCB1()], window=50)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in panels] == ["red", "7", "ucb1, one-step"]
    assert {axes.get_xlabel() for axes in panels} == {"time"}
    data = log.over_time("red", window=50)
    drawn = {tuple(np.round(line.get_ydata(), 12)) for line in panels[0].get_lines()}
    assert tuple(np.round(data["so_far"].values, 12)) in drawn
    assert tuple(np.round(data["mean"].values, 12)) in drawn
    seeded = log.plot(db.ThompsonSampling(), window=50, seed=4).axes[0].get_lines()
    wanted = log.over_time(db.ThompsonSampling(), window=50, seed=4)["so_far"].values
    assert any(np.array_equal(line.get_ydata(), wanted) for line in seeded)
    for kind in ("png", "svg", "pdf"):
        figure.savefig(io.BytesIO(), format=kind)


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    arms = dice.integers(0, 20, 400)
    log = db.Log(arms, np.full(400, 0.05), dice.random(400) < 0.5, times=np.arange(400) * 60.0 + 1.7e9)
    figure = log.plot()
    assert sum(axes.get_visible() for axes in figure.axes) == values.MOST_PANELS
    assert f"({20 - values.MOST_PANELS} more are not drawn)" in figure.get_suptitle()
    assert "datetime" in str(figure.axes[0].get_lines()[0].get_xdata().dtype)  # seconds since 1970 are dates


def test_names_are_shown_as_they_are_and_gains_in_their_order(tmp_path: Path) -> None:
    dice = np.random.default_rng(1)
    arms = dice.choice(["$a$", "[b]" * 20], 300)
    log = db.Log(arms, np.full(300, 0.5), dice.random(300) < 0.5, policy=db.UniformRandom())
    figure = log.plot()
    figure.savefig(io.BytesIO())
    assert all(len(axes.get_title(loc="left")) <= values.LONGEST + 2 for axes in figure.axes)
    [panel] = [axes for axes in log.plot("$a$").axes if axes.get_visible()]
    assert panel.get_title(loc="left") == figure.axes[0].get_title(loc="left")
    found = log.tune([db.UCB1(), db.ThompsonSampling()])
    gains = found.plot()
    labels = [label.get_text() for label in gains.axes[0].get_yticklabels()]
    assert labels == [str(row.policy) for row in found.candidates]
    assert gains.get_suptitle().split() == found.advice.split()
    assert all(len(line) <= values.BROADEST for line in gains.get_suptitle().splitlines())
    assert "hollow: remembers longer than the log can judge" in gains.axes[0].get_xlabel()
    gains.savefig(io.BytesIO())
