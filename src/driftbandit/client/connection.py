"""What both clients are made with, and what httpx says of an attempt, in the words of `attempts`."""

import abc
import os
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from driftbandit import checks
from driftbandit._version import __version__
from driftbandit.client.attempts import Answer, Attempt, Lost, Persistence
from driftbandit.errors import InvalidValue, MissingExtra

if TYPE_CHECKING:
    import httpx

    Transport = httpx.BaseTransport | httpx.AsyncBaseTransport

USUAL_URL = "http://127.0.0.1:8787"
"""Where `driftbandit serve` listens."""
KEPT = 4.0
"""Seconds for which a connection is kept: less than the service does, so that none is used that it just closed."""
Http = TypeVar("Http")


class Connection(abc.ABC, Generic[Http]):
    """A service, and how it is asked."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 3.0,
        deadline: float = 10.0,
        retry: bool = True,
        connections: int = 100,
        transport: "Transport | None" = None,
    ) -> None:
        """A service at an address; nothing is asked yet.

        Parameters:
            url: its address; without it DRIFTBANDIT_URL, or else http://127.0.0.1:8787.
            token: what `driftbandit token new` said; without it DRIFTBANDIT_TOKEN, or else none.
            timeout: seconds for each part of an attempt: to connect, to send, to be answered.
            deadline: seconds after which no attempt begins.
            retry: whether what can be tried again is; without it decisions are sent without a key of their own.
            connections: how many there are at most at a time.
            transport: of httpx; for tests.
        """
        self.url = checked_url(url if url is not None else os.environ.get("DRIFTBANDIT_URL") or USUAL_URL)
        secret = checked_token(token if token is not None else os.environ.get("DRIFTBANDIT_TOKEN") or None)
        self.persistence = Persistence(timeout=timeout, deadline=deadline, retry=retry)
        self._connections = checks.whole("connections", connections, 1, 100_000)
        self._headers = {"user-agent": f"driftbandit/{__version__}"}
        if secret is not None:
            self._headers["authorization"] = f"Bearer {secret}"
        self._transport = transport
        self._process = os.getpid()
        self._kept: Http = self._opened()

    @abc.abstractmethod
    def _opened(self) -> Http:
        """New connections."""

    @property
    def http(self) -> Http:
        """The connections of this process: one that was forked must not share those of the other."""
        if self._process != os.getpid():
            self._process, self._kept = os.getpid(), self._opened()
        return self._kept

    def _options(self) -> dict[str, Any]:
        """What a client of httpx is made with."""
        limits = needed().Limits(
            max_connections=self._connections, max_keepalive_connections=self._connections, keepalive_expiry=KEPT
        )
        given: dict[str, Any] = {} if self._transport is None else {"transport": self._transport}
        return {"base_url": self.url, "headers": self._headers, "limits": limits, "follow_redirects": False} | given

    def asked(self, attempt: Attempt) -> dict[str, Any]:
        """An attempt, as httpx is told of it."""
        request = attempt.request
        headers = dict(request.headers)
        if request.body is not None:
            headers["content-type"] = "application/json"
        return {
            "method": request.method, "url": request.path, "params": dict(request.query) or None,
            "content": request.body, "headers": headers, "timeout": attempt.timeout,
        }  # fmt: skip

    def answer(self, response: "httpx.Response") -> Answer:
        """What came back."""
        return Answer(response.status_code, response.headers, response.content)

    def lost(self, error: Exception, attempt: Attempt) -> Lost:
        """Why nothing came back; what is no matter of the network is raised."""
        import httpx

        match error:
            case httpx.PoolTimeout():
                return Lost(f"all {self._connections} connections to {self.url} were in use", reached=False)
            case httpx.ConnectTimeout():
                return Lost(f"no connection to {self.url} within {attempt.timeout:g} s", reached=False)
            case httpx.ConnectError() | httpx.ProxyError():
                return Lost(f"no connection to {self.url}: {_said(error)}", reached=False)
            case httpx.TimeoutException():
                return Lost(f"no answer from {self.url} within {attempt.timeout:g} s", reached=True)
            case httpx.RequestError():
                return Lost(f"the connection to {self.url} was lost: {_said(error)}", reached=True)
        raise error

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.url}>"


def needed() -> Any:
    """The module httpx, which an extra brings."""
    try:
        import httpx
    except ImportError:
        raise MissingExtra("a client of a service needs httpx: pip install 'driftbandit[client]'") from None
    return httpx


def checked_url(url: Any) -> str:
    """The address of a service, perhaps with the path under which a proxy has it.

    >>> checked_url("https://example.org/bandits/")
    'https://example.org/bandits'
    """
    allowed = "http://… or https://… with a host, and no name, question or fragment in it"
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except (ValueError, AttributeError, TypeError):
        raise checks.reject("url", allowed, url) from None
    if not good or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise checks.reject("url", allowed, url)
    if parts.username is not None or parts.password is not None:
        raise InvalidValue(f"url must be {allowed}: give the token as token")
    return str(url).rstrip("/")


def checked_token(token: Any) -> str | None:
    """A secret, which no message repeats."""
    if token is None:
        return None
    if not isinstance(token, str) or not token or not all("!" <= letter <= "~" for letter in token):
        raise InvalidValue("token must be what `driftbandit token new` printed, without spaces")
    return token


def _said(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
