"""Several replicas made into one.

Each replica writes its own part of the evidence, and keeps apart what it took over from others. A merge takes every
part from the bandit that has it newest, so it does not matter in which order bandits are merged, nor how often: nothing
is counted twice. By the clock, the result is that of one bandit which saw everything. Where a step is a decision there
is no common time; evidence is then as old, in each replica, as that replica's own decisions since have made it.

A pending decision stays pending if every bandit that knows of it still waits for its reward.
"""

import math
from typing import Any, TypeVar

import numpy as np

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.online.bandit import Bandit
from driftbandit.online.journal import Log
from driftbandit.online.ledger import START, Ledger
from driftbandit.online.table import Reals
from driftbandit.online.waiting import ANSWERED, MOST_REPLICAS, NUMBER, REPLICA_SHIFT, Entry

Kind = TypeVar("Kind", bound=Bandit)


class Holder:
    """A bandit to be merged, as it stands now: its parts by replica, aged, with its arms numbered as in the result."""

    def __init__(self, bandit: Bandit, seconds: float) -> None:
        self.bandit = bandit
        self.ledger: Ledger = bandit._ledger
        bandit._timing.latest = seconds
        self.now = bandit._timing.steps
        self.ledger.advance(self.now)
        weight = self.ledger.factors(self.now) * self.ledger.table[:, self.ledger.at.weight, None]
        own = self.ledger.table[:, : self.ledger.at.decisions + 1]
        self.parts = {key: part.copy() for key, part in self.ledger.parts.items()}
        self.parts[bandit._replica] = own.copy()
        for part in self.parts.values():
            part[:, :-1] *= weight
        self.known = {**bandit._taken, bandit._replica: (bandit._chooser.sequence, bandit._learned)}

    def number(self, arm: Any) -> int | None:
        """The number of an arm here, if it is here."""
        return self.bandit._roster.number(arm) if arm in self.bandit._roster else None

    def arm_clock(self, number: int) -> float:
        """What the arm's own clock shows."""
        row, at = self.ledger.table[number], self.ledger.at
        assert self.ledger.clock is not None
        return self.ledger.clock.shown(row[at.decisions] + row[at.other_decisions])

    def newest(self, replica: int) -> tuple[int, float]:
        """How much is known here of a replica; of two that know as much, the one in which it faded more."""
        part = self.parts.get(replica)
        return sum(self.known.get(replica, (-1, 0))), -float(np.abs(part[:, :-1]).sum()) if part is not None else 0.0


def merged(kind: type[Kind], bandits: list[Bandit], replica: int | None, log: Log) -> Kind:
    """One bandit that knows what all of these know."""
    _check(bandits)
    first = bandits[0]
    copies = [kind.from_state(bandit.state(), clock=bandit._timing.clock) for bandit in bandits]
    seconds = max(copy._timing.latest for copy in copies)
    holders = [Holder(copy, seconds) for copy in copies]
    taken = sorted({key for holder in holders for key in holder.known})
    if replica is None:
        replica = max(taken) + 1
    if checks.whole("replica", replica, 0, MOST_REPLICAS - 1) in taken:
        raise checks.reject("replica", f"none of {', '.join(map(str, taken))}", replica)
    result = kind(
        dict.fromkeys(arm for holder in holders for arm in holder.bandit.arms),
        first._policy,
        step_seconds=first._timing.step_seconds,
        seed=first._seed,
        replica=replica,
        clock=first._timing.clock,
        minimum_probability=first._floor,
        wait=first._wait,
        default_reward=first._default,
        log=log,
    )
    result._timing.latest = seconds
    result._timing.steps = max(holder.now for holder in holders)
    result._taken = {
        key: (
            max(holder.known.get(key, (0, 0))[0] for holder in holders),
            max(holder.known.get(key, (0, 0))[1] for holder in holders),
        )
        for key in taken
    }
    result._waiting.issued = {key: made for key, (made, _) in result._taken.items()}
    _merge_evidence(result, holders, taken)
    _merge_pending(result, holders)
    return result


def _check(bandits: list[Bandit]) -> None:
    if not bandits:
        raise checks.reject("bandits", "one bandit at least", bandits)
    for bandit in bandits:
        if not isinstance(bandit, Bandit):
            raise checks.reject("bandits", "bandits", bandit)
    first = bandits[0]
    learning = first._chooser.rule.learning
    if learning != "additive":
        raise InvalidValue(
            f"replicas of {first._policy.name} cannot be merged, nor a state go on under another number: "
            f'it learns rewards in the order in which they come (learning="{learning}")'
        )
    for other in bandits[1:]:
        if other._policy != first._policy:
            raise checks.reject("policy", f"the same in all bandits ({first._policy})", str(other._policy))
        step, wanted = other._timing.step_seconds, first._timing.step_seconds
        if step != wanted:
            raise checks.reject("step_seconds", f"the same in all bandits ({wanted})", step)
    numbers = [bandit._replica for bandit in bandits]
    if len(set(numbers)) < len(numbers):
        raise checks.reject("replica", "different in each bandit", numbers)


def _merge_evidence(result: Bandit, holders: list[Holder], taken: list[int]) -> None:
    ledger, now = result._ledger, result._timing.steps
    ledger.begin(now)
    ledger.reference = float(now)
    if ledger.restart:
        ledger.epoch = int(now // ledger.restart)
    names = result.arms
    starts = [_renumbered(holder, START, names, math.nan) for holder in holders if START in holder.parts]
    if starts:
        combine = np.fmax if result._weighted else np.fmin  # a late arm may start high; what fades has faded
        ledger.parts[START] = np.nan_to_num(combine.reduce(starts, axis=0))  # where nobody has the arm's start: none
    for key in taken:
        best = max(holders, key=lambda holder: holder.newest(key))
        ledger.parts[key] = _renumbered(best, key, names)
        if ledger.window is not None:
            ledger.parts[key][:, :-1] = 0.0
            _merge_window(result, best, key)
    at = ledger.at
    ledger.table[:, at.other : at.other_decisions + 1] = sum(ledger.parts.values())
    for number in range(len(names)):
        row = ledger.table[number]
        if ledger.clock is not None:
            row[at.reference] = ledger.clock.shown(row[at.other_decisions])
        if ledger.active < ledger.count and np.any(row[at.other : at.other_count] != ledger.initial):
            ledger.wake(number)


def _renumbered(holder: Holder, key: int, names: tuple[Any, ...], missing: float = 0.0) -> Reals:
    """A part of a holder, with a row for each arm of the result."""
    result = np.full((len(names), holder.ledger.size + 2), missing)
    part = holder.parts.get(key)
    if part is not None:
        for number, name in enumerate(names):
            own = holder.number(name)
            if own is not None:
                result[number] = part[own]
    return result


def _merge_window(result: Bandit, holder: Holder, key: int) -> None:
    window, source = result._ledger.window, holder.ledger.window
    assert window is not None
    assert source is not None
    for row in source.rows():
        if row.writer == key:
            arm = result._roster.number(holder.bandit._roster.names[row.arm])
            window.insert(row._replace(stamp=result._timing.steps - (holder.now - row.stamp), arm=arm))
            result._ledger.table[arm, result._ledger.evidence] = window.totals(arm)
            result._ledger.wake(arm)


def _merge_pending(result: Bandit, holders: list[Holder]) -> None:
    found: dict[int, Entry] = {}
    for holder in holders:
        for id, entry in holder.bandit._waiting.entries.items():
            moved = _moved(result, holder, entry)
            if id not in found or moved[0] < found[id][0] or (moved[0] == found[id][0] and moved[1] < found[id][1]):
                found[id] = moved  # answered before open, then the one that faded more
    for holder in holders:
        for id in list(found):
            knows = holder.known.get(id >> REPLICA_SHIFT, (0, 0))[0] >= id & NUMBER
            if knows and id not in holder.bandit._waiting.entries:
                del found[id]
    result._waiting.entries = dict(sorted(found.items(), key=lambda item: (item[1][2], item[0])))


def _moved(result: Bandit, holder: Holder, entry: Entry) -> Entry:
    """A pending decision of a holder, in the numbers and on the clocks of the result."""
    arm, stamp, moment, chance, count = entry
    ledger, now = result._ledger, result._timing.steps
    number = arm
    if arm > ANSWERED:
        number = result._roster.number(holder.bandit._roster.names[arm])
    if arm > ANSWERED and ledger.clock is not None:
        stamp = ledger.table[number, ledger.at.reference] - (holder.arm_clock(arm) - stamp)
    else:
        stamp = now - (holder.now - stamp)
    if ledger.restart and result._timing.step_seconds is None:
        current = moment // ledger.restart == holder.now // ledger.restart
        moment = now if current else ledger.epoch * ledger.restart - 1
    else:
        moment = now - (holder.now - moment)
    return number, float(stamp), moment, chance, count
