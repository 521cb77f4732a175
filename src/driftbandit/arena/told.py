"""Policies that are told the horizon and how much changes, each by its published formula."""

from collections.abc import Callable, Mapping
from typing import Any

from driftbandit.arena.world import World
from driftbandit.policies import (
    GLRKLUCB,
    BanditOverBandit,
    ChangePointThompsonSampling,
    CusumUCB,
    DiscountedKLUCB,
    DiscountedUCB,
    DynamicThompsonSampling,
    Exp3IX,
    Exp3S,
    Exp3SIX,
    GaussianThompsonSampling,
    MonitoredUCB,
    PageHinkleyUCB,
    Policy,
    RestartingExp3,
    SlidingWindowKLUCB,
    SlidingWindowThompsonSampling,
    SlidingWindowUCB,
)

BELIEVING = frozenset({"cts", "bob"})
"""Those that keep arrays of every arm."""
MONITORED = 150
"""Rewards that M-UCB compares, as in published experiments: its formula has windows longer than most segments."""


def by_changes(kind: Any, **more: Any) -> Callable[[World], Policy]:
    """By the horizon and the number of changes; where nothing changes, it is told 1."""
    return lambda world: kind.tuned(max(2, world.horizon), max(1, world.changes), **more)


def dynamic_ts(world: World) -> Policy:
    """Dynamic TS, by the mean length of a segment."""
    return DynamicThompsonSampling.tuned(world.horizon / (world.changes + 1))


def rexp3(world: World) -> Policy:
    """REXP3, by the horizon and the variation; its theory wants a variation of at least 1/K."""
    return RestartingExp3.tuned(world.horizon, max(world.variation, 1.0 / world.n_arms), world.n_arms)


def exp3_ix(world: World) -> Policy:
    """EXP3-IX, by the horizon."""
    return Exp3IX.tuned(world.horizon, world.n_arms)


def exp3_s(world: World) -> Policy:
    """EXP3.S, by the horizon and the number of changes."""
    return Exp3S.tuned(world.horizon, world.n_arms, max(1, world.changes))


def exp3_six(world: World) -> Policy:
    """EXP3-SIX, by the same."""
    return Exp3SIX.tuned(max(2, world.horizon), world.n_arms, min(max(1, world.changes), world.horizon - 1))


def m_ucb(world: World) -> Policy:
    """M-UCB, by the same."""
    return MonitoredUCB.tuned(world.horizon, max(1, world.changes), world.n_arms, window=MONITORED)


def glr_kl_ucb(world: World) -> Policy:
    """GLR-klUCB, by the same."""
    return GLRKLUCB.tuned(world.horizon, world.n_arms, max(1, world.changes))


def glr_kl_ucb_growing(world: World) -> Policy:
    """GLR-klUCB, by the horizon alone."""
    return GLRKLUCB.tuned(world.horizon, world.n_arms)


def bob(world: World) -> Policy:
    """Bandit over bandit, by the horizon."""
    return BanditOverBandit.tuned(world.horizon, world.n_arms)


TOLD: Mapping[str, Callable[[World], Policy]] = {
    "d-ucb": by_changes(DiscountedUCB),
    "sw-ucb": by_changes(SlidingWindowUCB),
    "d-kl-ucb": by_changes(DiscountedKLUCB),
    "sw-kl-ucb": by_changes(SlidingWindowKLUCB),
    "sw-ts": by_changes(SlidingWindowThompsonSampling),
    "gaussian-ts": by_changes(GaussianThompsonSampling, memory="window"),
    "dynamic-ts": dynamic_ts,
    "cts": by_changes(ChangePointThompsonSampling),
    "cusum-ucb": by_changes(CusumUCB, warm_up=50, index="kl"),
    "pht-ucb": by_changes(PageHinkleyUCB, index="kl"),
    "m-ucb": m_ucb,
    "glr-kl-ucb": glr_kl_ucb,
    "glr-kl-ucb growing": glr_kl_ucb_growing,
    "bob": bob,
    "rexp3": rexp3,
    "exp3-ix": exp3_ix,
    "exp3-s": exp3_s,
    "exp3-six": exp3_six,
}
