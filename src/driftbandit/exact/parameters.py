"""What counts as parameters of Beta and Normal distributions, in arrays of any number of states."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit.checks import reject
from driftbandit.errors import InvalidValue

Array = NDArray[np.float64]


def numbers(name: str, values: Any, allowed: str) -> Array:
    """The values as an array of real numbers."""
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise reject(name, allowed, values) from None
    if array.dtype.kind not in "iuf":
        raise reject(name, allowed, values)
    return np.asarray(array, dtype=np.float64)


def positive(name: str, values: Any) -> Array:
    """Positive finite numbers; the error shows the first that is not."""
    allowed = "positive finite numbers"
    array = numbers(name, values, allowed)
    wrong = ~(np.isfinite(array) & (array > 0))
    if wrong.any():
        raise reject(name, allowed, float(array[wrong].flat[0]))
    return array


def pairs(values: Any, allowed: str) -> Array:
    """An array (…, K, 2) of two numbers for each of K arms, for any number of states."""
    array = numbers("parameters", values, allowed)
    if array.ndim < 2 or array.shape[-1] != 2 or array.shape[-2] == 0:
        raise reject("parameters", allowed, values if array.ndim < 2 else f"shape {array.shape}")
    return array


def posteriors(values: Any) -> Array:
    """An array (…, K, 2) of the parameters of K Beta posteriors, for any number of states."""
    allowed = "pairs of positive finite numbers, an array of shape (…, K, 2)"
    array = pairs(values, allowed)
    wrong = ~(np.isfinite(array) & (array > 0))
    if wrong.any():
        raise reject("parameters", allowed, float(array[wrong].flat[0]))
    return array


def normals(values: Any) -> Array:
    """An array (…, K, 2) of the mean and the standard deviation of K Normal scores, for any number of states."""
    allowed = "pairs of a finite mean and a deviation of at least 0, an array of shape (…, K, 2)"
    array = pairs(values, allowed)
    wrong = ~np.isfinite(array)
    wrong[..., 1] |= array[..., 1] < 0
    if wrong.any():
        raise reject("parameters", allowed, float(array[wrong].flat[0]))
    return array


def broadcast(**values: Array) -> tuple[tuple[int, ...], Array]:
    """The common shape of the named arrays, and their values as the columns of one table."""
    try:
        together = np.broadcast_arrays(*values.values())
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in values.values())
        raise InvalidValue(f"{', '.join(values)} must have shapes that fit together, got {shapes}") from None
    return together[0].shape, np.stack([array.ravel() for array in together], axis=1)
