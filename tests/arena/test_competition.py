"""What the arena leaves behind, and that it goes on where it stopped."""

import html.parser
import json
import re
import sys

import pytest

import driftbandit.campaign.work as work_module
from arena.conftest import ONLY, RUNS
from driftbandit.arena import compete
from driftbandit.cli import main
from driftbandit.errors import Interrupted, InvalidValue


def read(made):
    return (made.report.parent / "numbers.json").read_bytes()


def test_numbers_hold_every_policy_in_every_environment(small) -> None:
    found = json.loads(read(small))
    assert found == small.numbers
    assert (found["seed"], found["draw"], found["runs"]) == (5, 1, RUNS)
    assert [world["id"] for world in found["environments"]] == ["f-dsw-1", "stationary-2", "table-my-means"]
    labels = [row["policy"] for row in found["policies"]]
    assert {"ts", "mine", "dts:discount=0.93", "d-ucb told", "sw-ucb fitted", "best single arm"} <= set(labels)
    for world in found["environments"]:
        rows = {row["policy"]: row for row in world["results"]}
        assert list(rows) == labels
        [best] = [row for label, row in rows.items() if label.endswith(" fitted") and row["ratio"] == 1]
        assert best["setting"] == world["best_fitted"]
        for label, row in rows.items():
            assert row["runs"] == (0 if label == "best single arm" else RUNS)
            assert row["ratio"] == pytest.approx(row["normalized_regret"] / best["normalized_regret"])
    assert found["environments"][0]["results"][labels.index("best single arm")]["normalized_regret"] == pytest.approx(
        (251 * 0.2 + 499 * 0.3) / 1000  # the second arm: behind the first one at first, at 0 in the end
    )


def test_what_is_reported_is_what_simulate_says(small) -> None:
    import driftbandit as db

    world = small.numbers["environments"][0]
    rows = {row["policy"]: row for row in world["results"]}
    policies = [db.Policy.parse(rows[label]["setting"]) for label in ("ts", "d-ucb told", "dts fitted")]
    result = db.simulate(policies, db.FDSW(test=1), horizon=1000, runs=RUNS, seed=5, progress=False)
    for label, value in zip(("ts", "d-ucb told", "dts fitted"), result.normalized_regret.values(), strict=True):
        assert (rows[label]["normalized_regret"], rows[label]["ci95"]) == pytest.approx(tuple(value))


def test_again_it_runs_nothing_and_ends_the_same_also_on_other_threads(small, mine, table, tmp_path) -> None:
    arguments = ([*ONLY, "tables"], [f"{mine}:Mine", "dts:discount=0.93"], [table])
    before = read(small)
    again = compete(small.report.parent, *arguments, runs=RUNS, seed=5, progress=False)
    assert again.simulated == 0 < again.games
    assert read(again) == before
    elsewhere = compete(tmp_path / "one", *arguments, runs=RUNS, seed=5, threads=1, progress=False)
    assert elsewhere.simulated == elsewhere.games
    assert read(elsewhere) == before


def test_interrupted_and_started_again_it_ends_the_same(small, mine, table, tmp_path, monkeypatch) -> None:
    arguments = ([*ONLY, "tables"], [f"{mine}:Mine", "dts:discount=0.93"], [table])
    play = work_module.play_games

    def interrupted(*given):
        for count, answer in enumerate(play(*given)):
            if count == 4:
                raise Interrupted("interrupted")
            yield answer

    with monkeypatch.context() as patched:
        patched.setattr(work_module, "play_games", interrupted)
        with pytest.raises(Interrupted, match=r"^interrupted after \d+%; what is finished is kept in .* goes on from"):
            compete(tmp_path, *arguments, runs=RUNS, seed=5, progress=False)
    kept = len(list((tmp_path / "results").glob("*.nc")))
    assert 0 < kept < small.games
    assert not (tmp_path / "numbers.json").exists()
    made = compete(tmp_path, *arguments, runs=RUNS, seed=5, progress=False)
    assert made.simulated == small.games - kept
    assert read(made) == read(small)


def test_only_what_is_asked_for_is_played_and_another_seed_is_another_game(small) -> None:
    folder = small.report.parent
    one = compete(folder, ["f-dsw-1"], runs=RUNS, seed=5, progress=False)
    assert one.simulated == 0
    assert [world["id"] for world in one.numbers["environments"]] == ["f-dsw-1"]
    page = one.report.read_text(encoding="utf-8")
    assert 'id="part-published"' in page
    assert 'id="part-stationary"' not in page
    assert sorted(path.stem for path in (folder / "figures").glob("*.svg")) == ["family-published", "profile"]
    other = compete(folder, ["f-dsw-1"], runs=RUNS, seed=6, progress=False)
    assert other.simulated == other.games


class Page(html.parser.HTMLParser):
    """Ids, references and open tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.asked: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes) -> None:
        values = dict(attributes)
        self.ids += [values["id"]] if "id" in values else []
        self.asked += [values[key] for key in ("href", "xlink:href", "src") if key in values]
        if tag not in {"meta", "link", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in {"meta", "link", "br"}:
            self.open.pop()

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def page(small, mine, table) -> str:
    made = compete(
        small.report.parent, [*ONLY, "tables"], [f"{mine}:Mine", "dts:discount=0.93"], [table], runs=RUNS, seed=5,
        progress=False,
    )  # fmt: skip
    return made.report.read_text(encoding="utf-8")


def test_the_page_needs_nothing_else_and_says_so(page) -> None:
    assert "<script" not in page
    assert "src=" not in page
    assert "@import" not in page
    assert "url(http" not in page
    assert "http://" not in page.replace("http://www.w3.org/", "")
    assert "https://" not in page
    assert "It needs nothing but this file" in page


def test_the_page_is_well_formed_and_its_references_lead_somewhere(page) -> None:
    parsed = Page(page)
    assert parsed.open == []
    assert len(parsed.ids) == len(set(parsed.ids))
    inside = {asked[1:] for asked in parsed.asked if asked.startswith("#")}
    assert inside <= set(parsed.ids)
    assert {"families", "part-published", "part-stationary", "part-tables", "made", "profile"} <= set(parsed.ids)
    assert set(re.findall(r"url\(#([\w.-]+)\)", page)) <= set(parsed.ids)


def test_the_page_opens_with_the_profile_and_the_table_and_has_a_part_a_family(page) -> None:
    assert page.index('id="profile"') < page.index("Geometric mean") < page.index('id="families"')
    assert page.index('id="part-published"') < page.index('id="part-stationary"') < page.index('id="part-tables"')
    assert "(best fitted)" in page
    assert "Performance profile: share of 3 environments" in page
    assert "var(--blue)" in page
    assert "prefers-color-scheme: dark" in page


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"only": ["everything"]}, "only must name families such as slow, fast"),
        ({"only": ["tables"]}, "table must be given for the family tables"),
        ({"policies": ["dts"]}, "dts needs discount"),
        ({"policies": ["none.py:Mine"]}, "policy must be a readable Python file"),
        ({"policies": ["ts"]}, "policy must be one that is not in the arena already"),
        ({"tables": ["none.csv"]}, "means must be a readable CSV file"),
        ({"runs": 0}, "runs must be a whole number of at least 1, got 0"),
        ({"draw": -1}, "draw must be a whole number"),
        ({"seed": 2**64}, "seed must be a whole number"),
        ({"threads": 0}, "threads must be"),
        ({"device": "tpu"}, "device must be"),
    ],
)
def test_wrong_values_are_answered_before_any_work(tmp_path, wrong, message) -> None:
    with pytest.raises(InvalidValue, match=f"^{message}") as error:
        compete(tmp_path / "out", **wrong)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_two_tables_of_one_name_are_refused(tmp_path, table) -> None:
    with pytest.raises(InvalidValue, match=r"^table must be files whose names differ, got 'my means.csv' twice$"):
        compete(tmp_path / "out", tables=[table, table])


def test_somebody_else_s_folder_is_left_alone(tmp_path) -> None:
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(InvalidValue, match=r"^out must be a new folder, an empty one, or one that arena has made"):
        compete(tmp_path, ["f-dsw-1"], runs=1)


def test_the_command_prints_one_json_object_or_one_line(small, monkeypatch, capsys) -> None:
    def answer(*arguments):
        monkeypatch.setattr(sys, "argv", ["driftbandit", "arena", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    same = ["--only", "f-dsw-1", "--runs", str(RUNS), "--seed", "5", "--out", str(small.report.parent)]
    status, told = answer(*same, "--json")
    assert status == 0
    assert json.loads(told.out)["environments"][0]["id"] == "f-dsw-1"
    status, told = answer(*same)
    assert status == 0
    assert "geo mean" in told.out
    assert told.out.rstrip().endswith("report.html")
    begun = f"policies in 1 environment; finished games are kept in {small.report.parent}. The usual whole took 14 min"
    assert begun in told.err
    for wrong in (["--only", "none"], ["--policy", "none.py:Mine"], ["--runs", "0"], ["--table", "none.csv"]):
        status, told = answer("--out", str(small.report.parent / "new"), *wrong)
        assert status == 2
        assert told.err.startswith("driftbandit: ")
        assert told.err.count("\n") == 1
        assert told.out == ""
