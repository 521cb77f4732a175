"""What should be known of an experiment, in words. Each rule is a function whose docstring says when it speaks.

Rules look at the sums of the latest 24 hours, in points of ten minutes, whatever a page shows, and at this process.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from driftbandit.service.dashboard.looking import Sight
from driftbandit.service.dashboard.markup import Markup, joined, name
from driftbandit.service.dashboard.stretch import Reals
from driftbandit.service.dashboard.wording import amount, counted, day_time, lasting, share
from driftbandit.service.live_experiment import RUNNING

ENOUGH = 100
"""Decisions that a rule about odds asks for."""
EXPECTED = 20.0
"""Of what never came, there should have been so many: by chance alone there are none of them once in e^20 times."""
GONE = 1e-3
"""Odds below which an arm is not explored any more."""
FAR = 5.0
"""Standard errors between shares and odds."""
MOVED = 5.0
"""Standard errors between what an arm earned before and after."""
SIZE = 30.0
"""Effective number of rewards on either side of a change."""
SLOW, MANY = 0.5, 1000
"""Seconds of a commit, and decisions and rewards that wait, above which the store is slow."""
BEHIND, APART = 5.0, 1.0
"""Seconds that a process may be behind the log, and its clock off from the database's."""


class Alarm(NamedTuple):
    """Something that should be known."""

    kind: Literal["alarm", "note"]
    title: str
    text: Markup


def exploration_gone(sight: Sight) -> Iterator[Alarm]:
    """For an arm that may be chosen, where the floor is below 0.001: the mean of its logged odds over the latest
    half-life (an hour at least, 24 hours at most, and an hour where there is no half-life) is below 0.001, in 100
    decisions or more.
    """
    if sight.view.minimum_probability >= GONE or len(sight.open_arms) < 2:
        return
    length = min(max(3600.0, sight.half_life or 0.0), 86400.0)
    begin = max(0, sight.day.lookback.points - round(length / sight.day.lookback.step))
    made = float(sight.day.sums.decisions[:, begin:].sum())
    if made < ENOUGH:
        return
    for arm in sight.open_arms:
        odds = float(sight.day.sums.odds[arm.number, begin:].sum()) / made
        if odds < GONE and _there_since(sight, arm.added, begin):
            said = f" had odds of {share(odds)} in the latest {lasting(length)}: nobody notices if it becomes better. "
            yield Alarm("alarm", "Exploration is gone", joined(
                name(arm.name), said, "A floor (minimum_probability) or a shorter memory keeps it tried."
            ))  # fmt: skip


def _there_since(sight: Sight, added: float | None, begin: int) -> bool:
    """Whether an arm was there at the beginning of a point."""
    when = added if sight.view.step_seconds is not None else None
    return when is None or when <= sight.day.begin + begin * sight.day.lookback.step


def shares_differ(sight: Sight) -> Iterator[Alarm]:
    """For an arm: how often it was chosen differs by more than 5 standard errors from the sum of its logged odds, in
    100 decisions or more. With odds p in each decision the variance is the sum of p(1−p), which is n·m(1−m) at most
    for a mean m: so the rule speaks too seldom, never too often.
    """
    made = sight.day.total
    if made < ENOUGH:
        return
    for arm in sight.arms:
        chosen, expected = (float(each[arm.number].sum()) for each in (sight.day.sums.decisions, sight.day.sums.odds))
        error = math.sqrt(max(expected * (1.0 - expected / made), 1.0))
        if abs(chosen - expected) > FAR * error:
            yield Alarm("alarm", "Shares are not the odds", joined(
                name(arm.name), f" was chosen {counted(chosen)} times, where its logged odds make {counted(expected)} "
                f"({abs(chosen - expected) / error:.1f} standard errors). Do not trust estimates from this log."
            ))  # fmt: skip


def decisions_stopped(sight: Sight) -> Iterator[Alarm]:
    """The experiment is running, and in the time since the latest point with a decision there should have been 20 of
    them at least, at the rate of the hour before; at least ten whole minutes went by.
    """
    made = sight.day.sums.decisions.sum(axis=0)
    last = _last(made)
    if sight.view.state != RUNNING or last is None:
        return
    hour = made[max(0, last - 6) : last]
    silent = sight.now - sight.day.ends[last]
    if not hour.size or silent < sight.day.lookback.step:
        return
    missed = float(hour.mean()) / sight.day.lookback.step * silent
    if missed >= EXPECTED:
        yield Alarm("alarm", "Nobody asks", joined(
            f"No decision since {day_time(sight.day.ends[last])}; at the rate of the hour before there would have been "
            f"{counted(missed)}."
        ))  # fmt: skip


def rewards_stopped(sight: Sight) -> Iterator[Alarm]:
    """Of the decisions that are older than their wait (without one: than nine tenths of the latest delays, or than an
    hour if there are none), the youngest have no reward that somebody gave, though 20 of them should, by the share of
    those before; or none of 100 has one.
    """
    patience = sight.patience or 3600.0
    sums = sight.day.sums
    old = sum(1 for end in sight.day.ends if end <= sight.now - patience)
    made = sums.decisions[:, :old].sum(axis=0)
    given = (sums.rewards - sums.defaults)[:, :old].sum(axis=0)
    last = _last(given)
    if last is None:
        if made.sum() >= ENOUGH:
            yield Alarm("alarm", "No rewards come", joined(
                f"None of {counted(float(made.sum()))} decisions of the latest 24 hours has got one."
            ))  # fmt: skip
        return
    before = float(given[: last + 1].sum() / made[: last + 1].sum())
    silent = float(made[last + 1 :].sum())
    if before * silent >= EXPECTED:
        yield Alarm("alarm", "Rewards stopped", joined(
            f"None of the {counted(silent)} decisions made after {day_time(sight.day.ends[last])} and more than "
            f"{lasting(patience)} ago has got a reward; of those before, {share(min(before, 1.0))} did."
        ))  # fmt: skip


def _last(values: Reals) -> int | None:
    """The last point with something in it."""
    found = np.flatnonzero(values)
    return int(found[-1]) if found.size else None


def drift_seen(sight: Sight) -> Iterator[Alarm]:
    """For rewards in [0, 1] and an arm that is there: there is a full hour before and after which the means of its
    rewards, weighted by 1/odds, differ by more than 5 standard errors, with an effective number of 30 rewards on both
    sides. Of several such hours, the one with the largest difference in standard errors. (For fractions the standard
    errors that sums allow are larger than the true ones.) Decisions that still wait are left out, as those whose reward
    came early are not like the others.
    """
    if sight.bounds != (0.0, 1.0):
        return
    sums, step, settled = sight.day.sums, sight.day.lookback.step, sight.settled(sight.day)
    cuts = [k for k in range(1, settled) if (sight.day.begin + k * step) % 3600.0 == 0.0]
    for arm in sight.arms:
        if arm.removed is not None:
            continue
        mine = np.stack([each[arm.number] for each in (sums.rewarded, sums.rewarded_2, sums.paid, sums.paid_2)])
        sides = [(_weighted(mine[:, :cut]), _weighted(mine[:, cut:settled]), cut) for cut in cuts]
        found = [
            (abs(after[0] - before[0]) / math.hypot(before[1], after[1]), cut, before[0], after[0])
            for before, after, cut in sides
            if min(before[2], after[2]) >= SIZE and before[1] + after[1] > 0.0
        ]
        if found and max(found)[0] > MOVED:
            errors, cut, before, after = max(found)
            yield Alarm("note", "Drift", joined(
                name(arm.name), f" earned {amount(before)} a decision before {day_time(sight.day.begin + cut * step)}, "
                f"and {amount(after)} since ({errors:.1f} standard errors)."
            ))  # fmt: skip


def _weighted(sums: Reals) -> tuple[float, float, float]:
    """Mean of weighted rewards, its standard error, and the effective number of rewards."""
    weight, weight_2, paid, paid_2 = sums.sum(axis=1).tolist()
    if weight <= 0.0:
        return 0.0, 0.0, 0.0
    mean = paid / weight
    variance = max(paid_2 * (1.0 - 2.0 * mean) + mean * mean * weight_2, 0.0) / (weight * weight)
    return mean, math.sqrt(variance), weight * weight / weight_2


def store_slow(sight: Sight) -> Iterator[Alarm]:
    """Nothing is stored now; or the present commit has taken more than 0.5 s; or more than 1000 decisions and rewards
    wait to be stored.
    """
    health = sight.health
    if health.down:
        yield Alarm("alarm", "Nothing is stored", joined(health.down, ". Decisions and rewards are answered 503."))
    elif health.delay > SLOW or health.waiting > MANY:
        yield Alarm("alarm", "The store is slow", joined(
            f"This commit has taken {lasting(health.delay)}; {counted(health.waiting)} decisions and rewards wait."
        ))  # fmt: skip


def process_behind(sight: Sight) -> Iterator[Alarm]:
    """The process that draws the page has not read the log for 5 s, or its clock is more than 1 s off from the
    database's.
    """
    if sight.health.lag > BEHIND:
        yield Alarm("alarm", "A process is behind", joined(
            f"The one that drew this page last read the log {lasting(sight.health.lag)} ago."
        ))  # fmt: skip
    if abs(sight.health.offset) > APART:
        yield Alarm("alarm", "Clocks differ", joined(
            f"The process that drew this page is {sight.health.offset:+.1f} s off from the database."
        ))  # fmt: skip


RULES: list[Callable[[Sight], Iterator[Alarm]]] = [
    store_slow, process_behind, decisions_stopped, rewards_stopped, shares_differ, exploration_gone, drift_seen,
]  # fmt: skip


def alarms(sight: Sight) -> list[Alarm]:
    """What all rules say."""
    return list(itertools.chain.from_iterable(rule(sight) for rule in RULES))
