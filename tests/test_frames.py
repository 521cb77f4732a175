"""Results and bandits in notebooks and data frames."""

import html.parser
import math
import sys

import numpy as np
import pytest

import driftbandit as db
from driftbandit.notebook import MOST_ROWS, Line, card, curves
from examples import SHORT

WORLDS = [db.Fast(), db.Besson(problem=2), db.FromMeans(means=[[0.1, 0.9]]), db.datasets.weather(), db.Brownian()]
EVIL = '<script>alert("1")</script><b>&amp;'


class Page(html.parser.HTMLParser):
    """Which tags there are, whether all are closed, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.open.append(tag)
        self.links += [f"{name}={value}" for name, value in attrs if name in ("src", "href") or name.startswith("on")]

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(value) -> Page:
    page = Page(value._repr_html_())
    assert page.open == []
    assert page.links == []
    assert set(page.tags) <= {
        "div", "table", "thead", "tbody", "tr", "th", "td", "svg", "line", "text", "polygon", "polyline",
    }  # fmt: skip
    return page


@pytest.fixture(scope="module")
def result() -> db.Result:
    return db.simulate(["dts:discount=0.9", "ts", "ucb1"], "fast", horizon=40, runs=5, seed=1, progress=False)


def test_a_result_says_its_policies_and_their_regret(result: db.Result) -> None:
    first, *rows = repr(result).splitlines()
    assert first == "fast, 5 runs of 40 steps, seed 1; normalised regret:"
    assert rows == [f"{label:<16}  {value}" for label, value in result.normalized_regret.items()]
    one = db.simulate("ts", "fast", horizon=1, runs=1, progress=False)
    assert repr(one).startswith("fast, 1 run of 1 step, seed 0;")


def test_a_result_shows_a_table_and_its_curves(result: db.Result) -> None:
    page = read(result)
    for label in result.policies:
        for measure in (result.normalized_regret, result.static_regret, result.mean_reward):
            assert str(measure[label]) in page.text
    assert page.tags.count("polyline") == page.tags.count("polygon") == 3
    last = float(result.normalized_regret["ts"].mean)
    high = result.regret_over_time["mean"].values.max()
    points = result._repr_html_().split("<polyline ")[2].split('"')[1].split()
    assert float(points[-1].split(",")[1]) == pytest.approx(10 + 176 * (high - last) / high, abs=0.06)


def test_one_run_has_lines_without_bands() -> None:
    page = read(db.simulate("ts", "fast", horizon=40, runs=1, progress=False))
    assert page.tags.count("polyline") == 1
    assert "polygon" not in page.tags


def test_many_policies_are_shown_as_far_as_there_is_room() -> None:
    many = [f"dts:discount=0.{number}" for number in range(10, 35)]
    page = read(db.simulate(many, "fast", horizon=10, runs=2, progress=False))
    assert page.tags.count("polyline") == 6
    assert page.text.count("dts:discount") == MOST_ROWS
    assert "… and 5 more" in page.text


@pytest.mark.parametrize("value", [*SHORT, *WORLDS], ids=str)
def test_policies_and_environments_show_their_parameters(value) -> None:
    page = read(value)
    assert str(value)[:80] in page.text
    assert type(value).summary()[:80] in page.text
    for name in value.parameters():
        assert name in page.text


def test_a_bandit_shows_its_arms() -> None:
    bandit = db.Bandit(["red", "green"], "dots:discount=0.9", seed=1)
    assert "probability" in read(bandit).text
    for number in range(20):
        bandit.reward(bandit.select(), number % 2)
    page, told = read(bandit), bandit.probabilities()
    for arm, chance in told.items():
        assert arm in page.text
        assert f"{chance:.4g}" in page.text
    assert "dots:discount=0.9, 2 arms, 20 decisions, 0 pending" in page.text


def test_a_bandit_with_many_arms_shows_some() -> None:
    bandit = db.Bandit(range(200), "ts", seed=1)
    for number in range(40):
        bandit.reward(bandit.select(), number % 2)
    page = read(bandit)
    assert page.tags.count("tr") == MOST_ROWS + 1
    assert "alike, each" in page.text


def test_names_are_shown_as_they_are_and_never_run() -> None:
    bandit = db.Bandit([EVIL, "green"], "ts", seed=1)
    assert EVIL in read(bandit).text
    page = read(db.simulate("ts", db.FromMeans(means=[[0.1, 0.9]]), horizon=5, runs=2, progress=False))
    assert "from-means:means=<" in page.text
    shown = Page(card(EVIL, EVIL, {EVIL: [EVIL]}, curves([Line([1.0], [0.5], [math.nan])], EVIL, EVIL)))
    assert set(shown.tags).isdisjoint({"script", "b"})


@pytest.mark.parametrize("mean", [[], [math.nan, math.nan], [0.0, 0.0], [-1.0, 1.0], [1e300, -1e300], [0.5]])
def test_any_line_is_drawn_or_left_out(mean) -> None:
    drawn = curves([Line(list(range(1, len(mean) + 1)), mean, [math.nan] * len(mean))], "step", "regret")
    assert "nan" not in drawn
    assert "inf" not in drawn
    assert bool(drawn) == any(map(math.isfinite, mean))


def test_numbers_of_an_estimate_take_a_format() -> None:
    value = db.Estimate(0.06534, 0.00042)
    assert f"{value}" == str(value) == "0.0653 ± 0.0004"
    assert f"{value:.3f}" == "0.065 ± 0.000"
    assert f"{value:+.1e}" == "+6.5e-02 ± 4.2e-04"
    assert f"{value:.1%}" == "6.5% ± 0.0%"
    assert f"{value:>18}" == "   0.0653 ± 0.0004"
    assert f"{db.Estimate(0.5, math.nan):.3f}" == "0.500"
    for wrong in (".3d", "x", ".3x"):
        with pytest.raises(ValueError, match="format"):
            format(value, wrong)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_hold_what_results_say(result: db.Result, kind: str) -> None:
    frame = getattr(result, f"to_{kind}")()
    assert list(frame.columns) == [
        "policy", "environment", "horizon", "runs", "seed", "name", "normalized_regret", "normalized_regret_ci95",
        "static_regret", "static_regret_ci95", "mean_reward", "mean_reward_ci95",
    ]  # fmt: skip
    assert list(frame["policy"]) == result.policies
    assert list(frame["name"]) == ["dts", "ts", "ucb1"]
    assert list(frame["static_regret_ci95"]) == [value.ci95 for value in result.static_regret.values()]
    steps = getattr(result, f"to_{kind}")("steps")
    curves = result.regret_over_time
    assert np.array_equal(np.array(steps["normalized_regret"]).reshape(3, -1), curves["mean"].values)
    assert np.array_equal(np.array(steps["normalized_regret_ci95"]).reshape(3, -1), curves["ci95"].values)
    assert list(steps["step"])[:40] == curves["step"].values.tolist()
    runs = getattr(result, f"to_{kind}")("runs")
    assert len(runs) == 3 * 5 * 40
    row = 1 * 5 * 40 + 2 * 40 + 7  # the second policy, the third run, the eighth step
    assert [list(runs[name])[row] for name in ("policy", "run", "step")] == ["ts", 2, 8]
    assert list(runs["reward"])[row] == result.dataset["reward"].values[1, 2, 7]


def test_a_frame_of_something_else_is_refused(result: db.Result) -> None:
    for rows in ("policy", "", None, 3):
        with pytest.raises(db.InvalidValue, match=r'^rows must be "policies" or "steps" or "runs", got '):
            result.to_pandas(rows)


def test_the_largest_seed_fits_into_a_frame() -> None:
    found = db.simulate("ts", "fast", horizon=2, runs=2, seed=2**64 - 1, progress=False)
    assert found.to_polars()["seed"].to_list() == [str(2**64 - 1)]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_what_is_missing_is_said_with_what_to_install(result: db.Result, kind: str, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(db.MissingExtra, match=rf"^to_{kind} needs P?p?\w+: pip install 'driftbandit\[frames\]'$"):
        getattr(result, f"to_{kind}")()
