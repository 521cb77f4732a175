"""Files that are written whole or not at all, and read in one piece; what cannot be is answered in one line."""

import contextlib
import errno
import json
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driftbandit.checks import reject, shown
from driftbandit.errors import InvalidFile, InvalidValue, MissingFile

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
PART = re.compile(r"\..+\.(\d+)\.[0-9a-f]{8}\.part", re.ASCII | re.DOTALL)
"""The name of a file that is being written, with the number of the process that does."""
_swept: set[Path] = set()
"""Folders in which this process has removed what others left."""


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str], name: str = "path") -> Iterator[Path]:
    """Give a path to write to; what was written there then takes the place of `path`.

    A kill or a power cut at any moment leaves the old file or the new one. An error leaves the old one and nothing
    beside it. Permissions stay as they were, and a link stays a link. What a killed process left beside its file is
    removed by the next one that writes there.
    """
    target = _target(name, path)
    part = _part(target)
    _sweep(target.parent)
    try:
        yield part
        with open(part, "rb+") as file:
            with contextlib.suppress(FileNotFoundError):  # there may be no old file
                os.chmod(part, os.stat(target).st_mode & 0o777)
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException as error:  # Ctrl-C too
        with contextlib.suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError):
            raise unusable(name, "writable", path, error) from None
        raise
    with contextlib.suppress(OSError):  # not every system can open a folder; the file is whole either way
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def check_writable(name: str, path: str | os.PathLike[str]) -> None:
    """That a file can be written there: to be asked before long work whose result goes there."""
    target = _target(name, path)
    if not target.parent.is_dir():
        raise unusable(name, "in a folder that exists", path, FileNotFoundError(errno.ENOENT, "no such folder"))
    probe = _part(target)
    try:
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        os.unlink(probe)
    except OSError as error:
        raise unusable(name, "writable", path, error) from None


def read_whole(name: str, path: str | os.PathLike[str], kind: str = "file") -> bytes:
    """The content of a regular file: a pipe might never end, and a device never does."""
    target = _target(name, path, kind)
    try:
        return target.read_bytes()
    except OSError as error:
        raise unusable(name, f"a readable {kind}", path, error) from None


def read_json(path: str | os.PathLike[str], kind: str) -> Any:
    """The content of a JSON file, or one line that says where it is not JSON."""
    content = read_whole("path", path)
    try:
        return json.loads(content.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:80]
        raise InvalidValue(f"{os.fspath(path)} must be {kind}, got something that is not JSON ({reason})") from None


def unusable(name: str, allowed: str, path: str | os.PathLike[str], error: OSError) -> InvalidFile:
    """What a system says about a file, in one line about what was given."""
    reason = error.strerror or str(error)
    kind = MissingFile if isinstance(error, FileNotFoundError) else InvalidFile
    found = kind(f"{name} must be {allowed}, got {shown(os.fspath(path))} ({reason})")
    found.errno, found.strerror = error.errno, reason
    return found


def _target(name: str, path: Any, kind: str = "file") -> Path:
    """The file that a path leads to: a regular one, or none yet."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise reject(name, "a path", path)
    try:
        target = Path(os.path.realpath(path))
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return target
    except ValueError:  # a zero in it
        raise reject(name, "a path", path) from None
    except OSError as error:
        raise unusable(name, "a path that can be followed", path, error) from None
    if not stat.S_ISREG(mode):
        found = KINDS.get(stat.S_IFMT(mode), "something else")
        raise unusable(name, f"a {kind}", path, OSError(errno.EINVAL, found))
    return target


def _part(target: Path) -> Path:
    return target.parent / f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.part"


def _sweep(folder: Path) -> None:
    """Remove what killed processes left in a folder; once a process, as a folder may hold very many files.

    A part that was touched in the last minute may belong to a process of another machine, whose number means nothing
    here. Our own number is that of an earlier process: this one has written nothing there yet.
    """
    if folder in _swept:
        return
    _swept.add(folder)
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = PART.fullmatch(entry.name)
            if match and time.time() - entry.stat(follow_symlinks=False).st_mtime > 60.0 and _gone(int(match[1])):
                os.unlink(entry.path)


def _gone(process: int) -> bool:
    if process == os.getpid():
        return True
    if sys.platform == "win32":  # there the call below would end the process
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a number")
