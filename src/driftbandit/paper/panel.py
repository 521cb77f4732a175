"""What panels of the paper's report have in common."""

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from driftbandit import figures
from driftbandit.engine.estimate import Estimate
from driftbandit.figures import Series, Style
from driftbandit.paper.record import Record

SIZE = (4.2, 2.8)
STYLES = {
    "dTS": figures.STYLES[0],
    "dOTS": figures.STYLES[1],
    "TS": figures.STYLES[6],
    "OTS": figures.STYLES[6],
    "Dynamic TS": figures.STYLES[3],
    "REXP3": figures.STYLES[4],
    "D-UCB": figures.STYLES[2],
    "SW-UCB": figures.STYLES[2],
    "EXP3-IX": figures.STYLES[2],
}


def line(label: str, curve: dict[float, Record], style: Style | None = None) -> Series:
    """Normalised regret along an axis, with intervals."""
    dots = group(label, style or STYLES[label], [record.normalized_regret for record in curve.values()])
    return dataclasses.replace(dots, x=np.array(list(curve)))


def group(label: str, style: Style, values: Sequence[Estimate]) -> Series:
    """One dot for each of some estimates."""
    return Series(
        label, np.arange(len(values)), np.array([value.mean for value in values]),
        np.array([value.ci95 for value in values]), style,
    )  # fmt: skip


def ceiling(curves: Iterable[dict[float, Record]]) -> float:
    """Where the axis of normalised regret ends, so that all of these curves fit."""
    return 1.06 * max(record.normalized_regret.mean for curve in curves for record in curve.values())
