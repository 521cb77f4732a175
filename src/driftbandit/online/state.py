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
import math
import secrets
import sys
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from driftbandit import checks
from driftbandit.compiling.linking import look_again
from driftbandit.entries import Entries
from driftbandit.online.arms import Arms
from driftbandit.online.chooser import Chooser
from driftbandit.online.evidence import Evidence
from driftbandit.online.pending import MOST_REPLICAS, NUMBER, REPLICA_SHIFT, Pending, Waiting
from driftbandit.online.present import Present
from driftbandit.online.summary import View
from driftbandit.online.timing import Timing
from driftbandit.policies import Policy
from driftbandit.policies.learning import check_learning
from driftbandit.policies.validation import tried
from driftbandit.specification import Checked, optional_real, parameter, real, whole

FORMAT = "driftbandit.bandit"
VERSION = 2


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
    step_seconds: float | None = optional_real("(0, inf)", dataclasses.MISSING)
    seed: int = parameter(_seed)
    replica: int = whole(0, high=MOST_REPLICAS - 1)
    minimum_probability: float = real("[0, 1]")
    wait: float | None = optional_real("[0, inf)", dataclasses.MISSING)
    default_reward: float | None = parameter(lambda _, value: value)  # only its rule knows which rewards there are

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
        self._interval = _interval(float(rule.least_reward), float(rule.largest_reward))
        most = sys.float_info.max
        self._least, self._largest = max(float(rule.least_reward), -most), min(float(rule.largest_reward), most)
        if settings.default_reward is not None:
            default = self.checked(settings.default_reward, "default_reward")
            settings = dataclasses.replace(settings, default_reward=default)
        self.settings = settings
        self.chooser = Chooser(policy, n_arms, settings.seed, settings.replica, settings.minimum_probability)
        by_clock = settings.step_seconds is not None
        kind = Evidence if rule.learning == "additive" else Present
        self.evidence = kind(self.chooser, len(arms.names), by_clock)
        wait = settings.wait
        self.pending = Pending(wait if wait is None else wait / (settings.step_seconds or 1.0) + (not by_clock))

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
        if isinstance(reward, bool | np.bool_):
            reward = float(reward)
        return checks.real(name, reward, self._interval)

    def learn(self, id: int, decision: Waiting, value: float) -> None:
        """The reward of a decision."""
        chooser = self.chooser
        if chooser.rule.binary and value != 0.0 and value != 1.0:
            value = float(chooser.trial(id >> REPLICA_SHIFT, id & NUMBER) < value)
        self.evidence.credit(decision, value, id)
        self.pending.learned += 1

    def expire(self, now: float) -> None:
        """Decisions whose wait is over get the default reward, if there is one."""
        default = self.settings.default_reward
        for id, decision in self.pending.expired(now):
            if default is not None:
                self.learn(id, decision, default)

    def view(self, now: float, numbers: list[int] | None = None) -> View:
        """What the next decision at a moment would meet, among all arms or those with these numbers."""
        evidence, chooser = self.evidence.at_moment(now), self.chooser
        awake, seen = evidence.order.awake.tolist(), evidence.view(now)
        count = evidence.order.count
        if numbers is not None:
            wanted = set(numbers)
            places = [place for place, number in enumerate(awake) if number in wanted]
            awake, seen, count = [awake[place] for place in places], seen[places], len(numbers)
        settings = self.settings
        around = (evidence.common(), evidence.total_of(seen), chooser.sequence + 1.0)
        rule, floor = chooser.rule_for(count), settings.minimum_probability
        return View(rule, settings.policy.name, awake, seen, count, around, floor, evidence.decisions_of(awake))

    def written(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "settings": self.settings.state(),
            "arms": self.arms.state(),
            "timing": self.timing.state(),
            "made": self.chooser.sequence,
            "evidence": self.evidence.state(),
            "pending": self.pending.state(),
        }

    @classmethod
    def read(cls, values: Any, clock: Callable[[], float]) -> Self:
        """The state that was written, by this version or an older one."""
        entries = Entries(upgraded(values))
        arms = Arms.restored(entries.inner("arms"))
        state = cls(arms, Settings.restored(entries.inner("settings")), clock)
        state.timing.restore(entries.inner("timing"))
        state.chooser.sequence = entries.whole("made", NUMBER)
        known = set(arms.all_numbers())
        if state.timing.latest > float("-inf"):
            state.evidence.begin(0.0)
        state.evidence.restore(entries.inner("evidence"), known)
        state.pending.restore(entries.inner("pending"), known)
        return state


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


UPGRADES: dict[int, Callable[[Entries], dict[str, Any]]] = {1: _from_version_1}
"""From each older version to the next; none may look at a class of today, which goes on changing."""
