"""Files that are written whole or not at all, and read in one piece; what cannot be is answered in one line."""

import contextlib
import errno
import gzip
import importlib
import io
import json
import math
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from driftbandit.checks import reject, shown
from driftbandit.errors import InvalidFile, InvalidValue, MissingExtra, MissingFile

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
PART = re.compile(r"\..+\.(\d+)\.[0-9a-f]{8}\.part", re.ASCII | re.DOTALL)
"""The name of a file that is being written, with the number of the process that does."""
PACKED = 1 << 14
"""Compressed bytes that are unpacked at once."""
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


def reading(name: str, path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, opened for reading; what is compressed (.gz, .zst) is read as what it was."""
    target = _target(name, path)
    try:
        if target.suffix == ".gz":
            return cast(BinaryIO, gzip.open(target))
        file = open(target, "rb")  # noqa: SIM115  # the caller closes it
    except OSError as error:
        raise unusable(name, "a readable file", path, error) from None
    return _of_zstandard(file) if target.suffix == ".zst" else file


def _of_zstandard(file: BinaryIO) -> BinaryIO:
    """What a file of Zstandard holds: Python's own reader from 3.14 on, else a package."""
    with contextlib.suppress(ImportError):
        return cast(BinaryIO, importlib.import_module("compression.zstd").ZstdFile(file))
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        file.close()
        raise MissingExtra("a .zst file needs the package zstandard: pip install 'driftbandit[logs]'") from None
    return cast(BinaryIO, io.BufferedReader(Frames(file, zstandard.ZstdDecompressor().decompressobj)))


class Frames(io.RawIOBase):
    """What a file of Zstandard holds, frame after frame; a frame that is cut off is an error, as it is for gzip."""

    def __init__(self, file: BinaryIO, new_frame: Callable[[], Any]) -> None:
        self._file = file
        self._new_frame = new_frame
        self._frame: Any = None
        """The one that is being read; None between two."""
        self._packed, self._found = b"", b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes; 0 at the end."""
        while not self._found and (self._packed or self._more()):
            self._frame = self._frame or self._new_frame()
            self._found = self._frame.decompress(self._packed)
            self._packed = self._frame.unused_data
            self._frame = None if self._frame.eof else self._frame
        count = min(len(buffer), len(self._found))
        buffer[:count], self._found = self._found[:count], self._found[count:]
        return count

    def _more(self) -> bool:
        self._packed = self._file.read(PACKED)
        if self._frame is not None and not self._packed:
            raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        return bool(self._packed)

    def close(self) -> None:
        """The file is closed."""
        self._file.close()
        super().close()


def blocks(name: str, path: str | os.PathLike[str], size: int = 1 << 20, most: float = math.inf) -> Generator[bytes]:
    """The content of a file piece by piece, up to so many bytes; one that is damaged is answered in one line where that
    shows.
    """
    with reading(name, path) as file:
        while True:
            try:
                block = file.read(int(min(size, most)))
                most -= len(block)
            except Exception as error:  # each way of compressing has errors of its own
                reason = " ".join(str(error).split()) or type(error).__name__
                raise unusable(name, "a readable file", path, OSError(errno.EIO, reason)) from None
            if not block:
                return
            yield block


def lines_with(blocks: Iterable[bytes], mark: bytes) -> Iterator[tuple[int, bytes]]:
    """The whole lines of a file that have this in them, with their numbers; all others are hardly looked at."""
    number, rest = 1, b""
    for block in blocks:
        whole, newline, rest = (rest + block).rpartition(b"\n")
        whole += newline
        begin, at = 0, whole.find(mark)
        while at >= 0:
            start, end = whole.rfind(b"\n", 0, at) + 1, whole.find(b"\n", at) + 1
            number += whole.count(b"\n", begin, start)
            yield number, whole[start:end]
            begin, at = start, whole.find(mark, end)
        number += whole.count(b"\n", begin)


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
