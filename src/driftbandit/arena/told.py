"""Policies that are told the horizon and how much changes, each by its published formula."""

from collections.abc import Callable, Mapping

from driftbandit.arena.world import World
from driftbandit.policies import (
    DiscountedUCB,
    DynamicThompsonSampling,
    Exp3IX,
    Policy,
    RestartingExp3,
    SlidingWindowUCB,
)


def d_ucb(world: World) -> Policy:
    """D-UCB, by the horizon and the number of changes; where nothing changes, it is told 1."""
    return DiscountedUCB.tuned(world.horizon, max(1, world.changes))


def sw_ucb(world: World) -> Policy:
    """SW-UCB, by the same."""
    return SlidingWindowUCB.tuned(max(2, world.horizon), max(1, world.changes))


def dynamic_ts(world: World) -> Policy:
    """Dynamic TS, by the mean length of a segment."""
    return DynamicThompsonSampling.tuned(world.horizon / (world.changes + 1))


def rexp3(world: World) -> Policy:
    """REXP3, by the horizon and the variation; its theory wants a variation of at least 1/K."""
    return RestartingExp3.tuned(world.horizon, max(world.variation, 1.0 / world.n_arms), world.n_arms)


def exp3_ix(world: World) -> Policy:
    """EXP3-IX, by the horizon."""
    return Exp3IX.tuned(world.horizon, world.n_arms)


TOLD: Mapping[str, Callable[[World], Policy]] = {
    "d-ucb": d_ucb,
    "sw-ucb": sw_ucb,
    "dynamic-ts": dynamic_ts,
    "rexp3": rexp3,
    "exp3-ix": exp3_ix,
}
