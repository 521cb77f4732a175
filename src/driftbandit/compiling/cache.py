"""The folder of compiled kernels."""

import functools
import os
import sys
import threading
from pathlib import Path


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept, or None where nothing can be written.

    `DRIFTBANDIT_CACHE` names another folder; set to nothing it turns the cache off.
    """
    chosen = os.environ.get("DRIFTBANDIT_CACHE")
    if chosen == "":
        return None
    try:
        folder = Path(chosen) if chosen else _usual_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = folder / f".write-{os.getpid()}-{threading.get_ident()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where home is
        return None
    return folder


def _usual_folder() -> Path:
    """Where this system keeps what can be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "driftbandit" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "driftbandit" / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "driftbandit" / "kernels"
