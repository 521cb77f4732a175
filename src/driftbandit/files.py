"""Files that are written whole or not at all."""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driftbandit.errors import InvalidValue


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to; what was written there then takes the place of `path`.

    A kill or a power cut at any moment leaves the old file or the new one. An error leaves the old one and nothing
    beside it. Permissions stay as they were, and a link stays a link.
    """
    target = Path(os.path.realpath(path))
    part = target.parent / f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}.part"
    try:
        yield part
        with open(part, "rb+") as file:
            with contextlib.suppress(FileNotFoundError):  # there may be no old file
                os.chmod(part, os.stat(target).st_mode & 0o777)
            os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:  # Ctrl-C too
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    with contextlib.suppress(OSError):  # not every system can open a folder; the file is whole either way
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_json(path: str | os.PathLike[str], kind: str) -> Any:
    """The content of a JSON file, or one line that says where it is not JSON."""
    content = Path(path).read_bytes()
    try:
        return json.loads(content.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:80]
        raise InvalidValue(f"{os.fspath(path)} must be {kind}, got something that is not JSON ({reason})") from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a number")
