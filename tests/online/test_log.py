"""The log is written before anything counts, and brings everything back."""

import errno
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from tests.online.scenes import ARMS, POLICIES, Ticker, assert_same_evidence, ids
from tests.own_policies import EXAMPLES

import driftbandit as db
from driftbandit.online import Bandit, journal

TS = db.ThompsonSampling()


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def lived(bandit: Bandit, clock: Ticker, rng: np.random.Generator, steps: int) -> None:
    """Decisions with and without a mask, late and repeated rewards, arms that come and go."""
    waiting = [id for id, decision in bandit._pending.decisions.items() if decision[0] >= 0]
    for _ in range(steps):
        clock.now += float(rng.exponential(1.0))
        mask = [arm for arm in bandit.arms if rng.random() < 0.6] if rng.random() < 0.3 else None
        waiting.append(bandit.select(arms=mask or None).id)
        while waiting and rng.random() < 0.6:
            bandit.reward(waiting.pop(int(rng.integers(len(waiting)))), float(rng.random() < 0.5))
        if rng.random() < 0.1:
            bandit.add(f"late {bandit.decisions}")
        if rng.random() < 0.1 and len(bandit) > 2:
            bandit.remove(bandit.arms[int(rng.integers(len(bandit)))])
        if waiting and rng.random() < 0.2:
            bandit.rewards([(waiting[0], 1.0), (waiting.pop(0), 0.0), (7, 1.0)])


def known(bandit: Bandit) -> dict[str, Any]:
    """What must be the same after a recovery."""
    state = bandit.state()
    waiting = [decision for decision in state["pending"]["decisions"] if decision[1] >= 0]
    return {
        "arms": state["arms"],
        "timing": state["timing"],
        "pending": state["pending"] | {"decisions": waiting},
        "evidence": bandit.evidence(),
    }


@pytest.mark.parametrize("step_seconds", [None, 2.0])
@pytest.mark.parametrize("policy", [*POLICIES, *EXAMPLES], ids=ids)
def test_a_bandit_is_recovered_from_its_log_and_any_of_its_saved_states(
    policy: db.Policy, step_seconds: float | None, tmp_path: Path
) -> None:
    clock, log = Ticker(), tmp_path / "log.jsonl"
    options: dict[str, Any] = {"step_seconds": step_seconds, "wait": 9.0, "default_reward": 0.0, "clock": clock}
    bandit = Bandit(ARMS, policy, seed=3, minimum_probability=0.01, log=log, **options)
    states: list[Any] = [None, bandit.state()]
    rng = np.random.default_rng(5)
    for _ in range(3):
        lived(bandit, clock, rng, 12)
        states.append(json.loads(json.dumps(bandit.state())))
    expected = known(bandit)
    bandit._journal = None
    for number, state in enumerate(states):
        copy = tmp_path / f"copy {number}.jsonl"
        copy.write_bytes(log.read_bytes())
        again = Bandit.recover(state, copy, clock=clock)
        found = known(again)
        assert found["evidence"].keys() == expected["evidence"].keys()
        for arm, evidence in expected["evidence"].items():
            np.testing.assert_allclose(found["evidence"][arm], evidence, rtol=1e-12, atol=1e-12)
        for part in ("arms", "timing", "pending"):
            assert found[part] == expected[part]
        decision = again.select()  # and it goes on, in the same log
        assert decision.id not in {line["id"] for line in lines_of(log) if line["event"] == "decision"}
        assert lines_of(copy)[-1]["id"] == decision.id


def test_a_recovered_bandit_is_recovered_again_with_all_its_lives(tmp_path: Path) -> None:
    log, state, clock = tmp_path / "log.jsonl", tmp_path / "bandit.json", Ticker()
    rng = np.random.default_rng(2)
    bandit = Bandit(ARMS, TS, step_seconds=1.0, seed=1, clock=clock, log=log)
    for life in range(6):
        lived(bandit, clock, rng, 15)
        if life == 2:
            bandit.save(state)
        before, decisions = known(bandit), bandit.decisions
        bandit = Bandit.recover(state, log, clock=clock)
        assert known(bandit) == before
        assert bandit.decisions == decisions
    ids = [line["id"] for line in lines_of(log) if line["event"] == "decision"]
    assert len(ids) == len(set(ids)) == 90


def test_a_renamed_log_goes_on_in_a_new_file_and_both_bring_everything_back(tmp_path: Path) -> None:
    log, old, state = tmp_path / "log.jsonl", tmp_path / "log.1.jsonl", tmp_path / "bandit.json"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    lived(bandit, Ticker(), np.random.default_rng(0), 20)
    log.rename(old)
    lived(bandit, Ticker(), np.random.default_rng(1), 20)
    assert [lines[0]["event"] for lines in (lines_of(old), lines_of(log))] == ["start", "start"]
    assert lines_of(log)[0]["after"] == [lines_of(old)[0]["part"], len(lines_of(old)) - 1]
    before = known(bandit)
    bandit.save(state)
    with pytest.raises(db.InvalidValue, match=r"log.jsonl, line 1: log must begin where its bandit began"):
        Bandit.recover(tmp_path / "none.json", log)
    assert known(Bandit.recover(tmp_path / "none.json", [old, log])) == before
    with pytest.raises(db.InvalidValue, match="log must go on from the saved state"):
        Bandit.recover(state, old)
    assert known(Bandit.recover(state, log)) == before


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_file_that_was_compressed_brings_everything_back(kind: str, tmp_path: Path) -> None:
    log, old = tmp_path / "log.jsonl", tmp_path / f"log.1.jsonl.{kind}"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    lived(bandit, Ticker(), np.random.default_rng(0), 20)
    old.write_bytes({"gz": gzip.compress, "zst": zstandard.compress}[kind](log.read_bytes()))
    log.unlink()
    lived(bandit, Ticker(), np.random.default_rng(1), 20)
    before = known(bandit)
    assert known(Bandit.recover(tmp_path / "none.json", [old, log])) == before


def test_lines_that_are_missing_are_noticed(tmp_path: Path) -> None:
    log, part = tmp_path / "log.jsonl", [tmp_path / f"{k}.jsonl" for k in range(3)]
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    state = None
    for k in range(3):
        bandit.select()
        state = state or bandit.state()
        log.rename(part[k])
    with pytest.raises(db.InvalidValue, match=r"2.jsonl, line 1: lines before this one are missing"):
        Bandit.recover(state, [part[0], part[2]])
    assert Bandit.recover(state, part).decisions == 3


def rotated(folder: Path, files: int, each: int) -> tuple[Bandit, list[Path]]:
    """A bandit whose log was renamed as logrotate does: `.1` is newer than `.2`. Its files, the newest first."""
    names = [folder / ("d.jsonl" if number == 0 else f"d.jsonl.{number}") for number in range(files)]
    bandit = Bandit(ARMS, TS, seed=1, log=names[0])
    for life in range(files):
        for older, newer in zip(names[life:0:-1], names[life - 1 :: -1], strict=False):
            newer.rename(older)
        for _ in range(each):
            bandit.select()
    return bandit, names


@pytest.mark.parametrize("saved", [None, 3])
def test_the_files_of_a_log_say_themselves_in_which_order_they_come(saved: int | None, tmp_path: Path) -> None:
    bandit, names = rotated(tmp_path, 4, 3)
    state = None
    if saved is not None:
        twin = Bandit(ARMS, TS, seed=1, log=tmp_path / "twin.jsonl")
        for _ in range(saved):
            twin.select()
        state = twin.state() | {"log": [lines_of(names[3])[0]["part"], saved]}
    before, files = known(bandit), sorted(tmp_path.glob("d.jsonl*"))
    assert files == names
    luck = random.Random(1)
    for _ in range(6):
        luck.shuffle(files)
        copies = [tmp_path / f"copy of {path.name}" for path in files]
        for path, copy in zip(files, copies, strict=True):
            copy.write_bytes(path.read_bytes())
        again = Bandit.recover(state, iter(copies))
        assert known(again) == before
        decision = again.select()
        assert lines_of(tmp_path / "copy of d.jsonl")[-1]["id"] == decision.id


@pytest.mark.parametrize("content", [b"", b'{"event": "sta'])
@pytest.mark.filterwarnings("ignore:.*cut off")
def test_a_file_that_says_nothing_yet_is_the_newest(content: bytes, tmp_path: Path) -> None:
    bandit, names = rotated(tmp_path, 3, 2)
    before = known(bandit)
    names[0].rename(tmp_path / "d.jsonl.0")
    names[0].write_bytes(content)
    again = Bandit.recover(None, sorted(tmp_path.glob("d.jsonl*")))
    assert known(again) == before
    decision = again.select()
    assert lines_of_good(names[0])[-1]["id"] == decision.id
    (tmp_path / "d.jsonl.3").touch()
    (tmp_path / "d.jsonl.4").touch()
    with pytest.raises(db.InvalidValue, match="log must be files of which the newest may be empty, and no other"):
        Bandit.recover(None, sorted(tmp_path.glob("d.jsonl*")))


def lines_of_good(path: Path) -> list[dict[str, Any]]:
    return [event for _, event in journal.events_in([path])]


def test_files_with_others_missing_between_them_are_refused_in_any_order(tmp_path: Path) -> None:
    _, names = rotated(tmp_path, 3, 2)
    for files in ([names[0], names[2]], [names[2], names[0]]):
        with pytest.raises(db.InvalidValue, match=r"d.jsonl, line 1: lines before this one are missing"):
            Bandit.recover(None, files)


def test_files_that_follow_each_other_in_a_circle_are_refused(tmp_path: Path) -> None:
    _, names = rotated(tmp_path, 2, 1)
    start, *rest = lines_of(names[1])
    start["after"] = [lines_of(names[0])[0]["part"], 1]
    names[1].write_text("".join(json.dumps(line) + "\n" for line in [start, *rest]))
    with pytest.raises(db.InvalidValue, match="log must be files that follow one another"):
        Bandit.recover(None, names)


def test_a_decision_that_is_missing_is_noticed(tmp_path: Path) -> None:
    log, clock = tmp_path / "log.jsonl", Ticker()
    bandit = Bandit(ARMS, TS, seed=1, log=log, step_seconds=1.0, wait=5.0, clock=clock)
    bandit.save(tmp_path / "bandit.json")
    for _ in range(6):
        bandit.select()
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:3] + lines[5:]))
    for state in (None, tmp_path / "bandit.json"):
        with pytest.raises(db.InvalidValue, match=r"line 4: decisions before this one are missing .* id 5 after 2"):
            Bandit.recover(state, log)
    log.write_bytes(b"".join(lines))
    clock.now += 9.0
    assert bandit.reward(6, 1.0) == "expired"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:6] + lines[7:]))  # the last one made
    with pytest.raises(db.InvalidValue, match=r"line 12: a decision that expired is missing from the log, got id 6"):
        Bandit.recover(None, log)


def test_a_log_that_ends_before_the_saved_state_is_said(tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    for _ in range(40):
        bandit.select()
    bandit.save(state)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:11]))
    said = "log has 10 of the 40 lines that are in the saved state: what came after them, if anything did, is lost"
    with pytest.warns(UserWarning, match=said) as warned:
        again = Bandit.recover(state, log)
    assert warned[0].filename == __file__
    assert again.decisions == 40
    again.select()
    assert Bandit.recover(state, log).decisions == 41  # and it goes on from there


# What is no log, and where there is none


def refused(message: str, attempt: Any) -> None:
    with pytest.raises(db.InvalidValue, match=message) as caught:
        attempt()
    assert "\n" not in str(caught.value)


FOREIGN = [
    b"milk\neggs\n",
    b"notes",
    b'{"format": "driftbandit.bandit"}\n',
    b"\n\n",
    b'{"event": "click"}\n',
    b"\x1f\x8b\n",
]


@pytest.mark.parametrize("content", FOREIGN)
def test_a_file_that_is_no_log_stays_as_it_is(content: bytes, tmp_path: Path) -> None:
    path, state = tmp_path / "notes.txt", tmp_path / "bandit.json"
    path.write_bytes(content)
    bandit = Bandit(ARMS, TS, seed=1, log=tmp_path / "log.jsonl")
    bandit.select()
    bandit.save(state)
    refused("log must be the log of a bandit or a new file", lambda: Bandit(ARMS, TS, log=path))
    refused("log must be the log of a bandit or a new file", lambda: Bandit.load(state, log=path))
    for given in (None, state):
        refused(r"notes.txt must be the log of a bandit, which begins", lambda given=given: Bandit.recover(given, path))
        refused("must be the log", lambda given=given: Bandit.recover(given, [path, tmp_path / "log.jsonl"]))
    assert path.read_bytes() == content
    (tmp_path / "log.jsonl").rename(tmp_path / "old.jsonl")
    path.rename(tmp_path / "log.jsonl")  # in its place
    refused("log must be the log of a bandit or a new file", bandit.select)
    (tmp_path / "log.jsonl").unlink()
    assert bandit.select().id == 2


def test_a_new_bandit_does_not_go_on_with_the_log_of_another(tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    other = Bandit(ARMS, TS, seed=1)
    other.save(state)  # without a log, so without a place in one
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    bandit.select()
    again = r"log must be a new file, got .* \(it is the log of a bandit: Bandit.recover goes on with it\)"
    refused(again, lambda: Bandit(ARMS, TS, seed=1, log=log))
    refused(again, lambda: Bandit.load(state, log=log))
    refused(again, lambda: Bandit.merge([other], log=log))
    bandit.select()  # nobody took it away
    del bandit
    refused(again, lambda: Bandit(ARMS, TS, seed=1, log=log))
    assert Bandit.recover(None, log).decisions == 2


def test_a_bandit_is_not_saved_over_a_log(tmp_path: Path) -> None:
    log, old, link = tmp_path / "log.jsonl", tmp_path / "old.jsonl", tmp_path / "link"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    link.symlink_to(log)
    for path in (log, link):  # still empty
        refused("path must be another file than a log, got", lambda path=path: bandit.save(path))
    bandit.select()
    log.rename(old)
    for path in (log, old, link):
        refused("path must be another file than a log, got", lambda path=path: bandit.save(path))
    bandit.select()
    refused("path must be another file than a log, got", lambda: Bandit(ARMS, TS, seed=1).save(log))
    assert Bandit.recover(None, [old, log]).decisions == 2
    assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob(".*.part"))


def test_a_log_that_cannot_be_there_is_one_line(tmp_path: Path) -> None:
    for log, kind in [(tmp_path / "none" / "x.jsonl", db.MissingFile), (tmp_path, db.InvalidFile)]:
        with pytest.raises(kind, match="log must be a file that can be written, in a folder that exists") as caught:
            Bandit(ARMS, TS, log=log)
        assert "\n" not in str(caught.value)
    refused("log must be a file, got .*a folder", lambda: Bandit.recover(None, tmp_path))
    for wrong in ("", "a\0b"):
        refused("log must be a path, got", lambda wrong=wrong: Bandit(ARMS, TS, log=wrong))
        refused("log must be a path, got", lambda wrong=wrong: Bandit.recover(None, wrong))
    for nothing in (None, [], 3, [None], b"x"):
        refused("log must be a path, or a list", lambda nothing=nothing: Bandit.recover(None, nothing))


def test_a_first_start_has_nothing_to_recover(tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    said = r"log must be there where no saved state is, got .* Bandit\(…, log=…\) begins one"
    for files in (log, [tmp_path / "log.jsonl.1", log]):
        with pytest.raises(db.MissingFile, match=said) as caught:
            Bandit.recover(state, files)
        assert "\n" not in str(caught.value)
    del caught
    Bandit(ARMS, TS, log=log)
    with pytest.raises(db.MissingFile, match=said):  # killed before its first decision
        Bandit.recover(state, log)
    bandit = Bandit(ARMS, TS, log=log)
    bandit.select()
    bandit.save(state)
    assert Bandit.recover(state, log).decisions == 1


@pytest.mark.parametrize("there", [False, True])
def test_a_state_whose_log_is_gone_or_empty_is_no_first_start(there: bool, tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    bandit = Bandit(ARMS, TS, log=log)
    bandit.select()
    bandit.save(state)
    del bandit
    log.write_bytes(b"") if there else log.unlink()
    said = r"log must go on from the saved state, got .* \(nothing is there: .* by Bandit.load\(…, log=…\)"
    with pytest.raises(db.InvalidValue, match=said) as caught:
        Bandit.recover(state, log)
    assert not isinstance(caught.value, db.MissingFile)  # or who catches that would begin anew
    again = Bandit.load(state, log=log)
    again.select()
    assert Bandit.recover(state, log).decisions == 2
    refused("log must be files that are there", lambda: Bandit.recover(state, [tmp_path / "gone.jsonl", log]))


def test_a_state_that_was_saved_before_there_was_a_log(tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    bandit = Bandit(ARMS, TS, seed=1)
    bandit.reward(bandit.select().id, 1.0)
    bandit.save(state)
    bandit = Bandit.load(state, log=log)
    lived(bandit, Ticker(), np.random.default_rng(0), 10)
    assert known(Bandit.recover(state, log)) == known(bandit)


def test_another_bandit_in_the_same_log_is_refused(tmp_path: Path) -> None:
    log, other = tmp_path / "log.jsonl", tmp_path / "other.jsonl"
    for path in (log, other):
        Bandit(ARMS, TS, seed=1, log=path).select()
    with open(log, "ab") as file:
        file.write(other.read_bytes())
    with pytest.raises(db.InvalidValue, match=r"line 3: another bandit begins here"):
        Bandit.recover(tmp_path / "none", log)


def test_a_log_of_an_arm_that_dominates_is_recovered(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    bandit = Bandit(["a", "b", "c"], TS, seed=0, log=log)
    for number in range(120):
        decision = bandit.select(arms=["abc"[number % 3]] if number < 90 else None)
        bandit.reward(decision, float(decision.arm == "a"))
    assert all(0.0 <= line["probability"] <= 1.0 for line in lines_of(log) if line["event"] == "decision")
    assert known(Bandit.recover(None, log)) == known(bandit)


@pytest.mark.parametrize("how", ["no seed", "merged", "another number"])
def test_a_state_that_was_saved_before_the_first_decision_is_enough(how: str, tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    if how == "no seed":
        bandit = Bandit(ARMS, TS, log=log)
    elif how == "merged":
        bandit = Bandit.merge([Bandit(ARMS, TS, replica=k) for k in range(2)], log=log)
    else:
        bandit = Bandit.from_state(Bandit(ARMS, TS).state(), replica=4, log=log)
    bandit.save(state)
    for _ in range(5):
        bandit.reward(bandit.select(), 1.0)
    assert known(Bandit.recover(state, log)) == known(bandit)


def test_the_log_of_somebody_else_is_refused(tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    other = Bandit(ARMS, TS, log=log)
    other.select()
    bandit = Bandit(ARMS, TS)
    bandit.select()
    bandit.save(state)
    with pytest.raises(db.InvalidValue, match="log must go on from the saved state"):
        Bandit.recover(state, log)


def test_a_log_that_was_renamed_and_not_written_since(tmp_path: Path) -> None:
    log, old = tmp_path / "log.jsonl", tmp_path / "old.jsonl"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    bandit.select()
    log.rename(old)
    del bandit
    again = Bandit.recover(None, [old, log])
    assert again.decisions == 1
    again.select()
    assert Bandit.recover(None, [old, log]).decisions == 2


def test_a_bandit_that_was_loaded_where_it_should_have_been_recovered_is_recovered_later(tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    bandit.select()
    bandit.save(state)
    bandit.select()
    bandit.remove("a")
    bandit = Bandit.load(state, log=log)  # knows neither of these
    decision = bandit.select(arms=["a"])
    again = Bandit.recover(state, log)
    assert again.decisions == 3
    assert again.reward(decision, 1.0) == "accepted"


# A log that fails


class Full(OSError):
    pass


def test_a_log_that_fails_leaves_the_bandit_as_it_was() -> None:
    broken = False

    def sink(event: dict[str, Any]) -> None:
        if broken:
            raise Full(errno.ENOSPC, "full")

    clock = Ticker()
    options: dict[str, Any] = {"step_seconds": 1.0, "wait": 5.0, "default_reward": 1.0, "clock": clock}
    for policy in [*POLICIES, *EXAMPLES]:
        broken = False
        bandit = Bandit(ARMS, policy, seed=1, log=sink, **options)
        twin = Bandit(ARMS, policy, seed=1, **options)
        waiting = [bandit.select().id for _ in range(4)]
        assert waiting == [twin.select().id for _ in range(4)]
        before, broken = bandit.state(), True
        attempts = [
            lambda bandit=bandit: bandit.select(),
            lambda bandit=bandit: bandit.select(arms=["a"]),
            lambda bandit=bandit, id=waiting[0]: bandit.reward(id, 1.0),
            lambda bandit=bandit, two=waiting[1:3]: bandit.rewards([(two[0], 1.0), (two[1], 0.0)]),
            lambda bandit=bandit: bandit.add("new"),
            lambda bandit=bandit: bandit.remove("a"),
            lambda bandit=bandit: bandit.set_time(5000.0),
        ]
        for attempt in attempts:
            with pytest.raises(Full):
                attempt()
            assert bandit.state() == before
        clock.now += 100.0
        with pytest.raises(Full):  # the line of a decision that expires
            bandit.select()
        assert bandit.state()["pending"] == before["pending"]
        broken = False
        for each in (bandit, twin):
            each.reward(waiting[3], 1.0)
        first, second = bandit.select(), twin.select()
        assert (first.id, first.arm) == (second.id, second.arm)
        assert_same_evidence(bandit, twin)
        clock.now = 1000.0


def test_a_line_that_does_not_fit_is_taken_back(tmp_path: Path) -> None:
    """A file may have 8192 bytes: everything that was answered is there, whole, and nothing else."""
    script = """
import json, resource, signal, sys
import driftbandit as db
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
log = sys.argv[1]
bandit = db.Bandit(["a", "b"], db.ThompsonSampling(), seed=1, log=log)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
answered, failed = [], 0
while failed < 3:
    try:
        answered.append(bandit.select().id)
    except OSError as error:
        assert str(log) in str(error) and "\\n" not in str(error), error
        failed += 1
assert bandit.decisions == bandit.pending == len(answered)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
answered.append(bandit.select().id)
lines = [json.loads(line) for line in open(log)]
assert [line["id"] for line in lines if line["event"] == "decision"] == answered, (answered, lines[-3:])
assert [line["event"] for line in lines] == ["start"] + ["decision"] * len(answered)
assert db.Bandit.recover(None, log).decisions == len(answered)
print(len(answered))
"""
    command = [sys.executable, "-W", "error", "-c", script, str(tmp_path / "log.jsonl")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) > 50


def test_what_cannot_be_taken_back_is_void(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    bandit.select()
    whole = os.write

    def half(file: int, data: Any) -> int:
        whole(file, bytes(data)[: len(data) // 2])
        raise OSError(errno.EIO, "half of it")

    def nothing(file: int, size: int) -> None:
        raise OSError(errno.EIO, "no")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", half)
        broken.setattr(os, "ftruncate", nothing)
        with pytest.raises(OSError, match="half of it"):
            bandit.select()
        with pytest.raises(OSError, match="half of it"):
            bandit.select()
    second = bandit.select()
    raw = log.read_bytes().splitlines()
    assert json.loads(raw[-2]) == {"event": "void", "lines": 3}  # two pieces, and what the second said of the first
    again = Bandit.recover(None, log)
    assert again.decisions == 2
    assert again.reward(second.id, 1.0) == "accepted"


def test_a_line_that_was_cut_off_is_dropped_and_said(tmp_path: Path) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    bandit.save(state)
    decisions = [bandit.select() for _ in range(5)]
    content = log.read_bytes()
    log.write_bytes(content[:-7])
    with pytest.warns(UserWarning, match="from line 6 on is cut off and does not count") as warned:
        again = Bandit.recover(state, log)
    assert warned[0].filename == __file__
    assert again.decisions == 4
    assert again.reward(decisions[4].id, 1.0) == "unknown"
    assert json.loads(log.read_bytes().splitlines()[-3]) == {"event": "void", "lines": 1}
    assert Bandit.recover(state, log).pending == 4  # no warning now


def test_a_log_can_be_cut_off_anywhere_again_and_again(tmp_path: Path) -> None:
    """Whatever is missing at the end, the next bandit makes it good, and is cut off itself."""
    log, luck = tmp_path / "log.jsonl", random.Random(2)
    bandit = Bandit(["a", "b"], TS, seed=1, log=log)
    bandit.warm_up()  # a thread that compiles has warnings of its own, and would undo what is ignored here
    bandit.select()
    del bandit
    kept = 0
    for _ in range(60):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bandit = Bandit.recover(None, log)
        assert bandit.decisions >= kept
        whole = log.stat().st_size
        kept = bandit.decisions
        bandit.select()
        grown = log.stat().st_size
        os.truncate(log, luck.choice([grown, luck.randint(whole, grown)]))
        del bandit
    assert kept > 10


def test_a_log_that_cannot_begin_in_its_new_file_begins_there_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    bandit.select()
    log.rename(tmp_path / "old.jsonl")

    def fails(file: int, data: Any) -> int:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", fails)
        with pytest.raises(OSError, match="full"):
            bandit.select()
    bandit.select()
    assert [line["event"] for line in lines_of(log)] == ["start", "decision"]
    assert Bandit.recover(None, [tmp_path / "old.jsonl", log]).decisions == 2


BAD = [
    (b"nonsense\n", "line 3 must be an event of a bandit's log"),
    (b"[1]\n", "line 3"),
    (b'{"event": "party"}\n', "event must be"),
    (b'{"event": "decision", "id": 99999999999999, "arm": "a", "probability": 0.5, "time": 2}\n', "id must be"),
    (b'{"event": "decision", "id": 2, "arm": "zebra", "probability": 0.5, "time": 2}\n', "arm must be one of"),
    (b'{"event": "decision", "id": 2, "arm": "a", "probability": 2, "time": 2}\n', "probability must be"),
    (b'{"event": "decision", "id": 2, "arm": "a", "time": 2}\n', "probability must be given"),
    (b'{"event": "decision", "id": 1, "arm": "a", "probability": 0.5, "time": 2}\n', "id must be"),
    (b'{"event": "decision", "id": 2, "arm": "a", "probability": 0.5, "among": ["b"]}\n', "id must be"),
    (b'{"event": "reward", "id": 1, "reward": 7, "status": "accepted"}\n', "reward must be"),
    (b'{"event": "void", "lines": 9}\n', "line 3 must be"),
    (b'{"event": "added", "arm": {}}\n', "arm must be"),
    (b'{"event": "start"}\n', "part must be given"),
]


@pytest.mark.parametrize(("line", "message"), BAD, ids=[str(line[:40]) for line, _ in BAD])
def test_a_bad_line_is_answered_with_its_number(line: bytes, message: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    Bandit(["a", "b"], TS, seed=1, log=log).select()
    with open(log, "ab") as file:
        file.write(line + b'{"event": "reward", "id": 1, "reward": 1.0, "status": "accepted"}\n')
    with pytest.raises(db.InvalidValue, match=message) as caught:
        Bandit.recover(None, log)
    assert "\n" not in str(caught.value)


# One log, one writer


def test_a_log_has_one_writer(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    first = Bandit(ARMS, TS, seed=1, log=log)
    first.select()
    second = Bandit.load(_saved(first, tmp_path), log=log)
    second.select()
    with pytest.raises(db.InvalidValue, match="another bandit writes to it now") as caught:
        first.select()
    assert "\n" not in str(caught.value)
    assert first.decisions == 1
    script = "import sys, driftbandit as db; db.Bandit(['a'], db.UCB1(), log=sys.argv[1])"
    result = subprocess.run([sys.executable, "-c", script, str(log)], capture_output=True, text=True, check=False)
    assert "log must be a file that no other process writes to" in result.stderr


def _saved(bandit: Bandit, folder: Path) -> Path:
    bandit.save(folder / "bandit.json")
    return folder / "bandit.json"


def test_a_durable_log_is_synced_before_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(journal.os, "fsync", synced.append)
    bandit = Bandit(ARMS, TS, seed=1, log=tmp_path / "log.jsonl", durable=True)
    bandit.reward(bandit.select().id, 1.0)
    assert len(synced) == 2

    def fails(file: int) -> None:
        raise OSError(errno.EIO, "no disk")

    size = (tmp_path / "log.jsonl").stat().st_size
    monkeypatch.setattr(journal.os, "fsync", fails)
    with pytest.raises(OSError, match="no disk"):
        bandit.select()
    assert bandit.decisions == 1
    assert (tmp_path / "log.jsonl").stat().st_size == size
    with pytest.raises(db.InvalidValue, match="durable must be False where the log is not a file"):
        Bandit(ARMS, TS, seed=1, durable=True)


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_while_a_line_is_written_is_as_if_nothing_happened(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, state = tmp_path / "log.jsonl", tmp_path / "bandit.json"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    decision = bandit.select()
    whole = os.write

    def interrupted(file: int, data: Any) -> int:
        if when == "after":
            whole(file, data)
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", interrupted)
        for attempt in (bandit.select, lambda: bandit.reward(decision, 1.0), lambda: bandit.add("new")):
            with pytest.raises(KeyboardInterrupt):
                attempt()
    assert (bandit.decisions, bandit.pending, len(bandit)) == (1, 1, 4)
    bandit.save(state)
    assert bandit.reward(decision, 1.0) == "accepted"
    second = bandit.select()
    assert known(Bandit.recover(state, log)) == known(bandit)
    assert [line.get("id") for line in lines_of(log)] == [None, decision.id, decision.id, second.id]


def test_a_new_file_that_cannot_be_opened_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    log = tmp_path / "folder" / "log.jsonl"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    bandit.select()
    (tmp_path / "folder").rename(tmp_path / "gone")
    for _ in range(2):
        with pytest.raises(FileNotFoundError):
            bandit.select()
    (tmp_path / "folder").mkdir()
    bandit.select()
    assert [line["event"] for line in lines_of(log)] == ["start", "decision"]
    other = Bandit.recover(None, tmp_path / "gone" / "log.jsonl")  # nobody's now
    other.select()
    bandit.select()


def test_a_log_that_was_emptied_begins_anew(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    bandit = Bandit(ARMS, TS, seed=1, log=log)
    bandit.select()
    os.truncate(log, 0)
    bandit.select()
    assert [line["event"] for line in lines_of(log)] == ["start", "decision"]


def test_a_log_into_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reading = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    bandit = Bandit(ARMS, TS, seed=1, log=tmp_path / "pipe")
    id = bandit.select().id
    lines = os.read(reading, 1 << 16).splitlines()
    os.close(reading)
    assert json.loads(lines[1])["id"] == id


# Kills


WRITER = """
import os, random, sys
import driftbandit as db
state, log, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
import warnings
warnings.simplefilter("ignore")  # a line that was cut off
luck = random.Random(seed)
if os.path.exists(log):
    bandit = db.Bandit.recover(state, log)
else:
    bandit = db.Bandit(["a", "b", "c"], db.DiscountedThompsonSampling(discount=0.99), seed=1, wait=50, log=log)
waiting = []
while True:
    decision = bandit.select()
    os.write(1, f"d {decision.id} {decision.arm}\\n".encode())
    waiting.append(decision.id)
    while waiting and luck.random() < 0.8:
        id, value = waiting.pop(luck.randrange(len(waiting))), float(luck.random() < 0.5)
        status = bandit.reward(id, value)
        os.write(1, f"r {id} {value} {status}\\n".encode())
    if luck.random() < 0.05:
        bandit.save(state)
"""


def killed(folder: Path, times: int) -> tuple[int, int]:
    """Kill a process that decides, again and again; everything that it answered must come back. How much that was."""
    state, log = folder / "bandit.json", folder / "log.jsonl"
    luck = random.Random(4)
    decisions: dict[int, str] = {}
    rewards: dict[int, float] = {}
    for life in range(times):
        command = [sys.executable, "-c", WRITER, str(state), str(log), str(life)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()  # it is compiled and has begun
        assert first, process.stderr.read().decode()
        answers = [first]
        for _ in range(luck.randrange(200)):
            answers.append(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        answers += process.stdout.read().splitlines(keepends=True)
        process.wait()
        process.stdout.close()
        process.stderr.close()
        for answer in answers:
            words = answer.decode().split()
            if answer.endswith(b"\n") and words[0] == "d":
                assert int(words[1]) not in decisions
                decisions[int(words[1])] = words[2]
            elif answer.endswith(b"\n") and words[3] == "accepted":
                assert int(words[1]) not in rewards
                rewards[int(words[1])] = float(words[2])
    events = list(journal.events_in([log]))
    logged = {event["id"]: event["arm"] for _, event in events if event["event"] == "decision"}
    learned = {event["id"]: event["reward"] for _, event in events if event.get("status") == "accepted"}
    assert decisions.items() <= logged.items()
    assert rewards.items() <= learned.items()
    again = Bandit.recover(state, log)
    assert again.decisions == len(logged)
    assert sum(span[2] for span in again.state()["pending"]["own"]) == len(learned)
    return len(decisions), len(rewards)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.filterwarnings("ignore:.*cut off")
def test_nothing_that_was_answered_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    decisions, rewards = killed(tmp_path, 8)
    assert decisions > 100
    assert rewards > 50


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*cut off")
def test_nothing_is_lost_in_a_hundred_kills(tmp_path: Path) -> None:
    decisions, rewards = killed(tmp_path, 100)
    assert min(decisions, rewards) > 1000
