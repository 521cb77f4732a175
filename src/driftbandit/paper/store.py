"""Finished games on disk, each under a hash of its specification and of this version, so that none runs twice."""

import dataclasses
import hashlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from driftbandit._version import __version__
from driftbandit.checks import shown
from driftbandit.engine.games import Game
from driftbandit.errors import InvalidValue
from driftbandit.files import written_whole
from driftbandit.paper.record import FIELDS, Record

FORMAT = 1
"""The number of the file format: a change makes every game run again."""
DIMENSIONS = {
    "steps": ("step",), "regret_mean": ("step",), "regret_ci95": ("step",), "reward_mean": ("step",),
    "reward_ci95": ("step",), "late_steps": ("late_step",), "late_mean": ("late_step",), "late_ci95": ("late_step",),
    "checkpoints": ("checkpoint",), "regret": ("run", "checkpoint"), "expected": ("run",), "reward": ("run",),
    "static_oracle": ("one",),
}  # fmt: skip
EMPTY: dict[str, NDArray[Any]] = {
    "late_steps": np.zeros(0, np.int32), "late_mean": np.zeros(0), "late_ci95": np.zeros(0),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Store:
    """The folder of finished games: netCDF files, one a game.

    Results of different devices agree only in distribution, so each device and precision has its own files.
    """

    folder: Path
    device: str = "cpu"
    precision: str = "float64"

    def key(self, game: Game) -> str:
        """The name of a game's file: a hash of everything that determines its numbers."""
        parts = [__version__, FORMAT, self.device, self.precision, game.specification()]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]

    def path(self, game: Game) -> Path:
        """Where a game's file is."""
        return self.folder / f"{self.key(game)}.nc"

    def find(self, game: Game) -> Record | None:
        """The record of a game that was finished before; None if it was not, or its file is damaged."""
        try:
            with _open(self.path(game), "r") as file:
                arrays = {name: _native(file.variables[name].data) for name in FIELDS if name in file.variables}
                arrays |= {name: EMPTY[name] for name in EMPTY if name not in arrays}
                right = file.specification.decode() == game.specification() and file.checksum == checksum(arrays)
        except Exception:  # there is no file, or a damaged one, which may make the reader raise anything
            return None
        return Record(**arrays) if right else None

    def keep(self, game: Game, record: Record) -> None:
        """Write a record; a kill at any moment leaves a whole file or none."""
        arrays = {name: getattr(record, name) for name in FIELDS}
        try:
            with written_whole(self.path(game)) as part, _open(part, "w") as file:
                for name, values in arrays.items():
                    if values.size == 0:
                        continue  # in this format a dimension of size 0 means something else
                    for dimension, size in zip(DIMENSIONS[name], values.shape, strict=True):
                        if dimension not in file.dimensions:
                            file.createDimension(dimension, size)
                    file.createVariable(name, values.dtype.char, DIMENSIONS[name])[:] = values
                file.specification = game.specification()
                file.driftbandit_version = __version__
                file.checksum = checksum(arrays)
        except OSError as error:
            raise InvalidValue(f"out must have room, got {shown(str(self.folder))} ({error.strerror})") from None


def checksum(arrays: Mapping[str, NDArray[Any]]) -> int:
    """A number that changes when any bit of the arrays does (31 bits, which netCDF 3 can hold)."""
    total = 0
    for name in FIELDS:
        total = zlib.crc32(np.ascontiguousarray(arrays[name]).tobytes(), total)
    return total & 0x7FFFFFFF


def _native(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(values.dtype.newbyteorder("="))


def _open(path: Path, mode: Literal["r", "w"]) -> Any:
    from scipy.io import netcdf_file  # late, and without xarray: there are two thousand of these files

    return netcdf_file(path, mode, mmap=False, version=2)
