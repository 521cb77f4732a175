"""The panels of every experiment: one figure for each profile and measure, on axes that its neighbours share."""

from collections.abc import Iterator

from driftbandit.paper.drawing.curves import by_arms, by_discount, discount_by_arms, opening
from driftbandit.paper.drawing.grids import prior_map, rested, two_oracles
from driftbandit.paper.drawing.over_time import environments, over_time, readings
from driftbandit.paper.drawing.panel import Panel
from driftbandit.paper.experiment import (
    ByArms,
    ByDiscount,
    DiscountByArms,
    Environments,
    Experiment,
    OverTime,
    PriorMap,
    Rested,
    TwoOracles,
)
from driftbandit.paper.findings import Findings

__all__ = ["Panel", "opening", "panels_of", "readings"]


def panels_of(experiment: Experiment, found: Findings) -> Iterator[Panel]:
    """The panels of an experiment, measure by measure and profile by profile."""
    match experiment:
        case OverTime():
            yield from over_time(experiment, found)
        case ByArms():
            yield from by_arms(experiment, found)
        case ByDiscount():
            yield from by_discount(experiment, found)
        case DiscountByArms():
            yield from discount_by_arms(experiment, found)
        case PriorMap():
            yield from prior_map(experiment, found)
        case Rested():
            yield from rested(experiment, found)
        case TwoOracles():
            yield from two_oracles(experiment, found)
        case Environments():
            yield from environments(experiment)
