"""What a service is started with: the options of `driftbandit serve`, each with its check and what it says."""

import dataclasses
import types
from pathlib import Path
from typing import Any

from driftbandit import checks
from driftbandit.specification import Checked, optional_real, parameter, whole

HERE = "sqlite:///driftbandit.db"


def said(text: str, field: Any, metavar: str | None = None, typed: Any = None) -> Any:
    """A field with what the command line says of it, and of which type it is there if of another."""
    field.metadata = types.MappingProxyType({**field.metadata, "help": text, "metavar": metavar, "typed": typed})
    return field


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise checks.reject(name, "a text", value)
    return value


def _path(name: str, value: Any) -> Path | None:
    return None if value is None else Path(_text(name, str(value)))


def _days(name: str, value: Any) -> float | None:
    """A number of days, as 90 or "90d"."""
    if isinstance(value, str):
        try:
            value = float(value.removesuffix("d"))
        except ValueError:
            raise checks.reject(name, "a number of days, such as 90d", value) from None
    return None if value is None else checks.real(name, value, "[1, 36500]")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(Checked):
    """What a service is started with.

    >>> Options(port=0, retention="90d").retention
    90.0
    """

    store: str = said(
        "sqlite:///PATH or postgresql://…; better in DRIFTBANDIT_STORE than where others see it.",
        parameter(_text, HERE), "ADDRESS",
    )  # fmt: skip
    host: str = said("The address to listen on.", parameter(_text, "127.0.0.1"))
    port: int = said("The port.", whole(0, 8787, 65535))
    root_path: str = said(
        "What a proxy puts before every path.", parameter(lambda _, value: str(value).rstrip("/"), ""), "/x"
    )
    tokens: Path | None = said(
        "The file of `driftbandit token`; without one nobody needs a token, and only this machine is served.",
        parameter(_path, None), "FILE",
    )  # fmt: skip
    sync: str = said(
        "full: what is answered survives a power cut; normal: a killed process (SQLite).",
        parameter(lambda name, value: checks.one_of(name, value, ["full", "normal"]), "full"),
    )
    max_arms: int = said("Arms of an experiment.", whole(1, 100, 10_000))
    max_experiments: int = said("KnownExperiments.", whole(1, 1000, 100_000))
    max_body: int = said("Bytes of a request.", whole(1024, 65536, 1 << 26))
    rate: float | None = said("Requests a second of one token.", optional_real("(0, 1e9]", None))
    retention: float | None = said(
        "Days that decisions are kept, such as 90d; for ever unless given.", parameter(_days, None), "DAYS", str | None
    )
    trusted_proxy: str = said(
        "Addresses of proxies whose forwarded headers are believed.", parameter(lambda _, value: str(value), ""), "IP"
    )
    connections: int = said("Connections at a time.", whole(1, 2000, 100_000))
