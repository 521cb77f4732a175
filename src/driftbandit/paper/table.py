"""The numbers behind a figure as a table: a CSV file for people, a labelled netCDF file for programs."""

import csv
import dataclasses
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.paper.experiment import Experiment
from driftbandit.paper.findings import Findings


@dataclasses.dataclass(frozen=True)
class Table:
    """Named columns and their rows. If the rows are estimates, the last two columns are `mean` and `ci95`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"every row must have a value for each of {', '.join(self.columns)}")

    def csv(self) -> str:
        """As text, with all digits: equal files mean equal results."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def save_netcdf(self, path: Path) -> None:
        """As arrays `mean` and `ci95`, with a dimension for each of the other columns; NaN where there is no row."""
        import xarray

        keys = self.columns[:-2]
        axes = {key: list(dict.fromkeys(row[place] for row in self.rows)) for place, key in enumerate(keys)}
        places = {key: {value: place for place, value in enumerate(values)} for key, values in axes.items()}
        shape = tuple(len(values) for values in axes.values())
        mean, ci95 = np.full(shape, np.nan), np.full(shape, np.nan)
        for row in self.rows:
            where = tuple(places[key][row[place]] for place, key in enumerate(keys))
            mean[where], ci95[where] = row[-2], row[-1]
        coords = {key: np.array(values, np.int32) if _whole(values) else values for key, values in axes.items()}
        dataset = xarray.Dataset({"mean": (keys, mean), "ci95": (keys, ci95)}, coords=coords)
        dataset.to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")


def _whole(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int) for value in values)


def table_of(experiment: Experiment, found: Findings) -> Table | None:
    """The numbers of an experiment under all profiles; None if it has no games."""
    rows = [
        (profile.id, entry.policy, *row)
        for profile in found.profiles
        for entry in found.entries(experiment.id, profile)
        for row in experiment.rows(entry, found.of(entry))
    ]
    return Table(("profile", "policy", *experiment.axes, "measure", "mean", "ci95"), tuple(rows)) if rows else None
