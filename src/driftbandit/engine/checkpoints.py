"""Finished shards on disk, so that interrupted work goes on where it stopped."""

import dataclasses
import hashlib
import json
import types
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.checks import shown
from driftbandit.compiling.linking import digest
from driftbandit.engine.cpu.shard import Outcome, Shard
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
from driftbandit.files import written_whole
from driftbandit.identity import identity


class Keeper:
    """A folder of outcomes, each under a hash of all that determines it: the shard, its rule, its environment's code,
    the device and the package.
    """

    def __init__(self, folder: Path, arithmetic: str) -> None:
        self.folder = folder
        self.arithmetic = arithmetic
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidValue(f"keep must be a writable folder, got {shown(str(folder))} ({error.strerror})") from None

    def find(self, shard: Shard) -> Outcome | None:
        """The outcome of a shard that was finished before; None if it was not, or its file is damaged."""
        try:
            with np.load(self._path(shard), allow_pickle=False) as file:
                outcome = Outcome(*(file[name] for name in Outcome._fields))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        shape = (shard.runs, len(shard.steps))
        bins = (-(-shard.horizon // shard.bin_width), shard.environment.n_arms)
        fits = all(part.shape == shape for part in outcome[:3]) and outcome.choices.shape == bins
        return outcome if fits else None

    def keep(self, shard: Shard, outcome: Outcome) -> None:
        """Write an outcome; a kill at any moment leaves a whole file or none."""
        try:
            with written_whole(self._path(shard)) as part, open(part, "wb") as file:
                np.savez(file, **outcome._asdict())
        except OSError as error:
            raise InvalidValue(f"keep must have room, got {shown(str(self.folder))} ({error.strerror})") from None

    def forget(self, shard: Shard) -> None:
        """A shard's outcome is no longer needed."""
        self._path(shard).unlink(missing_ok=True)

    def _path(self, shard: Shard) -> Path:
        key = [
            identity(),
            self.arithmetic,
            fingerprint(shard.policy.rule(shard.environment.n_arms)),
            methods_of(shard.environment),
            shard.policy.name,
            shard.policy.parameters(),
            shard.environment.name,
            shard.environment.parameters(),
            [shard.horizon, shard.seed, shard.first_run, shard.runs, shard.steps, shard.bin_width],
        ]
        return self.folder / f"{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:40]}.npz"


def fingerprint(value: Any) -> Any:
    """Everything that a rule says, as JSON can hold it: an edited policy of the same name is another one.

    Numbers are told to the bit, and functions by all that they do and call.
    """
    if dataclasses.is_dataclass(value):
        return {field.name: fingerprint(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [fingerprint(each) for each in value]
    return digest(value) if callable(value) else repr(value)


def methods_of(environment: Environment) -> list[str]:
    """What a user's own environment does and what its class holds: it may be edited between two calls."""
    ours = ("driftbandit.", "builtins")
    own = [cls for cls in type(environment).__mro__ if not cls.__module__.startswith(ours)]
    return [
        f"{cls.__qualname__}.{name} {_told(part)}"
        for cls in own
        for name, part in sorted(vars(cls).items())
        if name == "__post_init__" or not name.startswith("__")
    ]


def _told(part: Any) -> str:
    """A function by what it does, however it is wrapped; another value by its text."""
    for wrapped in ("fget", "func", "__func__"):
        part = getattr(part, wrapped, part)
    if isinstance(part, types.FunctionType):
        return digest(part)
    return repr(part) if isinstance(part, int | float | str | tuple | list | dict | None) else type(part).__name__
