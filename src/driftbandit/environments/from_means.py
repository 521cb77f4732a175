"""Means that are given: an array, or a CSV file with a column an arm."""

import dataclasses
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftbandit.environments.environment import Environment, Means
from driftbandit.environments.means_table import table_of
from driftbandit.specification import parameter, whole


@dataclasses.dataclass(frozen=True, kw_only=True)
class FromMeans(Environment):
    """The means of every arm at every step, as given; after the last row they stay.

    Parameters:
        means: an array with a row a step and a column an arm, or the path of a CSV file with the same, in UTF-8 and
            without an index. A first row of names is skipped, also one of 0, 1, 2 …; a file that begins with 0,1 is
            refused, as that may be names or means. Leading columns without numbers, such as dates, name the steps.
            Every other value in [0, 1].
        repeat: how many steps each row lasts.
        rested, rewards, concentration, deviation: as for every environment.

    >>> FromMeans(means=[[0.2, 0.8], [0.6, 0.4]]).means_at(np.array([1, 2, 3])).tolist()
    [[0.2, 0.8], [0.6, 0.4], [0.6, 0.4]]
    """

    name: ClassVar[str] = "from-means"

    means: Any = parameter(table_of, allowed="the path of a CSV file, or rows of means, as in 0.1 0.9; 0.9 0.1")
    repeat: int = whole(1, 1)
    n_arms: int = dataclasses.field(init=False, default=0, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "n_arms", int(self.means.values.shape[1]))

    @property
    def usual_horizon(self) -> int:
        return len(self.means) * self.repeat

    @property
    def smoothed(self) -> bool:
        """Whether the noise of counting is known to be gone from its shares, so that rows may be repeated."""
        return False

    def parameters(self) -> dict[str, Any]:
        found = super().parameters()
        return found | {"means": self.means.values.tolist()} if "means" in found else found

    def means_at(self, clock: NDArray[np.int64]) -> Means:
        table: Means = self.means.values
        rows: Means = table[np.minimum((clock - 1) // self.repeat, len(table) - 1)]
        return rows
