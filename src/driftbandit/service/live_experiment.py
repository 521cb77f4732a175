"""An experiment in the memory of a process: what it was made with, its arms, and the replica that decides."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.online.decision import Snapshot
from driftbandit.policies import Policy
from driftbandit.replica import Made, Replica, Settings
from driftbandit.service.database import Unavailable
from driftbandit.service.rows import ArmRow, ExperimentRow, RewardRow

DAY = 86400.0
LONGEST_KEY = 366 * DAY
RunState = Literal["running", "stopped"]
RUNNING: RunState = "running"
STOPPED: RunState = "stopped"


@dataclasses.dataclass(frozen=True)
class ExperimentTerms:
    """What an experiment was made with, and what never changes."""

    arms: tuple[str, ...]
    policy: Policy
    step_seconds: float | None
    wait: float | None
    """Seconds until a decision that got no reward counts as `default_reward`."""
    default_reward: float | None
    minimum_probability: float
    key_seconds: float
    seed: int

    @classmethod
    def of(cls, given: dict[str, Any]) -> "ExperimentTerms":
        """From what somebody asked for; every value is checked."""
        if given["default_reward"] is not None and given["wait"] is None:
            raise checks.reject(
                "default_reward", "null where decisions wait for ever (no wait)", given["default_reward"]
            )
        wait = given["wait"]
        terms = cls(
            arms=tuple(given["arms"]),
            policy=Policy.parse(given["policy"]),
            step_seconds=given["step_seconds"],
            wait=None if wait is None else checks.real("wait", wait, "(0, 1e9]"),
            default_reward=given["default_reward"],
            minimum_probability=given["minimum_probability"],
            key_seconds=checks.real("key_seconds", given["key_seconds"], f"(0, {LONGEST_KEY:g}]"),
            seed=given["seed"],
        )
        tried = Replica(terms.arms, terms.settings(0), 0.0, float)
        if terms.default_reward is not None:
            terms = dataclasses.replace(terms, default_reward=tried.checked(terms.default_reward))
        return terms

    def settings(self, slot: int) -> Settings:
        """Those of the replica with this number."""
        return Settings.of(
            self.policy, step_seconds=self.step_seconds, seed=self.seed, replica=slot,
            minimum_probability=self.minimum_probability,
        )  # fmt: skip

    def shown(self) -> dict[str, Any]:
        """As JSON says them."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return values | {"arms": list(self.arms), "policy": str(self.policy)}

    def text(self) -> str:
        """As the store keeps them."""
        return json.dumps(self.shown(), allow_nan=False)


class LiveExperiment:
    """What a process knows of an experiment."""

    def __init__(self, row: ExperimentRow, clock: Callable[[], float], slot: int) -> None:
        self.number, self.name, self.begun = row.number, row.name, row.begun
        self.terms = ExperimentTerms.of(json.loads(row.settings))
        self._clock, self._slot = clock, slot
        self.settings = self.terms.settings(slot)
        self.replica = Replica(range(len(self.terms.arms)), self.settings, row.begun, clock)
        self.convergent = self.replica.convergent
        self.arms: list[ArmRow] = []
        """By number, those that were removed too."""
        self.stale = False
        """Whether memory may know more than the log, and is to be made anew."""
        self._numbers: dict[str, int] = {}
        self.told(row)

    @staticmethod
    def trial(terms: ExperimentTerms) -> bool:
        """Whether several processes can share an experiment like this."""
        return Replica(range(len(terms.arms)), terms.settings(0), 0.0, float).convergent

    def told(self, row: ExperimentRow) -> None:
        """What may change has changed."""
        self.state: RunState = RUNNING if row.state == RUNNING else STOPPED
        self.version = row.version
        self.only: list[int] | None = None if row.only_arms is None else json.loads(row.only_arms)

    def resume(self, state: Any, last: int, decisions: int) -> None:
        """Go on from what a snapshot says."""
        self.replica = Replica.restored(state, self.settings, self._clock, last, decisions)

    def know(self, arms: Sequence[ArmRow]) -> None:
        """The arms that there are, and were."""
        for arm in arms:  # by their numbers: clocks of processes may say that a later one came earlier
            if arm.added is not None:
                self.change(arm, False)
        for arm in arms:
            if arm.removed is not None:
                self.change(arm, True)
        self.arms = list(arms)
        self._numbers = {arm.name: arm.number for arm in arms if arm.removed is None}

    def change(self, arm: ArmRow, removed: bool) -> None:
        """An arm has come, or gone, unless that is known."""
        if removed:
            if self.replica.has(arm.number):
                self.replica.remove(arm.number)
        elif arm.number >= self.replica.numbers:
            self.replica.add(arm.number, json.loads(arm.start or "[]"), arm.added or 0.0)

    def learn(self, reward: RewardRow) -> None:
        """What the log says of a decision."""
        if reward.value is None:
            self.replica.give_up(reward.decision)
        else:
            self.replica.learn(reward.decision, reward.value)

    @property
    def names(self) -> list[str]:
        """Of the arms that are there, in the order in which they came."""
        return list(self._numbers)

    @property
    def numbers(self) -> list[int]:
        """Of the arms that are there."""
        return list(self._numbers.values())

    @property
    def changed(self) -> bool:
        """Whether arms came or went since it began; decisions are then stored with the arms that there were."""
        return len(self.arms) > len(self.terms.arms) or len(self._numbers) < len(self.arms)

    def name_of(self, number: int) -> str:
        """The name of an arm that is there, or was."""
        if number >= len(self.arms):
            raise Unavailable("another process has just made an arm that this one does not know yet: try again")
        return self.arms[number].name

    def number_of(self, name: str) -> int:
        """The number of an arm that is there."""
        try:
            return self._numbers[name]
        except KeyError:
            raise checks.reject("arms", f"among {', '.join(list(self._numbers)[:10])}", name) from None

    def among(self, names: Sequence[str] | None) -> list[int] | None:
        """The numbers of the arms that a decision may choose from, or None for all."""
        if names is None:
            return None if self.only is None else self._left(self.only)
        if len(set(names)) < len(names):
            raise checks.reject("arms", "different names", list(names))
        asked = [self.number_of(name) for name in names]
        return asked if self.only is None else self._left([number for number in asked if number in self.only])

    def _left(self, numbers: list[int]) -> list[int]:
        there = [number for number in numbers if number in self._numbers.values()]
        if not there:
            raise InvalidValue("arms must be such that one at least is eligible now, got none")
        return there

    def select(self, among: list[int] | None, count: int) -> "list[Drawn]":
        """So many decisions of one moment."""
        found = []
        for _ in range(count):
            order = self.replica.order(among)
            awake = order.awake.tolist()
            found.append(Drawn(*self.replica.select(order), awake))
        return found


class Drawn(NamedTuple):
    """A decision that is not stored yet."""

    made: Made
    told: float | Snapshot
    """What its probability is, or follows from."""
    awake: list[int]
    """The arms that were looked at one by one."""
