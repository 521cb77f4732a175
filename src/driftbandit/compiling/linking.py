"""One source, several targets: plain functions are bound together and compiled where they will run.

Rules, random numbers and loops are written as plain Python functions on numbers. `link` takes the outermost one,
follows the functions it refers to, replaces names by the target's own versions, fills the slots, and compiles the
lot. A kernel such as the engine's block loop is thus one text with *slots* (`score`, `learn`, …)
that are filled for each policy.

Compiled kernels are kept on disk under a hash of everything that was linked into them, so a changed source, of this
package or of a user's own policy, can never meet an old kernel. Where the folder cannot be written, kernels are
compiled anew in each process.
"""

import contextlib
import dis
import hashlib
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from driftbandit.compiling.compilable import explained
from driftbandit.compiling.slot import OPEN
from driftbandit.compiling.target import CPU, Target
from driftbandit.errors import InvalidValue

Function = Callable[..., Any]
OURS = "driftbandit."
EXTENDED, GLOBAL, NAME = (dis.opmap[name] for name in ("EXTENDED_ARG", "LOAD_GLOBAL", "LOAD_NAME"))
_compiling = threading.RLock()


def link(function: Function, target: Target = CPU, **slots: Any) -> Any:
    """The function compiled for the target, with the named slots filled by other functions or by numbers."""
    key = (function, target, tuple(sorted(slots.items())))
    with _compiling:
        found = _links.get(key)
        if found is None or (found.foreign and found.checked != _edition and found.digest != _plain_digest(key)):
            foreign = not all(_is_ours(part) for part in (function, *slots.values()) if callable(part))
            target = target.of_others if foreign else target
            bound, digest, _ = _Binding(target, slots).bind(cast(types.FunctionType, function))
            told = _plain_digest(key) if foreign else ""
            kernel = target.compile_outer(bound, digest)
            if foreign:
                _answer_in_one_line(kernel, (function, *slots.values()))
            found = _Link(kernel, foreign, told, _edition)
        _links[key] = found._replace(checked=_edition)
        return found.kernel


def _answer_in_one_line(kernel: Any, functions: tuple[Any, ...]) -> None:
    """What Numba says about a user's own function is about the engine too, over a screen: say it in one line.

    Numba compiles at the first call, by this method.
    """
    compile_for = getattr(kernel, "compile", None)
    if compile_for is None:  # plain Python, as on a simulated card
        return
    from numba.core.errors import ForceLiteralArg

    def compile_or_answer(signature: Any) -> Any:
        try:
            return compile_for(signature)
        except ForceLiteralArg:  # not an error: Numba tries again
            raise
        except Exception as error:  # also what is wrong only deep inside the compiler
            raise InvalidValue(explained(error, functions)) from None

    kernel.compile = compile_or_answer


class _Link(NamedTuple):
    """A linked kernel."""

    kernel: Any
    foreign: bool
    """Whether functions of a user's own are in it, whose helpers and constants may be defined again."""
    digest: str
    checked: int
    """The `_edition` in which the digest was compared last."""


_links: dict[Any, _Link] = {}
_edition = 0


def look_again() -> None:
    """From now on a user's own functions may be others under the same names, as in a notebook."""
    global _edition
    _edition += 1


def _is_ours(part: Any) -> bool:
    return (getattr(part, "__module__", None) or "").startswith(OURS)


def plain_digest(function: Function, slots: Mapping[str, Any]) -> str:
    """What a linked function does, as far as a user's own functions are in it, which may be defined again; else ""."""
    if all(_is_ours(part) for part in (function, *slots.values()) if callable(part)):
        return ""
    return _plain_digest((function, None, tuple(slots.items())))


def _plain_digest(key: Any) -> str:
    function, _, slots = key
    return _Binding(_NOWHERE, dict(slots)).bind(function)[1]


class _Part(NamedTuple):
    """A compiled function that other functions call."""

    compiled: Any
    digest: str
    """Of everything that is linked into it."""
    alike: bool
    """Whether all kernels can share it: it has no slots, and only functions of this package, which nobody defines
    again, as may happen to a user's own in a notebook."""


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
        code = function.__code__.replace(co_consts=tuple(map(self.target.number, function.__code__.co_consts)))
        told = [self.target.name, self.target.real.__name__, function.__qualname__, repr(function.__defaults__)]
        told += _described(code)
        alike = (function.__module__ or "").startswith(OURS)
        for name in sorted(global_names(function.__code__)):
            if name not in names:
                continue
            meaning = names[name]
            if meaning is OPEN:
                assert name in self.slots, f"slot {name} of {function.__qualname__} is left open"
                meaning, alike = self.slots[name], False
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
        value = self.target.number(value)
        if isinstance(value, np.ndarray):
            return value, f"{value.dtype}{value.shape} {value.tobytes().hex()}", True
        return value, repr(value), True


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


def global_names(code: types.CodeType) -> set[str]:
    """The names that code, and the code inside it, takes from its module; `dis` would take ten times as long."""
    found, extended, content = set(), 0, code.co_code
    for operation, low in zip(content[::2], content[1::2], strict=True):
        argument = extended << 8 | low
        extended = argument if operation == EXTENDED else 0
        if operation == GLOBAL:
            found.add(code.co_names[argument >> 1])  # the last bit says something else
        elif operation == NAME:
            found.add(code.co_names[argument])
    return found.union(*(global_names(const) for const in code.co_consts if isinstance(const, types.CodeType)))
