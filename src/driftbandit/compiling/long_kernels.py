"""Long kernels, such as the integrals of `exact`: a target that makes only short functions part of their callers."""

import types
from typing import Any

from driftbandit.compiling.linking import Function, link
from driftbandit.compiling.target import Processor
from driftbandit.numerics import elementary

SHORT = 300  # bytes of bytecode


class Calling(Processor):
    """The CPU, where only short functions are made part of their callers: long kernels compile faster so."""

    name = "cpu, long functions called"

    def compile_inner(self, function: types.FunctionType) -> Any:
        import numba

        inline = function.__module__ == elementary.__name__ or len(function.__code__.co_code) < SHORT
        return numba.njit(error_model="numpy", forceinline=inline)(function)


LONG = Calling()


def compiled(kernel: Function) -> Any:
    """The kernel, compiled for the CPU and kept on disk."""
    return link(kernel, LONG)
