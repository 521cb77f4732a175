"""Games in which policies from elsewhere play too: their shards are played here by Python, all others as ever."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from driftbandit.checks import reject
from driftbandit.engine.cpu.shard import Outcome, Shard
from driftbandit.engine.cpu.threads import Threads
from driftbandit.engine.encounter import Encounter
from driftbandit.engine.foreign import Foreign
from driftbandit.errors import InvalidValue

TOLD_EVERY = 0.1
"""Seconds between two times that progress is told."""


class Visitors(Threads):
    """The cores of this machine for policies with a rule, and Python itself for those without."""

    def pieces(self, job: Shard) -> list[Shard]:
        """A visitor's runs are played one after the other."""
        return [job] if isinstance(job.policy, Foreign) else super().pieces(job)

    def run(self, shards: Sequence[Shard], done: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """The outcomes as they come, those of visitors last."""
        visiting = [index for index, shard in enumerate(shards) if isinstance(shard.policy, Foreign)]
        others = [index for index in range(len(shards)) if index not in set(visiting)]
        for place, outcome in super().run([shards[index] for index in others], done):
            yield others[place], outcome
        for index in visiting:
            yield index, played(shards[index], done)


def check_place(device: Any, cluster: Any, keep: Any) -> None:
    """`InvalidValue` where visitors cannot be played, or what they did not be kept."""
    if device != "cpu":
        raise reject("device", '"cpu" with Foreign policies, which Python plays', device)
    if cluster is not None:
        raise InvalidValue("cluster must be None with Foreign policies, which are played on this machine only")
    if keep is not None:
        raise InvalidValue("keep must be None with Foreign policies, whose code may change without anybody knowing")


def played(shard: Shard, done: Callable[[int], None]) -> Outcome:
    """The outcome of a visitor's runs, one step of one run at a time."""
    environment, policy = shard.environment, shard.policy
    assert isinstance(policy, Foreign)
    shape = (shard.runs, len(shard.steps))
    bins = -(-shard.horizon // shard.bin_width)
    outcome = Outcome(np.empty(shape), np.empty(shape), np.empty(shape), np.zeros((bins, environment.n_arms), np.int64))
    encounter, clock = Encounter(environment, 1, shard.horizon), _Clock(done)
    chosen = np.zeros(1, np.int64)
    for row in range(shard.runs):
        run = shard.first_run + row
        player = policy.player(environment.n_arms, shard.horizon, shard.seed, run)
        encounter.begin(shard.seed, run)
        sums, point = np.zeros((3, 1)), 0
        for step in range(1, shard.horizon + 1):
            arm = chosen[0] = player.select()
            encounter.meet(chosen)
            player.update(arm, encounter.reward.item())
            sums += encounter.figures
            outcome.choices[(step - 1) // shard.bin_width, arm] += 1
            if step == shard.steps[point]:
                outcome.regret[row, point], outcome.expected[row, point], outcome.reward[row, point] = sums[:, 0]
                point += 1
            clock.tick()
    clock.tell()
    return outcome


class _Clock:
    """Tells of steps, but not of every one."""

    def __init__(self, done: Callable[[int], None]) -> None:
        self._done, self._steps, self._told = done, 0, time.monotonic()

    def tick(self) -> None:
        """One more step."""
        self._steps += 1
        if time.monotonic() - self._told > TOLD_EVERY:
            self.tell()

    def tell(self) -> None:
        """All steps that nobody was told of."""
        self._done(self._steps)
        self._steps, self._told = 0, time.monotonic()
