"""tools/tables.py: what becomes of flights and weather, against the definition on small files that are made here."""

import csv
import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
if not (ROOT / "tools" / "tables.py").is_file():
    pytest.skip("a package of the sources without its tools", allow_module_level=True)
sys.path.append(str(ROOT / "tools"))

import tables  # noqa: E402  # found only now

import driftbandit as db  # noqa: E402  # likewise

CARRIERS, RARE = ("BB", "AA", "CC"), "ZZ"
HEAD = "year,month,day,arr_delay,carrier,hour\n"


@pytest.fixture(scope="module")
def flights() -> list[dict[str, Any]]:
    """Twelve days of three carriers that have many flights, some of which never arrive; CC does not fly at noon."""
    rng = np.random.default_rng(3)
    rows = []
    for day in range(1, 13):
        chances = dict(zip((*CARRIERS, RARE), rng.choice([0.2, 0.9], 4), strict=True))
        for hour in range(4, 23):
            for carrier, chance in chances.items():
                count = rng.integers(1, 4) if carrier != RARE else int(hour == 10)
                for _ in range(0 if (carrier, hour) == ("CC", 12) else count):
                    delay = rng.choice(["14", "14.9", "-20"] if rng.random() < chance else ["", "NA", "15", "90"])
                    rows.append({"day": day, "hour": hour, "carrier": carrier, "arr_delay": str(delay)})
    return rows


@pytest.fixture
def made(flights: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    monkeypatch.setattr(tables, "MANY", 100)
    monkeypatch.setattr(tables, "MONTH", 4)
    lines = [f"2013,3,{row['day']},{row['arr_delay']},{row['carrier']},{row['hour']}\n" for row in flights]
    with zipfile.ZipFile(tmp_path / "flights.csv.zip", "w") as archive:
        archive.writestr("flights.csv", HEAD + "".join(lines))
    (tmp_path / "weather.csv").write_text(
        "location,date,precipitation\nSeattle,2012-01-02,0.0\nNew York,2012-01-01,0.3\n"
        "Seattle,2012-01-01,1\nNew York,2012-01-02,0\n"
    )
    found = tables.tables(tmp_path / "flights.csv.zip", tmp_path / "weather.csv")
    return {name: list(csv.reader(io.StringIO(content.decode()))) for name, content in found.items()}


def on_time(flights: list[dict[str, Any]], carrier: str, day: int, hours: range) -> list[bool]:
    some = [row for row in flights if (row["carrier"], row["day"]) == (carrier, day) and row["hour"] in hours]
    return [row["arr_delay"] in ("14", "14.9", "-20") for row in some]


def test_every_hour_has_the_share_of_its_flights_or_of_the_hours_around(
    made: dict[str, list[list[str]]], flights: list[dict[str, Any]]
) -> None:
    head, *rows = made["flights-by-hour.csv"]
    assert head == ["hour", "AA", "BB", "CC"]
    assert len(rows) == 12 * 15
    assert [rows[0][0], rows[-1][0]] == ["2013-03-01 06:00", "2013-03-12 20:00"]
    for place, row in enumerate(rows):
        day, hour = 1 + place // 15, 6 + place % 15
        for carrier, cell in zip(head[1:], row[1:], strict=True):
            flown = on_time(flights, carrier, day, range(hour, hour + 1))
            flown = flown or on_time(flights, carrier, day, range(hour - 1, hour + 2))
            assert float(cell) == pytest.approx(np.mean(flown), abs=5.1e-5)


def test_days_are_shrunk_towards_their_day_and_what_their_carrier_was_above_others_around(
    made: dict[str, list[list[str]]], flights: list[dict[str, Any]]
) -> None:
    head, *rows = made["flights-by-day.csv"]
    cells = [[on_time(flights, carrier, day, range(6, 21)) for carrier in head[1:]] for day in range(1, 13)]
    n = np.array([[len(cell) for cell in row] for row in cells])
    share = np.array([[np.mean(cell) for cell in row] for row in cells])
    of_day = share.mean(axis=1, keepdims=True)
    near = np.abs(np.subtract.outer(np.arange(12), np.arange(12))) <= 4
    base = of_day + (near @ (n * (share - of_day))) / (near @ n)
    one, noise = share * (1 - share) * n / (n - 1), share * (1 - share) / (n - 1)
    true = ((share - base) ** 2).mean(axis=0) - noise.mean(axis=0)
    assert np.all(true > 0.01)
    wanted = base + n / (n + one.mean(axis=0) / true) * (share - base)
    found = np.array([[float(cell) for cell in row[1:]] for row in rows])
    np.testing.assert_allclose(found, np.clip(wanted, 0, 1), rtol=0, atol=5.1e-5)


def test_what_is_repeated_by_the_day_neither_adds_noise_nor_hides_what_moves_slowly() -> None:
    """Made-up years: in some only the level moves, in others the best of three carriers is another by the season. What
    forgetting gains on the true shares it gains on those that are derived from counts, and more on the counts' own.
    """
    rng, days = np.random.default_rng(6), np.arange(365)
    still = np.repeat([[0.8, 0.78, 0.76]], 365, axis=0)
    turning = 0.78 + 0.04 * np.sin(2 * np.pi * (days[:, None] / 365 + np.arange(3) / 3))
    policies = [db.ThompsonSampling(), db.DiscountedThompsonSampling(discount=0.99)]
    for means in (still, turning):
        gains = []
        for year in range(5):
            truth = np.clip(means + 0.08 * rng.standard_normal((365, 1)), 0, 1)
            on_time = rng.binomial(25, truth)
            counts = {
                (f"{day:03}", 9, carrier): tables.Count(25, int(on_time[day, place]))
                for day in range(365) for place, carrier in enumerate("ABC")
            }  # fmt: skip
            derived = [[float(cell) for cell in row[1:]] for row in list(tables.by_day(counts))[1:]]
            replays = [
                db.replay(table, policies, repeat=150, runs=6, seed=year, progress=False)
                for table in (truth, derived, on_time / 25)
            ]
            gains.append([found.difference(*reversed(found.policies)).mean for found in replays])
        true, shrunk, raw = np.mean(gains, axis=0)
        assert abs(shrunk - true) < 0.004
        assert raw - true > 0.006


def test_a_day_is_dry_without_any_precipitation(made: dict[str, list[list[str]]]) -> None:
    assert made["weather.csv"] == [
        ["day", "New York", "Seattle"],
        ["2012-01-01", "0", "0"],
        ["2012-01-02", "1", "1"],
    ]


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0"), (1.0, "1"), (0.5, ".5"), (2 / 3, ".6667"), (0.00004, "0"), (0.99996, "1")]
)
def test_shares_are_written_short(share: float, text: str) -> None:
    assert tables.written(share) == text
