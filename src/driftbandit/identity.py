"""Which driftbandit this is: what another process, or a file from another day, must agree with."""

import functools
import hashlib
from pathlib import Path

from driftbandit._version import __version__


@functools.cache
def identity() -> str:
    """The version of the package, and a hash of all of its sources."""
    return f"{__version__} (sources {hash_of_sources(Path(__file__).parent)[:8]})"


def hash_of_sources(root: Path) -> str:
    """A hash of every Python file and every table below a folder, whatever it is called and whoever imports it."""
    digest = hashlib.sha256()
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.csv")]):
        digest.update(path.relative_to(root).as_posix().encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()
