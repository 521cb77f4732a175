"""Several replicas made into one.

Each replica writes its own part of the evidence, and keeps apart what it took over from others. A merge takes every
part from the bandit that has it newest, so it does not matter in which order bandits are merged, nor how often: nothing
is counted twice. By the clock, the result is that of one bandit which saw everything. Where a step is a decision there
is no common time; evidence is then as old, in each replica, as that replica's own decisions since have made it.

A pending decision stays pending if every bandit that knows of it still waits for its reward.
"""

import dataclasses
import functools
import math
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.engine.cpu.block import Reals
from driftbandit.errors import InvalidValue
from driftbandit.online.evidence import START
from driftbandit.online.pending import (
    ANSWERED,
    GIVEN_REPLICAS,
    MOST_REPLICAS,
    NUMBER,
    REPLICA_SHIFT,
    Lineage,
    Waiting,
)
from driftbandit.online.state import State


class Holder:
    """A state to be merged, as it stands now: its parts by replica, aged."""

    def __init__(self, state: State, seconds: float) -> None:
        self.state, self.evidence = state, state.evidence
        state.timing.move_to(seconds)
        self.now = state.timing.steps
        self.evidence.advance(self.now)
        weight = self.evidence.factors(self.now) * self.evidence.table[:, self.evidence.at.weight, None]
        own = self.evidence.table[:, : self.evidence.at.decisions + 1]
        replica = state.settings.replica
        self.parts = {key: part.copy() for key, part in self.evidence.parts.items()} | {replica: own.copy()}
        for part in self.parts.values():
            part[:, :-1] *= weight
        self.known = state.pending.taken | {replica: state.pending.own}

    def arm_clock(self, number: int) -> float:
        """What the arm's own clock shows."""
        row, at = self.evidence.table[number], self.evidence.at
        assert self.evidence.clock is not None
        return self.evidence.clock.shown(row[at.decisions] + row[at.other_decisions])

    def renumbered(self, key: int, names: tuple[Any, ...], missing: float = 0.0) -> Reals:
        """A part, with a row for each of these arms."""
        result = np.full((len(names), self.evidence.size + 2), missing)
        part = self.parts.get(key)
        if part is not None:
            for number, name in enumerate(names):
                if name in self.state.arms:
                    result[number] = part[self.state.arms.number(name)]
        return result


def check_alike(states: Sequence[State]) -> None:
    """That replicas can be merged: rewards add up, and all were made alike, but for their numbers."""
    first = states[0].settings
    learning = states[0].chooser.rule.learning
    if learning != "additive":
        raise InvalidValue(
            f"replicas of {first.policy.name} cannot be merged, nor a state go on under another number: "
            f'it learns rewards in the order in which they come (learning="{learning}")'
        )
    for other in (state.settings for state in states[1:]):
        if other.policy != first.policy:
            raise checks.reject("policy", f"the same in all bandits ({first.policy})", str(other.policy))
        if other.step_seconds != first.step_seconds:
            raise checks.reject("step_seconds", f"the same in all bandits ({first.step_seconds})", other.step_seconds)


def merged(states: Sequence[State], replica: int | None) -> State:
    """One state that knows what all of these know; they are used up."""
    seconds = max(state.timing.latest for state in states)
    holders = [Holder(state, seconds) for state in states]
    taken = {key: _latest(key, holders) for key in sorted({key for holder in holders for key in holder.known})}
    taken = {key: lineage for key, lineage in taken.items() if not lineage.idle}
    if replica is None:
        replica = secrets.choice([k for k in range(GIVEN_REPLICAS, MOST_REPLICAS) if k not in taken])
    if replica in taken:
        raise checks.reject("replica", f"none of {', '.join(map(str, taken))}", replica)
    names = dict.fromkeys(name for state in states for name in state.arms.all_names())
    result = State.new(names, dataclasses.replace(states[0].settings, replica=replica), states[0].timing.clock)
    result.timing.move_to(seconds)
    result.timing.steps = max(holder.now for holder in holders)
    result.pending.taken = taken
    _merge_evidence(result, holders)
    _merge_pending(result, holders)
    return result


def _latest(key: int, holders: list[Holder]) -> Lineage:
    """How far a replica has come, which all that know of it must agree on."""
    stages = [holder.known[key] for holder in holders if key in holder.known]
    latest = max(stages, key=lambda lineage: (len(lineage.spans), lineage.made, lineage.learned))
    settings = [holder.state.settings for holder in holders if not holder.known.get(key, latest).idle]
    seeds = {setting.seed for setting in settings if setting.replica == key}
    if len(seeds) > 1 or not all(latest.goes_on_from(stage) for stage in stages):
        raise InvalidValue(
            f"replica must be another number in each bandit, got {key} in two that went different ways: "
            "give one of them another number when it is made or loaded (replica=…)"
        )
    return latest


def _merge_evidence(result: State, holders: list[Holder]) -> None:
    evidence, now, names = result.evidence, result.timing.steps, result.arms.all_names()
    evidence.begin(now)
    evidence.reference = float(now)
    if evidence.restart:
        evidence.epoch = int(now // evidence.restart)
    starts = [holder.renumbered(START, names, math.nan) for holder in holders if START in holder.parts]
    if starts:
        # by weight, the highest start (late arms start high), else the most faded; 0 where no bandit has the arm
        combine = np.fmax if evidence.rule.selection == "weighted" else np.fmin
        evidence.parts[START] = np.nan_to_num(combine.reduce(starts, axis=0))
    for key, lineage in result.pending.taken.items():
        latest = [holder for holder in holders if holder.known.get(key) == lineage]
        evidence.parts[key] = functools.reduce(_smaller, (holder.renumbered(key, names) for holder in latest))
        if evidence.window is not None:
            evidence.parts[key][:, :-1] = 0.0
            _merge_window(result, latest, key)
    at = evidence.at
    evidence.table[:, at.other : at.other_decisions + 1] = sum(evidence.parts.values())
    for number in range(len(names)):
        row = evidence.table[number]
        if evidence.clock is not None:
            row[at.reference] = evidence.clock.shown(row[at.other_decisions])
        if np.any(row[at.other : at.other_count] != evidence.initial):
            evidence.order.wake(number)


def _smaller(one: Reals, two: Reals) -> Reals:
    """Of the same evidence, what has faded more; an arm that one of them removed has none."""
    return np.where(np.abs(two) < np.abs(one), two, one)


def _merge_window(result: State, latest: list[Holder], key: int) -> None:
    windows = [holder.evidence.window for holder in latest]
    ids = [{row.id for row in window.rows()} for window in windows if window is not None]
    holder, window = latest[0], windows[0]
    assert window is not None
    for row in window.rows():
        if row.writer == key and all(row.id in others for others in ids):
            arm = result.arms.number(holder.state.arms.names[row.arm])
            stamp = result.timing.steps - (holder.now - row.stamp)
            result.evidence.remember(row._replace(stamp=stamp, arm=arm))
            result.evidence.order.wake(arm)


def _merge_pending(result: State, holders: list[Holder]) -> None:
    found: dict[int, Waiting] = {}
    for holder in holders:
        for id, decision in holder.state.pending.decisions.items():
            moved = _moved(result, holder, decision)
            if id not in found or moved[:2] < found[id][:2]:
                found[id] = moved  # answered before open, then the one that faded more
    for holder in holders:
        for id in list(found):
            lineage = holder.known.get(id >> REPLICA_SHIFT)
            if lineage is not None and lineage.has(id & NUMBER) and id not in holder.state.pending.decisions:
                del found[id]
    result.pending.decisions = dict(sorted(found.items(), key=lambda item: (item[1][2], item[0])))


def _moved(result: State, holder: Holder, decision: Waiting) -> Waiting:
    """A pending decision of a holder, in the numbers and on the clocks of the result."""
    arm, stamp, moment, chance, eligible = decision
    evidence, now = result.evidence, result.timing.steps
    number = arm
    if arm > ANSWERED:
        number = result.arms.number(holder.state.arms.names[arm])
    if arm > ANSWERED and evidence.clock is not None:
        stamp = evidence.table[number, evidence.at.reference] - (holder.arm_clock(arm) - stamp)
    else:
        stamp = now - (holder.now - stamp)
    if evidence.restart and result.settings.step_seconds is None:
        current = moment // evidence.restart == holder.now // evidence.restart
        moment = now if current else evidence.epoch * evidence.restart - 1
    else:
        moment = now - (holder.now - moment)
    return number, float(stamp), moment, chance, eligible
