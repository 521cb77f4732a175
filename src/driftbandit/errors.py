"""The exceptions. Catch `DriftbanditError` to catch all errors.

    DriftbanditError
    ├── InvalidValue (also a ValueError)        a parameter, environment, file cell or reward is out of range
    │   └── InvalidFile (also an OSError)       a file cannot be read or written
    │       └── MissingFile (also a FileNotFoundError)  there is none
    ├── MissingExtra (also an ImportError)      an optional dependency or device is needed and absent
    ├── ClusterError                            a cluster could not be reached, was lost, or does not fit
    └── ServiceError                            a decision service did not answer, or not as it should

    KeyboardInterrupt
    └── Interrupted                             Ctrl-C stopped long work: `except Exception` lets it through

Each message is one line that names what is wrong, what is allowed, and what was given.
"""


class DriftbanditError(Exception):
    """The root of every error this package raises on purpose."""


class InvalidValue(DriftbanditError, ValueError):
    """A value is outside what is allowed: "discount must be in (0, 1], got 1.2"."""


class InvalidFile(InvalidValue, OSError):
    """A file cannot be read or written; `errno` and `strerror` say why in the system's words."""

    def __str__(self) -> str:
        return str(self.args[0])


class MissingFile(InvalidFile, FileNotFoundError):
    """There is no such file, or no such folder."""


class MissingExtra(DriftbanditError, ImportError):
    """An optional dependency is missing; the message says what to install."""


class Interrupted(KeyboardInterrupt):
    """Long work was stopped by Ctrl-C; the message says how far it was and what is kept.

    A sweep that catches errors, and goes on with the next game, stops at this one.
    """


class ClusterError(DriftbanditError):
    """A cluster could not be reached, was lost, or runs something that does not fit."""


class ServiceError(DriftbanditError):
    """A decision service did not answer, or did not do what it was asked for; `status` is that of HTTP, if any came."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
