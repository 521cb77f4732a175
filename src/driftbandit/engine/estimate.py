"""A mean over runs with its 95% interval."""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from driftbandit.checks import reject
from driftbandit.errors import InvalidValue
from driftbandit.policies import Policy

NUMERIC = "eEfFgGn%"
"""How the formats of numbers end."""


class Estimate(NamedTuple):
    """A mean over runs and the half-width of its 95% interval (Student's t); NaN where one run gives none.

    >>> print(Estimate(0.0653, 0.0004))
    0.0653 ± 0.0004
    >>> f"{Estimate(0.0653, 0.0004):.3f}"
    '0.065 ± 0.000'
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

    def __format__(self, form: str) -> str:
        """Both numbers in the format of numbers that is given, as in `.3f` or `+.2e`; else the text, as in `>20`."""
        if not (form and (form[-1] in NUMERIC or "." in form)):
            return format(str(self), form)
        half = format(self.ci95, form.replace("+", "", 1)) if np.isfinite(self.ci95) else ""
        return format(self.mean, form) + (f" ± {half.strip()}" if half else "")


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


def label_of(policy: Any, labels: Collection[str]) -> str:
    """The label that is meant by a policy, its label, or another way to write it."""
    if isinstance(policy, str) and policy in labels:
        return policy
    told = policy
    if isinstance(policy, Policy | str):
        try:
            told = str(Policy.of(policy))
        except InvalidValue:  # of somebody's own, and not here; or nothing at all
            told = policy
        if told in labels:
            return str(told)
    raise reject("policy", f"one of {', '.join(labels)}", told)


class Estimates(dict[str, Estimate]):
    """Estimates by label, shown as a table; policies find theirs too.

    >>> from driftbandit.policies import SlidingWindowUCB
    >>> Estimates({"sw-ucb:window=24": Estimate(0.1, 0.01)})[SlidingWindowUCB(window=24)].mean
    0.1
    """

    def __missing__(self, policy: Any) -> Estimate:
        """The estimate of a policy, or of a label that is written otherwise."""
        return self[label_of(policy, list(self))]

    def get(self, policy: Any, default: Any = None) -> Any:
        """The estimate of a policy or label, or the default where it did not play."""
        if policy not in self:
            return default
        return self[policy]

    def __contains__(self, policy: object) -> bool:
        if super().__contains__(policy):
            return True
        try:
            return super().__contains__(label_of(policy, list(self)))
        except InvalidValue:
            return False

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{label:<{width}}  {value}" for label, value in self.items())
