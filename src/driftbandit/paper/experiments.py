"""Every experiment, listed once. The command line, the report, the claims and the tests all read this list."""

from collections.abc import Iterable

from driftbandit.checks import shown
from driftbandit.errors import InvalidValue
from driftbandit.paper import kinds
from driftbandit.paper.contenders import COMPARED
from driftbandit.paper.experiment import Experiment
from driftbandit.paper.fits import CANDIDATES
from driftbandit.paper.printed import APPENDIX_RUNS, SETTINGS

ARMS = (2, 4, 8, 12, 16)
DISCOUNTS = (*(round(0.05 * n, 2) for n in range(1, 21)), 0.97, 0.99)
"""Where the effect of the discount is drawn: steps of 0.05, and two more where Algorithm 1 is at its best."""
GRID_STEP = 0.05
COARSE = (0.10, 0.20, 0.40, 0.60, 0.75, 0.85, 0.90, 0.95, 0.97, 0.99, 0.995, 1.0)
PRIORS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
APPENDIX_RIVALS = ("D-UCB", "SW-UCB", "EXP3-IX")
UNDISCOUNTED = {"dTS": "TS", "dOTS": "OTS"}


def _listed() -> Iterable[Experiment]:
    for setting in SETTINGS:
        yield kinds.OverTime(f"regret-{setting.id}", f"Regret over time, {setting.adjective}", setting, COMPARED)
    for setting in SETTINGS:
        yield kinds.ByArms(f"arms-{setting.id}", f"More arms, {setting.adjective}", setting, COMPARED, ARMS)
    yield kinds.Environments("environments", "The three environments")
    for name, alone in UNDISCOUNTED.items():
        for setting in SETTINGS:
            yield kinds.ByDiscount(
                f"discount-{name.lower()}-{setting.id}",
                f"Effect of the discount on {name}, {setting.adjective}",
                setting, name, alone, tuple(sorted(DISCOUNTS)), CANDIDATES,
            )  # fmt: skip
    yield kinds.Tables("tables", "Parameter tables")
    for rival in APPENDIX_RIVALS:
        for setting in SETTINGS:
            yield kinds.OverTime(
                f"{rival.lower()}-{setting.id}",
                f"Against {rival}, {setting.adjective}",
                setting, (rival, "dTS", "dOTS"), setting.horizon, APPENDIX_RUNS,
                ("REXP3", "Dynamic TS", "TS") if rival == "EXP3-IX" else (),
            )  # fmt: skip
    for setting in SETTINGS:
        yield kinds.DiscountByArms(
            f"discount-arms-{setting.id}", f"Discount and number of arms, {setting.adjective}",
            setting, (2, 4, 12), COARSE, 200,
        )  # fmt: skip
    for name in UNDISCOUNTED:
        for setting in SETTINGS:
            yield kinds.PriorMap(
                f"map-{name.lower()}-{setting.id}", f"Discount and prior of {name}, {setting.adjective}",
                setting, name, COARSE, PRIORS, 100,
            )  # fmt: skip
    for setting in SETTINGS:
        yield kinds.Rested(
            f"rested-{setting.id}", f"Rested arms, {setting.adjective}", setting, (*COMPARED, "D-UCB", "SW-UCB")
        )
    for setting in SETTINGS:
        yield kinds.TwoOracles(f"oracles-{setting.id}", f"Two oracles, {setting.adjective}", setting, COMPARED)


EXPERIMENTS = tuple(_listed())


def chosen_experiments(only: Iterable[str] | None) -> tuple[Experiment, ...]:
    """The experiments with these ids, in the order of the list; all of them if none is given."""
    wanted = list(only or ())
    known = [experiment.id for experiment in EXPERIMENTS]
    for given in wanted:
        if given not in known:
            raise InvalidValue(f"only must name experiments such as {', '.join(known)}, got {shown(given)}")
    return tuple(experiment for experiment in EXPERIMENTS if not wanted or experiment.id in wanted)
