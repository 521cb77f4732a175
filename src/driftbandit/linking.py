"""One source, several targets: plain functions are bound together and compiled where they will run.

Rules, random numbers and loops are written as plain Python functions on numbers. `link` takes the outermost one,
follows the functions it refers to, gives names a new meaning where the target or the caller asks for it, and
compiles the lot. A kernel such as the engine's block loop is thus one text with *slots* (`score`, `learn`, …)
that are filled for each policy.

Compiled kernels are kept on disk under a hash of everything that was linked into them, so a changed source, of this
package or of a user's own policy, can never meet an old kernel. Where the folder cannot be written, kernels are
compiled anew in each process.
"""

import contextlib
import dis
import functools
import hashlib
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from driftbandit import elementary
from driftbandit.wide import wide_compiler

Function = Callable[..., Any]
OPEN_SLOT = "_open"
"""What the function that an open slot stands for is called; another function with the name of a slot is none."""
OURS = "driftbandit."
_compiling = threading.RLock()


class Target:
    """A place to run: how a function is compiled there, and what it calls instead of the portable version."""

    name: str
    """Part of the key of compiled kernels: to be changed with the options of compilation."""
    real: type = np.float64

    @property
    def replacements(self) -> Mapping[Any, Any]:
        """What is called on this target instead of the portable version."""
        return {}

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
        _forgive(kernel._cache)
        return kernel


CPU = Processor()


def _wide() -> dict[str, Any]:
    """Numba's option for the widest vectors."""
    chosen = wide_compiler()
    return {} if chosen is None else {"pipeline_class": chosen}


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


def link(function: Function, target: Target = CPU, **slots: Any) -> Any:
    """The function compiled for the target, with the named slots filled by other functions or by numbers."""
    key = (function, target, tuple(sorted(slots.items())))
    with _compiling:
        found = _links.get(key)
        if found is None or (found.foreign and found.checked != _edition and found.digest != _plain_digest(key)):
            bound, digest, _ = _Binding(target, slots).bind(cast(types.FunctionType, function))
            foreign = not all(_is_ours(part) for part in (function, *slots.values()) if callable(part))
            told = _plain_digest(key) if foreign else ""
            found = _Link(target.compile_outer(bound, digest), foreign, told, _edition)
        _links[key] = found._replace(checked=_edition)
        return found.kernel


class _Link(NamedTuple):
    """A linked kernel."""

    kernel: Any
    foreign: bool
    """Whether functions of a user's own are in it, whose helpers and constants may be defined again."""
    digest: str
    checked: int
    """At which edition that was looked at last."""


_links: dict[Any, _Link] = {}
_edition = 0


def look_again() -> None:
    """From now on a user's own functions may be others under the same names, as in a notebook."""
    global _edition
    _edition += 1


def _is_ours(part: Any) -> bool:
    return (getattr(part, "__module__", None) or "").startswith(OURS)


def _plain_digest(key: Any) -> str:
    function, _, slots = key
    return _Binding(_NOWHERE, dict(slots)).bind(function)[1]


class _Part(NamedTuple):
    """A compiled function that other functions call."""

    compiled: Any
    digest: str
    """Of everything that is linked into it."""
    alike: bool
    """Whether kernels can share it: it is the same however slots are filled, and nobody defines its names again, as
    may happen to a user's own functions in a notebook."""


_shared_parts: dict[tuple[Target, types.FunctionType], _Part] = {}


class _Binding:
    """One walk over the functions that a kernel is made of."""

    def __init__(self, target: Target, slots: Mapping[str, Any]) -> None:
        self.target = target
        self.slots = slots
        self.own_parts: dict[types.FunctionType, _Part] = {}

    def part(self, function: types.FunctionType) -> _Part:
        """The function compiled, once for all kernels where that is possible."""
        part = _shared_parts.get((self.target, function)) or self.own_parts.get(function)
        if part is None:
            bound, digest, alike = self.bind(function)
            part = _Part(self.target.compile_inner(bound), digest, alike)
            if alike:
                _shared_parts[self.target, function] = part
            else:
                self.own_parts[function] = part
        return part

    def bind(self, function: types.FunctionType) -> tuple[types.FunctionType, str, bool]:
        """The function with its names bound for the target, its digest, and whether it has no slots."""
        names = dict(function.__globals__)
        code = function.__code__.replace(co_consts=tuple(map(self.constant, function.__code__.co_consts)))
        told = [self.target.name, self.target.real.__name__, function.__qualname__, repr(function.__defaults__)]
        told += _described(code)
        alike = (function.__module__ or "").startswith(OURS)
        for name in sorted(set(_global_names(function.__code__))):
            if name not in names:
                continue
            meaning = names[name]
            if getattr(meaning, "__name__", None) == OPEN_SLOT:
                meaning, alike = self.slots.get(name, meaning), False
            names[name], shown, same = self.value(meaning)
            told.append(f"{name} is {shown}")
            alike = alike and same
        cells = []
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            meaning, shown, same = self.value(cell.cell_contents)
            cells.append(types.CellType(meaning))
            told.append(f"{name} is {shown}")
            alike = alike and same
        told += [f"{kind.__name__}{kind._fields}" for kind in names.values() if _is_record(kind)]
        bound = types.FunctionType(code, names, function.__name__, function.__defaults__, tuple(cells))
        bound.__module__ = function.__module__
        bound.__qualname__ = function.__qualname__
        return bound, hashlib.sha256("\n".join(told).encode()).hexdigest(), alike

    def value(self, value: Any) -> tuple[Any, str, bool]:
        """What a name means on the target, how that is told apart, and whether it is the same in every kernel."""
        with contextlib.suppress(TypeError):  # what cannot be hashed is never replaced
            value = self.target.replacements.get(value, value)
        if value is np.float64:
            value = self.target.real
        if isinstance(value, types.FunctionType):
            part = self.part(value)
            return part.compiled, f"{value.__module__}.{value.__qualname__} {part.digest}", part.alike
        value = self.constant(value)
        if isinstance(value, np.ndarray):
            return value, f"{value.dtype}{value.shape} {value.tobytes().hex()}", True
        return value, repr(value), True

    def constant(self, value: Any) -> Any:
        """A number of the target's precision; anything else as it is."""
        if isinstance(value, float) and self.target.real is not np.float64:
            return self.target.real(value)
        return value


def _is_record(value: Any) -> bool:
    """Whether a name stands for a named tuple: kernels take them as arguments, and a kept kernel must fit them."""
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


class _Nowhere(Target):
    """Where nothing is compiled: functions are only told apart."""

    name = "nowhere"

    def compile_inner(self, function: types.FunctionType) -> Any:
        return function


_NOWHERE = _Nowhere()


def digest(function: Function) -> str:
    """A hash of everything that a function does, the functions that it calls included."""
    if not isinstance(function, types.FunctionType):
        return repr(function)
    return _Binding(_NOWHERE, {}).bind(function)[1]


def _described(code: types.CodeType) -> Iterator[str]:
    """Everything that a piece of code does, and the code inside it, such as a comprehension."""
    yield from (code.co_code.hex(), repr(code.co_names), repr(code.co_varnames), repr(code.co_freevars))
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _described(const)
        else:
            yield repr(const)


def _global_names(code: types.CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in {"LOAD_GLOBAL", "LOAD_NAME"}:
            yield str(instruction.argval)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _global_names(const)
