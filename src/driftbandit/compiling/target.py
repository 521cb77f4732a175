"""Where compiled functions run (the processor here, a card in `driftbandit.engine.cuda.target`), and are kept."""

import contextlib
import functools
import os
import sys
import threading
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.compiling.kept import kept_class
from driftbandit.compiling.numba_compiler import compilers
from driftbandit.numerics import elementary


class Target:
    """A place to run: how a function is compiled there, and what it calls instead of the portable version."""

    name: str
    """Part of the key of compiled kernels: to be changed with the options of compilation."""
    real: type = np.float64
    vectors = True
    """Whether several numbers are handled at once."""

    @property
    def replacements(self) -> Mapping[Any, Any]:
        """What is called on this target instead of the portable version."""
        return {}

    @property
    def of_others(self) -> "Target":
        """The same place for kernels with functions of a user's own."""
        return self

    def number(self, value: Any) -> Any:
        """A constant as it is there; what is no number stays as it is."""
        return self.real(value) if isinstance(value, float) and self.real is not np.float64 else value

    def compile_inner(self, function: types.FunctionType) -> Any:
        """A function that other compiled functions call."""
        raise NotImplementedError

    def compile_outer(self, function: types.FunctionType, digest: str) -> Any:
        """A function that Python calls."""
        raise NotImplementedError


class Processor(Target):
    """The CPU, through Numba."""

    name = "cpu 3"
    allocates = False
    """Whether functions may make arrays or lists: Numba then counts who uses each, and compiles a quarter longer."""

    @functools.cached_property
    def replacements(self) -> Mapping[Any, Any]:
        from numba import types as nb
        from numba.extending import intrinsic

        @intrinsic
        def fused(_: Any, x: Any, y: Any, z: Any) -> Any:
            def generate(context: Any, builder: Any, __: Any, arguments: Any) -> Any:
                numbers = [context.cast(builder, v, t, kind) for v, t in zip(arguments, (x, y, z), strict=True)]
                return builder.fma(*numbers)

            kind = nb.float32 if x == y == z == nb.float32 else nb.float64
            return kind(x, y, z), generate

        return {elementary.fma: fused}

    @property
    def of_others(self) -> Target:
        return CPU_OF_OTHERS if self is CPU else self

    @property
    def _options(self) -> dict[str, Any]:
        return {"error_model": "numpy", "_nrt": self.allocates}

    def compile_inner(self, function: types.FunctionType) -> Any:
        import numba

        return numba.njit(forceinline=True, **compilers().part, **self._options)(function)

    def compile_outer(self, function: types.FunctionType, digest: str) -> Any:
        import numba

        options = {"nogil": True, **compilers().kernel, **self._options}
        folder = cache_folder()
        kernel: Any = numba.njit(**options)(function)
        kernel.kept_in = "" if folder is None else str(folder / digest[:2] / digest)
        if folder is not None and Path(function.__code__.co_filename).is_file():
            with contextlib.suppress(OSError):  # nothing at all can be written
                kernel._cache = kept_class()(function, kernel.kept_in)
        return kernel


class Allocating(Processor):
    """The CPU for functions of a user's own, who may sum up a list."""

    name = "cpu 3, allocating"
    allocates = True


CPU = Processor()
CPU_OF_OTHERS = Allocating()


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept, or None where there is no such folder; one that can only be read will do.

    `DRIFTBANDIT_CACHE` names another folder; set to nothing it turns the cache off.
    """
    chosen = os.environ.get("DRIFTBANDIT_CACHE")
    if chosen == "":
        return None
    try:
        folder = Path(chosen) if chosen else _usual_folder()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError):  # RuntimeError: nobody knows where home is
        return None
    return folder if can_write(folder) or os.access(folder, os.R_OK | os.X_OK) else None


def can_write(folder: Path) -> bool:
    """Whether files can be made in a folder."""
    try:
        probe = folder / f".write-{os.getpid()}-{threading.get_ident()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def _usual_folder() -> Path:
    """Where this system keeps what can be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "driftbandit" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "driftbandit" / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "driftbandit" / "kernels"
