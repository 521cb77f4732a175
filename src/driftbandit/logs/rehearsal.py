"""What a policy would earn live, in the place of the one that made a log.

What it would have chosen at each moment *from the logged data* can be estimated without bias (`following`): its
one-step value. But in the place of the other policy it would have had other data. By how much that changes what it
earns is found by simulation in the world that the log shows (`smoothing`):

    live value  =  one-step value  +  [what it earns there by itself − its one-step value on logs made there]

The level of rewards comes from the part without bias, and the simulation only says how much a policy's own data
change it. A figure of that kind has no theorem behind it; docs/evaluation.md says how often its intervals held.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from driftbandit.engine.cpu.block import Reals
from driftbandit.engine.progress import Progress
from driftbandit.logs.chunk import Chunk
from driftbandit.logs.followers import follower
from driftbandit.logs.following import Asked, Scene, nowhere
from driftbandit.logs.smoothing import smoothed
from driftbandit.policies import Policy

SIMULATED_DRAWS = 4
"""How often a policy is asked for each decision of a simulated log, where means are known."""
FEWEST_DRAWS, MOST_DRAWS, ALL_DRAWS = 8, 64, 1 << 21
"""Of the log itself: the noise of few is added to that of rewards."""
LOGS, LIVES = 6, 20
"""Simulated logs that a policy follows, and how often it plays by itself."""


def questions(decisions: int) -> int:
    """How often a policy is asked for each decision of a log: the less, the more there are."""
    return max(FEWEST_DRAWS, min(MOST_DRAWS, ALL_DRAWS // max(decisions, 1)))


class Rehearsed(NamedTuple):
    """What was found for one policy."""

    terms: Reals
    """By decision of the log: the terms of its one-step value."""
    weights: Reals
    on_logs: Reals
    """Its one-step value on each simulated log."""
    alone: Reals
    """What it earns in each simulated life of its own."""

    @property
    def value(self) -> float:
        """What it would earn live."""
        return float(self.terms.mean() + self.alone.mean() - self.on_logs.mean())

    @property
    def error(self) -> float:
        """The standard error of that."""
        return _error(self.terms, self.on_logs, self.alone)

    def gain(self, other: "Rehearsed") -> tuple[float, float]:
        """How much more that is than another policy's, and the standard error of that."""
        error = _error(self.terms - other.terms, self.on_logs - other.on_logs, self.alone - other.alone)
        return self.value - other.value, error


def _error(terms: Reals, on_logs: Reals, alone: Reals) -> float:
    """The noise of the terms; and the luck of a history, of the one that was logged and of simulated ones."""
    luck = max(on_logs.var(ddof=1), alone.var(ddof=1))
    return float(np.sqrt(terms.var() / len(terms) + luck * (1.0 + 1.0 / len(on_logs) + 1.0 / len(alone))))


class Place(NamedTuple):
    """How a bandit is set up: what is the same whichever policy it has."""

    arms: int
    step: float | None
    """Of a policy, in seconds; None: a decision."""
    floor: float
    """The minimum probability of an eligible arm."""
    seed: int

    def asked(self, policy: Policy, draws: int, stream: int) -> Asked:
        """A policy in this place. Streams have other random numbers, and none has those of a bandit with this seed:
        answers that go with the logged choices would be worth nothing.
        """
        return Asked(policy, self.arms, self.step, self.floor, draws, (self.seed + (stream + 1) * STREAM) % (1 << 64))


STREAM = 0x9E3779B97F4A7C15


class Rehearsal:
    """A log, by replica, and the world that it shows, in which others can take the place of the logged policy."""

    def __init__(
        self, parts: Sequence[Chunk], logged: Policy, floors: Sequence[float], place: Place, decisions: int
    ) -> None:
        self._parts, self._place = parts, place
        world = smoothed(parts, place.arms)
        self.half_life = world.half_life * world.width
        """Of the window by which the world was made, in the time of the log."""
        self._means = world.means, world.origin, world.width
        self._logged, self._floors = logged, floors
        """Who made the log, and by replica with which minimum probability: not that of others in its place."""
        self._logs: list[list[Chunk]] = []
        counts = [int((~part.rows.outcome).sum()) for part in parts]
        looked_at, times = sum(counts), np.concatenate([part.rows.clock for part in parts])
        self.steps = float(np.ptp(times)) / place.step if place.step else float(max(counts))
        """How long that is, in steps."""
        self._draws = questions(looked_at)
        self.notes = [f"of {decisions} decisions the latest {looked_at} were looked at"] * (looked_at < decisions)
        """What whoever reads the figures should know."""

    def of(self, policies: Sequence[Policy], progress: bool | None = None) -> list[Rehearsed]:
        """What each policy would earn."""
        with Progress("Rehearsing", (LOGS + LIVES + 1) * len(policies) + LOGS, progress) as bar:
            if not self._logs:
                self._logs = _together([partial(self._made, run) for run in range(LOGS)], bar)
            tasks: list[Callable[[], Any]] = []
            for policy in policies:
                tasks.append(partial(self._followed, policy))
                tasks += [partial(self._on_log, policy, run) for run in range(LOGS)]
                tasks += [partial(self._alone, policy, run) for run in range(LIVES)]
            found = iter(_together(tasks, bar))
        rehearsed = []
        for _ in policies:
            terms, weights = next(found)
            on_logs, alone = (np.array([next(found) for _ in range(count)]) for count in (LOGS, LIVES))
            rehearsed.append(Rehearsed(terms, weights, on_logs, alone))
        return rehearsed

    def _world(self, run: int, stream: int) -> Scene:
        return Scene(*self._means, np.uint64((self._place.seed + stream) % (1 << 64)), np.uint64(run))

    def _made(self, run: int) -> list[Chunk]:
        """A log of the world."""
        made = []
        for (life, part), floor in zip(self._lives(run, self._parts), self._floors, strict=True):
            asked = self._place._replace(floor=floor).asked(self._logged, SIMULATED_DRAWS, 1)
            answers = follower(asked, life).take(part, self._world(life, 1), plays=True)
            made.append(part._replace(rows=part.rows._replace(arm=answers.arm, value=answers.value)))
        return made

    def _followed(self, policy: Policy) -> tuple[Reals, Reals]:
        """The terms of its one-step value, and their weights, by decision."""
        terms, weights = [], []
        for number, part in enumerate(self._parts):
            answers = follower(self._place.asked(policy, self._draws, 2), number).take(part, nowhere(0, 0))
            ended = part.rows.outcome
            earned = np.where(np.isfinite(part.rows.value), part.rows.value - answers.guess, 0.0)
            terms.append((answers.direct + answers.weight * earned)[ended])
            weights.append(answers.weight[~ended])
        return np.concatenate(terms), np.concatenate(weights)

    def _on_log(self, policy: Policy, run: int) -> float:
        """Its one-step value on a simulated log."""
        return self._simulated(self._place.asked(policy, SIMULATED_DRAWS, 3), self._logs[run], run, 1, plays=False)

    def _alone(self, policy: Policy, run: int) -> float:
        """What it earns by itself."""
        return self._simulated(self._place.asked(policy, 1, 4), self._parts, run, 2, plays=True)

    def _simulated(self, asked: Asked, parts: Sequence[Chunk], run: int, stream: int, plays: bool) -> float:
        """What a policy earns a decision, by the means."""
        earned = []
        for life, part in self._lives(run, parts):
            answers = follower(asked, life).take(part, self._world(life, stream), plays)
            earned.append(answers.expected[~part.rows.outcome])
        return float(np.concatenate(earned).mean())

    def _lives(self, run: int, parts: Sequence[Chunk]) -> Iterator[tuple[int, Chunk]]:
        """Replicas, each with the number of its random numbers in a run."""
        return enumerate(parts, run * len(parts))


def _together(tasks: Sequence[Callable[[], Any]], bar: Progress) -> list[Any]:
    """The results of all, in order; kernels run side by side."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        coming = [threads.submit(task) for task in tasks]
        try:
            results = []
            for each in coming:
                results.append(each.result())
                bar.advance(1)
            return results
        except BaseException:  # Ctrl-C too
            for each in coming:
                each.cancel()
            raise
