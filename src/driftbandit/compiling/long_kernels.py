"""Long kernels, such as the integrals of `exact`: a target that makes only short functions part of their callers."""

import types
from typing import Any

from driftbandit.compiling.gears import Gears, geared_part
from driftbandit.compiling.linking import Function
from driftbandit.compiling.numba_compiler import compilers
from driftbandit.compiling.target import Processor
from driftbandit.numerics import elementary

SHORT = 300  # bytes of bytecode
MOST_INTERPRETED = 12
"""Arms, in all states together: four take some 40 milliseconds, twelve about 200, sixty seconds."""


class Calling(Processor):
    """The CPU, where only short functions are made part of their callers: long kernels compile faster so."""

    name = "cpu, long functions called 2"
    allocates = True

    def compile_inner(self, function: types.FunctionType) -> Any:
        import numba

        inline = function.__module__ == elementary.__name__ or len(function.__code__.co_code) < SHORT
        return numba.njit(forceinline=inline, **compilers().part, **self._options)(function)


LONG = Calling()


def long_kernel(kernel: Function) -> Gears:
    """The kernel in two gears, of which the second is kept on disk."""
    return geared_part(kernel, LONG)


def answer(kernel: Function, size: int, *arguments: Any) -> None:
    """Run a kernel on so many arms: a few are interpreted until it is compiled, for more the compiler is waited for."""
    gears = long_kernel(kernel)
    (gears.kernel or (gears if size <= MOST_INTERPRETED else gears.wait))(*arguments)
