"""One reproduction at a time in a folder."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from driftbandit.checks import shown
from driftbandit.errors import InvalidValue


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder. The system lets go of it when the process ends, however it ends: no lock is left behind."""
    import fcntl  # late: the rest of the package works where there is none

    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InvalidValue(f"out must be a writable folder, got {shown(str(folder))} ({error.strerror})") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
            raise InvalidValue(
                f"out must be a folder that nobody else writes to, got {shown(str(folder))} (in use by process {owner})"
            ) from None
        os.truncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
