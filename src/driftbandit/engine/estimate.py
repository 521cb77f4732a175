"""A mean over runs with its 95% interval."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Estimate(NamedTuple):
    """A mean over runs and the half-width of its 95% interval (Student's t); NaN where one run gives none.

    >>> print(Estimate(0.0653, 0.0004))
    0.0653 ± 0.0004
    """

    mean: float
    ci95: float

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.ci95

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.ci95

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.ci95:.4f}" if np.isfinite(self.ci95) else f"{self.mean:.4f}"


def half_width(values: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
    """Half the width of the 95% interval of the mean along an axis."""
    count = values.shape[axis]
    if count < 2:
        return np.full(np.delete(values.shape, axis), np.nan)
    from scipy import special  # late: half of the time that importing this package would take

    quantile = special.stdtrit(count - 1, 0.975)
    return np.asarray(quantile * values.std(axis=axis, ddof=1) / np.sqrt(count))


def estimate(values: NDArray[np.float64]) -> Estimate:
    """The mean of one value a run."""
    return Estimate(float(values.mean()), float(half_width(values)))


class Estimates(dict[str, Estimate]):
    """Estimates by policy, shown as a table."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in self.items())
