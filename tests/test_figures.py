import io
import itertools
import subprocess
import sys

import matplotlib.text
import numpy as np
import pytest

import driftbandit as db
from driftbandit import Abrupt, DiscountedThompsonSampling, Fast, ThompsonSampling, figures, simulate
from driftbandit.errors import InvalidValue
from driftbandit.figures import Series


@pytest.fixture(scope="module")
def result():
    policies = [DiscountedThompsonSampling(discount=0.9), ThompsonSampling()]
    return simulate(policies, Fast(), horizon=300, runs=20, seed=1)


def texts(figure):
    return [each.get_text() for axes in figure.axes for each in axes.texts]


def test_importing_the_package_draws_in_no_matplotlib():
    code = "import sys, driftbandit, driftbandit.figures, driftbandit.paper; assert 'matplotlib' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_drawing_leaves_pyplot_alone(result):
    code = (
        "import sys, numpy as np; from driftbandit import figures; "
        "figures.lines([figures.Series('a', np.arange(3), np.arange(3.0))], x_label='x', y_label='y')"
        ".savefig('/dev/null', format='svg'); assert 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_regret_over_time_shows_the_means_and_their_bands(result):
    names = ["dTS with a name that is long", "TS"]
    figure = figures.regret_over_time(result, labels=names)
    [axes] = figure.axes
    for row, line in enumerate(axes.lines):
        np.testing.assert_array_equal(line.get_ydata(), result.regret_over_time["mean"].values[row])
    assert len(axes.collections) == 2
    assert [each.get_text() for each in axes.get_legend().get_texts()] == names
    assert result.plot().axes[0].get_title(loc="left") == "fast (20 runs)"


def test_short_labels_stand_at_the_ends_of_their_lines(result):
    figure = figures.reward_over_time(result, labels=["dTS", "TS"], title="Fast")
    assert sorted(texts(figure)) == ["TS", "dTS"]
    assert figure.axes[0].get_legend() is None


def test_every_policy_needs_its_label(result):
    with pytest.raises(InvalidValue, match=r"^labels must be 2 names"):
        figures.regret_over_time(result, labels=["dTS"])


def test_means_of_an_environment():
    figure = figures.environment_means(Abrupt(), 250)
    assert sorted(texts(figure)) == ["arm 1", "arm 2", "arm 3", "arm 4"]
    assert figure.axes[0].lines[3].get_ydata()[-2] == 0.9


def test_a_parameter_along_the_axis_with_a_mark():
    line = Series("dTS", np.array([0.5, 1.0]), np.array([0.2, 0.3]), np.array([0.01, 0.01]))
    figure = figures.regret_by("discount", [line], marks=[(0.75, "printed 0.75")])
    assert "printed 0.75" in texts(figure)
    assert figure.axes[0].get_xlabel() == "discount"


def test_a_map_says_its_numbers_and_frames_the_least():
    values = np.array([[0.3, 0.25], [0.1, 0.2]])
    figure = figures.regret_map([".5", ".9"], ["1", "0.1"], values, x_label="discount", y_label="prior")
    assert texts(figure) == [".30", ".25", ".10", ".20"]
    frame = figure.axes[0].patches[-1]
    assert (frame.get_x(), frame.get_y()) == (0, 1)


def test_dots_have_a_row_for_each_label():
    group = Series("restless", np.arange(2), np.array([0.1, -0.2]), np.array([0.01, 0.02]))
    figure = figures.dots(["TS", "dTS"], [group], x_label="regret")
    assert [each.get_text() for each in figure.axes[0].get_yticklabels()] == ["TS", "dTS"]


def test_ratios_are_drawn_by_factors_and_many_labels_stand_beside():
    x, y = np.array([0.5, 1.0, 4.0]), np.array([0.0, 0.5, 1.0])
    some = [Series("one", x, y), Series("a name that is quite long", x, y / 2)]
    figure = figures.lines(
        some, x_label="x", y_label="y", x_limits=(0.5, 4.0), marks=[(1.0, ""), (3.9, "late")], ratios=True, beside=True
    )
    [axes] = figure.axes
    assert axes.get_xscale() == "log"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.5", "1", "2", "4"]
    assert [each.get_text() for each in axes.get_legend().get_texts()] == ["one", "a name that is quite long"]
    assert [(each.get_text(), each.get_ha()) for each in axes.texts] == [("late", "right")]
    group = Series("one", np.arange(2), np.array([0.6, 3.0]), np.array([0.1, 0.1]))
    dots = figures.dots(["a", "b"], [group], x_label="ratio", x_limits=(0.5, 4.0), ratios=True)
    assert (dots.axes[0].get_xscale(), dots.axes[0].get_xlim()) == ("log", (0.5, 4.0))


def test_lines_without_intervals_are_drawn_too():
    one = simulate(ThompsonSampling(), Fast(), horizon=50, runs=1, seed=1)
    assert len(figures.regret_over_time(one).axes[0].collections) == 0


def test_a_replay_shows_gains_over_time_and_their_intervals(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("day,$a$,$b\n" + "".join(f"day {t},0.{t % 10},0.{9 - t % 10}\n" for t in range(40)))
    policies = [ThompsonSampling(), db.DiscountedUCB(discount=0.9, confidence=0.02)]
    replay = db.replay(table, policies, blocks=8, runs=3, progress=False)
    figure = replay.plot()
    figure.savefig(io.BytesIO(), format="svg")  # a name that is taken for a formula would raise here
    level, gains, rows = figure.axes
    assert [each.get_text() for each in level.get_legend().get_texts()] == [
        "rolling oracle", "best single arm", "uniform choice",
    ]  # fmt: skip
    assert [line.get_ydata()[0] for line in gains.lines] == [0.0] * 4
    lengths = np.diff(replay.lasts, prepend=0)
    gained = (replay.blocks["ts"] - replay.blocks["best single arm"]) @ lengths
    assert gains.lines[2].get_ydata()[-1] == pytest.approx(gained)
    names = [each.get_text() for each in rows.get_yticklabels()]
    assert names == ["ts", "d-ucb:discount=0.9,\nconfidence=0.02", "uniform choice", "rolling oracle"]
    [drawn] = rows.containers[0][2]
    found = replay.difference("ts")
    np.testing.assert_allclose(drawn.get_segments()[0][:, 0], [found.low, found.high])
    assert figure.get_suptitle() == replay.title
    assert replay.plot(title="T", size=(7, 4)).get_suptitle() == "T"
    plain = db.replay([[0.1, 0.9]], ThompsonSampling(), runs=1, progress=False).plot()
    assert [axes.get_xlabel() for axes in plain.axes[:2]] == ["", "decision"]


@pytest.mark.parametrize("heights", [[0, 0, 0, 0], [1, 2, 30, 31], [5, 100], []])
def test_labels_are_moved_apart_and_stay_in_order(heights):
    moved = figures.spread_out(heights, 10)
    assert all(after - before >= 10 - 1e-9 for before, after in itertools.pairwise(moved))
    assert sum(moved) == pytest.approx(sum(heights))


def test_the_options_of_plot_are_its_own(result):
    figure = result.plot(labels=["one", "two"], title="T", size=(5, 3), x_limits=(0, 10), y_limits=(0, 1))
    assert figure.axes[0].get_title(loc="left") == "T"
    with pytest.raises(TypeError, match=r"plot\(\) got an unexpected keyword argument 'foo'"):
        result.plot(foo=1)
    for option in ("labels", "title", "size", "x_limits", "y_limits"):
        assert option in (db.Result.plot.__doc__ or "")


def test_a_name_with_dollars_is_no_formula(result):
    labels, title = ["$x$", "$\\nothing$"], "$ and $\\oops$"
    figure = result.plot(labels=labels, title=title)
    figure.savefig(io.BytesIO(), format="svg")  # an unknown formula would raise here
    drawn = [text.get_text().replace(r"\$", "$") for text in figure.findobj(matplotlib.text.Text)]
    assert {*labels, title} <= set(drawn)
