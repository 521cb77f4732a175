"""A file that is replaced is the old one or the new one, whatever happens, and nothing is left beside it."""

import os
import socket
import stat
import subprocess
import sys
import threading
import time

import pytest

import driftbandit as db
import driftbandit.files as files
from driftbandit.files import check_writable, read_json, written_whole

CALLS = ("stat", "chmod", "fsync", "replace", "open", "close")
"""The system calls of `written_whole`; those of the file that is written are made by Python itself."""
KILLED = """
import os, runpy, sys

source, target, left = sys.argv[1], sys.argv[2], int(sys.argv[3])
written_whole = runpy.run_path(source)["written_whole"]

def deadly(call):
    def counted(*given, **named):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return call(*given, **named)
    return counted

with written_whole(target) as part:
    part.write_text("new")
    for name in sys.argv[4:]:
        setattr(os, name, deadly(getattr(os, name)))
"""


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    return path


def write(path, text="new"):
    with written_whole(path) as part:
        part.write_text(text)


def test_a_file_is_made_or_replaced(tmp_path):
    for text in ("first", "second"):
        write(tmp_path / "file", text)
        assert (tmp_path / "file").read_text() == text
    assert os.listdir(tmp_path) == ["file"]


def test_the_old_file_stands_until_the_end(target):
    with written_whole(str(target)) as part:
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("begun", [False, True])
def test_an_error_while_writing_leaves_the_old_file_alone(target, error, begun):
    with pytest.raises(error), written_whole(target) as part:  # noqa: PT012
        if begun:
            part.write_text("half")
        raise error
    assert target.read_text() == "old"
    assert os.listdir(target.parent) == ["file"]


def test_a_body_that_writes_nothing_is_an_error(target):
    with pytest.raises(FileNotFoundError), written_whole(target):
        pass
    assert target.read_text() == "old"


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
@pytest.mark.parametrize("wrong", range(7))
def test_an_error_at_any_system_call_leaves_one_of_the_two(target, monkeypatch, wrong, after, error):
    made = []

    def failing(name, call):
        def counted(*given, **named):
            made.append(name)
            broken = len(made) == wrong + 1
            if broken and not after:
                raise error
            value = call(*given, **named)
            if broken:
                raise error
            return value

        return counted

    raised = False
    try:
        with written_whole(target) as part:
            part.write_text("new")
            for name in CALLS:
                monkeypatch.setattr(files.os, name, failing(name, getattr(os, name)))
    except error:
        raised = True
    monkeypatch.undo()
    replaced = "replace" in made[:wrong] or (after and made[wrong : wrong + 1] == ["replace"])
    assert target.read_text() == ("new" if replaced or wrong >= len(made) else "old")
    assert raised or replaced, "an error before the file is replaced is told"
    assert os.listdir(target.parent) == ["file"]


def test_a_kill_at_any_system_call_leaves_one_of_the_two(target):
    left = []
    for calls in range(20):
        target.write_text("old")
        killed = subprocess.run([sys.executable, "-c", KILLED, files.__file__, str(target), str(calls), *CALLS])
        left.append(target.read_text())
        if killed.returncode == 0:
            break
        assert killed.returncode == 9
    assert killed.returncode == 0
    assert len(left) == len(CALLS) + 2  # the file and its folder reach the disk, one after the other
    assert left == sorted(left, reverse=True), "old, then new"
    assert set(left) == {"old", "new"}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_stay(target, mode):
    target.chmod(mode)
    write(target)
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert target.read_text() == "new"


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "other").write_text("")
    write(tmp_path / "file")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_link_stays_a_link(target, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    link = elsewhere / "link"
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(elsewhere) == ["link"]


def test_two_writers_do_not_meet(target):
    with written_whole(target) as one, written_whole(target) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert target.read_text() == "one"  # which was the last to end
    assert os.listdir(target.parent) == ["file"]


def test_a_reader_sees_whole_files_only(target):
    texts = ["a" * 20_000, "b" * 30_000]

    def write_often(text):
        for _ in range(20):
            write(target, text)

    threads = [threading.Thread(target=write_often, args=[text]) for text in texts]
    write(target, texts[0])
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert target.read_text() in texts
    for thread in threads:
        thread.join()
    assert os.listdir(target.parent) == ["file"]


def test_a_folder_that_is_not_there_is_the_writers_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "missing" / "file")
    assert os.listdir(tmp_path) == []


def folder(path):
    path.mkdir()


def bound_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))  # such a path must be short


SPECIAL = {"a folder": folder, "a pipe": os.mkfifo, "a socket": bound_socket}


@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_no_regular_file_is_neither_replaced_nor_read(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "it"
    SPECIAL[kind](path)
    link = tmp_path / "link"
    link.symlink_to(path)
    before = path.lstat()
    bandit = db.Bandit(["a", "b"], db.UCB1(), seed=1)
    result = db.simulate(db.UniformRandom(), db.Fast(), horizon=2, runs=2, progress=False)
    for given in (path, str(path), link):
        for use in (
            bandit.save,
            db.Bandit.load,
            result.save,
            db.Result.load,
            write,
            lambda path: check_writable("path", path),
            lambda path: read_json(path, "anything"),
        ):
            with pytest.raises(db.InvalidFile, match=rf"^path must be a file, got .* \({kind}\)$") as error:
                use(given)
            assert isinstance(error.value, OSError)
            assert "\n" not in str(error.value)
    assert path.lstat() == before
    assert sorted(os.listdir(tmp_path)) == ["it", "link"]


def test_a_file_that_is_not_there_is_one_line_for_a_bandit_and_for_a_result(tmp_path):
    path = tmp_path / "absent" / "file"
    bandit = db.Bandit(["a", "b"], db.UCB1(), seed=1)
    result = db.simulate(db.UniformRandom(), db.Fast(), horizon=2, runs=2, progress=False)
    for use, allowed in (
        (db.Bandit.load, "a readable file"),
        (db.Result.load, "a readable file"),
        (bandit.save, "writable"),
        (result.save, "writable"),
    ):
        with pytest.raises(db.MissingFile) as error:
            use(path)
        assert str(error.value).startswith(f"path must be {allowed}, got '/")
        assert str(error.value).endswith(" (No such file or directory)")
        assert ".part" not in str(error.value)
        assert isinstance(error.value, FileNotFoundError), "so that a first start can be told from a wrong file"
        assert isinstance(error.value, db.InvalidValue)


@pytest.mark.parametrize(
    "path", ["", "\0", None, 5, b"bytes", "x/" * 3000, "x" * 300], ids=lambda value: repr(value)[:12]
)
def test_what_is_no_path_is_refused_in_one_line(path):
    bandit = db.Bandit(["a", "b"], db.UCB1(), seed=1)
    result = db.simulate(db.UniformRandom(), db.Fast(), horizon=2, runs=2, progress=False)
    for use in (bandit.save, db.Bandit.load, result.save, db.Result.load):
        with pytest.raises(db.InvalidValue, match=r"^path must be [^\n]*$"):
            use(path)


LEFT = ".file.{}.0123abcd.part"
"""What a killed process leaves."""


def left(folder, process, seconds=120):
    path = folder / LEFT.format(process)
    path.write_text("half")
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path.name


@pytest.fixture
def ended():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_killed_processes_left_is_removed_by_the_next_that_writes_there(tmp_path, ended):
    for process in (ended, os.getpid()):
        left(tmp_path, process)
    write(tmp_path / "file")
    assert os.listdir(tmp_path) == ["file"]


def test_nothing_else_is_removed(tmp_path, ended):
    kept = {left(tmp_path, os.getppid()), left(tmp_path, "x"), left(tmp_path, 2**70)}
    for name in (f".file.{ended}.0123abc.part", f"file.{ended}.0123abcd.part", f".file.{ended}.0123abcd.parts"):
        (tmp_path / name).write_text("another's")
        os.utime(tmp_path / name, (0, 0))
        kept.add(name)
    other = tmp_path / "other"
    other.mkdir()
    left(other, ended)
    young = left(tmp_path, ended, seconds=5)  # perhaps of another machine
    write(tmp_path / "file")
    assert set(os.listdir(tmp_path)) == kept | {"file", "other", young}
    assert len(os.listdir(other)) == 1


def test_whether_a_file_can_be_written_is_known_before(tmp_path, monkeypatch):
    check_writable("save", tmp_path / "file")
    assert os.listdir(tmp_path) == []
    with pytest.raises(db.MissingFile, match=r"^save must be in a folder that exists, got .* \(no such folder\)$"):
        check_writable("save", tmp_path / "absent" / "file")

    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))  # for root there is no such folder

    monkeypatch.setattr(files.os, "open", refuse)
    with pytest.raises(db.InvalidFile, match=r"^save must be writable, got .* \(Permission denied\)$"):
        check_writable("save", tmp_path / "file")
