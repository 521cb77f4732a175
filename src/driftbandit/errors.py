"""The exceptions. Catch `DriftbanditError` to catch them all.

    DriftbanditError
    ├── InvalidValue (also a ValueError)    a parameter, environment, file cell or reward is out of range
    ├── MissingExtra (also an ImportError)  an optional dependency or device is needed and absent
    ├── Interrupted                         Ctrl-C stopped long work
    └── ClusterError                        a cluster could not be reached, was lost, or does not fit

Each message is one line that names what is wrong, what is allowed, and what was given.
"""


class DriftbanditError(Exception):
    """The root of every error this package raises on purpose."""


class InvalidValue(DriftbanditError, ValueError):
    """A value is outside what is allowed: "discount must be in (0, 1], got 1.2"."""


class MissingExtra(DriftbanditError, ImportError):
    """An optional dependency is missing; the message says what to install."""


class Interrupted(DriftbanditError):
    """Long work was stopped by Ctrl-C."""


class ClusterError(DriftbanditError):
    """A cluster could not be reached, was lost, or runs something that does not fit."""
