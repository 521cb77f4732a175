"""What all pages have in common: the document, its files, and what stands at the top."""

import functools
import hashlib
from importlib import resources
from typing import NamedTuple

from driftbandit._version import __version__
from driftbandit.service.dashboard.lookbacks import LOOKBACKS, Lookback
from driftbandit.service.dashboard.markup import EMPTY, Markup, name, tag
from driftbandit.service.dashboard.switches import hidden

FILES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
"""Files of the pages, and what they are."""
REFRESH = 15
"""Seconds after which a page asks for itself again."""


class Asset(NamedTuple):
    """A file that pages load."""

    content: bytes
    kind: str
    mark: str
    """Of this content: a new one is a new address."""


@functools.cache
def asset(word: str) -> Asset:
    """One of them, by its name."""
    content = resources.files("driftbandit.service.dashboard").joinpath(word).read_bytes()
    return Asset(content, FILES[word], hashlib.sha256(content).hexdigest()[:12])


class Whereabouts(NamedTuple):
    """Where a page is, and who looks at it. Links are relative, so that they hold behind any proxy."""

    up: str
    """The way to the first page: "" or "../" and so on."""
    base: str
    """The address of the service, as whoever asks calls it: for commands to copy."""
    visitor: str
    """The name of the token, or nothing where nobody needs one."""
    proof: str
    """What forms bring back."""

    @property
    def home(self) -> str:
        """The first page."""
        return self.up or "./"


def document(place: Whereabouts, title: str, *inside: Markup, fresh: bool = False) -> str:
    """A whole page."""
    sources = {word: f"{place.up}{word}?{asset(word).mark}" for word in FILES}
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · driftbandit"),
        tag("link", rel="icon", href=sources["icon.svg"]),
        tag("link", rel="stylesheet", href=sources["page.css"]),
        tag("script", src=sources["page.js"], defer=True),
    )
    body = tag(
        "body", tag("a", "To the content", href="#content", class_="skip"), _top(place),
        tag("main", *inside, id="content", tabindex="-1"),
        tag("footer", tag("p", f"driftbandit {__version__}. Times are UTC. ", tag("span", id="stale", role="status"))),
        data_refresh=str(REFRESH) if fresh else None,
    )  # fmt: skip
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}"


def _top(place: Whereabouts) -> Markup:
    """Where one is, and the way out."""
    out = EMPTY
    if place.visitor:
        out = tag(
            "form", hidden("proof", place.proof), tag("span", place.visitor, class_="soft arm", title=place.visitor),
            tag("button", "Sign out", type="submit"), method="post", action=f"{place.up}logout", class_="out",
        )  # fmt: skip
    home = tag("a", tag("img", src=f"{place.up}icon.svg?{asset('icon.svg').mark}", alt="", width="22", height="22"),
               "driftbandit", href=place.home, class_="home")  # fmt: skip
    return tag("header", home, out)


def windows(lookback: Lookback) -> Markup:
    """The choice of a stretch of time."""
    links = [
        tag("a", each.said, href=f"?window={each.word}", aria_current="page" if each is lookback else None)
        for each in LOOKBACKS.values()
    ]
    return tag("nav", *links, class_="windows", aria_label="Stretch of time")


def command(text: str) -> Markup:
    """Something to type."""
    return tag("pre", tag("code", text), tabindex="0")


def asked(place: Whereabouts, path: str, body: str) -> str:
    """A question to the service as a command of the shell."""
    secret = ' -H "Authorization: Bearer $TOKEN"' if place.visitor else ""
    return f"curl {place.base}{path}{secret} --json '{body}'"


def trouble(place: Whereabouts, title: str, said: str, experiment: str | None = None) -> str:
    """A page that says why there is no other, perhaps of an experiment."""
    back = [tag("p", tag("a", "All experiments", href=place.home))]
    if experiment is not None:
        back.insert(0, tag("p", tag("a", "Back to ", name(experiment), href=f"{place.up}experiments/{experiment}")))
    return document(place, title, tag("h1", title), tag("p", said, class_="lead", role="alert"), *back)
