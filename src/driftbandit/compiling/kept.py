"""Compiled kernels on disk: kept by what is in them alone, and never a reason to fail."""

import contextlib
import functools
import importlib
from typing import Any


@functools.cache
def kept_class() -> Any:
    """Numba's cache of a function, with other ideas of where it is and what makes it stale."""
    import numba

    caching: Any = importlib.import_module("numba.core.caching")
    base: Any = caching.FunctionCache

    class Kept(base):
        """The kernels of one function, in a folder whose name says all that is in them.

        Numba would look at where the source lies and when it was written too. Without that, a cache that was filled
        elsewhere, such as while an image was built, is used; kernels for another processor Numba tells apart itself.
        """

        def __init__(self, function: Any, folder: str) -> None:
            import tempfile  # late: it takes a while

            settings: Any = numba.config
            before = settings.CACHE_DIR
            with tempfile.TemporaryDirectory() as anywhere:  # Numba insists on one that it can write to
                settings.CACHE_DIR = anywhere  # read once, here
                try:
                    super().__init__(function)
                finally:
                    settings.CACHE_DIR = before
            self._impl.locator._cache_path = self._cache_path = folder
            self._cache_file = caching.IndexDataCacheFile(folder, self._impl.filename_base, "")

        def load_overload(self, *key: Any) -> Any:
            """The kernel for some types, or None; what is damaged is not there."""
            try:
                return super().load_overload(*key)
            except Exception:  # whatever the remains of a file lead to
                with contextlib.suppress(OSError):
                    self.flush()
                return None

        def save_overload(self, *entry: Any) -> None:
            """Keep a kernel, where that is possible."""
            with contextlib.suppress(OSError):
                super().save_overload(*entry)

    return Kept
