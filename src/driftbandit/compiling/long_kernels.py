"""Long kernels, such as the integrals of `exact`: a target that makes only short functions part of their callers."""

import collections
import types
from typing import Any

from driftbandit.compiling.gears import Gears, geared_part
from driftbandit.compiling.linking import Function
from driftbandit.compiling.numba_compiler import compilers
from driftbandit.compiling.target import Processor
from driftbandit.numerics import elementary

SHORT = 300  # bytes of bytecode
MOST_INTERPRETED = 144
"""Of the work of one call: the square of the number of arms, for every state. Twelve arms take some 200 milliseconds,
as do forty pairs; sixty arms take seconds."""
WORTH_COMPILING = 4 * MOST_INTERPRETED
"""Of the work of all calls: a process that asks for less compiles nothing."""


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


def answer(kernel: Function, work: int, *arguments: Any) -> None:
    """Run a kernel: a little work is interpreted, for more the compiler is waited for; who comes back often has it
    compiled by and by.
    """
    gears = long_kernel(kernel)
    if gears.kernel is not None or work > MOST_INTERPRETED:
        gears.wait(*arguments)
        return
    _interpreted[gears] += work
    (gears if _interpreted[gears] > WORTH_COMPILING else gears.interpret)(*arguments)


_interpreted: collections.Counter[Gears] = collections.Counter()
