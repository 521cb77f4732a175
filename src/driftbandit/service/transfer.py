"""Experiments out of a store and into one, as logs; and whether what a store holds is right."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from driftbandit import checks
from driftbandit.contract import NAME
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.online.decision import RewardStatus
from driftbandit.online.journal import events_in
from driftbandit.online.pending import LARGEST_ID, REPLICA_SHIFT
from driftbandit.replica import Made, Replica
from driftbandit.service.database import Statement, Transaction, one_by_one
from driftbandit.service.kept_order import Moments, Renumbered
from driftbandit.service.known_experiments import KnownExperiments
from driftbandit.service.live_experiment import ExperimentTerms, LiveExperiment
from driftbandit.service.minute_sums import MinuteSums
from driftbandit.service.reading import MOST_LINES, Cursor, Event, events, start
from driftbandit.service.rows import DEFAULT, GIVEN, NOTHING, DecisionRow, RewardRow
from driftbandit.service.store import MOST_ROWS, Store

TOLERANCE = 1e-9
"""By how much what a snapshot leads to may differ from what the whole log says."""
PART = 5000
"""Events that are stored at once."""


async def exported(store: Store, experiment: LiveExperiment) -> AsyncIterator[Event]:
    """The log of an experiment, event by event."""
    after = Cursor({}, {})
    while True:
        found, after = await events(store, experiment, after, MOST_LINES)
        for event in found:
            yield event
        if not found:
            break
    if experiment.changed:
        for slot, last in after.decisions.items():
            if last:
                yield start(experiment, slot, last)


# Into a store


class Imported(NamedTuple):
    """What came into a store."""

    name: str
    arms: int
    decisions: int
    rewards: int
    renumbered: int
    """Decisions that have another id than in the log."""


async def imported(store: Store, name: str, path: Path, now: float) -> Imported:
    """A log, of a bandit or as it was exported, as a new experiment; all of it or nothing."""
    if await store.database.others():
        raise InvalidValue("store must be one that nobody serves while a log comes in")
    _, last_reward = await store.take_slot()
    arriving: Arriving | None = None
    try:
        for place, (where, event) in enumerate(events_in([path]), start=1):
            try:
                if arriving is None:
                    terms = terms_of(Entries(event))
                    if not await store.create(name, terms.text(), terms.arms, 1 << 30):
                        raise InvalidValue(f"name must be new, got {name!r}")
                    number = await store.number_of(name)
                    arriving = Arriving(number, store.slot, last_reward, terms, now)
                arriving.take(Entries(event))
            except InvalidValue as error:
                raise InvalidValue(f"{where}: {error}") from None
            if place % PART == 0:
                await store.database.write(arriving.stored(store))
        if arriving is None:
            raise InvalidValue(f"{path}: a log must begin with a start")
        await store.database.write(arriving.stored(store, ended=True))
    except BaseException:
        if arriving is not None:
            await store.drop(arriving.number)
        raise
    return Imported(name, len(arriving.names), arriving.decisions, arriving.rewards, arriving.ids.changed)


def checked_name(name: str) -> str:
    """A name that an experiment may have."""
    if not re.fullmatch(NAME, name):
        raise checks.reject("name", "letters, digits, dots, dashes and underscores, 64 at most", name)
    return name


def terms_of(start: Entries) -> ExperimentTerms:
    """What an experiment is made with that goes on where a log began."""
    step = start.nullable("step_seconds")
    wait = None if step is None else start.nullable("wait")  # a service counts it in seconds
    given = {
        "arms": [str(arm) for arm in start.items("arms")], "policy": start.text("policy"), "step_seconds": step,
        "wait": wait, "default_reward": None if wait is None else start.nullable("default_reward"),
        "minimum_probability": start.real("minimum_probability", "[0, 1]"), "key_seconds": 86400.0,
        "seed": start.whole("seed", 2**64 - 1),
    }  # fmt: skip
    return ExperimentTerms.of(given)


class Arriving:
    """A log on its way into a store, as rows of an experiment."""

    def __init__(self, number: int, slot: int, last_reward: int, terms: ExperimentTerms, now: float) -> None:
        self.number = number
        self.decisions = self.rewards = 0
        self.names = {arm: place for place, arm in enumerate(terms.arms)}
        """The numbers of the arms that are there."""
        self._slot, self._terms, self._now = slot, terms, now
        self._numbers, self._last_reward = len(terms.arms), last_reward
        self._replica: Replica | None = None
        self._weighted = terms.policy.rule(max(2, len(terms.arms))).selection == "weighted"
        self._changed = False
        self._open: dict[int, DecisionRow] = {}
        """By the id in the log."""
        self.ids = Renumbered()
        self._moments = Moments()
        self._begun = now
        self._sums = MinuteSums(slot)
        self._new: list[DecisionRow] = []
        self._given: list[tuple[Any, ...]] = []
        self._more: list[Statement] = []

    def take(self, event: Entries) -> None:
        """What happened next."""
        handlers = {
            "start": self._start, "decision": self._decision, "reward": self._reward, "expired": self._expired,
            "added": self._added, "removed": self._removed,
        }  # fmt: skip
        handlers[checks.one_of("event", event.get("event"), list(handlers))](event)

    def _start(self, event: Entries) -> None:
        if event.text("policy") != str(self._terms.policy):
            raise checks.reject("policy", f"{self._terms.policy} throughout", event.text("policy"))
        there = [str(arm) for arm in event.items("arms")]
        for arm in there:
            if arm not in self.names:
                self._add(arm)
        for arm in list(self.names):
            if arm not in there:
                self._remove(arm)

    def _decision(self, event: Entries) -> None:
        told_id, arm = event.whole("id", LARGEST_ID), self._arm(event.get("arm"))
        id = self.ids.id(told_id)
        time = event.real("time")
        if self._replica is None:
            self._begin(time)
        assert self._replica is not None
        among = [self._arm(name) for name in event.items("among")] if event.has("among") else None
        probability = min(event.real("probability", "(0, 1.000001]"), 1.0)
        used = event.real("used", "(0, 1]", probability if self._weighted else 1.0)
        eligible = len(self.names) if among is None else len(among)
        stamp = self._replica.again(Made(id, arm, time, 0.0, used, eligible), among)
        told = list(self.names.values()) if among is None and self._changed else among
        seconds = self._moments.of(self._now if self._terms.step_seconds is None else time, 0, id >> REPLICA_SHIFT)
        row = DecisionRow(
            self.number, id, arm, time, stamp, used, eligible, probability, None if told is None else json.dumps(told),
            seconds,
        )  # fmt: skip
        self._open[told_id] = row
        self._new.append(row)
        self._sums.decided(self.number, id, seconds, arm, probability)
        self._sums.could_be(self.number, seconds, {arm: 1.0}, 1)
        self.decisions += 1

    def _reward(self, event: Entries) -> None:
        if checks.one_of("status", event.get("status"), RewardStatus) == RewardStatus.ACCEPTED:
            self._end(event, event.get("reward"), GIVEN)

    def _expired(self, event: Entries) -> None:
        value = event.get("reward") if event.has("reward") else None
        self._end(event, value, NOTHING if value is None else DEFAULT)

    def _end(self, event: Entries, value: Any, kind: str) -> None:
        row = self._open.pop(event.whole("id", LARGEST_ID), None)
        if row is None or self._replica is None:
            raise checks.reject("id", "a decision that waits for its reward", event.get("id"))
        self._last_reward += 1
        reward = None if value is None else self._replica.checked(value)
        time = self._now if self._terms.step_seconds is None else self._replica.time
        time = max(self._moments.of(time, 1, self._slot), row.made)
        latest = max(self.ids.last.values())
        self._given.append((self.number, row.id, reward, time, kind, self._slot, self._last_reward, latest))
        told = RewardRow(
            self.number, self._slot, self._last_reward, reward, kind, latest, time, row.made, row.probability,
            row.as_made,
        )  # fmt: skip
        self._sums.rewarded(told)
        if reward is None:
            self._replica.give_up(row.as_made)
        else:
            self._replica.learn(row.as_made, reward)
        self.rewards += 1

    def _added(self, event: Entries) -> None:
        if str(event.get("arm")) not in self.names:
            self._add(str(event.get("arm")))

    def _add(self, arm: str) -> None:
        if self._replica is None:
            self._begin(self._now)
        assert self._replica is not None
        number, time, start = self._numbers, self._replica.time, self._replica.start_of_new()
        self._replica.add(number, start, time)
        self.names[arm], self._numbers, self._changed = number, number + 1, True
        place = (max(self.ids.last.values(), default=0), self._last_reward)
        self._more.append(
            Statement(
                "INSERT INTO arm (experiment, number, name, added, start, added_after, added_learned) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)", (self.number, number, arm, time, json.dumps(start), *place),
            )
        )  # fmt: skip

    def _removed(self, event: Entries) -> None:
        self._remove(str(event.get("arm")))

    def _remove(self, arm: str) -> None:
        number = self._arm(arm)
        if len(self.names) == 1 or self._replica is None:
            raise checks.reject("arm", "one of several, after a first decision", arm)
        self._replica.remove(number)
        del self.names[arm]
        self._changed = True
        place = (max(self.ids.last.values(), default=0), self._last_reward)
        self._more.append(
            Statement(
                "UPDATE arm SET removed = ?, removed_after = ?, removed_learned = ? WHERE experiment = ? AND "
                "number = ?", (self._replica.time, *place, self.number, number),
            )
        )  # fmt: skip

    def _arm(self, name: Any) -> int:
        if str(name) not in self.names:
            raise checks.reject("arm", f"one of {', '.join(list(self.names)[:10])}", name)
        return self.names[str(name)]

    def _begin(self, time: float) -> None:
        self._begun = self._now if self._terms.step_seconds is None else time
        self._replica = Replica(range(self._numbers), self._terms.settings(self._slot), self._begun, float)

    def stored(self, store: Store, ended: bool = False) -> Transaction[None]:
        """Store what came since."""
        yield from store.decisions_put(self._new)
        for first in range(0, len(self._given), MOST_ROWS):
            yield store.rewards_kept(self._given[first : first + MOST_ROWS])
        yield from one_by_one(self._more)
        self._new, self._given, self._more = [], [], []
        if ended:
            yield from store.sums_put([*self._sums.rows()], {}, self._last_reward)
            yield store.marks_put([(self.number, slot, last, last) for slot, last in sorted(self.ids.last.items())])
            yield Statement("UPDATE experiment SET begun = ? WHERE number = ?", (self._begun, self.number))


# Whether it is right


async def checked(store: Store) -> list[str]:
    """What is wrong in a store, in words."""
    found = await store.database.checked()
    questions = {
        "rewards are of decisions that are not there": "SELECT count(*) FROM reward r LEFT JOIN decision d "
        "ON d.experiment = r.experiment AND d.id = r.decision WHERE d.id IS NULL",
        "decisions have no probability in (0, 1]": "SELECT count(*) FROM decision WHERE NOT (probability > 0 AND "
        "probability <= 1.000001)",
        "decisions are for arms that never were": "SELECT count(*) FROM decision d LEFT JOIN arm a ON "
        "a.experiment = d.experiment AND a.number = d.arm WHERE a.number IS NULL",
        "rewards came before their decisions": "SELECT count(*) FROM reward r JOIN decision d ON "
        "d.experiment = r.experiment AND d.id = r.decision WHERE r.time < d.made - 1",
    }
    for text, question in questions.items():
        [[[count]]] = await store.database.read(Statement(question))
        if count:
            found.append(f"{count} {text}")
    return [*found, *(await _sums_that_differ(store)), *(await _snapshots_that_differ(store))]


async def _sums_that_differ(store: Store) -> list[str]:
    """Where sums by minute are not those of the log, of experiments of which nothing was left out."""
    [rows] = await store.database.read(
        Statement(
            "SELECT e.name, d.arm, count(*), (SELECT sum(r.decisions) FROM rollup r WHERE r.experiment = e.number AND "
            "r.arm = d.arm AND r.minute = -1) FROM experiment e JOIN decision d ON d.experiment = e.number "
            "LEFT JOIN mark m ON m.experiment = d.experiment AND m.slot = d.id >> 40 WHERE e.kept_from = 0 AND "
            f"(d.id & {(1 << REPLICA_SHIFT) - 1}) <= m.counted GROUP BY e.number, e.name, d.arm"
        )
    )
    return [
        f"sums of {name}, arm number {arm}: {int(summed or 0)} decisions where the log has {count}"
        for name, arm, count, summed in rows
        if int(summed or 0) != count
    ]


async def _snapshots_that_differ(store: Store) -> list[str]:
    """Experiments of which snapshots lead to something else than the whole log."""
    found = []
    [rows] = await store.database.read(Statement("SELECT kept_from FROM experiment ORDER BY number"))
    quick, whole = KnownExperiments(store, float), KnownExperiments(store, float)
    await quick.load(count=False)
    await whole.load(count=False, snapshots=False)
    every = [*quick.by_number.values(), *whole.by_number.values()]
    quick.now = whole.now = max((experiment.replica.time for experiment in every), default=0.0)
    for (kept_from,), mine, other in zip(rows, quick.by_number.values(), whole.by_number.values(), strict=True):
        if kept_from:
            continue
        first, second = mine.replica.evidence(), other.replica.evidence()
        same = first.keys() == second.keys() and all(
            np.allclose(first[arm], second[arm], rtol=TOLERANCE, atol=TOLERANCE) for arm in first
        )
        if not same:
            found.append(f"the snapshot of {mine.name} leads to other evidence than its log")
    return found
