"""What a log says of itself: who wrote it, how much there is of it, and what is odd about it."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from driftbandit import checks
from driftbandit.entries import Entries
from driftbandit.errors import InvalidValue
from driftbandit.logs.book import CERTAIN
from driftbandit.logs.chunk import Chunk

UNIT = "[0, 1]"
"""Rewards."""
FEW = 0.01
"""The share of decisions of which the reward, and of rewards of which the decision, may be missing."""


class Maker(NamedTuple):
    """The bandit that wrote a log, as far as it matters what a policy was told."""

    policy: str
    minimum_probability: float
    step_seconds: float | None
    wait: float | None
    """As it was given: in seconds, or in steps where a step is a decision."""
    default_reward: float | None
    """Of a decision whose wait is over."""

    @classmethod
    def of(cls, start: Entries) -> "Maker":
        """What a start says."""
        step, wait, default = (start.nullable(name) for name in ("step_seconds", "wait", "default_reward"))
        return cls(
            start.text("policy"),
            start.real("minimum_probability", "[0, 1]"),
            None if step is None else checks.real("step_seconds", step, "(0, inf)"),
            None if wait is None else checks.real("wait", wait, "[0, inf)"),
            None if default is None else checks.real("default_reward", default, UNIT),
        )


UNKNOWN = Maker("", 0.0, None, None, None)
"""Nothing is said of it."""


@dataclasses.dataclass
class Facts:
    """What one pass over a log has found."""

    names: tuple[Any, ...] = ()
    """The arms, in the order in which they came."""
    makers: dict[int, list[Maker]] = dataclasses.field(default_factory=dict)
    """By replica: as its starts say, one after the other where they differ."""
    decisions: int = 0
    """That count."""
    rewards: int = 0
    paid: float = 0.0
    """The sum of all rewards, and of their squares."""
    paid_2: float = 0.0
    young: int = 0
    """Decisions that do not count, as they are younger than their wait."""
    sure: int = 0
    """Decisions that had no alternative."""
    certain: int = 0
    """Those among several arms, of which one had a probability of 1."""
    replicas: int = 0
    longest: int = 0
    """Decisions of the replica that made most."""
    largest: int = 1
    """Arms that a decision was made among, at most."""
    notes: list[str] = dataclasses.field(default_factory=list)
    _orphans: int = 0
    _first_orphan: str = ""
    _gaps: int = 0

    def start(self, replica: int, maker: Maker) -> None:
        """A replica begins, or goes on."""
        made = self.makers.setdefault(replica, [maker])
        if made[-1] != maker:
            for name, before, now in zip(Maker._fields, made[-1], maker, strict=True):
                if before != now:
                    self.note(f"{name} changes in the log: {before}, then {now}")
            made.append(maker)

    def told(self, name: str) -> list[Any]:
        """What all starts say of something, each answer once."""
        return list(dict.fromkeys(getattr(maker, name) for made in self.makers.values() for maker in made))

    @property
    def step(self) -> float | None:
        """How long a step of the policies is that made it, in seconds; None: a decision."""
        steps = self.told("step_seconds")
        if len(steps) > 1:
            raise InvalidValue(
                f"step_seconds must be one to judge a policy by a log, got {' and '.join(map(str, steps))}"
            )
        return steps[0] if steps else None

    def count(self, chunk: Chunk) -> None:
        """Some rows more."""
        rows = chunk.rows
        decided = ~rows.outcome
        sizes = np.append(np.diff(chunk.starts), 0)  # the set of an outcome is −1
        self.largest = max(self.largest, int(sizes[rows.eligible].max(initial=1)))
        self.decisions += int(decided.sum())
        self.sure += int(((rows.value >= CERTAIN) & decided).sum())
        rewards = rows.value[rows.outcome]
        rewards = rewards[np.isfinite(rewards)]
        self.rewards += len(rewards)
        self.paid += float(rewards.sum())
        self.paid_2 += float(np.square(rewards).sum())  # a product of matrices would keep the other cores busy
        self.replicas = max(self.replicas, int(rows.replica.max(initial=-1)) + 1)
        self.longest = max(self.longest, int(rows.number.max(initial=-1)) + 1)

    def note(self, text: str) -> None:
        """Something that whoever reads the figures should know; once is enough."""
        if text not in self.notes:
            self.notes.append(text)

    def orphan(self, where: str) -> None:
        """A reward whose decision is not in the log."""
        self._orphans += 1
        self._first_orphan = self._first_orphan or where

    def gap(self, decisions: int) -> None:
        """So many decisions are not in the log."""
        self._gaps += decisions

    def doubts(self) -> tuple[str, ...]:
        """What is wrong with all values of the log."""
        if self.certain <= FEW * self.decisions:
            return ()
        return (
            f"{self.certain} decisions had a probability of 1 and say nothing of other arms: values of arms leave out "
            "those for others, and policies count as choosing alike there; log with minimum_probability",
        )

    def check(self, filled: bool, where: str = "") -> None:
        """That the log can be evaluated; `filled`: somebody says what rewards are that are missing; `where`: its files,
        if it has any.
        """
        if not self.decisions:
            young = f" that is older than its wait, of {self.young}" if self.young else ""
            raise InvalidValue(f"log must have decisions, got none{young}{f' in {where}' if where else ''}")
        if self.sure == self.decisions:
            said = f"all {self.decisions} probabilities are 1; log with minimum_probability"
            raise InvalidValue(f"log must give other arms a chance: {said}")
        if self._orphans > FEW * max(self.rewards, 1):
            raise InvalidValue(
                f"{self._first_orphan}: a reward must come after its decision, got {self._orphans} of "
                f"{self._orphans + self.rewards} rewards without one (a file of the log may be missing)"
            )
        absent = self.decisions - self.rewards
        if absent > FEW * self.decisions and not filled:
            raise InvalidValue(
                f"missing must be given where more than 1% of decisions have no reward, got {absent} of "
                f"{self.decisions} (rewards are rarely missing at random: say what they were, as in missing=0.0)"
            )
        for doubt in self.doubts():
            self.note(doubt)
        for count, what in (
            (self._orphans, "rewards are of decisions that are not in the log, and do not count"),
            (self._gaps, "decisions are missing between others"),
            (0 if filled else absent, "decisions have no reward: what was expected of their arms stands for it"),
            (self.young, "decisions at the end are younger than their wait, and do not count, rewarded or not"),
        ):
            if count:
                self.note(f"{count} {what}")
