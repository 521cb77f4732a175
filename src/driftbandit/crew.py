"""Other processes that work for this one: what holds Python's lock, such as compiling and drawing, done side by side.

They are started afresh, never forked, as a process that uses a card must not be. And they import no script of the
caller's, as those of `multiprocessing` do, so that nobody needs a guard around a call. What they cannot do, because a
class was defined in a notebook perhaps, has an error for its answer, and whoever asked does it instead: a crew changes
how long something takes and nothing else.
"""

import contextlib
import logging
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

log = logging.getLogger("driftbandit.compiling")
FEWEST_CORES = 4
"""With fewer, other processes that work while all threads do would take from this one what they give it."""
SERVE = "import sys; sys.path[:] = {}; from driftbandit.crew import serve; serve()"


class Unanswered(Exception):
    """A question that no process of the crew could answer."""


class Crew:
    """Up to so many processes, each started when there is something to ask it."""

    def __init__(self, size: int, environment: Mapping[str, str] | None = None) -> None:
        self.size = size
        self._environment = {**os.environ, **(environment or {})}
        self._questions: queue.SimpleQueue[tuple[Future[Any], bytes] | None] = queue.SimpleQueue()
        self._members = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.size == 0:  # dismissed already
            return
        with contextlib.suppress(queue.Empty):  # what nobody has begun, nobody will wait for
            while item := self._questions.get_nowait():
                item[0].cancel()
        self.dismiss()

    def ask(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """What a function of a module returns for these arguments, when it is known; or `Unanswered`."""
        answer: Future[Any] = Future()
        if self.size == 0:
            answer.set_exception(Unanswered("nobody is there"))
            return answer
        try:
            question = pickle.dumps((function, arguments))
        except Exception as error:  # whatever cannot be sent raises
            answer.set_exception(Unanswered(str(error)))
            return answer
        self._questions.put((answer, question))
        if self._members < self.size:
            self._members += 1
            threading.Thread(target=self._attend, daemon=True).start()
        return answer

    def dismiss(self) -> None:
        """The processes end when everything is answered; nothing more can be asked. They end with this one too."""
        for _ in range(self._members):
            self._questions.put(None)
        self.size = self._members = 0

    def _attend(self) -> None:
        """Hand questions to one process, and its answers to who asked; one that dies is replaced."""
        process = None
        for answer, question in iter(self._questions.get, None):
            if not answer.set_running_or_notify_cancel():
                continue
            try:
                process = process or self._started()
                pickle.dump(question, process.stdin)
                process.stdin.flush()
                known, value = pickle.load(process.stdout)
            except Exception as error:  # also of an answer that cannot be read
                log.info("a process that compiles or draws beside this one ended: %s", error)
                _end(process)
                process = None
                known, value = False, f"a process ended ({error})"
            if known:
                answer.set_result(value)
            else:
                answer.set_exception(Unanswered(value))
        _end(process)

    def _started(self) -> Any:
        command = [sys.executable, "-c", SERVE.format(repr(sys.path))]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._environment
        )


def _end(process: Any) -> None:
    """A process reads to the end of its questions and leaves."""
    if process is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.stdout.close()
        process.wait()


@contextlib.contextmanager
def hired(most: int | None = None) -> Iterator[Crew | None]:
    """A crew for the other cores of this machine, or for fewer where not all may be used; None where there are none."""
    size = min(cores(), most or cores()) - 1
    if size < 1 or not sys.executable:
        yield None
    else:
        with Crew(size) as crew:
            yield crew


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def serve() -> None:
    """What a process of the crew does: answer until there are no more questions."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who asks
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no answer
    while True:
        try:
            question = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            function, arguments = pickle.loads(question)
            answer = pickle.dumps((True, function(*arguments)))
        except Exception as error:  # a class that is not known here, a card that is not to be shared, no room …
            answer = pickle.dumps((False, f"{type(error).__name__}: {error}"))
        answers.write(answer)
        answers.flush()
