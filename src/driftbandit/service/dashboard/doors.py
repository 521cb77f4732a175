"""Who looks at pages, how a browser is known, and what a form must bring so that no other site can send it."""

import hmac
import math
import re
import secrets
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from driftbandit.contract import NAME
from driftbandit.service import wire
from driftbandit.service.dashboard.pages import login_page
from driftbandit.service.dashboard.shell import Whereabouts
from driftbandit.service.dashboard.switches import sent
from driftbandit.service.guard import ANYBODY, MAY, SESSION, Token, form_proof
from driftbandit.service.process import Service
from driftbandit.service.wire import Refused

COOKIE = "driftbandit_session"


class Visitor(NamedTuple):
    """Somebody who looks at pages."""

    token: Token
    session: str
    """What the browser keeps."""

    @property
    def proof(self) -> str:
        """What forms bring back."""
        return form_proof(self.token, self.session)


class Unknown(Exception):
    """Whoever asks must say who they are first."""


class Doors:
    """Where visitors come in and go out."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._path = f"{service.options.root_path}/"
        self._anybody = secrets.token_hex(16)
        """In the place of a session, where nobody needs one."""

    def visitor(self, request: Request) -> Visitor | None:
        """Who looks, if that is known."""
        tokens = self.service.tokens
        if not tokens.needed:
            return Visitor(ANYBODY, self._anybody)
        session = request.cookies.get(COOKIE, "")
        token = tokens.in_session(session, self.service.clock())
        return None if token is None else Visitor(token, session)

    def reader(self, request: Request, experiment: str | None = None) -> Visitor:
        """Who looks: somebody who may, and not too often."""
        visitor = self.visitor(request)
        if visitor is None:
            raise Unknown
        seconds = self.service.rates.admit(visitor.token.digest)
        if seconds > 0.0:
            raise Refused(429, "this token asks too often", ((b"retry-after", str(math.ceil(seconds)).encode()),))
        if not visitor.token.may("read", experiment):
            raise Refused(403, "this token may not look at that")
        return visitor

    def place(self, request: Request, visitor: Visitor | None) -> Whereabouts:
        """Where a page is, for whom."""
        base = f"{request.url.scheme}://{request.url.netloc}{self.service.options.root_path}"
        named = visitor.token.name if visitor is not None and self.service.tokens.needed else ""
        return Whereabouts(way_up(request), base, named, "" if visitor is None else visitor.proof)

    async def form(self, request: Request) -> dict[str, list[str]]:
        """What a form of these pages brings, and no other."""
        if not own(request):
            raise Refused(403, "forms of other sites are not taken")
        receive: Any = request.receive
        return sent(await wire.body(dict(request.scope), receive, self.service.options.max_body, wire.FORM))

    async def show(self, request: Request) -> Response:
        """Where a token is given."""
        to = wire.query(dict(request.scope), ["to"]).get("to", "")
        if self.visitor(request) is not None:
            return RedirectResponse(beyond(to), 303)
        return html(login_page(self.place(request, None), to))

    async def enter(self, request: Request) -> Response:
        """A token is given, once: then a cookie says who it is, which no script reads and no other site sends."""
        form = await self.form(request)
        to, tokens = form.get("to", [""])[0], self.service.tokens
        token = tokens.holder(form.get("token", [""])[0].strip()) if tokens.needed else ANYBODY
        if token is None or "read" not in MAY[token.role]:
            said = "This token is not known." if token is None else "This token may not look at pages."
            return html(login_page(self.place(request, None), to, said), 403)
        response = RedirectResponse(beyond(to), 303)
        if tokens.needed:
            response.set_cookie(
                COOKIE, tokens.session(token, self.service.clock()), max_age=int(SESSION), path=self._path,
                secure=over_tls(request), httponly=True, samesite="strict",
            )  # fmt: skip
        return response

    async def leave(self, request: Request) -> Response:
        """The browser forgets who it is."""
        form = await self.form(request)
        visitor = self.visitor(request)
        if visitor is not None:
            check_proof(visitor, form)
        response = RedirectResponse("login", 303)
        response.delete_cookie(COOKIE, path=self._path, secure=over_tls(request), httponly=True, samesite="strict")
        return response


def html(page: str, status: int = 200) -> Response:
    """A page as an answer."""
    return Response(page, status, media_type="text/html; charset=utf-8")


def way_up(request: Request) -> str:
    """The way from where a page is to the first one."""
    path: str = request.scope["path"]
    return "../" * (path.count("/") - 1)


def wish(request: Request) -> str:
    """Which page somebody wanted who must first say who they are."""
    name = str(request.path_params.get("name", ""))
    return f"?to={name}" if re.fullmatch(NAME, name) else ""


def beyond(to: str) -> str:
    """Where the door leads: to an experiment, or to all; never to another site."""
    return f"experiments/{to}" if re.fullmatch(NAME, to) else "./"


def over_tls(request: Request) -> bool:
    """Whether the browser came over TLS, as far as the server knows."""
    return request.url.scheme == "https"


def own(request: Request) -> bool:
    """Whether a form was sent by one of these pages, as browsers tell and no page can forge."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return str(site) == "same-origin"
    origin = request.headers.get("origin", "")
    return bool(origin) and urlsplit(origin).netloc == request.headers.get("host", "")


def check_proof(visitor: Visitor, form: dict[str, list[str]]) -> None:
    """That a form was drawn for this visitor."""
    if not hmac.compare_digest(form.get("proof", [""])[0].encode(), visitor.proof.encode()):
        raise Refused(403, "this form is of another session: load the page again")
