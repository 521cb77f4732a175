"""Everything that a bandit is: what it was made with, and the parts that change; as plain values, and back.

Each part says what a file holds of it (`state`) and takes that over (`restore`, `restored`). Numbers are written so
that they come back to the bit. Random numbers come from a counter (driftbandit.numerics.rng), so their state is the
seed, the replica and the number of decisions made. Nothing that is read is trusted: every entry is checked, and
evidence can only refer to arms that are there.

A field that a file of this version must have is read by `entries.whole("name", …)` and its kin; one that was added
later is read with a default, so that older files go on. Where that is not enough, `VERSION` goes up by one, and
`UPGRADES` says how the state of the version before becomes one of the next.
"""

import dataclasses
import decimal
import errno
import logging
import math
import os
import secrets
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from driftbandit import checks
from driftbandit.compiling.linking import look_again
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.exact.choice import PLAIN
from driftbandit.files import unusable
from driftbandit.online.arms import Arms
from driftbandit.online.believed import Believed
from driftbandit.online.chooser import Chooser
from driftbandit.online.decision import RewardStatus, Snapshot
from driftbandit.online.evidence import Evidence
from driftbandit.online.journal import Event, Position, events_in, position_of
from driftbandit.online.pending import LARGEST_ID, MOST_REPLICAS, NUMBER, REPLICA_SHIFT, ROOM, Lineage, Pending, Waiting
from driftbandit.online.present import Present
from driftbandit.online.sleeping import Order
from driftbandit.online.summary import View
from driftbandit.online.timing import Timing
from driftbandit.policies import Policy
from driftbandit.policies.learning import check_learning
from driftbandit.policies.validation import tried
from driftbandit.specification import Checked, optional_real, parameter, real, whole

logger = logging.getLogger("driftbandit.log")
FORMAT = "driftbandit.bandit"
VERSION = 3
MOST = 1e100
"""The largest reward, where a rule takes any: sums of such are still numbers."""


def _policy(name: str, value: Any) -> Policy:
    if not isinstance(value, Policy):
        raise checks.reject(name, "a policy", value)
    return value


def _seed(name: str, value: Any) -> int:
    return secrets.randbits(64) if value is None else checks.whole(name, value, 0, 2**64 - 1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings(Checked):
    """What a bandit was made with (the arguments of `Bandit`). A file must have all that have no default here."""

    policy: Policy = parameter(_policy)
    step_seconds: float | None = optional_real("[1e-9, 1e15]", dataclasses.MISSING)
    seed: int = parameter(_seed)
    replica: int = whole(0, high=MOST_REPLICAS - 1)
    minimum_probability: float = real("[0, 1]")
    wait: float | None = optional_real("[0, 1e15]", dataclasses.MISSING)
    default_reward: float | None = parameter(lambda _, value: value)  # only its rule knows which rewards there are

    @classmethod
    def of(cls, policy: Policy, **given: Any) -> "Settings":
        """Those of a bandit that is told no more than this."""
        usual = {"step_seconds": None, "seed": 0, "minimum_probability": 0.0, "wait": None, "default_reward": None}
        return cls(policy=policy, **(usual | {"replica": 0} | given))

    def check_floor(self, count: int) -> None:
        """That so many arms can all have the minimum probability."""
        if self.minimum_probability * count > 1.0 + 1e-12:
            raise checks.reject("minimum_probability", f"at most 1/{count} for {count} arms", self.minimum_probability)

    def arguments(self) -> dict[str, Any]:
        """The arguments of `Bandit` that these settings were."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def state(self) -> dict[str, Any]:
        """What a file says of the settings."""
        return self.arguments() | {"policy": {"name": self.policy.name, "parameters": self.policy.parameters()}}

    @classmethod
    def restored(cls, entries: Entries) -> "Settings":
        """The settings that a file says."""
        policy = entries.inner("policy")
        built = Policy.build(policy.text("name"), policy.mapping("parameters"))
        values = {"policy": built, "seed": entries.get("seed"), "replica": entries.get("replica")}
        for field in dataclasses.fields(cls):
            if field.name not in values and (field.default is dataclasses.MISSING or entries.has(field.name)):
                values[field.name] = entries.nullable(field.name)
        return cls(**values)


class State:
    """The settings and the parts of a bandit, and what a reward does to them."""

    def __init__(self, arms: Arms, settings: Settings, clock: Callable[[], float]) -> None:
        policy, n_arms = settings.policy, len(arms)
        self.arms = arms
        self.timing = Timing(settings.step_seconds, clock)
        settings.check_floor(n_arms)
        look_again()
        rule = tried(policy, max(2, n_arms))
        check_learning(policy, rule)
        self._least, self._largest = max(float(rule.least_reward), -MOST), min(float(rule.largest_reward), MOST)
        self._interval = _interval(self._least, self._largest)
        if settings.default_reward is not None:
            default = self.checked(settings.default_reward, "default_reward")
            settings = dataclasses.replace(settings, default_reward=default)
        self.settings = settings
        self.chooser = Chooser(policy, n_arms, settings.seed, settings.replica, settings.minimum_probability)
        by_clock = settings.step_seconds is not None
        kind = Believed if rule.beliefs is not None else Evidence if rule.learning == "additive" else Present
        self.evidence: Evidence = kind(self.chooser, len(arms.names), by_clock)
        wait = settings.wait
        wait = wait if wait is None else wait / (settings.step_seconds or 1.0) + (not by_clock)
        self.pending = Pending(wait, self.chooser)
        self._tick = 0 if by_clock else 1
        self._floor = settings.minimum_probability
        self._weighted, self._lucky, self._mixed = rule.selection == "weighted", rule.luck, rule.mixed
        self.position: Position = None
        """Where its log was: a part of it, and how many lines that had."""

    @classmethod
    def new(cls, arms: Iterable[Any], settings: Settings, clock: Callable[[], float]) -> Self:
        """A bandit that knows nothing yet."""
        state = cls(Arms(arms), settings, clock)
        state.evidence.include_first(len(state.arms))
        return state

    def checked(self, reward: Any, name: str = "reward") -> float:
        """A reward that the rule can learn from."""
        if type(reward) is float and self._least <= reward <= self._largest:
            return reward
        if isinstance(reward, bool | np.bool_ | decimal.Decimal):
            reward = float(reward)
        return checks.real(name, reward, self._interval)

    def chosen(self, now: float, order: Order) -> tuple[int, int, float, float | Snapshot]:
        """Choose one of these arms, at a moment: its number, that of the decision, the probability that the rule learns
        from, and what the decision's probability is or follows from.
        """
        evidence, chooser = self.evidence, self.chooser
        awake, count = order.active, order.count
        arm, place, chance, _, number = evidence.choose(now, order)
        used = 1.0
        if chance >= 0.0:
            told = 1.0 if count == 1 else self._floor + (1.0 - count * self._floor) * chance
            if self._weighted:
                used = told
            if not (self._weighted and self._lucky):  # there the probability that is told averages over luck
                return arm, number, used, told
        shapes = evidence.shapes
        seen = shapes.tobytes() if awake == len(shapes) else shapes[:awake].tobytes()
        around = PLAIN if chooser.plain else chooser.seen()
        believed = evidence.believed(order.awake) if self._mixed else None
        return arm, number, used, (seen, place, count - awake, self._floor, chooser.current, around, believed)

    def record(self, id: int, arm: int, now: float, used: float, eligible: int) -> None:
        """A decision was made for an arm, at a moment, with a probability, among so many arms."""
        self.pending.decisions[id] = (arm, self.stamp(arm, now), now, used, eligible)

    def stamp(self, arm: int, now: float) -> float:
        """A decision was made for an arm, at a moment: clocks that it moves go on; what its evidence's clock shows."""
        stamp = now + self._tick
        if self._tick:
            self.timing.steps = stamp
        return self.evidence.tick(arm, stamp) if self.evidence.ticking else stamp

    def take(self, id: int, status: RewardStatus, decision: Waiting, value: float) -> None:
        """The reward of a decision that waited for it, which is learned if its arm is still there."""
        self.pending.close(id, decision)
        if status is RewardStatus.ACCEPTED:
            self.learn(id, decision, value)

    def learn(self, id: int, decision: Waiting, value: float) -> None:
        """Learn what a decision earned."""
        chooser = self.chooser
        if chooser.rule.binary and value != 0.0 and value != 1.0:
            value = float(chooser.trial(id >> REPLICA_SHIFT, id & NUMBER) < value)
        self.evidence.credit(decision, value, id)
        self.pending.learned += 1

    def expire(self, due: list[tuple[int, Waiting]]) -> None:
        """Decisions whose wait is over get the default reward, if there is one."""
        default = self.settings.default_reward
        for id, decision in due:
            del self.pending.decisions[id]
            if decision[0] >= 0:
                self._end(id, decision, default)

    def _end(self, id: int, decision: Waiting, default: float | None) -> None:
        """A decision that waited too long is learned from by the default reward, or not at all."""
        if default is None:
            self.evidence.give_up(decision[0])
        else:
            self.learn(id, decision, default)

    def addable(self, arm: Any) -> Any:
        """The name of an arm that may be added."""
        self.settings.check_floor(len(self.arms) + 1)
        return self.arms.addable(arm)

    def add(self, arm: Any) -> None:
        """A new arm."""
        self.settings.check_floor(len(self.arms) + 1)
        self.evidence.include(self.arms.add(arm), self.timing.steps)

    def remove(self, arm: Any) -> None:
        """An arm that is no longer there."""
        number = self.arms.remove(arm)
        self.evidence.exclude(number)
        self.pending.forget(number)

    def set_time(self, time: Any) -> None:
        """It is this time now: evidence and waiting decisions are as old as they were."""
        evidence, epoch = self.evidence, self.evidence.epoch
        steps, restart = self.timing.set(time), evidence.restart
        evidence.shift(steps, self.timing.steps)
        for id, (arm, stamp, moment, used, eligible) in self.pending.decisions.items():
            moved = min(moment + steps, self.timing.steps)  # sums round
            if restart:  # whether a decision was made since the latest restart stays as it was
                begin = evidence.epoch * restart
                moved = max(moved, begin) if moment // restart == epoch else min(moved, begin - 1)
            stamp = stamp if evidence.clock is not None else min(stamp + steps, self.timing.steps)
            self.pending.decisions[id] = (arm, stamp, moved, used, eligible)

    # The log

    def opening(self) -> Event:
        """What the start of a log says."""
        own, arms = self.pending.own, list(self.arms.all_names())
        values: Event = {"new": own.idle and not self.pending.taken, "own": own.state(), "arms": arms}
        return values | self.settings.arguments() | {"policy": str(self.settings.policy)}

    @classmethod
    def opened(cls, start: Entries, clock: Callable[[], float]) -> Self:
        """The bandit that began a log."""
        if start.nullable("after") is not None or not checks.flag("new", start.get("new")):
            raise InvalidValue("log must begin where its bandit began, where no saved state is there")
        policy = Policy.parse(start.text("policy"))
        names = [field.name for field in dataclasses.fields(Settings) if field.name != "policy"]
        settings = Settings(policy=policy, **{name: start.nullable(name) for name in names})
        return cls.new(start.items("arms"), settings, clock)

    def redo(self, event: Entries) -> None:
        """What happened once, as a line of a log says."""
        kind = checks.one_of("event", event.get("event"), list(self._again))
        self._again[kind](self, event)

    def _start_again(self, event: Entries) -> None:
        for arm in event.items("arms"):  # whoever went on without what the log says may have had other arms
            if arm not in self.arms:
                self.add(arm)
        span = lineage_of(event).spans[-1]
        if span.start != self.pending.own.spans[-1].start:
            self.pending.go_on_at(span.start + span.made)

    def _decide_again(self, event: Entries) -> None:
        id, arm = event.whole("id", LARGEST_ID), self.arms.number(event.get("arm"))
        among = self.arms.numbers(event.items("among")) if event.has("among") else self.arms.all_numbers()
        if id >> REPLICA_SHIFT != self.settings.replica or id in self.pending.decisions or arm not in among:
            raise checks.reject("id", f"a new decision of replica {self.settings.replica} for one of its arms", id)
        now = self.timing.moment(None if self._tick else max(event.real("time"), self.timing.latest))
        self.expire([(old, waiting) for old, waiting in self.pending.due(now) if waiting[0] < 0])
        number, due = id & NUMBER, self.chooser.number + 1
        if due < number < due + ROOM:  # a place that is drawn at random is elsewhere
            raise InvalidValue(
                f"decisions before this one are missing from the log, got id {id} after {id - number + due - 1}"
            )
        if number != due:
            self.pending.go_on_at(number - 1)
        probability = min(event.real("probability", "[0, 1.000001]"), 1.0)  # integrals round
        used = event.real("used", "(0, 1]", probability if self.chooser.rule.selection == "weighted" else 1.0)
        self.evidence.advance(now)
        self.evidence.judged_again(among)
        self.evidence.count_decision(arm, 1)
        self.record(id, arm, now, used, len(among))

    def _reward_again(self, event: Entries) -> None:
        id = event.whole("id", LARGEST_ID)
        status, decision = self.pending.look(id)
        if status == RewardStatus.UNKNOWN and event.get("status") != RewardStatus.UNKNOWN:
            raise InvalidValue(f"a decision that got a reward is missing from the log, got id {id}")
        if decision is not None and status == event.get("status"):
            self.take(id, status, decision, self.checked(event.get("reward")))

    def _expire_again(self, event: Entries) -> None:
        id = event.whole("id", LARGEST_ID)
        status, decision = self.pending.look(id)
        if status == RewardStatus.UNKNOWN:
            raise InvalidValue(f"a decision that expired is missing from the log, got id {id}")
        if decision is not None:
            del self.pending.decisions[id]
            if decision[0] >= 0:
                self._end(id, decision, self.checked(event.get("reward")) if event.has("reward") else None)

    def _add_again(self, event: Entries) -> None:
        if event.get("arm") not in self.arms:
            self.add(event.get("arm"))

    def _remove_again(self, event: Entries) -> None:
        if event.get("arm") in self.arms:
            self.remove(event.get("arm"))

    def _set_time_again(self, event: Entries) -> None:
        self.set_time(event.get("time"))

    _again: ClassVar[dict[str, Callable[["State", Entries], None]]] = {
        "start": _start_again,
        "decision": _decide_again,
        "reward": _reward_again,
        "expired": _expire_again,
        "added": _add_again,
        "removed": _remove_again,
        "time": _set_time_again,
    }

    # Looking

    def view(self, now: float, numbers: list[int] | None = None) -> View:
        """What the next decision at a moment would meet, among all arms or those with these numbers."""
        order = self.evidence.order if numbers is None else self.evidence.order.some(numbers)
        evidence, chooser = self.evidence.at_moment(now, order), self.chooser
        awake, seen = evidence.order.awake.tolist(), evidence.view(now)
        count = evidence.order.count
        if numbers is not None:
            wanted = set(numbers)
            places = [place for place, number in enumerate(awake) if number in wanted]
            awake, seen, count = [awake[place] for place in places], seen[places], len(numbers)
        settings = self.settings
        around = (evidence.common(), evidence.total_of(seen), chooser.made + 1.0)
        rule, floor = chooser.rule_for(count), settings.minimum_probability
        chosen, believed = evidence.decisions_of(awake), evidence.believed(awake)
        return View(rule, settings.policy.name, awake, seen, count, around, floor, chosen, believed)

    def written(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "settings": self.settings.state(),
            "arms": self.arms.state(),
            "timing": self.timing.state(),
            "evidence": self.evidence.state(),
            "pending": self.pending.state(),
            "log": self.position,
        }

    @classmethod
    def read(cls, values: Any, clock: Callable[[], float]) -> Self:
        """The state that was written, by this version or an older one."""
        entries = Entries(upgraded(values))
        arms = Arms.restored(entries.inner("arms"))
        state = cls(arms, Settings.restored(entries.inner("settings")), clock)
        state.timing.restore(entries.inner("timing"))
        known = set(arms.all_numbers())
        if state.timing.latest > float("-inf"):
            state.evidence.begin(0.0)
        now = state.timing.steps
        state.evidence.restore(entries.inner("evidence"), known, now)
        state.pending.restore(entries.inner("pending"), known)
        for arm, stamp, moment, _, _ in state.pending.decisions.values():
            if moment > now or (arm >= 0 and stamp > state.evidence.latest_stamp(arm, now)):
                raise checks.reject("decisions", f"made by {now!r}, the time of the latest one", [moment, stamp])
            if arm >= 0:
                state.evidence.wait_for(arm)
        state.position = position_of(entries.nullable("log"))
        return state


def lineage_of(start: Entries) -> Lineage:
    """How far a bandit had come that began a part of a log."""
    return Lineage.restored(start.rows("own", 3))


def replayed(state: State | None, files: list[Path], clock: Callable[[], float]) -> State:
    """A state, and what the files of its log, the oldest first, say happened since; without one, all that they say."""
    saved = None if state is None else state.position
    reached: dict[str, int] = {} if saved is None else dict([saved])
    """Of each part of the log, how many lines are in the state."""
    there: dict[str, int] = {}
    """Of each part of the log, how many lines are in the files."""
    part, lines, on, redone = "", 0, False, 0
    for where, event in events_in(path for path in files if os.path.exists(path)):
        try:
            entries = Entries(event)
            if event["event"] == "start":
                part, lines = entries.text("part"), 0
                on = on or part in reached or state is None or _goes_on(state, entries)
                if on and part not in reached:
                    state = State.opened(entries, clock) if state is None else state
                    _check_gap(position_of(entries.nullable("after")), reached)
                    state.redo(entries)
                    reached[part] = 0
                    state.position = (part, 0)
            elif not part:
                raise InvalidValue("log must begin with a start")
            else:
                lines += 1
                if on and state is not None and lines > reached[part]:
                    state.redo(entries)
                    redone += 1
                    state.position = (part, lines)
                    reached[part] = lines
            there[part] = max(lines, there.get(part, 0))
        except InvalidValue as error:
            raise InvalidValue(f"{where}: {error}") from None
    if state is None:
        reason = FileNotFoundError(errno.ENOENT, "a first start? Bandit(…, log=…) begins one")
        raise unusable("log", "there where no saved state is", files[-1], reason)
    if not there and (reached or not os.path.exists(files[-1])):
        hint = "nothing is there: give all files of the log, or go on without them by Bandit.load(…, log=…)"
        raise InvalidValue(f"log must go on from the saved state, got {checks.shown(str(files[-1]))} ({hint})")
    if there and not on:
        raise InvalidValue("log must go on from the saved state, got files without what came next")
    if saved is not None and state.position == saved and there[saved[0]] < saved[1]:
        lost = f"log has {there[saved[0]]} of the {saved[1]} lines that are in the saved state"
        warnings.warn(f"{lost}: what came after them, if anything did, is lost", stacklevel=3)
    begun = "nothing" if saved is None else "a saved state"
    logger.info("recovered from %s and %d lines of %s: %d decisions", begun, redone, files[-1], state.pending.own.made)
    return state


def _goes_on(state: State, start: Entries) -> bool:
    """Whether a part of a log begins where a state is."""
    if state.position is not None:
        return position_of(start.nullable("after")) == state.position
    own, then = state.pending.own, lineage_of(start)
    return (own.idle or then.goes_on_from(own)) and (then.made, then.learned) == (own.made, own.learned)


def _check_gap(after: Position, reached: dict[str, int]) -> None:
    """That nothing is missing before a part of a log."""
    if after is None and reached:
        raise InvalidValue("another bandit begins here: it must have a log of its own")
    if after is not None and reached and after[1] > reached.get(after[0], -1):
        raise InvalidValue("lines before this one are missing: give all files of the log")


def _interval(low: float, high: float) -> str:
    """The rewards that a rule can learn from, as text."""
    ends = [f"{end:g}" if float(f"{end:g}") == end else repr(end) for end in (low, high)]
    return f"{'[' if math.isfinite(low) else '('}{ends[0]}, {ends[1]}{']' if math.isfinite(high) else ')'}"


def upgraded(values: Any) -> Any:
    """A state of any version as one of this version."""
    entries = Entries(values)
    checks.one_of("format", entries.get("format"), [FORMAT])
    version = checks.whole("version", entries.get("version"), 1, VERSION)
    while version < VERSION:
        values = UPGRADES[version](Entries(values))
        version += 1
    return values


def _from_version_1(entries: Entries) -> dict[str, Any]:
    """All entries lay side by side."""

    def some(**names: str) -> dict[str, Any]:
        return {name: entries.nullable(before or name) for name, before in names.items()}

    settings = ["policy", "step_seconds", "seed", "replica", "minimum_probability", "wait", "default_reward"]
    evidence = ["reference", "epoch", "order", "active", "window", "parts"]
    evidence += [name for name in ("common", "histories") if entries.has(name)]
    return {
        "format": FORMAT,
        "version": 2,
        "settings": some(**dict.fromkeys(settings, "")),
        "arms": some(names="arms", numbers="", free=""),
        "timing": some(latest="", steps=""),
        "made": entries.nullable("decisions"),
        "evidence": some(**dict.fromkeys(evidence, ""), table="evidence"),
        "pending": some(learned="rewards", replicas="", decisions="pending"),
    }


def _from_version_2(entries: Entries) -> dict[str, Any]:
    """Decisions were numbered without a gap, and only counted; a default reward needed no wait to apply to."""
    settings, pending, made = dict(entries.mapping("settings")), entries.inner("pending"), entries.get("made")
    if settings.get("wait") is None:
        settings["default_reward"] = None
    others = [[row.value(0), [[0, row.value(1), row.value(2)]]] for row in pending.rows("replicas", 3)]
    own = [[0, made, pending.nullable("learned")]]
    return {
        **{name: entries.nullable(name) for name in ("format", "arms", "timing", "evidence")},
        "version": 3,
        "settings": settings,
        "pending": {"own": own, "replicas": others, "decisions": pending.nullable("decisions")},
        "log": None,
    }


UPGRADES: dict[int, Callable[[Entries], dict[str, Any]]] = {1: _from_version_1, 2: _from_version_2}
"""From each older version to the next; none may look at a class of today, which goes on changing."""
