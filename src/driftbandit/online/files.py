"""State files: JSON, replaced in one piece."""

import contextlib
import json
import os
import secrets
from typing import Any

from driftbandit.errors import InvalidValue


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write a file so that a kill at any moment leaves the old content or the new.

    The new content goes to another file in the same folder, reaches the disk, and then takes the old one's name.
    """
    target = os.path.realpath(path)  # a link stays a link
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")) + "\n"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, os.stat(target).st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    with contextlib.suppress(OSError):  # not every system can open a folder; the file is whole either way
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_json(path: str | os.PathLike[str]) -> Any:
    """The content of a JSON file, or one line that says where it is not JSON."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        return json.loads(content.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:80]
        raise InvalidValue(
            f"{os.fspath(path)} must be a saved bandit, got something that is not JSON ({reason})"
        ) from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a number")
