"""What each part of the drift filter is worth: regret without it, or with another value, over that of the filter.

Environments are those of the arena (the first draw), on another seed; parts were chosen on none of them.
"""

import dataclasses
import functools
import os
from typing import Any, ClassVar

import numpy as np

import driftbandit as db
from driftbandit.arena.families import FAMILIES
from driftbandit.policies.drift_filter import Ladder

SEED = 77
STEPS = 1_600_000
"""Steps times arms times runs of each environment; at least four runs."""
FAMILY = {world.id: family.id for family in FAMILIES for world in family.worlds(1)}
USUAL = Ladder()
VARIATIONS: dict[str, db.Policy | Ladder] = {
    "no still model": USUAL._replace(still=0.0),
    "no jumps alone": USUAL._replace(jumps=(1e-9,)),
    "no walks": USUAL._replace(walks=((0.0, 0.0),)),
    "no momentum": db.DriftFilter(momentum=False),
    "no rested momentum": USUAL._replace(rested=0.0),
    "four speeds": USUAL._replace(speeds=USUAL.speeds[::2]),
    "tail .05": USUAL._replace(tail=0.05),
    "tail .12": USUAL._replace(tail=0.12),
    "tail the same for any number of arms": USUAL._replace(by_arms=0.0),
    "randomized": db.DriftFilter(randomized=True),
    "no exchange of weights": USUAL._replace(share=1e-12),
    "exchange 1e-3": USUAL._replace(share=1e-3),
}


def policy_of(called: str, variation: db.Policy | Ladder) -> db.Policy:
    if isinstance(variation, db.Policy):
        return variation

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Varied(db.DriftFilter):
        """The filter with other models."""

        name: ClassVar[str] = "drift-filter-" + called.replace(" ", "-").replace(".", "")
        ladder: ClassVar[Ladder] = variation

    return Varied()


def run() -> list[dict[str, Any]]:
    """Regret of the drift filter with a part changed, over that of the whole: geometric means, with standard errors."""
    policies = [db.DriftFilter(), *(policy_of(*each) for each in VARIATIONS.items())]
    logs: dict[str, list[Any]] = {}
    for world in (world for family in FAMILIES for world in family.worlds(1)):
        runs = max(4, STEPS // (world.horizon * world.n_arms))
        play = functools.partial(db.simulate, horizon=world.horizon, runs=runs, seed=SEED, threads=os.cpu_count())
        regrets = play(policies, world.environment).dataset["regret"].isel(step=-1)
        means, errors = (np.asarray(x) for x in (regrets.mean("run"), regrets.std("run", ddof=1) / np.sqrt(runs)))
        logs[world.id] = [np.log(means[1:] / means[0]), np.hypot(errors[1:] / means[1:], errors[0] / means[0])]
    rows = []
    for i, name in enumerate(VARIATIONS):
        ratio = np.array([log[i] for log, _ in logs.values()])
        noise = np.sqrt(np.sum([error[i] ** 2 for _, error in logs.values()])) / len(logs)
        row = {"variation": name, "geometric_mean": float(np.exp(ratio.mean())), "standard_error": float(noise)}
        for family in FAMILIES:
            own = [log[i] for world, (log, _) in logs.items() if FAMILY[world] == family.id]
            row[family.id] = float(np.exp(np.mean(own)))
        rows.append(row)
    return rows
