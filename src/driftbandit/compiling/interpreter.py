"""The first gear: the same source, run by Python itself, with the same results to the last bit.

Nothing is compiled, so the first call costs no more than any other. Compiled code and Python round alike, but for a few
things that are replaced here: `fma` must round once, functions that look at the bits of a number do it on Python's own
floats, and integers are Python's, which never overflow (kernels mask them where 64 bits would not do). Records are
plain objects. Where Python raises an error and compiled code goes on with a NaN or an infinity, the caller is to ask
the second gear (`gears`).
"""

import ctypes
import functools
import math
import struct
import sys
import types
from collections.abc import Mapping
from math import fsum
from typing import Any

import numpy as np

from driftbandit.compiling.target import Target
from driftbandit.numerics import elementary
from driftbandit.numerics.rounding import two_product

REAL, WHOLE = struct.Struct("<d"), struct.Struct("<q")
MANTISSA_BITS, SQRT_HALF_BITS = int(elementary.MANTISSA_BITS), int(elementary.SQRT_HALF_BITS)
FIRST_INFINITE = 1024.0
SMALL, LARGE = 1e-250, 1e250  # between these nothing that is computed on the way overflows, or loses bits below
ON_REALS = ("sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "tan", "tanh", "log2", "log10")
"""Functions of NumPy that compiled code takes from the C library, as `math` does."""


OF_C = {"lgamma": ("lgamma", 1), "gamma": ("tgamma", 1), "hypot": ("hypot", 2)}
"""Functions of the C library that Python has written anew, by the name that C has for them, and of how many numbers."""


class Interpreter(Target):
    """Python itself."""

    name = "interpreted"
    real = float
    vectors = False

    @functools.cached_property
    def replacements(self) -> Mapping[Any, Any]:
        return {
            elementary.fma: getattr(math, "fma", fused),
            elementary.split: split,
            elementary.power_of_two: power_of_two,
            math: Mathematics("math"),
            **{getattr(math, name): of_c(name) for name in OF_C},
            np: Numbers("numpy"),
        }

    def number(self, value: Any) -> Any:
        """Python's own numbers, with which it is faster."""
        return value.item() if isinstance(value, np.number) else value

    def compile_inner(self, function: types.FunctionType) -> Any:
        return function

    def compile_outer(self, function: types.FunctionType, digest: str) -> Any:
        return function


INTERPRETED = Interpreter()


class Mathematics(types.ModuleType):
    """What `math` stands for."""

    def __getattr__(self, name: str) -> Any:
        return of_c(name) if name in OF_C else getattr(math, name)


class Numbers(types.ModuleType):
    """What `np` stands for in interpreted code: Python's numbers for NumPy's."""

    uint64 = int64 = int32 = uint32 = int
    float64 = float

    def __getattr__(self, name: str) -> Any:
        return of_c(name) if name in OF_C else getattr(math if name in ON_REALS else np, name)

    @staticmethod
    def floor(x: float) -> float:
        return float(math.floor(x))

    @staticmethod
    def empty(shape: Any, dtype: Any = np.float64) -> Any:
        """An array, or a list of records."""
        if getattr(dtype, "names", None) is None:
            return np.empty(shape, dtype)
        return [Fields(dtype) for _ in range(shape)]


class Fields:
    """One record, with Python's numbers in its fields."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        assert dtype.fields is not None
        for name, (kind, *_) in dtype.fields.items():
            setattr(self, name, [0.0] * kind.shape[0] if kind.shape else kind.type(0).item())


@functools.cache
def of_c(name: str) -> Any:
    """A function of the C library, which compiled code calls: Python has its own, which rounds otherwise."""
    its_name, count = OF_C[name]
    try:
        found = getattr(ctypes.PyDLL("ucrtbase" if sys.platform == "win32" else None), its_name)
    except (OSError, AttributeError):
        return getattr(math, name)
    found.restype, found.argtypes = ctypes.c_double, [ctypes.c_double] * count
    return found


def fused(x: float, y: float, z: float) -> float:
    """x·y + z with one rounding, where Python has no `math.fma` (it has from 3.13 on).

    The product is taken exactly, as its rounding and the error of that; `math.fsum` rounds a sum once.

    >>> fused(1.0 + 2.0**-52, 1.0 - 2.0**-52, -1.0) == -(2.0**-104)
    True
    """
    product = x * y
    if not (SMALL < abs(product) < LARGE and abs(x) < LARGE and abs(y) < LARGE and abs(z) < LARGE):
        return by_whole_numbers(x, y, z)
    return fsum((*two_product(x, y), z))


def by_whole_numbers(x: float, y: float, z: float) -> float:
    """x·y + z exactly, as a fraction of whole numbers, whose division Python rounds correctly.

    >>> by_whole_numbers(1.0 + 2.0**-52, 1.0 - 2.0**-52, -1.0) == -(2.0**-104)
    True
    """
    if x == 0.0 or y == 0.0 or not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):
        return z
    (a, b), (c, d), (e, f) = x.as_integer_ratio(), y.as_integer_ratio(), z.as_integer_ratio()
    above, below = a * c * f + e * b * d, b * d * f
    if above == 0:
        return x * y + z
    try:
        return above / below
    except OverflowError:
        return math.inf if above > 0 else -math.inf


def split(x: float) -> tuple[float, float]:
    """As `elementary.split`: by the bits, so that any x is split alike."""
    (bits,) = WHOLE.unpack(REAL.pack(x))
    e = (bits - SQRT_HALF_BITS) >> MANTISSA_BITS
    (m,) = REAL.unpack(WHOLE.pack(bits - (e << MANTISSA_BITS)))
    return float(e), m


def power_of_two(n: float) -> float:
    """As `elementary.power_of_two`."""
    return math.ldexp(1.0, int(n)) if n < FIRST_INFINITE else math.inf
