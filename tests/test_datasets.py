"""Tables that come with the package: what is in them, that nobody reads them unasked, and that cards tell the truth."""

import hashlib
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import driftbandit as db
from driftbandit.datasets import recorded

FOLDER = Path(recorded.__file__).parent
CARDS = (FOLDER / "CARDS.md").read_text(encoding="utf-8")
EVERY = [db.datasets.flights(), db.datasets.flights(by="day"), db.datasets.weather()]


def test_tables_are_what_their_cards_say() -> None:
    shapes = {environment.file: environment.means.values.shape for environment in EVERY}
    assert shapes == {"flights-by-hour.csv": (5475, 7), "flights-by-day.csv": (365, 7), "weather.csv": (1461, 2)}
    for name, (steps, arms) in shapes.items():
        digest = hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()
        assert f"| `{name}` | {steps} × {arms} | `{digest}` |" in CARDS
    assert sum(path.stat().st_size for path in FOLDER.glob("*.csv")) < 300_000
    assert {path.name for path in FOLDER.glob("*.csv")} == set(shapes)


def test_steps_and_arms_have_their_names() -> None:
    hours, days, weather = (environment.means for environment in EVERY)
    assert (hours.steps[0], hours.steps[-1]) == ("2013-01-01 06:00", "2013-12-31 20:00")
    assert (days.steps[0], days.steps[-1]) == ("2013-01-01", "2013-12-31")
    assert (weather.steps[0], weather.steps[-1]) == ("2012-01-01", "2015-12-31")
    assert hours.arms == days.arms == ("AA", "B6", "DL", "EV", "MQ", "UA", "US")
    for table in (hours, days, weather):
        assert list(table.steps) == sorted(set(table.steps))


def test_days_are_like_their_hours_with_less_noise() -> None:
    hours, days = (environment.means.values for environment in EVERY[:2])
    by_day = hours.reshape(365, 15, 7).mean(axis=1)
    assert np.abs(by_day.mean(axis=0) - days.mean(axis=0)).max() < 0.02
    assert np.all(days.std(axis=0) < by_day.std(axis=0))
    assert all(np.corrcoef(by_day[:, arm], days[:, arm])[0, 1] > 0.95 for arm in range(7))


def test_weather_is_exact_and_its_ranking_turns_in_summer() -> None:
    table = EVERY[2].means
    assert set(np.unique(table.values)) == {0.0, 1.0}
    summer = np.array(["05" <= step[5:7] <= "08" for step in table.steps])
    assert table.values[summer].mean(axis=0).argmax() == table.arms.index("Seattle")
    assert table.values[~summer].mean(axis=0).argmax() == table.arms.index("New York")


@pytest.mark.parametrize("environment", EVERY, ids=str)
def test_a_recorded_environment_is_its_name_everywhere(environment: db.FromMeans) -> None:
    assert isinstance(environment, db.FromMeans)
    assert environment.usual_horizon == len(environment.means)
    assert db.Environment.parse(str(environment)) == environment
    assert "means" not in environment.parameters()
    assert len(pickle.dumps(environment)) < 1000
    again = pickle.loads(pickle.dumps(environment))
    assert again == environment
    assert again.means is environment.means, "read once"
    assert len(repr(environment)) < 200
    result = db.simulate(db.UniformRandom(), environment, horizon=20, runs=2, progress=False)
    assert result.environment == str(environment)
    assert json.loads(result.given.attrs["specification"])["environment"]["name"] == environment.name
    given = db.FromMeans(means=environment.means.values)
    same = db.simulate(db.UniformRandom(), given, horizon=20, runs=2, progress=False)
    assert same.mean_reward == result.mean_reward
    assert environment != given, "a name is part of what it is"


def test_only_days_and_outcomes_may_be_repeated() -> None:
    assert [environment.smoothed for environment in EVERY] == [False, True, False]


def test_a_table_is_read_when_it_is_asked_for_and_no_other() -> None:
    script = (
        "import driftbandit as db; from driftbandit.datasets.recorded import recorded; "
        "print(recorded.cache_info().currsize); db.Environment.known; db.datasets.weather(); "
        "print(recorded.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["0", "1"]


def test_cards_say_source_licence_and_limits_of_every_dataset() -> None:
    parts = re.split(r"^## ", CARDS, flags=re.MULTILINE)[1:]
    assert [part.split(":")[0] for part in parts] == ["flights", "weather"]
    for part in parts:
        for heading in ("Source", "Licence", "What a number is", "What drifts", "What it is no good for"):
            assert f"**{heading}.**" in part
