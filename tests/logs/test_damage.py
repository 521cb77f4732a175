"""A log of two mixed replicas, with masks and expiries, of which 1% of the lines are damaged and the end is torn: it is
refused with the number of a line, or read as the slow reader reads what is left.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.logs import reader
from tests.logs.makers import ARMS, lived
from tests.logs.test_reading import expected, rows_of, same

import driftbandit as db
from driftbandit.logs import lines as files

COPIES = 120
PRINTED = range(32, 127)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The lines of both replicas, each in its order."""
    folder, dice = tmp_path_factory.mktemp("mixed"), np.random.default_rng(2)
    own = []
    for number in range(2):
        path = folder / f"{number}.jsonl"
        lived(path, 70, seed=number, turnover=0.0, replica=number, step_seconds=1.0, wait=4.0, default_reward=0.25)
        own.append(path.read_bytes().splitlines(keepends=True))
    lines = [each.pop(0) for each in own]
    while any(own):
        lines.append(own[int(dice.integers(2)) if all(own) else int(not own[0])].pop(0))
    return lines


def test_a_mixed_log_is_read_as_the_slow_reader_reads_each_replica(mixed: list[bytes], tmp_path: Path) -> None:
    kinds = [json.loads(line)["event"] for line in mixed]
    assert {"start", "decision", "reward", "expired"} == set(kinds)
    assert sum(b'"among"' in line for line in mixed) > 10
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(mixed))
    compared(path, b"".join(mixed), tmp_path)


@pytest.mark.parametrize("scans", [False, True])
def test_a_damaged_log_is_evaluated_right_or_refused_with_the_line(
    scans: bool, mixed: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scans:
        monkeypatch.setattr(files, "BLOCK", 256)
    dice, path = np.random.default_rng(5), tmp_path / "log.jsonl"
    answered, refused = 0, []
    for _ in range(COPIES):
        content, first = damaged(mixed, dice)
        path.write_bytes(content)
        try:
            compared(path, content, tmp_path)
        except db.InvalidValue as error:
            refused.append((str(error), first))
        else:
            answered += 1
    assert answered > COPIES / 8
    assert len(refused) > COPIES / 2
    for said, first in refused:
        line = re.search(r"log\.jsonl, line (\d+)", said)
        assert line, said
        assert int(line[1]) >= first, said
        assert "\n" not in said


def damaged(lines: list[bytes], dice: np.random.Generator) -> tuple[bytes, int]:
    """A copy with one line in a hundred spoiled, half of the time torn at the end; and which line is the first."""
    copy, gently = list(lines), dice.random() < 0.5
    places = dice.choice(len(copy), round(len(copy) / 100), replace=False).tolist()
    for place in places:
        kind = int(dice.integers(2) if gently else dice.integers(2, 5))
        copy[place] = spoiled(copy[place], kind, dice)
    content = b"".join(copy)
    torn = int(dice.integers(1, 60)) if dice.random() < 0.5 else 0
    return content[: len(content) - torn], min(places) + 1


def spoiled(line: bytes, kind: int, dice: np.random.Generator) -> bytes:
    """A line that is lost, with another digit or letter somewhere, cut off so that the next one goes on, or noise."""
    at = int(dice.integers(len(line) - 1))
    if kind == 0:
        return b""
    if kind == 1:
        at = int(dice.choice([place for place, letter in enumerate(line) if chr(letter).isdigit()]))
        return line[:at] + str(dice.integers(10)).encode() + line[at + 1 :]
    if kind == 2:
        return line[:at] + bytes([dice.choice(PRINTED)]) + line[at + 1 :]
    return line[:at] if kind == 3 else bytes(dice.choice(PRINTED, at).tolist()) + b"\n"


def compared(path: Path, content: bytes, folder: Path) -> None:
    """What is read, by replica, is what the slow reader finds in the lines of each; values follow from it."""
    source = files.Lines([path], 0.5)
    chunks = list(source.chunks())
    rows = rows_of(chunks, source.facts.names)
    replicas = np.concatenate([chunk.rows.replica for chunk in chunks])
    wanted = by_replica(content)
    assert len(wanted) == 2
    decisions = 0
    for place, lines in enumerate(wanted):
        own = folder / f"{place}.own"
        own.write_text("".join(json.dumps(line) + "\n" for line in lines))
        same([row for row, replica in zip(rows, replicas, strict=True) if replica == place], expected(own, 0.5))
        decisions += len(reader.read(own)[0])
    log = db.Log.read(path, missing=0.5)
    assert log.check().decisions == log.decisions == decisions
    assert log.arms == tuple(ARMS)


def by_replica(content: bytes) -> list[list[dict[str, Any]]]:
    """The lines of each replica, in the order of their starts; what was cut off at the end does not count."""
    found: dict[int, list[dict[str, Any]]] = {}
    whole = [json_of(line) for line in content.split(b"\n")[:-1]]
    while whole and whole[-1] is None:
        whole.pop()
    for line in whole:
        assert line is not None, "a line that is no event, and others after it: that is to be refused"
        replica = line["replica"] if line["event"] == "start" else line["id"] // reader.REPLICA
        found.setdefault(replica, []).append(line)
    return list(found.values())


def json_of(text: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and isinstance(line.get("event"), str) else None
