"""Print how UCB1 stands beside fitted policies, in the environments of `interventions.py` and in waves of the arena.

From anywhere, each some minutes on one core:

    python docs/figures/standings.py changed       one thing changed at a time
    python docs/figures/standings.py worlds        waves in step, and 50 mixed ones, 5000 steps
    python docs/figures/standings.py longer        20 mixed ones, 50 000 steps
"""

import math
import sys
from collections.abc import Sequence
from unittest import mock

import numpy as np
from interventions import ENVIRONMENTS, FITTING_RUNS, FITTING_SEED, HORIZON, RUNS, SEED
from waves import best_mean, foretold, response, usual

import driftbandit as db
from driftbandit.arena import draws
from driftbandit.arena.families import FAMILIES
from driftbandit.arena.fitting import BEST, grid
from driftbandit.arena.world import World
from driftbandit.engine.estimate import Estimate, estimate

SECOND_SEED = 2_000_007
LONGER = 50_000
MIXED, STEP = "sinusoids", ("slow", "fast")


def mean_regrets(policies: Sequence[db.Policy], world: World, runs: int, seed: int) -> dict[db.Policy, float]:
    """The regret of every policy, some of them at a time."""
    found: dict[db.Policy, float] = {}
    for start in range(0, len(policies), 40):
        some = policies[start : start + 40]
        result = db.simulate(some, world.environment, horizon=world.horizon, runs=runs, seed=seed, threads=1)
        found |= {policy: result.normalized_regret[str(policy)].mean for policy in some}
    return found


def fitted(settings: Sequence[db.Policy], world: World) -> db.Policy:
    """The best setting, on seeds that are not reported: some runs of all, then five times as many of the best."""
    runs = max(6, min(FITTING_RUNS, FITTING_RUNS * 20_000 // (world.horizon * world.n_arms)))
    regret = mean_regrets(settings, world, runs, FITTING_SEED)
    again = mean_regrets(sorted(settings, key=regret.__getitem__)[:BEST], world, 5 * runs, SECOND_SEED)
    return min(again, key=again.__getitem__)


def changed() -> None:
    """A line for every environment of `interventions.py`; "model" where no arm has a clock of its own."""
    for change in ENVIRONMENTS:
        environment, horizon = change.environment, change.horizon
        rival = fitted(grid(horizon)["dts"], World(change.what, environment, horizon))
        policies = [db.UCB1(), db.ThompsonSampling(), *({rival} - {db.ThompsonSampling()})]
        runs = RUNS if horizon <= 10_000 else 50
        result = db.simulate(policies, environment, horizon=horizon, runs=runs, seed=SEED, threads=1)
        regret, apart = result.normalized_regret, result.difference("ucb1", str(rival))
        told = ""
        if not environment.rested:
            best, span = best_mean(environment, horizon), 40 * environment.cycle if environment.cycle else horizon
            padding = usual(2.0, environment.n_arms)
            told = f"{foretold(response(environment, span), best, padding, [horizon])[0]:.4f}"
        print(f"{change.what}: UCB1 {regret['ucb1']}, model {told}, TS {regret['ts']}, {rival} {regret[str(rival)]}, "
              f"apart {apart} ({verdict(apart)}), expected: {change.expected}", flush=True)  # fmt: skip


def verdict(apart: Estimate) -> str:
    """Whether the first of two has less regret."""
    return "better" if apart.high < 0 else "worse" if apart.low > 0 else "same"


def worlds(horizon: int, number: int) -> None:
    """Ratios of regret over the waves of the arena, as geometric means with their intervals over worlds."""
    with mock.patch.object(draws, "HORIZON", horizon):
        families = {family.id: family for family in FAMILIES}
        step = [world for name in STEP for world in families[name].worlds(1) if not world.environment.rested]
        mixed = [world for draw in range(1, number + 1) for world in families[MIXED].worlds(draw)]
    compare("mixed", mixed)
    if horizon == HORIZON:
        compare("in step", step)


def compare(name: str, chosen: Sequence[World]) -> None:
    """What UCB1 has over fitted dTS and TS, and what forgetting gains to each kind of policy."""
    logs, verdicts = [], []
    for world in chosen:
        settings = grid(world.horizon)
        dts, d_ucb = (fitted(settings[kind], world) for kind in ("dts", "d-ucb"))
        kept = fitted([policy for policy in settings["d-ucb"] if policy.discount == 1.0], world)
        policies = list(dict.fromkeys([db.UCB1(), db.ThompsonSampling(), dts, d_ucb, kept]))
        runs = RUNS // 2 if world.horizon == HORIZON else 40
        result = db.simulate(policies, world.environment, horizon=world.horizon, runs=runs, seed=SEED, threads=1)
        regret = {policy: result.normalized_regret[str(policy)].mean for policy in policies}
        ucb1, ts = regret[db.UCB1()], regret[db.ThompsonSampling()]
        pairs = (
            (ucb1, regret[dts]),
            (ucb1, ts),
            (ucb1, regret[d_ucb]),
            (regret[dts], ts),
            (regret[d_ucb], regret[kept]),
        )
        logs.append([math.log(one / other) for one, other in pairs])
        verdicts.append(verdict(result.difference("ucb1", str(dts))))
        print(f"  {world.id}: " + ", ".join(f"{policy} {value:.4f}" for policy, value in regret.items()), flush=True)
    print(f"{name}, {len(chosen)} worlds; UCB1 beside fitted dTS: "
          + ", ".join(f"{word} in {verdicts.count(word)}" for word in ("better", "same", "worse")))  # fmt: skip
    heads = ("UCB1 / dTS", "UCB1 / TS", "UCB1 / D-UCB", "dTS / TS", "D-UCB / D-UCB that never forgets")
    for head, column in zip(heads, np.array(logs).T, strict=True):
        found = estimate(column)
        print(f"  {head}: {math.exp(found.mean):.2f} ({math.exp(found.low):.2f} to {math.exp(found.high):.2f})")


if __name__ == "__main__":
    {"changed": changed, "worlds": lambda: worlds(HORIZON, 10), "longer": lambda: worlds(LONGER, 4)}[sys.argv[1]]()
