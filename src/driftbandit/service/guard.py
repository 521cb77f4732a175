"""Who may do what, and how often: tokens with roles, rates, and what a request must look like.

Tokens are kept in a file, of which each entry has the SHA-256 of a token and no token: `driftbandit token new` adds to
it, and a running service reads it again when it changes. Without a file anybody may do anything, so the service then
listens on this machine only, and answers only to its names.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from driftbandit import checks
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.files import read_json, written_whole

ROLES = ("read", "decide", "admin")
"""Each may do what those before it may, but that deciding is not reading: see `MAY`."""
MAY = {"read": {"read"}, "decide": {"decide"}, "admin": {"read", "decide", "admin"}}
FORMAT = "driftbandit.tokens"
MOST_TOKENS = 1000
PREFIX = "db_"
LOOK = 1.0
"""Seconds after which the file is looked at again."""
SESSION = 12 * 3600.0
"""Seconds for which a browser is known."""
HERE = {"127.0.0.1", "localhost", "::1", "[::1]"}


class Token(NamedTuple):
    """Somebody who may do something."""

    name: str
    role: str
    digest: str
    """SHA-256 of the secret, in hexadecimal digits."""
    experiments: tuple[str, ...] | None
    """The only ones, or None for all."""
    created: float = 0.0

    def may(self, what: str, experiment: str | None = None) -> bool:
        """Whether that is allowed; without an experiment: whether it is allowed anywhere."""
        here = self.experiments is None or (
            experiment in self.experiments if experiment is not None else what == "read"
        )
        return what in MAY[self.role] and here


ANYBODY = Token("anybody", "admin", "", None)
"""Whoever asks a service without tokens."""


def digest_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Tokens:
    """The tokens of a file, as it is now; without a file, nobody needs any."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._clock = path, clock
        self._looked = -LOOK
        self._seen: tuple[int, int, int] | None = None
        self._tokens: list[Token] = []
        self._digests: list[bytes] = []
        self.key = secrets.token_bytes(32)
        """With which sessions are signed: whoever only has the file of tokens can make none."""
        self.look()

    @property
    def needed(self) -> bool:
        """Whether a token is asked for."""
        return self._path is not None

    @property
    def all(self) -> list[Token]:
        """All of them."""
        return self._tokens

    def look(self) -> None:
        """Read the file if it has changed."""
        if self._path is None:
            return
        self._looked = self._clock()
        found = os.stat(self._path) if self._path.exists() else None
        seen = None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)
        if seen != self._seen or found is None:
            self._tokens = read_tokens(self._path)
            self._digests = [token.digest.encode() for token in self._tokens]
            self._seen = seen

    def holder(self, secret: str) -> Token | None:
        """Whose secret this is. All are compared, whichever it is, so that the time of an answer tells nothing."""
        if self._path is None:
            return ANYBODY
        if self._clock() - self._looked > LOOK:
            self.look()
        given, found = digest_of(secret).encode(), None
        for digest, token in zip(self._digests, self._tokens, strict=True):
            if hmac.compare_digest(digest, given):
                found = token
        return found

    def session(self, token: Token, now: float) -> str:
        """What a browser keeps instead of a secret: whose it is, until when, and a proof."""
        until = str(int(now + SESSION))
        return f"{token.digest[:16]}.{until}.{self._proof(token, until)}"

    def in_session(self, cookie: str, now: float) -> Token | None:
        """Who a browser belongs to."""
        match = re.fullmatch(r"([0-9a-f]{16})\.(\d{1,12})\.([0-9a-f]{64})", cookie)
        if match is None or int(match[2]) < now:
            return None
        if self._clock() - self._looked > LOOK:
            self.look()
        for token in self._tokens:
            if token.digest.startswith(match[1]) and hmac.compare_digest(self._proof(token, match[2]), match[3]):
                return token
        return None

    def _proof(self, token: Token, until: str) -> str:
        return hmac.new(self.key, f"session of {token.digest} until {until}".encode(), "sha256").hexdigest()


def form_proof(token: Token, session: str) -> str:
    """What a form of a page must bring back, so that no other page can send it."""
    key = bytes.fromhex(token.digest) if token.digest else b"anybody"
    return hmac.new(key, f"form in {session}".encode(), "sha256").hexdigest()


def read_tokens(path: Path) -> list[Token]:
    """The tokens that a file says."""
    if not path.exists():
        return []
    entries = Entries(read_json(path, "a file of tokens"), str(path))
    checks.one_of("format", entries.get("format"), [FORMAT])
    found = []
    for item in entries.items("tokens"):
        each = Entries(item, "token")
        digest, experiments = each.text("sha256"), each.nullable("experiments")
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise checks.reject("sha256", "64 hexadecimal digits", digest)
        if experiments is not None and not (
            isinstance(experiments, list) and all(isinstance(name, str) for name in experiments)
        ):
            raise checks.reject("experiments", "null or a list of names", experiments)
        role = checks.one_of("role", each.get("role"), ROLES)
        found.append(
            Token(each.text("name"), role, digest, None if experiments is None else tuple(experiments),
                  each.real("created"))
        )  # fmt: skip
    if len(found) > MOST_TOKENS:
        raise checks.reject("tokens", f"{MOST_TOKENS} at most", len(found))
    return found


def new_token(path: Path, name: str, role: str, experiments: tuple[str, ...] | None, now: float) -> str:
    """A new secret, of which the file gets to know the digest; it is told once."""
    checks.one_of("role", role, ROLES)
    tokens = read_tokens(path)
    if any(token.name == name for token in tokens):
        raise checks.reject("name", "new", name)
    secret = PREFIX + secrets.token_urlsafe(24)
    write_tokens(path, [*tokens, Token(name, role, digest_of(secret), experiments, now)])
    return secret


def drop_token(path: Path, name: str) -> None:
    """That token is worth nothing any more."""
    tokens = read_tokens(path)
    left = [token for token in tokens if token.name != name]
    if len(left) == len(tokens):
        raise InvalidValue(f"name must be one of {', '.join(token.name for token in tokens) or 'none'}, got {name!r}")
    write_tokens(path, left)


def write_tokens(path: Path, tokens: list[Token]) -> None:
    """All of them, in a file that only its owner can read."""
    rows = [
        {"name": token.name, "role": token.role, "sha256": token.digest,
         "experiments": None if token.experiments is None else list(token.experiments), "created": token.created}
        for token in tokens
    ]  # fmt: skip
    text = json.dumps({"format": FORMAT, "tokens": rows}, indent=1, ensure_ascii=False) + "\n"
    with written_whole(path) as part:
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(part, 0o600)


class Rates:
    """A bucket for each holder, which fills up steadily: so many requests a second, and a moment's worth at once."""

    def __init__(self, rate: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def admit(self, holder: str) -> float:
        """0 if one more may come now, else in how many seconds."""
        if self._rate is None:
            return 0.0
        now = self._clock()
        most = max(1.0, self._rate)
        left, then = self._buckets.get(holder, (most, now))
        left = min(most, left + (now - then) * self._rate)
        if left < 1.0:
            self._buckets[holder] = (left, now)
            return (1.0 - left) / self._rate
        self._buckets[holder] = (left - 1.0, now)
        return 0.0


def check_host(host: str, tokens: Tokens) -> None:
    """That a service without tokens listens on this machine only."""
    if not tokens.needed and host not in HERE:
        hint = "driftbandit token new --role admin --tokens FILE, then --tokens FILE"
        raise InvalidValue(f"host must be 127.0.0.1 where nobody needs a token, got {host!r} (make one: {hint})")
