"""The numbers behind a figure as a table: a CSV file for people, a labelled netCDF file for programs."""

import csv
import dataclasses
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from driftbandit.engine.estimate import Estimate
from driftbandit.paper.experiment import ByArms, ByDiscount, DiscountByArms, Experiment, OverTime, PriorMap, Rested
from driftbandit.paper.findings import Findings
from driftbandit.paper.game_of import Entry
from driftbandit.paper.record import Record


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of estimates; the columns before them say what each row is about."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def csv(self) -> str:
        """As text: numbers in full, so that equal files mean equal results."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def save_netcdf(self, path: Path) -> None:
        """As arrays `mean` and `ci95` with a dimension for each column before them; NaN where there is no row."""
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
    rows: list[tuple[Any, ...]] = []
    for profile in found.profiles:
        for entry in found.entries(experiment.id, profile):
            rows += [(profile.id, entry.policy, *row) for row in _rows(experiment, entry, found.of(entry))]
    if not rows:
        return None
    return Table(("profile", "policy", *_axes(experiment), "measure", "mean", "ci95"), tuple(rows))


def _axes(experiment: Experiment) -> tuple[str, ...]:
    match experiment:
        case OverTime():
            return ("step",)
        case ByArms():
            return ("arms",)
        case ByDiscount():
            return ("discount",)
        case DiscountByArms():
            return ("discount", "arms")
        case PriorMap():
            return ("discount", "prior")
        case Rested():
            return ("environment",)
        case _:
            return ()


def _rows(experiment: Experiment, entry: Entry, record: Record) -> list[tuple[Any, ...]]:
    if isinstance(experiment, OverTime):
        regret = zip(record.steps, record.regret_mean, record.regret_ci95, strict=True)
        reward = zip(record.steps, record.reward_mean, record.reward_ci95, strict=True)
        return [
            *((int(step), "normalized_regret", float(mean), float(ci95)) for step, mean, ci95 in regret),
            *((int(step), "mean_reward", float(mean), float(ci95)) for step, mean, ci95 in reward),
        ]
    place: tuple[Any, ...] = ()
    if isinstance(experiment, Rested):
        place = ("rested" if entry.y else "restless",)
    elif isinstance(experiment, ByArms):
        place = (int(entry.x or 0),)
    elif isinstance(experiment, ByDiscount):
        place = (1.0 if entry.x is None else entry.x,)  # the undiscounted policy
    elif isinstance(experiment, DiscountByArms):
        place = (entry.x, int(entry.y or 0))
    elif isinstance(experiment, PriorMap):
        place = (entry.x, entry.y)
    measures: dict[str, Estimate] = {
        "normalized_regret": record.normalized_regret,
        "static_regret": record.static_regret,
        "mean_reward": record.mean_reward,
    }
    return [(*place, measure, value.mean, value.ci95) for measure, value in measures.items()]
