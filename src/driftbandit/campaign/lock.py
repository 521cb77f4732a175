"""One report at a time in a folder, and in no folder that is somebody else's."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from driftbandit.checks import shown
from driftbandit.errors import InvalidValue


@contextlib.contextmanager
def locked(folder: Path, maker: str, name: str = "out") -> Iterator[None]:
    """Hold a folder, called by a name, for the command `maker`. The system lets go of it when the process ends, however
    it ends.

    The file that is locked stays, and tells that the folder was made here: reports and figures in it may be replaced.
    """
    import fcntl  # late: the rest of the package works where there is none

    lock = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        if others and not lock.is_file():
            raise InvalidValue(
                f"{name} must be a new folder, an empty one, or one that {maker} has made, "
                f"got {shown(str(folder))} with {shown(others[0])} in it"
            )
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InvalidValue(f"{name} must be a writable folder, got {shown(str(folder))} ({error.strerror})") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
            used = f"got {shown(str(folder))} (in use by process {owner})"
            raise InvalidValue(f"{name} must be a folder that nobody else writes to, {used}") from None
        os.truncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
