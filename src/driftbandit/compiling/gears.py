"""Two gears: a function answers from its first call by being interpreted, while a thread compiles it.

Both gears are one source and give the same results to the last bit (`interpreter`), so nobody can tell when the gear
changed but by the time an answer takes. Nobody waits for a compiler but who asks for more than should be interpreted.
The thread starts a moment after the first call, so that a process that ends at once compiles nothing, and it never
keeps a process from ending. A fork waits until the kernel in hand is done: a compiler cannot be copied in the middle of
its work.
"""

import collections
import contextlib
import functools
import importlib
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.compiling.linking import Function, link, plain_digest
from driftbandit.compiling.target import CPU, Target
from driftbandit.errors import DriftbanditError, InvalidValue

log = logging.getLogger("driftbandit.compiling")
PAUSE = 0.1
"""Seconds from the first call to the start of the compiler."""
LONGEST_WAIT = 120.0
"""Seconds that a fork waits for a kernel at most; no kernel takes that long."""
TORN = "this process was forked off while a kernel was compiled: call Bandit.warm_up() before forking"


class Gears:
    """One linked function in two gears."""

    def __init__(self, interpreted: Any, function: Function, target: Target, slots: dict[str, Any]) -> None:
        self.kernel: Any = None
        """The compiled function, once it is there."""
        self._interpreted = interpreted
        self._source = function, target, slots
        self._digest = plain_digest(function, slots)
        """Of a user's own functions: what is compiled later must be what was interpreted."""
        self._like: tuple[Any, ...] = ()
        """Arguments of the types for which it is compiled."""
        self._asked = False
        self._work = 0

    def __call__(self, *arguments: Any) -> Any:
        """The answer of the gear that is ready.

        Where Python raises an error compiled code may have an answer, so that is waited for. Functions are therefore
        written such that they change nothing until nothing can go wrong any more.
        """
        if self.kernel is None:
            self.soon(*arguments)
            if _background.idle:
                _background.start()
        return self.interpret(*arguments)

    def soon(self, *arguments: Any) -> None:
        """Have it compiled in the background, for arguments like these."""
        if self.kernel is None and not self._asked:
            self._like, self._asked = arguments, True
            _background.waiting.append(self)
            if _background.idle:
                _background.start()

    def interpret(self, *arguments: Any) -> Any:
        """The same, without asking for the second gear."""
        if self.kernel is None:
            with np.errstate(all="ignore"), contextlib.suppress(Exception):
                return self._interpreted(*arguments)
        return self.wait(*arguments)

    def within(self, work: int, most: int) -> Callable[..., Any]:
        """What answers where nothing compiles in the background: the interpreter, as long as the work of all calls is
        at most so much, and then the compiled function.
        """
        self._work += work
        return self.interpret if self._work <= most else self.wait

    def wait(self, *arguments: Any) -> Any:
        """The answer of the second gear, as soon as it is there."""
        return self.compiled(*arguments)(*arguments)

    def compiled(self, *arguments: Any) -> Any:
        """The function compiled for arguments like these."""
        if self.kernel is None:
            self._like = self._like or arguments
            self.compile()
        return self.kernel

    def compile(self) -> None:
        """Compile it, unless that is done."""
        function, target, slots = self._source
        with _compiling:
            if self.kernel is not None:
                return
            if _background.torn:
                raise DriftbanditError(TORN)
            if self._digest != plain_digest(function, slots):
                raise InvalidValue(f"what {function.__name__} runs was defined again: make the bandit anew")
            import numba  # late: it takes a while

            began = time.perf_counter()
            kernel = link(function, target, **slots)
            kernel.compile(tuple(map(numba.typeof, self._like)))
            self.kernel, self._like = kernel, ()
        log.info("%s is compiled, or was kept: after %.2f s", function.__name__, time.perf_counter() - began)

    def give_up(self) -> None:
        """It cannot be compiled."""
        self._like = ()


Functions = Iterator[tuple[Gears, tuple[Any, ...]]]
"""Functions in two gears, each with arguments of the types that it gets."""


class _Background:
    """The thread that compiles, one function after the other."""

    def __init__(self) -> None:
        self.waiting: collections.deque[Gears] = collections.deque()
        """What is not compiled yet; the first is in hand."""
        self.idle = True
        self.torn = False
        """Whether this process was forked off in the middle of a compilation, after which none can be begun."""
        self._starting = threading.Lock()
        self._pausing = self._held = False

    def start(self) -> None:
        """See that somebody does it."""
        if self._starting.acquire(blocking=False):  # else somebody is at it
            try:
                if self.idle and self.waiting:
                    _wait_before_forks()
                    self.idle = False
                    try:
                        threading.Thread(target=self._run, name="driftbandit compiler", daemon=True).start()
                    except RuntimeError:  # no more threads, or the process is ending
                        self.idle = True
            finally:
                self._starting.release()

    def _run(self) -> None:
        time.sleep(PAUSE)
        try:
            self.compile_all()
        finally:
            self.idle = True  # what came meanwhile starts another thread with its next call

    def compile_all(self) -> None:
        """Compile whatever waits."""
        while self.waiting:
            while self._pausing:
                time.sleep(0.001)
            try:
                self.waiting[0].compile()
            except Exception as error:  # what cannot be compiled stays as it is; a user's own function is named
                warnings.warn(f"what runs live stays slow: {error}", RuntimeWarning, stacklevel=2)
                self.waiting[0].give_up()
            finally:
                self.waiting.popleft()

    def pause(self) -> None:
        """Wait for the kernel in hand, and begin no other until a fork is done."""
        self._pausing = True
        if _compiling.acquire(timeout=LONGEST_WAIT):
            _compiling.release()

    def before_fork(self) -> None:
        """Nobody compiles."""
        self._held = _compiling.acquire(timeout=LONGEST_WAIT)

    def go_on(self) -> None:
        """After a fork, in the parent."""
        self._pausing = False
        if self._held:
            _compiling.release()

    def in_child(self) -> None:
        """After a fork, in the child, in which there is no such thread."""
        global _compiling
        self.torn = self.torn or not self._held
        self.idle, self._starting = not self.torn, threading.Lock()
        self.go_on()
        if self.torn:
            _compiling = threading.RLock()


_compiling = threading.RLock()
_background = _Background()
_gears: dict[Any, Gears] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_background.before_fork, after_in_parent=_background.go_on, after_in_child=_background.in_child
    )


@functools.cache
def _wait_before_forks() -> None:
    """What is registered last runs first: a fork waits here before others take locks that a compiler may need.

    Those are the locks of bandits that decide, and that of `logging`, which must be there by now.
    """
    importlib.import_module("logging")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_background.pause)


@functools.cache
def geared_part(function: Function, target: Target = CPU) -> Gears:
    """A function of this package without slots, which nobody defines again."""
    return geared(function, target)


def geared(function: Function, target: Target = CPU, **slots: Any) -> Gears:
    """The function with its slots filled, as `link` does it, in two gears; once for all who ask for the same."""
    interpreted = link(function, INTERPRETED, **slots)
    return _gears.setdefault((interpreted, target), Gears(interpreted, function, target, slots))
