"""Requests and answers as the server hands them over: headers, bodies, and what errors are answered with."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.exceptions import HTTPException

from driftbandit import checks
from driftbandit.contract import described
from driftbandit.errors import InvalidValue
from driftbandit.service.commits import Busy, Conflict
from driftbandit.service.database import Unavailable

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = Sequence[tuple[bytes, bytes]]
JSON, FORM = b"application/json", b"application/x-www-form-urlencoded"
SAFE: Headers = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
)
"""Headers of every answer."""
SLOW = 10.0
"""Seconds in which a body must have come."""
RETRY: Headers = ((b"retry-after", b"1"),)
log = logging.getLogger("driftbandit.service")


class Refused(Exception):
    """A request that gets no other answer than this."""

    def __init__(self, status: int, text: str, headers: Headers = ()) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, " ".join(text.split()), headers


class Gone(Exception):
    """Whoever asked has left."""


def header(scope: Scope, name: bytes) -> bytes:
    """A header of a request."""
    for key, value in scope["headers"]:
        if key == name:
            found: bytes = value
            return found
    return b""


def bearer(scope: Scope) -> str:
    """The secret that a request comes with."""
    scheme, _, secret = header(scope, b"authorization").partition(b" ")
    return secret.strip().decode("latin-1") if scheme.lower() == b"bearer" else ""


def host(scope: Scope) -> str:
    """By which name a request calls this machine."""
    name = header(scope, b"host").decode("latin-1")
    before, colon, port = name.rpartition(":")
    return before if colon and port.isdigit() else name


def query(scope: Scope, known: Sequence[str]) -> dict[str, str]:
    """The values of a question, of which each must be known, and is given once."""
    found: dict[str, str] = {}
    for name, values in parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True).items():
        if name not in known or len(values) > 1:
            raise checks.reject("a question", f"made of {', '.join(known) or 'nothing'}, each once", name)
        found[name] = values[0]
    return found


async def body(scope: Scope, receive: Receive, most: int, kind: bytes = JSON) -> bytes:
    """What was sent, if it is declared as that kind and not too much of it."""
    if header(scope, b"content-type").partition(b";")[0].strip().lower() != kind:
        raise Refused(415, f"Content-Type must be {kind.decode()}")
    length = header(scope, b"content-length")
    if length and (not length.isdigit() or int(length) > most):
        raise too_large(most)
    try:
        async with asyncio.timeout(SLOW):
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                whole: bytes = message.get("body", b"")
            else:
                whole = await _rest(message, receive, most)
    except TimeoutError:
        close = ((b"connection", b"close"),)
        raise Refused(408, f"a body must come within {SLOW:g} seconds", close) from None
    if len(whole) > most:
        raise too_large(most)
    return whole


async def _rest(message: dict[str, Any], receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        if message["type"] != "http.request":
            raise Gone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise too_large(most)
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()


def too_large(most: int) -> Refused:
    """More was sent than is read."""
    return Refused(413, f"a body must have at most {most} bytes", ((b"connection", b"close"),))


async def send_json(send: Send, status: int, content: bytes, headers: Headers = SAFE) -> None:
    """An answer."""
    start = [(b"content-type", JSON), (b"content-length", str(len(content)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": content})


def refusal(error: Exception) -> Refused:
    """What an error is answered with."""
    match error:
        case Refused():
            return error
        case HTTPException():
            headers = [(name.lower().encode(), text.encode()) for name, text in (error.headers or {}).items()]
            return Refused(error.status_code, error.detail.lower(), headers)
        case msgspec.ValidationError():
            return Refused(422, described(error))
        case msgspec.DecodeError() | UnicodeDecodeError():
            return Refused(400, f"a body must be JSON ({error})")
        case Conflict():
            return Refused(409, str(error))
        case Unavailable() | Busy():
            return Refused(503, str(error), RETRY)
        case InvalidValue():
            return Refused(422, str(error))
    log.error("a request failed", exc_info=error)
    return Refused(500, "something went wrong: the log of the service says what")
