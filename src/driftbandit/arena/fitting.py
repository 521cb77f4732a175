"""The settings that suit an environment best, found on seeds that are not reported.

Every setting of a grid plays a few runs; the best three of each policy play more, on another seed; the best of those is
the fitted one of its policy, and the best of all policies is what everybody is compared with.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from driftbandit.arena.effort import Effort
from driftbandit.arena.regrets import Regrets
from driftbandit.arena.world import World
from driftbandit.campaign.work import BATCH_RUNS
from driftbandit.engine.games import Game
from driftbandit.policies import (
    DiscountedOptimisticThompsonSampling,
    DiscountedThompsonSampling,
    DiscountedUCB,
    Policy,
    SlidingWindowUCB,
)

DISCOUNTS = (
    0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.84, 0.87, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985,
    0.99, 0.993, 0.995, 0.997, 0.998, 0.999, 0.9995, 0.9998, 1.0,
)  # fmt: skip
PRIORS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
UCB_DISCOUNTS = (
    0.6, 0.7, 0.8, 0.87, 0.9, 0.93, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.998, 0.999, 0.9995,
    0.9998, 1.0,
)  # fmt: skip
WINDOWS = (
    3, 5, 8, 12, 17, 24, 34, 48, 68, 96, 136, 192, 272, 384, 544, 768, 1088, 1536, 2176, 3072, 4352, 6144, 12288, 25000,
)  # fmt: skip
CONFIDENCES = (2.0, 0.5, 0.1, 0.02)
BEST = 3
"""So many settings of each policy are tried again."""
FITTED = ("dts", "dots", "sw-ucb", "d-ucb")


class Fit(NamedTuple):
    """What suits an environment: a setting of each policy by its name, and the name of the best of them."""

    settings: Mapping[str, Policy]
    best: str


def grid(horizon: int) -> dict[str, list[Policy]]:
    """All settings that are tried, by policy; windows end with the first that holds the whole game."""
    windows = [window for window, before in zip(WINDOWS, (0, *WINDOWS), strict=False) if before < horizon]
    sampled = [DiscountedThompsonSampling, DiscountedOptimisticThompsonSampling]
    settings: dict[str, list[Policy]] = {
        kind.name: [
            kind(discount=discount, prior_successes=prior, prior_failures=prior)
            for discount in DISCOUNTS
            for prior in PRIORS
        ]
        for kind in sampled
    }
    settings["sw-ucb"] = [SlidingWindowUCB(window=w, confidence=c) for w in windows for c in CONFIDENCES]
    settings["d-ucb"] = [DiscountedUCB(discount=d, confidence=c) for d in UCB_DISCOUNTS for c in CONFIDENCES]
    return settings


def first_games(world: World, effort: Effort) -> list[Game]:
    """Every setting, a few runs each, some settings a game."""
    runs = effort.first_runs(world)
    size = max(1, BATCH_RUNS // runs)
    return [
        Game(tuple(settings[first : first + size]), world.environment, world.horizon, runs, effort.first_seed)
        for settings in grid(world.horizon).values()
        for first in range(0, len(settings), size)
    ]


def second_game(world: World, effort: Effort, first: Sequence[Game], scores: Mapping[Game, Regrets]) -> Game:
    """The best settings of each policy in the first games, more runs each, on another seed."""
    regret = _regrets(first, scores)
    best: list[Policy] = []
    for settings in grid(world.horizon).values():
        best += sorted(settings, key=regret.__getitem__)[:BEST]
    return _again(world, effort, best)


def fitted(second: Game, scores: Mapping[Game, Regrets]) -> Fit:
    """What was best when it was tried again."""
    regret = _regrets([second], scores)
    settings = {name: min((p for p in regret if p.name == name), key=regret.__getitem__) for name in FITTED}
    return Fit(settings, min(settings, key=lambda name: regret[settings[name]]))


def unfitted(world: World, effort: Effort) -> tuple[Game, Fit]:
    """A second game and a fit to plan with before the real ones are known: any setting takes as long."""
    settings = grid(world.horizon)
    game = _again(world, effort, [policy for some in settings.values() for policy in some[:BEST]])
    return game, Fit({name: some[0] for name, some in settings.items()}, FITTED[0])


def _again(world: World, effort: Effort, settings: list[Policy]) -> Game:
    return Game(tuple(settings), world.environment, world.horizon, effort.second_runs(world), effort.second_seed)


def _regrets(games: Sequence[Game], scores: Mapping[Game, Regrets]) -> dict[Policy, float]:
    """The mean regret of every setting, in the order in which they are listed."""
    return {
        policy: float(runs.mean())
        for game in games
        for policy, runs in zip(game.policies, scores[game].regret, strict=True)
    }
