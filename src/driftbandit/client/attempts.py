"""When a request is sent again. Nothing here does any I/O: a talk yields attempts, and is sent what came of each.

What is sent again must do no harm when it was done already: reading, a decision with a key, a reward. Anything else is
sent again only if the service surely has not done it. Between attempts there are pauses at random that double, at
least as long as the service asks for (Retry-After); none begins after the deadline.
"""

import dataclasses
import json
import math
import random
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple, TypeVar

from driftbandit.errors import DriftbanditError, InvalidValue, ServiceError
from driftbandit.specification import Checked, flag, parameter, real

FIRST, LONGEST = 0.05, 2.0
"""Seconds of a pause: of the first one, and of any, at most."""
SHORTEST = 0.05
"""Seconds that an attempt has at least."""
NOT_DONE = frozenset({408, 429})
"""Answers to requests that surely were not done: they came too slowly, or there were too many."""
PASSING = NOT_DONE | {500, 502, 503, 504}
"""Answers that may be other ones in a moment; those of balancers are among them."""
WRONG = frozenset({400, 404, 409, 413, 415, 422})
"""Answers to values that are outside what is allowed."""
MOST_SAID = 500


class Request(NamedTuple):
    """What is asked for."""

    method: str
    path: str
    repeatable: bool
    """Whether it does no harm when it was done already."""
    query: Mapping[str, str] = {}
    body: bytes | None = None
    headers: Mapping[str, str] = {}
    longest: float = 0.0
    """Seconds that an answer may take, where that is more than the usual timeout."""
    young: float = -math.inf
    """Until when it may be that not all processes of the service know what is asked about."""


class Attempt(NamedTuple):
    """A request is to be sent, after a pause."""

    request: Request
    pause: float
    timeout: float


class Answer(NamedTuple):
    """The service, or something before it, has answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Lost(NamedTuple):
    """No answer has come."""

    said: str
    reached: bool
    """Whether the service may have got the request."""


Result = TypeVar("Result")
Talk = Generator[Attempt, Answer | Lost, Result]


class Reply(NamedTuple):
    """The answer that counts."""

    answer: Answer
    doubtful: bool
    """Whether the service may have done the same before, in an attempt of which no answer is known."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Persistence(Checked):
    """How long is waited for, and when something is tried again.

    Parameters:
        timeout: seconds for each part of an attempt: to connect, to send, to be answered.
        deadline: seconds after which no attempt begins.
        retry: whether there is more than one attempt.

    >>> persistence = Persistence(luck=lambda: 0.5)
    >>> talk = persistence.ask(Request("POST", "/v1/experiments/headline/decisions", repeatable=True))
    >>> next(talk).pause
    0.0
    >>> talk.send(Lost("no connection", reached=False)).pause
    0.025
    >>> talk.send(Answer(503, {"retry-after": "1"}, b'{"error": "the database is away"}')).pause
    1.05
    >>> try:
    ...     talk.send(Answer(200, {}, b"{}"))
    ... except StopIteration as end:
    ...     end.value.doubtful
    True
    """

    timeout: float = real("(0, 3600]", 3.0)
    deadline: float = real("(0, 86400]", 10.0)
    retry: bool = flag(True)
    clock: Callable[[], float] = parameter(lambda name, value: value, time.monotonic)
    luck: Callable[[], float] = parameter(lambda name, value: value, random.random)

    def ask(self, request: Request) -> Talk[Reply]:
        """The answer to a request, which may take several attempts; what is wrong with it is raised."""
        began = self.clock()
        end = began + max(self.deadline, request.longest)
        timeout = max(self.timeout, request.longest)
        pause, step, count, doubtful = 0.0, FIRST, 0, False
        while True:
            left = end - self.clock() - pause
            outcome = yield Attempt(request, pause, max(SHORTEST, min(timeout, left)))
            count += 1
            if isinstance(outcome, Answer) and 200 <= outcome.status < 300:
                return Reply(outcome, doubtful)
            done = outcome.reached if isinstance(outcome, Lost) else outcome.status not in NOT_DONE
            doubtful = doubtful or done
            pause, step = asked_pause(outcome) + self.luck() * step, min(LONGEST, 2.0 * step)
            again = self.retry and (request.repeatable or not done) and self._passing(outcome, request)
            if not again or self.clock() + pause >= end:
                raise failure(outcome, request, count, self.clock() - began)

    def _passing(self, outcome: Answer | Lost, request: Request) -> bool:
        """Whether another attempt may end otherwise."""
        if isinstance(outcome, Lost) or outcome.status in PASSING:
            return True
        return outcome.status == 404 and self.clock() < request.young


def asked_pause(outcome: Answer | Lost) -> float:
    """For how many seconds the service asks not to be asked.

    >>> asked_pause(Answer(429, {"retry-after": "3"}, b""))
    3.0
    """
    said = "" if isinstance(outcome, Lost) else outcome.headers.get("retry-after", "")
    return float(said) if said.isascii() and said.isdigit() else 0.0


def failure(outcome: Answer | Lost, request: Request, count: int, seconds: float) -> DriftbanditError:
    """What is raised for the last attempt, in one line."""
    tried = "" if count == 1 else f" ({count} attempts in {seconds:.1f} s)"
    if isinstance(outcome, Lost):
        hint = "" if request.repeatable or not outcome.reached else "; whether it was done is not known: look"
        return ServiceError(f"{outcome.said}{tried}{hint}")
    said = error_of(outcome.body)
    if said and outcome.status in WRONG:
        return InvalidValue(said)
    return ServiceError(f"{said or 'the service did not do it'} (status {outcome.status}){tried}", outcome.status)


def error_of(body: bytes) -> str:
    r"""What a service says is wrong, if it is one.

    >>> error_of(b'{"error": "headline is\\nstopped"}'), error_of(b"<h1>Bad Gateway</h1>")
    ('headline is stopped', '')
    """
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    text = said.get("error") if isinstance(said, dict) else None
    if not isinstance(text, str):
        return ""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= MOST_SAID else line[: MOST_SAID - 3] + "..."
