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

from driftbandit.compiling.vector_width import wide_compiler
from driftbandit.numerics import elementary


class Target:
    """A place to run: how a function is compiled there, and what it calls instead of the portable version."""

    name: str
    """Part of the key of compiled kernels: to be changed with the options of compilation."""
    real: type = np.float64

    @property
    def replacements(self) -> Mapping[Any, Any]:
        """What is called on this target instead of the portable version."""
        return {}

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

    name = "cpu 2"

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

    def compile_inner(self, function: types.FunctionType) -> Any:
        import numba

        return numba.njit(error_model="numpy", forceinline=True, **_wide())(function)

    def compile_outer(self, function: types.FunctionType, digest: str) -> Any:
        import numba

        folder = cache_folder()
        if folder is None or not Path(function.__code__.co_filename).is_file():
            return numba.njit(error_model="numpy", nogil=True, **_wide())(function)
        settings: Any = numba.config
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(folder / digest[:2] / digest)  # read once, when caching is switched on
        try:
            kernel: Any = numba.njit(error_model="numpy", nogil=True, cache=True, **_wide())(function)
        finally:
            settings.CACHE_DIR = before
        _keep_anywhere(kernel._cache, str(folder / digest[:2] / digest))
        _forgive(kernel._cache)
        return kernel


CPU = Processor()


def _wide() -> dict[str, Any]:
    """Numba's option for the widest vectors."""
    chosen = wide_compiler()
    return {} if chosen is None else {"pipeline_class": chosen}


def _keep_anywhere(cache: Any, folder: str) -> None:
    """A kernel's folder says all that is in it, so where this package lies, and since when, must not matter.

    Numba would look at both. So a cache that was filled elsewhere, such as while an image was built, is used; kernels
    for another processor are told apart by Numba itself.
    """
    with contextlib.suppress(AttributeError, TypeError):  # where this Numba is put together differently
        cache._cache_file = type(cache._cache_file)(folder, cache._impl.filename_base, "")
        cache._impl.locator._cache_path = cache._cache_path = folder


def _forgive(cache: Any) -> None:
    """A kept kernel that is damaged, or cannot be written, is no reason to fail: it is compiled again."""
    load, save = cache.load_overload, cache.save_overload

    def load_if_whole(*key: Any) -> Any:
        try:
            return load(*key)
        except Exception:  # whatever the remains of a file lead to
            with contextlib.suppress(OSError):
                cache.flush()
            return None

    def save_if_possible(*entry: Any) -> None:
        with contextlib.suppress(OSError):
            save(*entry)

    cache.load_overload, cache.save_overload = load_if_whole, save_if_possible


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
