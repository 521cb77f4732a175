"""Finished shards on disk, so that interrupted work goes on where it stopped."""

import hashlib
import json
import os
import zipfile
from pathlib import Path

import numpy as np

from driftbandit._version import __version__
from driftbandit.checks import shown
from driftbandit.engine.shard import Outcome, Shard
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
from driftbandit.linking import described
from driftbandit.policies import Rule


class Keeper:
    """A folder of outcomes, each under a hash of all that determines it: the shard, its rule, device and version."""

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
        path = self._path(shard)
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with open(part, "wb") as file:
                np.savez(file, **outcome._asdict())
            os.replace(part, path)
        except OSError as error:
            raise InvalidValue(f"keep must have room, got {shown(str(self.folder))} ({error.strerror})") from None
        finally:
            part.unlink(missing_ok=True)

    def forget(self, shard: Shard) -> None:
        """A shard's outcome is no longer needed."""
        self._path(shard).unlink(missing_ok=True)

    def _path(self, shard: Shard) -> Path:
        key = [
            __version__,
            self.arithmetic,
            fingerprint(shard.policy.rule(shard.environment.n_arms)),
            shard.policy.name,
            shard.policy.parameters(),
            shard.environment.name,
            shard.environment.parameters(),
            fingerprint_of_means(shard.environment),
            [shard.horizon, shard.seed, shard.first_run, shard.runs, shard.steps, shard.bin_width],
        ]
        return self.folder / f"{hashlib.sha256(json.dumps(key).encode()).hexdigest()[:40]}.npz"


def fingerprint(rule: Rule) -> str:
    """A hash of a rule's functions: an edited policy of the same name is another one."""
    choosing = (rule.score, rule.accepted, rule.rough, rule.apart, rule.probability, rule.context)
    functions = (*choosing, rule.learn, rule.unlearn)
    parts = [part for function in functions if function is not None for part in described(function)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def fingerprint_of_means(environment: Environment) -> str:
    """A hash of what moves the means: an edited environment of the same name is another one."""
    path = environment.path()
    functions = (type(environment).means_at,) if path is None else (path.first, path.following)
    return hashlib.sha256("\n".join(part for each in functions for part in described(each)).encode()).hexdigest()
