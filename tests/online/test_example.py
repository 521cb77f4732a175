"""The documented example does what its text says."""

import doctest
import importlib.util
from pathlib import Path
from typing import Any

import pytest

import driftbandit as db

EXAMPLE = Path(__file__).parents[2] / "examples" / "live_headlines.py"


@pytest.fixture(scope="module")
def example() -> Any:
    specification = importlib.util.spec_from_file_location("live_headlines", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def day(example: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    result: dict[str, Any] = example.run(tmp_path_factory.mktemp("day"))
    return result


def test_it_earns_more_than_any_fixed_headline(example: Any, day: dict[str, Any]) -> None:
    before = [entry for entry in day["shown"] if entry[0] < example.NEW_ARM]
    fixed = max(example.fixed_rate(headline, before) for headline in ("plain", "playful", "question"))
    assert example.rate(before) > fixed + 0.05


def test_the_restart_changes_no_decision(day: dict[str, Any]) -> None:
    assert day["twin_agrees"]


def test_the_new_headline_is_found(example: Any, day: dict[str, Any]) -> None:
    arms = [arm for time, arm, _ in day["shown"] if example.NEW_ARM + 1800 <= time < example.OFF]
    assert "urgent" not in [arm for time, arm, _ in day["shown"] if time < example.NEW_ARM]
    assert arms.count("urgent") / len(arms) > 0.3


def test_the_off_switch_shows_the_plain_headline_only(example: Any, day: dict[str, Any]) -> None:
    during = [entry for entry in day["shown"] if example.OFF <= entry[0] < example.ON]
    assert {arm for _, arm, _ in during} == {"plain"}
    logged = [e for e in day["log"] if e["event"] == "decision" and example.OFF <= e["time"] < example.ON]
    assert {event["probability"] for event in logged} == {1.0}
    assert {arm for time, arm, _ in day["shown"] if time >= example.ON} > {"plain"}


def test_the_log_tells_what_another_choice_would_have_earned(example: Any, day: dict[str, Any]) -> None:
    log = db.Log.of(day["log"])
    for headline in log.arms:
        value = log.value(headline)
        truth = example.heard_rate(headline, example.times_of(day, headline))
        assert abs(value.mean - truth) < 4.0 * (value.high - value.mean) / 1.96 + 0.02  # few wait longer than they may


def test_every_reward_is_answered(day: dict[str, Any]) -> None:
    statuses = [event["status"] for event in day["log"] if event["event"] == "reward"]
    assert set(statuses) <= {"accepted", "expired"}
    assert statuses.count("accepted") > 3000


def test_the_page_about_live_use_says_what_happens() -> None:
    failed, attempted = doctest.testfile(str(EXAMPLE.parents[1] / "docs" / "live.md"), module_relative=False)
    assert attempted >= 6
    assert failed == 0


def test_it_runs_as_a_script(example: Any, capsys: pytest.CaptureFixture[str]) -> None:
    example.main()
    assert "equal those of the twin: True" in capsys.readouterr().out
