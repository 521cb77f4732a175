"""What is wrong with a log is said in one line, with the number of the line; what is odd about it is a warning."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import zstandard
from tests.logs.makers import lived

import driftbandit as db
from driftbandit.logs import lines as files

Lines = list[dict[str, Any]]


def good(steps: int = 40) -> Lines:
    """A start, and decisions that get their rewards at once: decision i is line 2i, its reward line 2i + 1."""
    start = {
        "event": "start", "format": 2, "part": "p", "after": None, "new": True, "own": [[0, 0, 0]], "arms": ["a", "b"],
        "policy": "ts", "step_seconds": None, "seed": 1, "replica": 0, "minimum_probability": 0.1, "wait": None,
        "default_reward": None,
    }  # fmt: skip
    lines: Lines = [start]
    for i in range(1, steps + 1):
        lines.append({"event": "decision", "id": i, "arm": "ab"[i % 2], "probability": 0.5, "time": i})
        lines.append({"event": "reward", "id": i, "reward": float(i % 3 == 0), "status": "accepted"})
    return lines


def changed(line: int, **entries: Any) -> Callable[[Lines], None]:
    def change(lines: Lines) -> None:
        lines[line - 1] = {key: value for key, value in (lines[line - 1] | entries).items() if value != "absent"}

    return change


def inserted(line: int, **entries: Any) -> Callable[[Lines], None]:
    return lambda lines: lines.insert(line - 1, entries)


WRONG: dict[str, tuple[Callable[[Lines], object], str]] = {
    "no probability": (changed(10, probability="absent"), "line 10: probability must be given"),
    "probability 0": (changed(10, probability=0.0), r"line 10: probability must be in \(0, 1\], got 0.0"),
    "probability -1": (changed(10, probability=-1), r"line 10: probability must be in \(0, 1\], got -1"),
    "probability 1.5": (changed(10, probability=1.5), r"line 10: probability must be in \(0, 1\], got 1.5"),
    "probability NaN": (changed(10, probability=float("nan")), "line 10: probability must be"),
    "probability text": (changed(10, probability="half"), "line 10: probability must be"),
    "reward 2": (changed(11, reward=2.0), r"line 11: reward must be in \[0, 1\], got 2.0"),
    "reward -0.5": (changed(11, reward=-0.5), r"line 11: reward must be in \[0, 1\], got -0.5"),
    "reward NaN": (changed(11, reward=float("nan")), r"line 11: reward must be in \[0, 1\], got nan"),
    "reward true": (changed(11, reward=True), r"line 11: reward must be in \[0, 1\], got True"),
    "reward null": (changed(11, reward=None), "line 11: reward must be given"),
    "two rewards": (
        inserted(12, event="reward", id=5, reward=1.0, status="accepted"),
        r"line 12: id must be a decision that waits for its reward \(it had one\), got 5",
    ),
    "no status": (changed(11, status="absent"), "line 11: status must be given"),
    "other status": (changed(11, status="fine"), 'line 11: status must be "accepted" or'),
    "time goes back": (changed(10, time=2), r"line 10: time must be at least 4.0 in this replica \(two logs of one"),
    "time is text": (changed(10, time="noon"), "line 10: time must be"),
    "same id twice": (changed(10, id=4), r"line 10: id must be a new one \(two logs of one replica\?\), got 4"),
    "id is text": (changed(10, id="five"), "line 10: id must be a whole number"),
    "huge id": (changed(10, id=1 << 60), "line 10: id must be a whole number from 0 to"),
    "id of 2^53": (changed(10, id=(1 << 53) + 1), "line 10: id must be a whole number from 0 to"),
    "id of 2^56": (changed(10, id=9 * 10**16), "line 10: id must be a whole number from 0 to"),
    "time beyond all": (changed(80, time=9e21), r"line 80: time must be in \[-1e15, 1e15\], got 9e\+21"),
    "time before all": (changed(2, time=-9e21), r"line 2: time must be in \[-1e15, 1e15\], got -9e\+21"),
    "replica without a start": (
        changed(10, id=(1 << 40) + 5),
        "line 10: id must be a decision of a replica whose start",
    ),
    "unknown arm": (changed(10, arm="c"), "line 10: arm must be one of a, b, got 'c'"),
    "arm is a list": (changed(10, arm=["a"]), r"line 10: arm must be one of a, b, got \['a'\]"),
    "not among": (changed(10, among=["a"]), r"line 10: among must be different arms, 'b' among them, got \['a'\]"),
    "among twice": (changed(10, among=["b", "b"]), "line 10: among must be different arms"),
    "not in a list that was met before": (
        lambda lines: [changed(line, among=["a"])(lines) for line in (4, 8, 10)],
        r"line 10: among must be different arms, 'b' among them, got \['a'\]",
    ),
    "among is text": (changed(10, among="b"), "line 10: among must be a list, got 'b'"),
    "unknown event": (inserted(10, event="coffee"), r"line 10 must be an event such as start, .*got \{.*coffee"),
    "format 3": (changed(1, format=3), "line 1: format must be a whole number from 1 to 2, got 3"),
    "no arms": (changed(1, arms=[]), "line 1: arms must be a list of different names"),
    "arms twice": (changed(1, arms=["a", "a"]), "line 1: arms must be a list of different names"),
    "floor": (changed(1, minimum_probability=3), "line 1: minimum_probability must be in"),
    "replica": (changed(1, replica=-1), "line 1: replica must be a whole number from 0"),
    "expired reward": (inserted(11, event="expired", id=5, reward=7), r"line 11: reward must be in \[0, 1\], got 7"),
    "removed arm that is not there": (
        inserted(10, event="removed", arm="z", time=4),
        "line 10: arm must be one of a, b",
    ),
    "all arms removed": (
        lambda lines: lines.__setitem__(slice(9, 9), [{"event": "removed", "arm": arm, "time": 4} for arm in "ab"]),
        "line 11: arm must be one of several, got 'b'",
    ),
    "an arm that was removed": (
        inserted(10, event="removed", arm="b", time=4),
        "line 11: arm must be one that is there",
    ),
}


def written(path: Path, lines: Lines) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("scans", [False, True])
@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_line_is_refused_with_its_number(
    what: str, scans: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, said = WRONG[what]
    lines = good()
    change(lines)
    path = written(tmp_path / "log.jsonl", lines)
    monkeypatch.setattr(files, "BLOCK", 0 if scans else 1 << 30)
    if scans:
        monkeypatch.setattr(files, "BLOCK", 256)
    with pytest.raises(db.InvalidValue, match=said) as caught:
        db.Log.read(path).check()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "line", ["{", "[]", "null", '"x"', "5", '{"a": 1}', '{"event": 5}', "\x00", "{'event': 'reward'}"]
)
def test_a_line_that_is_no_event_is_refused_unless_it_is_the_last(line: str, tmp_path: Path) -> None:
    lines = [json.dumps(each) for each in good()]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([*lines[:9], line, *lines[9:]]) + "\n")
    with pytest.raises(db.InvalidValue, match="line 10 must be an event of a bandit's log, got"):
        db.Log.read(path).check()
    path.write_text("\n".join([*lines, line]) + "\n")
    assert db.Log.read(path).decisions == 40
    assert f"{path}: what stands from line 82 on is cut off and does not count" in db.Log.read(path).check().warnings


def test_only_one_line_can_be_cut_off_and_more_of_them_are_said_as_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [json.dumps(line) for line in good()]
    said = f"{path}: the last 2 lines, from line 82 on, are no events of a bandit's log and do not count"
    for end in ("what is this\nand this\n", "what is this\nand th"):
        path.write_text("\n".join(lines) + "\n" + end)
        notes = db.Log.read(path).notes
        assert said in notes
        assert not any("cut off" in note for note in notes)


def test_a_look_at_a_log_reads_nothing_and_never_fails(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for text in ("", "nonsense\n", "".join(json.dumps(line) + "\n" for line in good()[:1])):
        path.write_text(text)
        log = db.Log.read(path)
        assert repr(log) == "<Log, not read yet>"
        with pytest.raises(db.InvalidValue):
            log.check()
        assert repr(log) == "<Log, not read yet>"
    path.write_text("".join(json.dumps(line) + "\n" for line in good()))
    log = db.Log.read(path, missing=0.0)
    assert repr(log) == "<Log, not read yet>"
    assert log.decisions == 40
    assert repr(log) == f"<Log of 40 decisions among {len(log.arms)} arms>"


def test_a_torn_end_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    text = "".join(json.dumps(line) + "\n" for line in good())
    for cut in (1, 5, 60, 85):
        path.write_text(text[:-cut])
        log = db.Log.read(path, missing=0.0)
        assert log.decisions in (39, 40)
        assert any("cut off" in said for said in log.check().warnings)


@pytest.mark.parametrize("kind", ["nothing", "folder", "empty", "latin", "text", "binary", "gz"])
def test_a_file_that_is_no_log_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    path = tmp_path / ("log.jsonl.gz" if kind == "gz" else "log.jsonl")
    contents = {
        "empty": b"",
        "latin": "\xe9\n".encode("latin-1"),
        "text": b"hello\nworld\n",
        "binary": b"\x00\xff" * 99,
    }
    if kind == "folder":
        path.mkdir()
    elif kind == "gz":
        path.write_bytes(b"\x1f\x8b" + b"damaged" * 10)
    elif kind != "nothing":
        path.write_bytes(contents[kind])
    with pytest.raises(db.InvalidValue, match=r"must|log") as caught:
        db.Log.read(path).check()
    assert "\n" not in str(caught.value)
    if kind in ("nothing", "folder", "gz"):
        assert isinstance(caught.value, db.InvalidFile)


@pytest.mark.parametrize("kind", ["gz", "zst"])
@pytest.mark.parametrize("cut", [1, 200, -20])
def test_a_compressed_log_that_is_cut_off_is_refused(kind: str, cut: int, tmp_path: Path) -> None:
    path = tmp_path / f"log.jsonl.{kind}"
    text = "".join(json.dumps(line) + "\n" for line in good(2000)).encode()
    compress = {"gz": gzip.compress, "zst": zstandard.compress}[kind]
    packed = compress(text[:1000]) + compress(text[1000:])  # as files that were put behind one another
    path.write_bytes(packed)
    assert db.Log.read(path).decisions == 2000
    path.write_bytes(packed[:-cut])
    with pytest.raises(db.InvalidFile, match=r"log must be a readable file, got .*ended before the end"):
        db.Log.read(path).check()
    path.write_bytes(packed + b"something else that is nothing")
    with pytest.raises(db.InvalidFile, match="log must be a readable file, got"):
        db.Log.read(path).check()


@pytest.mark.parametrize("path", [None, 5, "", [], ["log.jsonl", 5], b"log"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(db.InvalidValue, match="log must be"):
        db.Log.read(path)


def test_a_log_of_certain_choices_is_refused_and_some_of_them_count_as_forced(tmp_path: Path) -> None:
    lines = good(400)
    for line in lines[1::2]:
        line["probability"] = 1.0
    path = written(tmp_path / "log.jsonl", lines)
    with pytest.raises(db.InvalidValue, match="all 400 probabilities are 1; log with minimum_probability"):
        db.Log.read(path).check()
    for line in lines[1::4]:
        line["probability"] = 0.5
    log = db.Log.read(written(path, lines))
    value = log.value("b")
    assert value.decisions == 200  # those that could have been for it, though it was only chosen in these
    bandit = tmp_path / "ucb.jsonl"
    made = db.Bandit(["a", "b"], db.UCB1(), seed=1, log=bandit)
    for _ in range(50):
        made.reward(made.select(), 1.0)
    assert db.Log.read(bandit).check().decisions == 50  # ties have odds


def test_few_rewards_without_a_decision_are_named_and_many_refused(tmp_path: Path) -> None:
    lines = good(400)
    del lines[9]
    path = written(tmp_path / "log.jsonl", lines)
    said = " ".join(db.Log.read(path).check().warnings)
    assert "1 rewards are of decisions that are not in the log" in said
    assert "1 decisions are missing between others" in said
    del lines[20:40:2]
    with pytest.raises(db.InvalidValue, match=r"line 10: a reward must come after its decision, got 1\d of"):
        db.Log.read(written(path, lines)).check()


def test_lines_that_do_not_say_their_replica_are_refused_where_there_are_several(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for number, path in enumerate(paths):
        bandit = db.Bandit(["a", "b"], db.ThompsonSampling(), seed=1, replica=number, log=path)
        bandit.select()
        bandit.add("c")
        bandit.select()
    one, two = (path.read_text().splitlines(keepends=True) for path in paths)
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("".join([one[0], two[0], *one[1:], *two[1:]]))
    with pytest.raises(
        db.InvalidValue, match=r"line 4: arm must be of one replica.*\(several replicas are in the file\)"
    ):
        db.Log.read(mixed, missing=0.0).check()
    assert db.Log.read(paths, missing=0.0).decisions == 4


def test_lines_with_other_spaces_and_orders_are_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 200)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    other = tmp_path / "other.jsonl"
    other.write_text(
        "".join(json.dumps(dict(reversed(line.items())), separators=(",", ":")) + "\r\n" for line in lines)
    )
    monkeypatch.setattr(files, "BLOCK", 1 << 12)
    for arm in db.Log.read(path, missing=0.0).arms[:4]:
        assert db.Log.read(other, missing=0.0).value(arm) == db.Log.read(path, missing=0.0).value(arm)


ARRAYS: dict[str, tuple[dict[str, Any], str]] = {
    "lengths": ({"probabilities": [0.5] * 3}, "probability must be one number for each of 4 decisions, got shape"),
    "probability 0": ({"probabilities": [0.5, 0.0, 0.5, 0.5]}, r"probability must be in \(0, 1\], got 0.0 in row 2"),
    "probability NaN": ({"probabilities": [0.5, 0.5, float("nan"), 0.5]}, "probability must be .* got nan in row 3"),
    "reward 3": ({"rewards": [0, 1, 0, 3]}, r"reward must be in \[0, 1\], got 3.0 in row 4"),
    "rewards text": ({"rewards": ["x"] * 4}, "reward must be numbers"),
    "rewards as texts": ({"rewards": ["0", "1", "1", "0"]}, "reward must be numbers"),
    "a text among rewards": ({"rewards": [0, "1", None, 0]}, "reward must be numbers"),
    "lists of rewards": ({"rewards": pandas.Series([[1.0]] * 4)}, "reward must be numbers"),
    "Polars lists of rewards": ({"rewards": polars.Series([[1.0]] * 4), "missing": 0.0}, "reward must be numbers"),
    "probabilities as texts": ({"probabilities": pandas.Series(["0.5"] * 4)}, "probability must be numbers"),
    "all certain": ({"probabilities": [1.0] * 4}, "all 4 probabilities are 1"),
    "time back": ({"times": [1, 2, 1, 3]}, "time must be in order in each replica, got 1.0 in row 3"),
    "time NaN": ({"times": [1, 2, float("nan"), 3]}, r"time must be in \[-1e15, 1e15\], got nan in row 3"),
    "time beyond all": ({"times": [1, 2, 3, 1e308]}, r"time must be in \[-1e15, 1e15\], got 1e\+308 in row 4"),
    "no time": ({"times": np.array(["NaT", 2, 3, 4], "M8[us]")}, r"time must be in \[-1e15, 1e15\], got nan in row 1"),
    "complex numbers": ({"probabilities": [0.5 + 1j] * 4}, "probability must be numbers"),
    "unnamed arm": ({"names": ["a"]}, "arm must be one of a, got 'b' in row 2"),
    "arm True": ({"arms": [True, False, True, True]}, "arm must be a text or a whole number"),
    "arms in columns": ({"arms": [["a"], ["b"], ["a"], ["b"]]}, r"arm must be one name each, got \[\['a'\]"),
    "arms of many lengths": ({"arms": [["a"], "b", [], "a"]}, r"arm must be one name each, got"),
    "arms as a text": ({"arms": "abab"}, "arm must be one name each, got 'abab'"),
    "names as a number": ({"names": 5}, "names must be one name each, got 5"),
    "arm 1.5": ({"arms": [1.5, 2.5, 1.5, 1.5]}, "arm must be a text or a whole number, got 1.5"),
    "masks": ({"among": [[True, False]] * 4}, "among must be True for the arm that was chosen, got False in row 2"),
    "masks of numbers": ({"among": [[1, 1]] * 4}, "among must be 4 rows of 2 True and False, got int64"),
    "missing": ({"rewards": [0, 1, None, 1]}, "missing must be given where more than 1%"),
    "nothing": ({"arms": [], "probabilities": [], "rewards": []}, "log must have decisions, got none"),
    "missing 2": ({"missing": 2}, r"missing must be in \[0, 1\], got 2"),
    "policy text": ({"policy": 7}, r"policy must be a policy such as ThompsonSampling\(\), got 7"),
    "no probabilities": ({"probabilities": None}, "probability must be one number for each decision, got None"),
}


@pytest.mark.parametrize("what", ARRAYS)
def test_wrong_columns_are_refused_with_the_row(what: str) -> None:
    given, said = ARRAYS[what]
    columns: dict[str, Any] = {"arms": ["a", "b", "a", "b"], "probabilities": [0.5] * 4, "rewards": [0, 1, 1, 0]}
    with pytest.raises(db.InvalidValue, match=said):
        db.Log(**(columns | given)).check()


def test_a_frame_without_the_columns_is_refused() -> None:
    for frame in (pandas.DataFrame({"arm": ["a"]}), polars.LazyFrame({"arm": ["a"]}), 5, None, "x"):
        with pytest.raises(db.InvalidValue, match="frame must be a table with the columns arm, probability, reward"):
            db.Log.of(frame)


def test_questions_that_a_log_cannot_answer_are_refused() -> None:
    dice = np.random.default_rng(1)
    log = db.Log(dice.integers(0, 2, 300), np.full(300, 0.5), dice.random(300) < 0.5)
    known = db.Log(dice.integers(0, 2, 300), np.full(300, 0.5), dice.random(300) < 0.5, policy=db.UniformRandom())
    ts, asked = (
        db.ThompsonSampling(),
        {
            "target must be a policy, or one of the arms 0, 1, got 'x'": lambda: log.value("x"),
            "target must be a policy, or one of the arms 0, 1, got True": lambda: log.value(True),
            "target must be a policy where live is True, got 0": lambda: log.value(0, live=True),
            "anytime must be False where live is True": lambda: known.value(ts, live=True, anytime=True),
            "current must be given: the policy that made the log": lambda: log.value(ts, live=True),
            "current must be a policy such as": lambda: log.tune(current=7),
            "policy must be one of those that": lambda: log.tune(current="tss"),
            "dts needs discount, as in": lambda: log.value("dts"),
            "current must be None where live is False": lambda: log.value(ts, current=ts),
            "current must be uniform, which made the log as it says, or not given, got 'ts'": lambda: known.value(
                ts, live=True, current=ts
            ),
            r"candidates must be policies such as ThompsonSampling\(\), got None": lambda: known.tune([None]),
            "candidates must be a policy other than the current one, uniform, got": lambda: known.tune([]),
            "candidates must be a policy other than the current one": lambda: known.tune(db.UniformRandom()),
            r"candidates must be policies such as ThompsonSampling\(\), got 5": lambda: known.tune(5),
            "targets must be at least one arm or policy": lambda: log.plot([]),
            "target must be a policy, or one of the arms 0, 1, got 7": lambda: log.plot(7),
            "target must be a policy, or one of the arms 0, 1, got 'red'": lambda: log.plot("red"),
            r"minimum_probability must be in \[0, 0.5\], got 0.7": lambda: log.value(ts, minimum_probability=0.7),
            "seed must be a whole number from 0": lambda: log.value(ts, seed=-1),
            r"window must be in \(0, inf\), got 0": lambda: log.over_time(0, window=0),
        },
    )
    for said, ask in asked.items():
        with pytest.raises(db.InvalidValue, match=said):
            ask()


def test_a_policy_of_somebody_s_own_must_be_given_as_the_current_one(tmp_path: Path) -> None:
    lines = good()
    changed(1, policy="mine:speed=3")(lines)
    log = db.Log.read(written(tmp_path / "log.jsonl", lines))
    assert log.policy is None
    assert log.check().policies == ("mine:speed=3",)
    with pytest.raises(db.InvalidValue, match=re.escape("(the log says mine:speed=3)")):
        log.tune()


def test_one_line_in_a_hundred_that_is_damaged_is_found(tmp_path: Path) -> None:
    """Bytes are changed in 1% of the lines of two replicas with masks and expiries: what is evaluated is right."""
    dice = np.random.default_rng(7)
    paths = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for number, path in enumerate(paths):
        lived(path, 150, seed=number, replica=number, step_seconds=1.0, wait=20.0, default_reward=0.0)
    whole = db.Log.read(paths, missing=0.0)
    values = {arm: whole.value(arm).mean for arm in whole.arms}
    refusals, answered = [], 0
    for _ in range(150):
        wrong = []
        for path in paths:
            content = bytearray(path.read_bytes())
            for line in dice.choice(len(content.splitlines()), max(1, len(content.splitlines()) // 100), replace=False):
                begin = len(b"".join(content.splitlines(keepends=True)[: int(line)]))
                content[begin + int(dice.integers(60))] = int(dice.integers(32, 127))
            if dice.random() < 0.5:
                content = content[: -int(dice.integers(1, 40))]  # and a torn end
            wrong.append(path.with_suffix(".damaged"))
            wrong[-1].write_bytes(bytes(content))
        try:
            found = db.Log.read(wrong, missing=0.0)
            found.check()
        except db.InvalidValue as error:
            refusals.append(str(error))
        else:  # a digit of a reward, or of a probability, may be another one
            answered += 1
            close = [abs(found.value(arm).mean - values[arm]) for arm in found.arms if arm in values]
            assert np.median(close) < 0.05
    assert all(re.search(r"line \d+", said) for said in refusals)
    assert len(refusals) > 100
    assert answered < 50
