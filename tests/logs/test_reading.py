"""Logs are read as the slow reader reads them, by Python and by compiled code alike."""

import gzip
import json
import math
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.logs import reader
from tests.logs.makers import ARMS, lived

import driftbandit as db
from driftbandit.compiling.gears import geared_part
from driftbandit.engine.progress import Progress
from driftbandit.logs import book as books
from driftbandit.logs import lines, scanning
from driftbandit.logs.chunk import Chunk, joined
from driftbandit.logs.lines import Events, Lines
from driftbandit.logs.spans import Spans


def rows_of(chunks: list[Chunk], names: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Every row, in words."""
    found: list[tuple[Any, ...]] = []
    for chunk in chunks:
        rows = chunk.rows
        for i in range(chunk.size):
            among = None
            if not rows.outcome[i]:
                first, last = chunk.starts[rows.eligible[i] : rows.eligible[i] + 2]
                among = tuple(names[arm] for arm in chunk.members[first:last])
            found.append((bool(rows.outcome[i]), names[rows.arm[i]], rows.value[i], rows.time[i], among))
    return found


def expected(path: Path, missing: float = math.nan) -> list[tuple[Any, ...]]:
    _, events = reader.read(path, missing)
    return [
        (kind == "ended", one.arm, one.reward if kind == "ended" else one.probability, one.time,
         None if kind == "ended" else tuple(one.eligible))
        for kind, one in events
    ]  # fmt: skip


def same(found: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one[:2] + one[3:] == other[:2] + other[3:]
        assert one[2] == other[2] or (math.isnan(one[2]) and math.isnan(other[2]))


WAITS: list[dict[str, Any]] = [
    {},
    {"step_seconds": 1.0, "wait": 12.0, "default_reward": 0.25},
    {"step_seconds": 1.0, "wait": 12.0},
    {"wait": 30, "default_reward": 0.25},
]


@pytest.mark.parametrize("options", WAITS, ids=str)
def test_both_ways_of_reading_find_what_the_slow_reader_finds(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 400, **options)
    wanted = expected(path, 0.5)
    for smallest in (0, 1 << 30):
        monkeypatch.setattr(lines, "BLOCK", 1 << 13)  # lines end anywhere in a block
        one = Lines([path], 0.5)
        one._scans = smallest == 0
        chunks = list(one.chunks())
        same(rows_of(chunks, one.facts.names), wanted)
        assert one.facts.names[:4] == tuple(ARMS)
        assert one.facts.decisions == len(wanted) / 2
        assert one.facts.decisions + one.facts.young == 400
        assert (one.facts.young > 0) == bool(options)
        assert one.facts.told("policy") == ["dts:discount=0.97"]


@pytest.mark.parametrize("moved", [-1000.0, 0.0, 1000.0])
def test_the_end_of_a_log_is_that_of_its_clock_also_where_that_was_set(moved: float, tmp_path: Path) -> None:
    """A clock that is set back makes no decision younger, and one that is set ahead none older."""
    path, now = tmp_path / "log.jsonl", [5000.0]
    bandit = db.Bandit(
        ["a", "b"], db.UniformRandom(), seed=1, log=path, step_seconds=1.0, wait=20.0, clock=lambda: now[0]
    )
    for step in range(100):
        now[0] += 1.0
        decision = bandit.select()
        if step % 3:
            bandit.reward(decision, 1.0)
        if step in (40, 90):
            now[0] += moved
            bandit.set_time(now[0])
    for scans in (False, True):
        one = Lines([path], 0.0)
        one._scans = scans
        chunks = list(one.chunks())
        same(rows_of(chunks, one.facts.names), expected(path, 0.0))
        assert (one.facts.decisions, one.facts.young) == (79, 21)


def test_each_replica_has_its_own_wait_and_its_own_end(tmp_path: Path) -> None:
    """Also where lines are mixed, and the first start says of no wait."""
    paths, waits = [tmp_path / f"{number}.jsonl" for number in range(3)], (None, 20, 50)
    for number, (path, wait) in enumerate(zip(paths, waits, strict=True)):
        bandit = db.Bandit(["a", "b"], db.UniformRandom(), seed=1, replica=number, wait=wait, log=path)
        for step in range(100 * (number + 1)):
            bandit.reward(bandit.select(), float(step % 3 == 0))
    dice, lines = random.Random(1), [path.read_text().splitlines(keepends=True) for path in paths]
    mixed = [lines[0].pop(0)]
    while any(lines):
        mixed.append(dice.choice([each for each in lines if each]).pop(0))
    (tmp_path / "mixed.jsonl").write_text("".join(mixed))
    wanted = [len(reader.read(path)[0]) for path in paths]
    assert wanted == [100, 200 - 21, 300 - 51]
    for log in (db.Log.read(paths), db.Log.read(tmp_path / "mixed.jsonl"), db.Log.of(list(map(json.loads, mixed)))):
        assert log.decisions == log.value("a").decisions == log.value(db.UCB1()).decisions == sum(wanted)
        assert [f"{21 + 51} decisions at the end are younger than their wait, and do not count, rewarded or not"] == [
            *log.notes
        ]


def test_events_that_a_function_was_given_are_a_log(tmp_path: Path) -> None:
    path, events = tmp_path / "log.jsonl", []
    lived(path, 200)
    bandit = lived(events.append, 200)
    assert bandit.decisions == 200
    for arm in ARMS:
        assert db.Log.of(events, missing=0.0).value(arm) == db.Log.read(path, missing=0.0).value(arm)
    with pytest.raises(db.InvalidValue, match="event 7: probability must be"):
        db.Log.of([*events[:6], {"event": "decision", "id": 99, "arm": "red", "probability": 2, "time": 99}]).check()
    with pytest.raises(db.InvalidValue, match="event 2 must be a dictionary such as a bandit gives to its log, got 5"):
        db.Log.of([events[0], 5])
    assert Events(events, 0.0).facts.decisions == 0  # nothing is read before somebody asks


def test_many_waiting_decisions_and_many_arms_find_room(tmp_path: Path) -> None:
    path, dice = tmp_path / "log.jsonl", random.Random(4)
    bandit = db.Bandit([f"arm {k}" for k in range(70)], db.UniformRandom(), seed=1, log=path)
    ids = [bandit.select().id for _ in range(5000)]
    dice.shuffle(ids)
    bandit.rewards([(id, dice.choice([0.0, 1.0])) for id in ids])
    wanted = expected(path)
    for scans in (False, True):
        one = Lines([path], None)
        one._scans = scans
        chunks = list(one.chunks())
        same(rows_of(chunks, one.facts.names), wanted)


@settings(max_examples=300, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**19), 10**19))
@example(0.1 + 0.2)
@example(5e-324)
@example(1e22)
@example(-1e-22)
@example(9007199254740993)
@example(0.30000000000000004)
def test_a_number_that_is_scanned_is_the_one_that_python_reads(number: float) -> None:
    text = json.dumps(number)
    letters = np.frombuffer(f"{text},".encode(), np.uint8)
    value, end = geared_part(scanning.real_number).wait(letters, 0)
    if end >= 0:  # else it is left to Python
        assert end == len(text)
        assert struct.pack("<d", value) == struct.pack("<d", float(text))
    assert end >= 0 or not 1e-4 < abs(number) < 1e15


def test_numbers_as_logs_have_them_are_all_scanned() -> None:
    dice = np.random.default_rng(3)
    numbers = [
        *dice.random(2000),
        *(1.7e9 + 1e6 * dice.random(2000)),
        *range(1000),
        *(10.0 ** -dice.uniform(0, 5, 500)),
    ]
    for number in numbers:
        text = repr(number if isinstance(number, int) else float(number))
        value, end = geared_part(scanning.real_number).wait(np.frombuffer(f"{text}}}".encode(), np.uint8), 0)
        assert end == len(text), text
        assert value == float(text)


@pytest.mark.parametrize("text", ["", "-", ".5", "1.", "1e", "e5", "1e+", "nan", '"1"', "--1", "1" * 20])
def test_what_is_no_number_is_not_scanned(text: str) -> None:
    letters = np.frombuffer(f"{text}}}".encode(), np.uint8)
    _, end = geared_part(scanning.real_number).wait(letters, 0)
    assert end != len(text) or not text


def test_several_files_of_a_log_compressed_or_not_are_one_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zstandard

    path = tmp_path / "log.jsonl"
    bandit = lived(path, 100)
    whole = path.read_bytes()
    path.rename(tmp_path / "older.jsonl")
    for _ in range(50):
        bandit.reward(bandit.select(), 1.0)
    log = db.Log.read([path, tmp_path / "older.jsonl"])  # in any order
    assert log.decisions == 150
    (tmp_path / "older.jsonl.gz").write_bytes(gzip.compress(whole))
    (tmp_path / "log.jsonl.zst").write_bytes(zstandard.compress(path.read_bytes()))
    packed = db.Log.read([tmp_path / "older.jsonl.gz", tmp_path / "log.jsonl.zst"])
    assert packed.value("red") == log.value("red")
    monkeypatch.setattr(lines, "BLOCK", 64)  # a start with very many arms is longer than a block
    assert db.Log.read([path, tmp_path / "older.jsonl", path]).value("red") == log.value("red")


def test_replicas_are_one_log_whether_their_lines_are_in_files_of_their_own_or_mixed(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for number, path in enumerate(paths):
        bandit = db.Bandit(ARMS, db.ThompsonSampling(), seed=number, replica=number, log=path, minimum_probability=0.05)
        for step in range(300):
            bandit.reward(bandit.select(), float((step + number) % 3 == 0))
    log = db.Log.read(paths)
    assert (log.decisions, log.check().replicas) == (900, 3)
    dice, lines = random.Random(1), [path.read_text().splitlines(keepends=True) for path in paths]
    mixed = [each.pop(0) for each in lines]
    while any(lines):
        mixed.append(dice.choice([each for each in lines if each]).pop(0))
    (tmp_path / "mixed.jsonl").write_text("".join(mixed))
    for arm in ARMS:
        one, other = log.value(arm), db.Log.read(tmp_path / "mixed.jsonl").value(arm)
        assert (one.mean, one.low, one.decisions) == pytest.approx((other.mean, other.low, other.decisions), rel=1e-12)


@pytest.mark.parametrize("silent", ["", '{"event": "st', '{"event": "start", "format": 2, "part": "0a1\n'])
def test_the_newest_of_rotated_files_may_say_nothing_yet(silent: str, tmp_path: Path) -> None:
    """Logrotate makes a new file, or a process was killed at its first line: of several replicas, too."""
    paths = []
    for number in range(2):
        path, older = tmp_path / f"{number}.jsonl", [tmp_path / f"{number}.jsonl.{age}" for age in (2, 1)]
        bandit = db.Bandit(ARMS, db.ThompsonSampling(), seed=number, replica=number, log=path)
        for renamed in older:
            for _ in range(30):
                bandit.reward(bandit.select(), 1.0)
            path.rename(renamed)
        path.write_text(silent)
        paths += [path, *older]
    for files in (sorted(paths), sorted(paths, reverse=True), [paths[0], paths[2], paths[1]]):
        log = db.Log.read(files)
        assert log.decisions == 20 * len(files)
        torn = [path for path in files if path in (paths[0], paths[3]) and silent]
        assert set(log.notes) == {f"{path}: what stands from line 1 on is cut off and does not count" for path in torn}
    with pytest.raises(db.InvalidValue, match="log must have decisions, got none"):
        db.Log.read(paths[0]).check()


def test_a_log_without_a_start_has_the_arms_that_were_chosen(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 200)
    lines = [line for line in path.read_text().splitlines(keepends=True) if "decision" in line or '"reward"' in line]
    (tmp_path / "old.jsonl").write_text("".join(lines))
    events = [json.loads(line) for line in lines]
    chosen = {line["arm"] for line in events if line["event"] == "decision"}
    for log in (db.Log.read(tmp_path / "old.jsonl", missing=0.0), db.Log.of(events, missing=0.0)):
        assert log.decisions == 200
        assert "the log has no start" in " ".join(log.check().warnings)
        assert set(log.arms) == chosen | {arm for line in events for arm in line.get("among", ())}


def test_a_list_of_events_that_grows_is_read_as_it_was() -> None:
    events: list[dict[str, Any]] = []
    bandit = lived(events.append, 100)
    log = db.Log.of(events, missing=0.0)
    before = log.value("red")
    for _ in range(50):
        bandit.reward(bandit.select(), 1.0)
    assert (log.value("red"), log.value(db.UCB1()).decisions) == (before, 100)
    assert db.Log.of(events, missing=0.0).decisions == 150


def test_whoever_went_on_in_another_way_is_noticed(tmp_path: Path) -> None:
    """A bandit of another policy under the same number: the log was made by two."""
    path = tmp_path / "log.jsonl"
    events: list[dict[str, Any]] = []
    for number, (policy, floor) in enumerate([(db.ThompsonSampling(), 0.1), (db.UCB1(), 0.1), (db.UCB1(), 0.2)]):
        bandit = db.Bandit(["a", "b"], policy, seed=1, minimum_probability=floor, log=(made := []).append)
        for step in range(50):
            bandit.reward(bandit.select(), float(step % 2))
        shift = 50 * number  # as if its decisions were the next ones
        for event in made:
            moved = {name: event[name] + shift for name in ("id", "time") if name in event}
            events.append(event | moved | ({"own": [[0, shift, shift]]} if "own" in event else {}))
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    log = db.Log.read(path)
    assert (log.decisions, log.policy, log.check().policies) == (150, None, ("ts", "ucb1"))
    assert log.notes == (
        "policy changes in the log: ts, then ucb1",
        "minimum_probability changes in the log: 0.1, then 0.2",
    )
    with pytest.raises(db.InvalidValue, match=r"current must be given: .* \(the log says ts and ucb1\)"):
        log.value(db.ThompsonSampling(), live=True, minimum_probability=0.0)
    assert db.Log.of(events[101:]).policy == db.UCB1()


def test_a_recovered_bandit_goes_on_in_the_same_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    bandit = lived(path, 60)
    del bandit
    again = db.Bandit.recover(tmp_path / "none.json", path)
    for _ in range(40):
        again.reward(again.select(), 1.0)
    assert db.Log.read(path).decisions == 100


def test_void_lines_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    bandit = db.Bandit(ARMS, db.ThompsonSampling(), seed=1, log=path)
    for _ in range(20):
        bandit.reward(bandit.select(), 1.0)
    lines = path.read_text().splitlines(keepends=True)
    broken = [*lines[:11], '{"event": "dec\n', '{"event": "void", "lines": 1}\n', *lines[11:]]
    path.write_text("".join(broken))
    assert db.Log.read(path).decisions == 20


def test_a_log_is_read_anew_for_each_question_and_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 300)
    whole = db.Log.read(path)
    monkeypatch.setattr(books, "ROWS", 64)
    source = Lines([path], None)
    first, second = ([chunk.size for chunk in source.chunks()] for _ in range(2))
    assert first == second
    assert max(first) == 64
    assert sum(first) == 600
    assert db.Log.read(path).value("red") == whole.value("red")
    assert db.Log.read(path).value(db.UCB1()) == whole.value(db.UCB1())


def test_a_log_that_grows_is_read_as_far_as_it_was_at_first(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    bandit = lived(path, 100)
    log = db.Log.read(path, missing=0.0)
    before = log.value("red")
    bandit.add("more")
    for _ in range(50):
        bandit.reward(bandit.select(), 1.0)
    assert log.value(db.UCB1()).decisions == log.decisions == 100
    assert log.value("red") == before
    assert "more" not in log.arms
    assert db.Log.read(path, missing=0.0).decisions == 150


def test_numbers_that_were_given_are_found_wherever_they_begin() -> None:
    dice, found, given, latest = random.Random(3), Spans(), set[int](), 0
    for _ in range(300):
        if dice.random() < 0.5:  # on, behind a gap or somewhere else
            first = latest + dice.randrange(2, 5) if dice.random() < 0.7 else dice.randrange(1, 2000)
            found.begin(first, latest)
            latest = first - 1
        for number in range(latest + 1, latest + dice.randrange(1, 6)):
            if number in given:
                break
            given.add(number)
            latest = number
        assert all(found.has(number, latest) == (number in given) for number in range(0, 2100, 7))
    assert given == {number for number in range(2100) if found.has(number, latest)}


def test_whether_a_number_was_given_is_found_by_halving() -> None:
    """Or a log with a gap at every decision would take a time that grows with the square of its length."""
    asked = 0

    class Counted(int):
        def __lt__(self, other: int) -> bool:
            nonlocal asked
            asked += 1
            return int(self) < other

    spans = Spans()
    for number in range(1, 4000, 2):
        spans.begin(number, number - 2)
        assert spans.has(Counted(number), number)
    assert asked < 2000 * 12


@pytest.mark.parametrize("options", [{}, {"wait": 20}])
def test_no_bar_is_shown_to_whoever_wants_none(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[bool | None] = []

    class Recorded(Progress):
        def __init__(self, title: str, total: int, asked: bool | None) -> None:
            shown.append(asked)
            super().__init__(title, total, False)

    monkeypatch.setattr(lines, "Progress", Recorded)
    path = tmp_path / "log.jsonl"
    lived(path, 100, **options)
    for target, more in (("red", {}), (db.UCB1(), {}), (db.UCB1(), {"live": True})):
        db.Log.read(path, missing=0.0).value(target, progress=False, **more)
    db.Log.read(path, missing=0.0).tune(db.UCB1(), progress=False)
    assert set(shown) == {False}
    db.Log.read(path, missing=0.0).check()
    assert shown[-1] is None


def test_sets_of_arms_take_no_room_from_one_chunk_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, dice = tmp_path / "log.jsonl", np.random.default_rng(1)
    bandit = db.Bandit([f"arm {k}" for k in range(12)], db.UniformRandom(), seed=1, log=path)
    for _ in range(400):
        mask = [arm for arm in bandit.arms if dice.random() < 0.5] or None
        bandit.reward(bandit.select(arms=mask), float(dice.random() < 0.5))
    wanted = expected(path)
    whole = db.Log.read(path).value(db.ThompsonSampling(), live=True)
    monkeypatch.setattr(books, "ROWS", 64)
    for scans in (False, True):
        one = Lines([path], None)
        one._scans = scans
        chunks = list(one.chunks())
        same(rows_of(chunks, one.facts.names), wanted)
        assert max(len(chunk.starts) for chunk in chunks) < 100
        together = joined(chunks)
        same(rows_of([together], one.facts.names), wanted)
    assert db.Log.read(path).value(db.ThompsonSampling(), live=True) == whole
