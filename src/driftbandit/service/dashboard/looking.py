"""All that a page shows of an experiment, read at one moment."""

import math
from typing import NamedTuple

from driftbandit.contract import ExperimentView
from driftbandit.policies import Policy
from driftbandit.service import views
from driftbandit.service.dashboard.lookbacks import DAY, Lookback
from driftbandit.service.dashboard.stretch import Stretch, questions, stretch_of
from driftbandit.service.database import Statement
from driftbandit.service.live_experiment import LiveExperiment
from driftbandit.service.process import Service
from driftbandit.service.rows import GIVEN, ArmRow

SAMPLE = 1000
"""Rewards of a process of which delays are looked at, the latest ones, of all experiments."""
MOST_SLOTS = 8
"""Processes of which rewards are looked at, those that stored something last."""


class Peer(NamedTuple):
    """One of the processes that wrote to the store."""

    slot: int
    started: float
    version: str
    seen: float
    """When it last stored sums by minute."""
    rewards: int


class Health(NamedTuple):
    """How the process that answers is."""

    slot: int
    shared: bool
    down: str
    """Why nothing is stored, or nothing."""
    delay: float
    """For how long the present commit has taken, in seconds."""
    waiting: int
    """Decisions and rewards that wait to be stored."""
    lag: float
    offset: float
    unready: list[str]


class Sight(NamedTuple):
    """An experiment, as it is at one moment."""

    now: float
    view: ExperimentView
    arms: list[ArmRow]
    """By number, those that were removed too."""
    only: list[int] | None
    policy: Policy
    bounds: tuple[float, float]
    """The least and the largest reward that there can be."""
    stretch: Stretch
    """Of the window that is shown."""
    day: Stretch
    """Of the latest 24 hours: what alarms look at, whatever is shown."""
    delays: list[float]
    """Of the latest rewards, in seconds."""
    peers: list[Peer]
    health: Health

    @property
    def half_life(self) -> float | None:
        """In which what was learned fades by half, in seconds; None for policies without a discount."""
        return half_life_of(self.policy, self.view.step_seconds)

    @property
    def period(self) -> tuple[float, float]:
        """What charts show: the window, but nothing long before the experiment began."""
        step = self.stretch.lookback.step
        return max(self.stretch.begin, min(self.view.begun, self.now - 6.0 * step) // step * step), self.now

    @property
    def patience(self) -> float:
        """How old decisions are, in seconds, of which no more rewards are to be expected: as old as their wait, or
        without one, older than nine tenths of the latest delays.
        """
        if self.view.wait is not None:
            return self.view.wait
        return self.delays[len(self.delays) * 9 // 10] if self.delays else 0.0

    def settled(self, stretch: Stretch) -> int:
        """How many points are old enough that what they earned is known."""
        return sum(1 for end in stretch.ends if end <= self.now - self.patience)

    @property
    def open_arms(self) -> list[ArmRow]:
        """Those that a decision may choose."""
        return [arm for arm in self.arms if arm.removed is None and (self.only is None or arm.number in self.only)]


def half_life_of(policy: Policy, step_seconds: float | None) -> float | None:
    """In seconds; None for policies without a discount, and where a step is a decision."""
    discount = getattr(policy, "discount", None)
    if not isinstance(discount, float) or not 0.0 < discount < 1.0 or step_seconds is None:
        return None
    return math.log(0.5) / math.log(discount) * step_seconds


async def look(service: Service, experiment: LiveExperiment, lookback: Lookback) -> Sight:
    """Read all of it."""
    now, number, terms = service.clock(), experiment.number, experiment.terms
    view = await views.view(service, experiment)
    arms = list(experiment.arms)
    asked = [*questions(number, lookback, now), *(questions(number, DAY, now) if lookback is not DAY else ()), PEERS]
    answers = await service.store.database.read(*asked)
    stretch = stretch_of(answers[:2], lookback, now, len(arms))
    peers = [Peer._make(row) for row in answers[-1]]
    rule = terms.policy.rule(max(1, len(arms)))
    return Sight(
        now=now, view=view, arms=arms, only=experiment.only, policy=terms.policy,
        bounds=(float(rule.least_reward), float(rule.largest_reward)), stretch=stretch,
        day=stretch if lookback is DAY else stretch_of(answers[2:4], DAY, now, len(arms)),
        delays=await delays(service, number, peers), peers=peers, health=health(service),
    )  # fmt: skip


PEERS = Statement("SELECT slot, started, version, seen, rewards FROM slot ORDER BY slot")


async def delays(service: Service, experiment: int, peers: list[Peer]) -> list[float]:
    """How long decisions waited for the latest rewards, in seconds, in order."""
    lately = sorted(peers, key=lambda peer: -peer.seen)[:MOST_SLOTS]
    if not lately:
        return []
    answers = await service.store.database.read(
        *(
            Statement(
                "SELECT r.time - d.made FROM (SELECT decision, time, experiment, kind FROM reward WHERE writer = ? "
                "AND number > ?) AS r JOIN decision d ON d.experiment = r.experiment AND d.id = r.decision "
                "WHERE r.experiment = ? AND r.kind = ?",
                (peer.slot, peer.rewards - SAMPLE, experiment, GIVEN),
            )
            for peer in lately
        )
    )
    return sorted(max(0.0, row[0]) for rows in answers for row in rows)


def health(service: Service) -> Health:
    """How this process is."""
    committer = service.committer
    return Health(
        slot=service.store.slot, shared=service.store.database.shared, down=committer.down, delay=committer.delay,
        waiting=committer.waiting, lag=service.lag, offset=service.offset, unready=service.unready(),
    )  # fmt: skip
