"""Finished games on disk, each under a hash of its specification and of this version, so that none runs twice."""

import dataclasses
import hashlib
import json
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from driftbandit._version import __version__
from driftbandit.checks import shown
from driftbandit.engine.games import Game
from driftbandit.errors import InvalidValue
from driftbandit.files import written_whole

FORMAT = 1
"""The number of the file format: a change makes every game run again."""


class Keepable(Protocol):
    """What can be kept of a game: a dataclass whose fields are arrays."""

    DIMENSIONS: ClassVar[Mapping[str, tuple[str, ...]]]
    """The names of the dimensions of each field."""
    EMPTY: ClassVar[Mapping[str, NDArray[Any]]]
    """Fields that may have no values, as they are then."""


Kept = TypeVar("Kept", bound=Keepable)


@dataclasses.dataclass(frozen=True)
class KeptGames(Generic[Kept]):
    """The folder of finished games: netCDF files, one a game.

    Results of different devices agree only in distribution, so each device and precision has its own files.
    """

    folder: Path
    kind: type[Kept]
    """What is kept of a game."""
    device: str = "cpu"
    precision: str = "float64"

    def key(self, game: Game) -> str:
        """The name of a game's file: a hash of everything that determines its numbers."""
        parts = [__version__, FORMAT, self.device, self.precision, game.specification(), *sources_of(game)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]

    def path(self, game: Game) -> Path:
        """Where a game's file is."""
        return self.folder / f"{self.key(game)}.nc"

    def find(self, game: Game) -> Kept | None:
        """The record of a game that was finished before; None if it was not, or its file is damaged."""
        try:
            with _open(self.path(game), "r") as file:
                fields, empty = self.kind.DIMENSIONS, self.kind.EMPTY
                arrays = {name: _native(file.variables[name].data) for name in fields if name in file.variables}
                arrays = {name: arrays[name] if name in arrays else empty[name] for name in fields}
                right = file.specification.decode() == game.specification() and file.checksum == checksum(arrays)
        except Exception:  # there is no file, or a damaged one, which may make the reader raise anything
            return None
        return self.kind(**arrays) if right else None

    def keep(self, game: Game, record: Kept) -> None:
        """Write a record; a kill at any moment leaves a whole file or none."""
        dimensions = record.DIMENSIONS
        arrays = {name: getattr(record, name) for name in dimensions}
        try:
            with written_whole(self.path(game)) as part, _open(part, "w") as file:
                for name, values in arrays.items():
                    if values.size == 0:
                        continue  # in this format a dimension of size 0 means something else
                    for dimension, size in zip(dimensions[name], values.shape, strict=True):
                        if dimension not in file.dimensions:
                            file.createDimension(dimension, size)
                    file.createVariable(name, values.dtype.char, dimensions[name])[:] = values
                file.specification = game.specification()
                file.driftbandit_version = __version__
                file.checksum = checksum(arrays)
        except OSError as error:
            raise InvalidValue(f"out must have room, got {shown(str(self.folder))} ({error.strerror})") from None


def checksum(arrays: Mapping[str, NDArray[Any]]) -> int:
    """A number that changes when any bit of the arrays does (31 bits, which netCDF 3 can hold)."""
    total = 0
    for values in arrays.values():
        total = zlib.crc32(np.ascontiguousarray(values).tobytes(), total)
    return total & 0x7FFFFFFF


def _native(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(values.dtype.newbyteorder("="))


def _open(path: Path, mode: Literal["r", "w"]) -> Any:
    from scipy.io import netcdf_file  # late, and without xarray: there are two thousand of these files

    return netcdf_file(path, mode, mmap=False, version=2)


def sources_of(game: Game) -> list[str]:
    """A hash of each file with a user's own policy or environment: what is edited is another one."""
    kinds = {type(part) for part in (*game.policies, game.environment)}
    modules = sorted({kind.__module__ for kind in kinds if not kind.__module__.startswith("driftbandit.")})
    files = [getattr(sys.modules.get(module), "__file__", None) for module in modules]
    return [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files if file and Path(file).is_file()]
