"""All experiments in the memory of a process, made from the log and kept up with it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import TypeVar

from driftbandit.service.live_experiment import LiveExperiment
from driftbandit.service.minute_sums import MinuteSums
from driftbandit.service.rows import ArmRow, DecisionRow, ExperimentRow, RewardRow, number_of
from driftbandit.service.store import CHANGES, Snapshot, Store

Item = TypeVar("Item")
BREATH = 2000
"""Rows after which others may run."""


class KnownExperiments:
    """By name, and by number. Replicas are touched between commits only."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self.store, self.clock = store, clock
        self.now = clock()
        """The time of the present turn; all its decisions have it."""
        self.by_name: dict[str, LiveExperiment] = {}
        self.by_number: dict[int, LiveExperiment] = {}
        self.vector: dict[int, int] = {}
        """By slot, the number of the latest reward that was learned."""
        self.changes = -1
        self.sums = MinuteSums(store.slot)
        self.last_reward = 0
        """The number of the latest reward of this slot."""

    def moment(self) -> float:
        """The time of the present turn."""
        return self.now

    def tick(self) -> None:
        """A turn begins."""
        self.now = self.clock()

    async def load(self, count: bool = True, snapshots: bool = True) -> None:
        """Everything, from snapshots and what the log says since; then sums are made up to now (`count`)."""
        store = self.store
        self.sums = MinuteSums(store.slot)
        if count:
            self.sums.counted, self.last_reward = await store.take_slot()
        upto = await store.slots()
        self.changes, rows = await store.experiments()
        kept, marks = await store.snapshots() if snapshots else {}, await store.marks()
        found = [
            await self._loaded(row, arms, kept.get(row.number), upto, marks.get(row.number, (0, 0)))
            for row, arms in rows
        ]
        self.by_name = {experiment.name: experiment for experiment in found}
        self.by_number = {experiment.number: experiment for experiment in found}
        self.vector = upto
        if count:
            await self._count(marks)

    async def _loaded(
        self, row: ExperimentRow, arms: list[ArmRow], snapshot: Snapshot | None, upto: dict[int, int],
        mark: tuple[int, int],
    ) -> LiveExperiment:  # fmt: skip
        experiment = LiveExperiment(row, self.moment, self.store.slot)
        vector = dict.fromkeys(upto, 0)
        if snapshot is not None:
            experiment.resume(snapshot.state, snapshot.last, snapshot.decisions)
            vector |= snapshot.vector
        rewards = self.store.rewards_after(vector, upto, row.number)
        if experiment.convergent:
            experiment.know(arms)
            async for reward in resting(rewards):
                experiment.learn(reward)
            experiment.replica.go_on_at(mark[1], mark[1])
        else:
            first = 0 if snapshot is None else snapshot.last
            decisions = self.store.decisions_after(row.number, self.store.slot, first)
            await self._again(experiment, arms, decisions, rewards)
            experiment.replica.go_on_at(max(mark[1], experiment.replica.last), experiment.replica.decisions)
        return experiment

    async def _again(
        self, experiment: LiveExperiment, arms: Sequence[ArmRow], decisions: AsyncIterator[DecisionRow],
        rewards: AsyncIterator[RewardRow],
    ) -> None:  # fmt: skip
        """Go through a log in its order, where that matters."""
        changes = sorted(change for arm in arms for change in changes_of(arm))
        replica = experiment.replica
        ahead: DecisionRow | None = await anext(decisions, None)

        def change_until(decision: float, reward: float) -> None:
            while changes and (changes[0][0] < decision or changes[0][1] < reward):
                _, _, removed, number = changes.pop(0)
                experiment.change(arms[number], removed)

        async def decide_until(number: float) -> None:
            nonlocal ahead
            while ahead is not None and number_of(ahead.id) <= number:
                change_until(number_of(ahead.id), -1)
                replica.again(ahead.as_made, None if ahead.among is None else json.loads(ahead.among))
                ahead = await anext(decisions, None)

        async for reward in resting(rewards):
            await decide_until(reward.after)
            change_until(-1, reward.number)
            experiment.learn(reward)
        await decide_until(float("inf"))
        change_until(float("inf"), -1)
        experiment.know(arms)

    async def _count(self, marks: dict[int, tuple[int, int]]) -> None:
        """What a process that was killed had not added up by minute."""
        sums, slot = self.sums, self.store.slot
        for number, (counted, last) in marks.items():
            if counted < last:
                async for row in resting(self.store.decisions_after(number, slot, counted)):
                    sums.decided(number, row.id, row.made, row.arm, row.probability)
                    sums.could_be(number, row.made, {row.arm: 1.0}, 1)
        if sums.counted < self.last_reward:
            async for reward in resting(self.store.rewards_after({slot: sums.counted})):
                sums.rewarded(reward)

    async def follow(self) -> int:
        """What other processes have written since; how many rewards there were."""
        learned = 0
        [[value]] = (await self.store.database.read(CHANGES))[0]
        if int(value) != self.changes:
            await self.look_again()
        for slot in (await self.store.slots()).keys() - self.vector.keys():
            self.vector[slot] = 0
        others = {slot: number for slot, number in self.vector.items() if slot != self.store.slot}
        async for reward in resting(self.store.rewards_after(others)):
            await self.meet([(reward.experiment, reward.decision.arm)])
            experiment = self.by_number.get(reward.experiment)
            if experiment is not None:
                experiment.learn(reward)
            self.vector[reward.writer] = reward.number
            learned += 1
        return learned

    async def meet(self, arms: Iterable[tuple[int, int]]) -> None:
        """Look again if one of these arms, each after the number of its experiment, is not known: another process has
        made it just now.
        """
        for number, arm in arms:
            experiment = self.by_number.get(number)
            if experiment is None or arm >= len(experiment.arms):
                await self.look_again()
                return

    async def look_again(self) -> None:
        """Experiments have changed."""
        self.changes, rows = await self.store.experiments()
        for row, arms in rows:
            experiment = self.by_number.get(row.number)
            if experiment is None:
                experiment = LiveExperiment(row, self.moment, self.store.slot)
                self.by_number[row.number] = self.by_name[row.name] = experiment
            experiment.told(row)
            experiment.know(arms)

    def snapshot(self, experiment: LiveExperiment) -> Snapshot:
        """What is known of an experiment now."""
        replica = experiment.replica
        return Snapshot(experiment.number, dict(self.vector), replica.last, replica.decisions, replica.state())


def changes_of(arm: ArmRow) -> list[tuple[int, int, bool, int]]:
    """When an arm came and went: after which decision and reward."""
    found = []
    if arm.added_after is not None:
        found.append((arm.added_after, arm.added_learned or 0, False, arm.number))
    if arm.removed_after is not None:
        found.append((arm.removed_after, arm.removed_learned or 0, True, arm.number))
    return found


async def resting(rows: AsyncIterator[Item]) -> AsyncIterator[Item]:
    """The same, with room for others now and then."""
    count = 0
    async for row in rows:
        yield row
        count += 1
        if count % BREATH == 0:
            await asyncio.sleep(0)
