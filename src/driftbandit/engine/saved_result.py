"""Results in files: netCDF 3, of which everything is checked on reading, so that whatever loads also works.

A header may promise anything, such as terabytes; so the file is read as a whole first, and its reader gets no more than
there is. What a damaged file makes that reader raise is answered in one line.
"""

import io
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from driftbandit.checks import shown
from driftbandit.errors import InvalidValue
from driftbandit.files import read_whole, written_whole
from driftbandit.numerics.rng import MAX_STEP

if TYPE_CHECKING:
    import xarray

FORMAT = 1
"""The number of the file format; raised when older readers would misread a file."""
DIMENSIONS = {
    "regret": ("policy", "run", "step"),
    "expected": ("policy", "run", "step"),
    "reward": ("policy", "run", "step"),
    "choices": ("policy", "interval", "arm"),
    "static_oracle": ("run",),
}
ATTRIBUTES = ("format", "driftbandit_version", "environment", "horizon", "seed", "specification")
ROUNDING = 1e-3
"""By what share a sum of means may be off: single precision, over a long game."""
LARGEST = 1e150
"""Of rewards, so that their squares are numbers too."""


def write(dataset: "xarray.Dataset", path: str | Path) -> None:
    """Write a result; an existing file is replaced whole or not at all."""
    with written_whole(path) as part:
        dataset.to_netcdf(part, engine="scipy", format="NETCDF3_64BIT")


def read(path: str | Path) -> "xarray.Dataset":
    """The result in a file, or one line that says why it is none."""
    content = read_whole("path", path)
    try:
        if not content.startswith(b"CDF"):
            raise InvalidValue("not a netCDF 3 file")
        dataset = _parsed(content)
        _check(dataset)
        return _bare(dataset)
    except InvalidValue as error:
        raise InvalidValue(f"path must be a driftbandit result, got {shown(os.fspath(path))} ({error})") from None


def _parsed(content: bytes) -> "xarray.Dataset":
    import xarray

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what is wrong in the file, which is checked next
            return xarray.load_dataset(io.BytesIO(content), engine="scipy", decode_times=False)
    except Exception as error:  # whatever a damaged file makes the reader raise
        raise InvalidValue(f"damaged: its reader says {type(error).__name__}") from None


def _check(dataset: "xarray.Dataset") -> None:
    number = _whole(dataset, "format", 1, 2**31)
    if number > FORMAT:
        raise InvalidValue(f"written by a newer version: format {number}, here is {FORMAT}")
    horizon = _whole(dataset, "horizon", 1, MAX_STEP)
    _whole(dataset, "seed", 0, 2**64)
    for name in ("environment", "driftbandit_version", "specification"):
        if not _is_text(dataset.attrs.get(name)):
            raise InvalidValue(f"{name} is missing or no text")
    for name, dimensions in DIMENSIONS.items():
        if name not in dataset.data_vars or dataset[name].dims != dimensions or dataset[name].size == 0:
            raise InvalidValue(f"{name} is missing or has other dimensions")
    labels = dataset["policy"].values.tolist()
    if not all(map(_is_text, labels)) or len(set(labels)) < len(labels):
        raise InvalidValue("policies must have different names")
    for name in ("step", "interval"):
        steps = _numbers(dataset, name, 1.0, horizon)
        if steps.shape != (dataset.sizes[name],) or np.any(np.diff(steps) <= 0) or steps[-1] != horizon:
            raise InvalidValue(f"{name} must increase to the horizon")
    for name in ("regret", "expected", "static_oracle"):
        _numbers(dataset, name, -ROUNDING * horizon, (1.0 + ROUNDING) * horizon)
    _numbers(dataset, "reward", -LARGEST, LARGEST)
    choices = _numbers(dataset, "choices", 0.0, float(dataset.sizes["run"]) * horizon)
    if np.any(choices.sum(axis=(1, 2)) != float(dataset.sizes["run"]) * horizon):
        raise InvalidValue("choices must be as many as runs have steps")


def _bare(dataset: "xarray.Dataset") -> "xarray.Dataset":
    """What was checked, and nothing else that may be in the file."""
    import xarray

    return xarray.Dataset(
        {name: (dimensions, dataset[name].values) for name, dimensions in DIMENSIONS.items()},
        coords={name: dataset[name].values for name in ("policy", "step", "interval")},
        attrs={name: dataset.attrs[name] for name in ATTRIBUTES},
    )


def _whole(dataset: "xarray.Dataset", name: str, low: int, end: int) -> int:
    """An attribute: those that may be too long for the format are written as text."""
    value = dataset.attrs.get(name)
    try:
        number = int(str(value))
    except ValueError:
        number = low - 1
    if not low <= number < end:
        raise InvalidValue(f"{name} must be a whole number, got {shown(value)}")
    return number


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != "" and value.isprintable()


def _numbers(dataset: "xarray.Dataset", name: str, low: float, high: float) -> Any:
    """The numbers of a variable, as float64; all within an interval."""
    values = dataset[name].values
    if values.dtype.kind not in "fi":
        raise InvalidValue(f"{name} must be numbers")
    values = values.astype(np.float64, copy=False)
    least, most = values.min(), values.max()
    if not low <= least <= most <= high:
        raise InvalidValue(f"{name} must be from {low:g} to {high:g}, got {least:g} to {most:g}")
    return values
