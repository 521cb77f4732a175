"""What a compiler cannot take of a user's own function, said in one line: before it is compiled, or of what Numba says.

Python that compiles may still be other Python: in compiled code a division by zero raises nothing, so that an `except`
would never see it.
"""

import dis
import os
import re
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

OURS = "driftbandit."
REFUSED = {
    "IMPORT_NAME": "imports inside itself: import at the top of the module",
    "STORE_GLOBAL": "changes a global: give it back as one of the arm's numbers",
    "PUSH_EXC_INFO": "has try or with: compiled code raises nothing, so test for the case",
    "LOAD_BUILD_CLASS": "defines a class: only numbers and tuples can be used",
}
CONTAINERS = (dict, list, set, frozenset)
PLACE = re.compile(r'(?:File "([^"]+)", line (\d+)|at ([^\n]+?) \((\d+)\)|from ([^\n]+?) \((\d+)\))')


def trouble(function: Any) -> str | None:
    """What in a plain function, or in those it calls, cannot be compiled; None where nothing is known to be wrong."""
    return next(_troubles(function, ()), None) if isinstance(function, types.FunctionType) else None


def _troubles(function: types.FunctionType, callers: tuple[types.FunctionType, ...]) -> Iterator[str]:
    who = f"{function.__name__} ({_where(function, function.__code__.co_firstlineno)})"
    if function in callers:
        yield f"{who} calls itself: use a loop"
        return
    for code in _codes(function.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname in REFUSED:
                yield f"{who} {REFUSED[instruction.opname]}"
    for name, value in _meanings(function):
        if isinstance(value, CONTAINERS):
            yield f"{who} uses {name}, a {type(value).__name__}: a tuple of numbers can be compiled"
        if isinstance(value, types.FunctionType) and not (value.__module__ or "").startswith(OURS):
            yield from _troubles(value, (*callers, function))


def explained(error: BaseException, functions: Iterable[Callable[..., Any]]) -> str:
    """What Numba said about one of these functions, or about one that they call: who, where, and its first sentence."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "Traceback", "During:", "- "))]
    reason = (told[0] if told else type(error).__name__)[:150].rstrip(" :")
    places = [(file, int(line)) for file, line in _places(text)]
    for function in _family(functions):
        code = function.__code__
        inside = {line for each in _codes(code) for _, _, line in each.co_lines() if line is not None}
        for file, line in places:
            if os.path.basename(file) == os.path.basename(code.co_filename) and line in inside:
                return f"{function.__name__} ({_where(function, line)}) cannot be compiled: {reason}"
    names = ", ".join(sorted({function.__name__ for function in _family(functions)}))
    return f"one of {names} cannot be compiled: {reason}"


def _places(text: str) -> Iterator[tuple[str, str]]:
    for match in PLACE.finditer(text):
        found = [part for part in match.groups() if part is not None]
        yield found[0], found[1]


def _family(functions: Iterable[Any]) -> list[types.FunctionType]:
    """A user's own functions among these and those that they call, the innermost first."""
    found: dict[types.FunctionType, None] = {}
    waiting = [each for each in functions if isinstance(each, types.FunctionType)]
    while waiting:
        function = waiting.pop()
        if function not in found and not (function.__module__ or "").startswith(OURS):
            found[function] = None
            waiting += [value for _, value in _meanings(function) if isinstance(value, types.FunctionType)]
    return list(reversed(found))


def _where(function: types.FunctionType, line: int) -> str:
    return f"line {line} of {os.path.basename(function.__code__.co_filename)}"


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


def _meanings(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """What the free names of a function stand for, as far as they are known."""
    names = {
        str(instruction.argval)
        for code in _codes(function.__code__)
        for instruction in dis.get_instructions(code)
        if instruction.opname in {"LOAD_GLOBAL", "LOAD_NAME"}
    }
    yield from ((name, function.__globals__[name]) for name in sorted(names & function.__globals__.keys()))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it is filled later
            continue
