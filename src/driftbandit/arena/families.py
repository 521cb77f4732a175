"""Every family of environments, listed once. The command line, the report and the tests read this list."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from driftbandit.arena import draws
from driftbandit.arena.world import World
from driftbandit.checks import shown
from driftbandit.datasets import Flights, Weather
from driftbandit.environments import FDSW, Abrupt, Besson, EnvA, Environment, Fast, FromMeans, Slow
from driftbandit.environments.published import Published
from driftbandit.errors import InvalidValue

HORIZON = 5000
ARMS = (2, 4, 10, 50)
TABLES = "tables"


@dataclasses.dataclass(frozen=True)
class Family:
    """Environments of one kind: a part of the report."""

    id: str
    title: str
    text: str
    worlds: Callable[[int], Iterable[World]]
    """Its environments, for the number of a draw; the same for all numbers where nothing is random."""


def _of_the_paper(kind: Callable[..., Environment]) -> Callable[[int], Iterator[World]]:
    def worlds(draw: int) -> Iterator[World]:
        for n_arms in ARMS:
            environment = kind(n_arms=n_arms)
            yield World(f"{environment.name}-{n_arms}", environment, HORIZON)
        rested = kind(rested=True)
        yield World(f"{rested.name}-rested", rested, HORIZON, "an arm moves only when it is chosen")

    return worlds


def _published(draw: int) -> Iterator[World]:
    problems: list[tuple[str, Published]] = [("env-a", EnvA())]
    problems += [(f"besson-{number}", Besson(problem=number)) for number in (1, 2, 3, 4)]
    problems += [(f"f-dsw-{number}", FDSW(test=number)) for number in (1, 2, 3)]
    for name, environment in problems:
        yield World(name, environment, environment.usual_horizon)


def _recorded(draw: int) -> Iterator[World]:
    hours, days, weather = Flights(), Flights(by="day", repeat=15), Weather()
    yield World("flights-by-hour", hours, hours.usual_horizon, "the share of flights on time; it holds noise")
    yield World("flights-by-day", days, days.usual_horizon, "the same by day, less its noise; 15 decisions a day")
    yield World("weather", weather, weather.usual_horizon, "dry or not, by day")


FAMILIES = (
    Family("slow", "Slow waves", "The paper's slowly varying environment, with 2 to 50 arms, and rested with 4. All "
           "waves have one period and one height: kind to bounds that never forget, and unkind to TS.",
           _of_the_paper(Slow)),
    Family("fast", "Fast waves", "The paper's fast varying environment, likewise.", _of_the_paper(Fast)),
    Family("abrupt", "Abrupt changes", "The paper's abruptly varying environment, likewise.", _of_the_paper(Abrupt)),
    Family("published", "Published problems", "Env A of Baudry, Russac and Cappé; the four problems of Besson and "
           "others; the three tests of f-dsw Thompson sampling.", _published),
    Family("recorded", "Real tables", "Airlines out of New York by the hour and by day, and dry days in two cities. "
           "Regret is against the best of each row: by the hour, and of the weather, most of that is luck that nobody "
           "can foretell, so ratios are nearer to 1 than policies are to each other.", _recorded),
    Family("switching-together", "All arms switch at once", "At each step, with the probability of the hazard, all "
           "means are drawn anew, uniform between 0 and 1. 2 to 10 arms; the hazard is drawn from 0.0005 to 0.02, "
           "its logarithm uniform.", draws.switching_together),
    Family("switching-alone", "One arm switches at a time", "The same with a hazard for each arm by itself, drawn "
           "from 0.0002 to 0.01.", draws.switching_alone),
    Family("switching-low", "Low means that switch", "The same with means between 0 and 0.3: of all arms at once where "
           "the number is odd, one arm at a time where it is even; hazards from 0.0002 to 0.01.", draws.switching_low),
    Family("walks", "Random walks", "Every arm is a walk with normal movements, reflected at 0 and 1. 2 to 10 arms; "
           "the standard deviation of a movement is drawn from 0.002 to 0.05, its logarithm uniform.", draws.walks),
    Family("sinusoids", "Mixed waves", "Every arm is a sine wave with its own period (50 to 5000 steps, logarithm "
           "uniform), phase, height (0.1 to 0.4) and middle. 2 to 10 arms.", draws.sinusoids),
    Family("kaufmann", "Kaufmann's sampler", "Five arms and 20000 steps. At six change points, at least 1000 steps "
           "apart, each arm moves with probability 1/2, by 0.05 to 0.3 up or down.", draws.kaufmann),
    Family("stationary", "Stationary", "Means that stay: uniform between 0 and 1, or all within 0.1 of each other.",
           draws.stationary),
)  # fmt: skip


def chosen_families(only: Iterable[str] | None, draw: int, tables: Sequence[str | Path]) -> dict[Family, list[World]]:
    """The families and environments with these ids, in the order of the list; all of them if none is given."""
    families = (*FAMILIES, _tables(tables)) if tables else FAMILIES
    found = {family: list(family.worlds(draw)) for family in families}
    wanted = list(only or ())
    if tables and wanted:
        wanted.append(TABLES)  # who gives a table wants to see it
    if TABLES in wanted and not tables:
        raise InvalidValue("table must be given for the family tables, as in --table my.csv")
    known = {family.id for family in found} | {world.id for worlds in found.values() for world in worlds}
    for given in wanted:
        if given not in known:
            raise InvalidValue(
                f"only must name families such as {', '.join(family.id for family in found)}, or environments such as "
                f"{found[families[0]][0].id}, got {shown(given)}"
            )
    if not wanted:
        return found
    chosen = {
        family: [world for world in worlds if family.id in wanted or world.id in wanted]
        for family, worlds in found.items()
    }
    return {family: worlds for family, worlds in chosen.items() if worlds}


def _tables(paths: Sequence[str | Path]) -> Family:
    """The tables of a user, read at once: a wrong one is answered before any work."""
    worlds: list[World] = []
    for path in paths:
        environment = FromMeans(means=str(path))
        name = "table-" + (re.sub(r"[^\w.-]+", "-", Path(path).stem) or "means")
        if name in [world.id for world in worlds]:
            raise InvalidValue(f"table must be files whose names differ, got {shown(Path(path).name)} twice")
        worlds.append(World(name, environment, environment.usual_horizon, f"the means in {Path(path).name}"))
    text = "Means that were given as tables: a row a step, a column an arm."
    return Family(TABLES, "Tables", text, lambda _: worlds)
