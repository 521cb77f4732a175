"""An NVIDIA card as a place to run: the card's own mathematics, and random words in 32-bit arithmetic.

Everything else is linked from the one source that the processor runs too. In single precision the fast functions of
the card's special units are used; their error, some 2^−22, is of the size of that precision itself.
"""

import functools
import importlib
import importlib.metadata
import inspect
import math
import tempfile
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.compiling.target import Target, cache_folder
from driftbandit.engine.step import one_run
from driftbandit.numerics import elementary, rng, sampling
from driftbandit.numerics.elementary import real
from driftbandit.numerics.rng import HALF_WORD, Words, open_uniform
from driftbandit.numerics.sampling import THIRD, normal_pair, odds_accepted

# Imported this way because these modules have types in part only.
cuda: Any = importlib.import_module("numba.cuda")
libdevice: Any = importlib.import_module("numba.cuda.libdevice")
nb: Any = importlib.import_module("numba.types")
ir: Any = importlib.import_module("llvmlite.ir")
try:
    intrinsic: Any = importlib.import_module("numba.cuda.extending").intrinsic  # numba-cuda
except (ImportError, AttributeError):
    intrinsic = importlib.import_module("numba.extending").intrinsic  # Numba's own

SIMULATED = bool(cuda.config.ENABLE_CUDASIM)
REGISTERS = 64
"""Of a thread, in double precision or with many arms: a thousand threads a multiprocessor then hide each other's
latencies. With few arms in single precision the compiler does better without a limit, or, for weights, with this:"""
WEIGHT_REGISTERS = 72
TURN = 6.283185307179586
FACTOR_0, FACTOR_1 = np.uint32(rng.MULTIPLIER_0), np.uint32(rng.MULTIPLIER_1)
STEP_0, STEP_1 = np.uint32(rng.WEYL_0), np.uint32(rng.WEYL_1)
TOP_27, TOP_26 = np.uint32(rng.HIGH_27), np.uint32(rng.HIGH_26)
UPPER_24 = np.uint32(8)
SMALL_ROOT = np.float32(0.001)
THREE = np.float32(3.0)
DOUBT = np.float32(2.0**-18)


class Gpu(Target):
    """The card in one precision."""

    def __init__(self, precision: str, registers: int | None = None) -> None:
        self.precision = precision
        self.real = np.float32 if precision == "float32" else np.float64
        self.registers = registers if precision == "float32" else REGISTERS
        self.name = f"cuda 3 {precision} {self.registers}{_version()}{' simulated' if SIMULATED else ''}"

    def with_registers(self, registers: int | None) -> "Gpu":
        """The same for kernels that do best with so many registers a thread, in single precision."""
        return _with_registers(self.precision, registers)

    @property
    def replacements(self) -> Mapping[Any, Any]:
        if SIMULATED:
            return {elementary.log: math.log, elementary.exp: math.exp, elementary.cos_sin: cos_sin_by_library}
        words: dict[Any, Any] = {rng.philox: philox, rng.open_uniform: open_uniform_of_word}
        words[one_run.exhausted] = never  # to ask at every attempt costs many arms 2.5% of their speed
        words[math.floor] = floor_of_single if self.real is np.float32 else floor_of_double
        if self.real is np.float32:
            return words | {
                rng.uniform: uniform_of_word,
                elementary.log: fast_log,
                elementary.exp: fast_exp,
                elementary.cos_sin: fast_cos_sin,
                math.sqrt: root_of_positive,
            }
        return words | {
            rng.uniform: uniform_of_words,
            elementary.log: math.log,
            elementary.exp: math.exp,
            elementary.cos_sin: cos_sin,
            sampling.odds_accepted: odds_accepted_soon,
        }

    def compile_inner(self, function: types.FunctionType) -> Any:
        if SIMULATED:  # plain Python; only what speaks of threads needs the simulator's help, which is slow
            return cuda.jit(device=True)(function) if "cuda" in function.__code__.co_names else function
        return cuda.jit(device=True, **_options(self.real is np.float32, inner=True))(function)

    def compile_outer(self, function: types.FunctionType, digest: str) -> Any:
        if SIMULATED:
            return cuda.jit(function)
        options = _options(self.real is np.float32, inner=False, registers=self.registers)
        root = kernel_folder()
        if root is None:
            return cuda.jit(**options)(function)
        folder = root / digest[:2] / digest
        before = cuda.config.CACHE_DIR
        cuda.config.CACHE_DIR = str(folder)  # read once, when caching is switched on
        try:
            kernel = cuda.jit(cache=True, **options)(function)
        finally:
            cuda.config.CACHE_DIR = before
        _folders[kernel] = folder
        return kernel


_folders: dict[Any, Path] = {}
"""Where each kernel is kept, or will be."""


def kernel_folder() -> Path | None:
    """Where kernels for the card are kept: where all are, or a folder that ends with this process."""
    folder = cache_folder()
    made = _folder_for_now() if folder is None else None
    return Path(made.name) if made else folder


@functools.cache
def _folder_for_now() -> "tempfile.TemporaryDirectory[str] | None":
    try:
        return tempfile.TemporaryDirectory(prefix="driftbandit-")
    except OSError:
        return None


@functools.cache
def _version() -> str:
    """Of numba-cuda: another one compiles anew, and so into folders of its own."""
    try:
        return f" {importlib.metadata.version('numba-cuda')}"
    except importlib.metadata.PackageNotFoundError:
        return ""


def is_missing(kernel: Any) -> bool:
    """Whether a kernel must be compiled and could be by another process, which leaves it where this one finds it."""
    folder = _folders.get(kernel)
    return folder is not None and not kernel.overloads and next(folder.rglob("*.nbc"), None) is None


@functools.cache
def _with_registers(precision: str, registers: int | None) -> Gpu:
    return Gpu(precision, registers)


def never(tries: Any) -> bool:
    """Attempts at a score go on until one stands."""
    return False


def _options(fast: bool, inner: bool, registers: int | None = None) -> dict[str, Any]:
    """What to tell the compiler, in the words of the version that is installed."""
    known = inspect.signature(cuda.jit).parameters
    options: dict[str, Any] = {"fastmath": fast}
    if inner:
        options |= {"forceinline": True} if "forceinline" in known else {"inline": True}
    else:
        if "lto" in known:
            options["lto"] = False  # one module: the compiler sees the whole kernel, and the options reach it
        if registers is not None:
            options["max_registers"] = registers
    return options


@intrinsic  # type: ignore[untyped-decorator]  # Numba ships no types
def wide_product(_: Any, x: Any, y: Any) -> Any:
    """The 64 bits of the product of two words in one instruction; left alone, the compiler makes it three."""

    def generate(context: Any, builder: Any, __: Any, arguments: Any) -> Any:
        word, product = ir.IntType(32), ir.IntType(64)
        assembly = ir.InlineAsm(ir.FunctionType(product, [word, word]), "mul.wide.u32 $0, $1, $2;", "=l,r,r")
        return builder.call(assembly, arguments)

    return nb.uint64(nb.uint32, nb.uint32), generate


def philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> tuple[Any, Any, Any, Any]:
    """The words of `rng.philox`, held in 32 bits: a pair of halves of a product is one instruction of the card."""
    x0 = np.uint32(c0)
    x1 = np.uint32(c1)
    x2 = np.uint32(c2)
    x3 = np.uint32(c3)
    y0 = np.uint32(k0)
    y1 = np.uint32(k1)
    for _ in range(10):
        p0 = wide_product(x0, FACTOR_0)
        p1 = wide_product(x2, FACTOR_1)
        x0 = np.uint32(np.uint32(p1 >> HALF_WORD) ^ x1 ^ y0)
        x1 = np.uint32(p1)
        x2 = np.uint32(np.uint32(p0 >> HALF_WORD) ^ x3 ^ y1)
        x3 = np.uint32(p0)
        y0 = np.uint32(y0 + STEP_0)
        y1 = np.uint32(y1 + STEP_1)
    return x0, x1, x2, x3


def open_uniform_of_word(word: Any) -> float:
    """As `rng.open_uniform`; in single precision 1 itself can come out, which the samplers bear."""
    return (real(np.uint32(word)) + 0.5) * 2.3283064365386963e-10


def uniform_of_words(high: Any, low: Any) -> float:
    """As `rng.uniform`, from words of 32 bits."""
    first = np.uint32(np.uint32(high) >> TOP_27)
    second = np.uint32(np.uint32(low) >> TOP_26)
    return (real(first) * 67108864.0 + real(second)) * 1.1102230246251565e-16


def uniform_of_word(high: Any, low: Any) -> float:
    """A multiple of 2^−24 in [0, 1): more digits would round, and could round to 1."""
    return real(np.uint32(np.uint32(high) >> UPPER_24)) * 5.960464477539063e-08


def cos_sin(share: float) -> tuple[float, float]:
    """Cosine and sine of 2π·share."""
    sine, cosine = libdevice.sincospi(2.0 * share)
    return cosine, sine


def cos_sin_by_library(share: float) -> tuple[float, float]:
    """Cosine and sine of 2π·share, as plain Python knows them."""
    return math.cos(TURN * share), math.sin(TURN * share)


def fast_cos_sin(share: float) -> tuple[float, float]:
    """Cosine and sine of 2π·share by the special units."""
    sine, cosine = libdevice.fast_sincosf(TURN * share)
    return cosine, sine


def fast_log(x: Any) -> Any:
    """Natural logarithm by the special units."""
    return libdevice.fast_logf(x)


def fast_exp(x: Any) -> Any:
    """Exponential by the special units."""
    return libdevice.fast_expf(x)


def floor_of_double(x: Any) -> Any:
    """The floor as a real number: as a whole number it would need converting twice."""
    return libdevice.floor(x)


def floor_of_single(x: Any) -> Any:
    """The floor as a real number; times a whole number, single precision would turn into double."""
    return libdevice.floorf(x)


def root_of_positive(x: Any) -> Any:
    """Square root; 0 for what a fast logarithm left slightly below 0."""
    return libdevice.sqrtf(max(x, 0.0))


odds_accepted_exactly: Any = types.FunctionType(  # a copy: the original itself is what gets replaced
    odds_accepted.__code__, odds_accepted.__globals__, "odds_accepted_exactly"
)


def fast_quotient(x: Any, y: Any) -> Any:
    """x/y in single precision, 2 units in the last place off at most."""
    return libdevice.fast_fdividef(x, y)


def odds_accepted_soon(a: float, b: float, words: Words) -> Any:
    """`sampling.odds_accepted`, decided in single precision wherever that is certain to decide alike.

    Of the 32 runs of a warp some run nearly always needs the full test, and all wait for its logarithms. With
    e = 2^−24, u is off by less than e·(6 + 7u) here, a fast logarithm by e·(3 + 4·|ln|), and so c·(1 − u³ + 3·ln u)
    by less than e·c·(18/u + 30 + 18u² + 24u³ + 12·|ln u|); `doubt` is above that. A closer draw is tested exactly.
    """
    n, m, squares = normal_pair(words[0], words[1])
    one = np.float32(1.0)
    c = np.float32(a - THIRD)
    d = np.float32(b - THIRD)
    u = one + fast_quotient(np.float32(THIRD * n), np.float32(math.sqrt(a - THIRD)))
    v = one + fast_quotient(np.float32(THIRD * m), np.float32(math.sqrt(b - THIRD)))
    if u < -SMALL_ROOT or v < -SMALL_ROOT:
        return False
    if u > SMALL_ROOT and v > SMALL_ROOT:
        half = np.float32(0.5 * squares)
        level = fast_log(np.float32(open_uniform(words[2])))
        u3 = u * u * u
        v3 = v * v * v
        exponent = half + c * (one - u3 + THREE * fast_log(u)) + d * (one - v3 + THREE * fast_log(v))
        rounding = c * (fast_quotient(one, u) + one + u3) + d * (fast_quotient(one, v) + one + v3)
        doubt = DOUBT * (THREE + half - level + rounding)
        if level < exponent - doubt:
            return True
        if level > exponent + doubt:
            return False
    return odds_accepted_exactly(a, b, words)
