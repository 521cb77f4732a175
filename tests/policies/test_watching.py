"""Policies that watch for changes: without alarms and exploration they are plain, and with many they follow twins."""

import dataclasses
import math

import numpy as np
import pytest

import driftbandit as db
import naive
from dice import Dice, largest
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.policies import History, kept
from driftbandit.policies.history import sum_ago
from twins.indexed import upper_mean
from twins.watching import kl

NEVER = {"threshold": 1e100, "exploration": 0}
WORLDS = [db.Sinusoidal(period=37), db.Abrupt(period=50, n_arms=3), db.Brownian(n_arms=2, rewards="beta")]
SWAPS = db.Piecewise(levels=[[0.9, 0.1], [0.1, 0.9], [0.5, 0.05]], change_points=[150, 320])


def choices(policy: db.Policy, world: db.Environment, horizon: int = 200, run: int = 0, runs: int = 3) -> np.ndarray:
    return run_shard(Shard(policy, world, horizon, 6, run, runs, (horizon,)), target=INTERPRETED).choices


@pytest.mark.parametrize("world", WORLDS, ids=str)
@pytest.mark.parametrize(
    "policy",
    [
        db.CusumUCB(**NEVER, confidence=2),
        db.CusumUCB(**NEVER, confidence=2, warm_up=3, drift=0),
        db.CusumUCB(**NEVER, confidence=2, warm_up=1, forced_warm_up=True),
        db.PageHinkleyUCB(**NEVER, confidence=2),
        db.MonitoredUCB(**NEVER, window=10),
    ],
    ids=str,
)
def test_without_alarms_and_exploration_it_is_ucb1(policy: db.Policy, world: db.Environment) -> None:
    assert np.array_equal(choices(policy, world), choices(db.UCB1(), world))


class KLUCB:
    """kl-UCB with ln t, from the definition."""

    binary = False

    def __init__(self, n_arms: int) -> None:
        self.rewards: list[list[float]] = [[] for _ in range(n_arms)]

    def select(self, dice: Dice, t: int) -> int:
        indices = [
            upper_mean(sum(own) / len(own), math.log(t - 1) / len(own)) if own else math.inf for own in self.rewards
        ]
        return largest(indices, dice, t)

    def learn(self, arm: int, reward: float) -> None:
        self.rewards[arm].append(reward)


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_without_alarms_and_exploration_all_that_compare_divergences_are_kl_ucb(world: db.Environment) -> None:
    twin = naive.play(KLUCB, {}, world.name, world.parameters(), 200, 6, 0).chosen
    for policy in (
        db.GLRKLUCB(exploration=0, false_alarm=1e-300),
        db.GLRKLUCB(exploration=0, false_alarm=1e-300, scope="all", growing=True, history=10),
        db.CusumUCB(**NEVER, index="kl"),
        db.PageHinkleyUCB(**NEVER, index="kl"),
        db.MonitoredUCB(**NEVER, window=10, index="kl"),
    ):
        assert choices(policy, world, runs=1).argmax(axis=1).tolist() == twin, str(policy)


@pytest.mark.parametrize(
    "policy",
    [
        db.CusumUCB(threshold=4.03, exploration=0.05, warm_up=10, index="kl"),
        db.PageHinkleyUCB(threshold=3.3, exploration=0.05),
        db.MonitoredUCB(window=20, threshold=5.5, exploration=0.1, index="kl"),
        db.GLRKLUCB(exploration=0.05, false_alarm=0.1),
        db.GLRKLUCB(exploration=0.05, false_alarm=0.1, history=25, confidence=1),
        db.GLRKLUCB(exploration=0.05, false_alarm=0.1, scope="all", growing=True),
    ],
    ids=str,
)
def test_where_means_swap_alarms_come_and_decisions_are_the_twins(policy: db.Policy) -> None:
    horizon, resets = 450, 0

    def counted(n_arms: int) -> object:
        nonlocal twin
        twin = naive.POLICIES[policy.name](n_arms, **policy.parameters())
        twin.rewards = [Emptied() for _ in range(n_arms)]
        return twin

    for run in range(2):
        twin = None
        trace = naive.play(counted, {}, SWAPS.name, SWAPS.parameters(), horizon, 6, run)
        assert choices(policy, SWAPS, horizon, run, 1).argmax(axis=1).tolist() == trace.chosen
        resets += sum(rewards.times for rewards in twin.rewards)
    assert resets >= 3


class Emptied(list):
    """A list that counts how often it was emptied."""

    times = 0

    def clear(self) -> None:
        self.times += 1
        super().clear()


def test_a_cap_on_splits_that_is_never_reached_changes_nothing_and_one_that_is_does() -> None:
    policy = db.GLRKLUCB(exploration=0.05, false_alarm=0.1, history=400)
    capped = [dataclasses.replace(policy, history=history) for history in (4096, 10)]
    world = db.Piecewise(levels=[[0.8, 0.1], [0.4, 0.5]], change_points=[150])  # seen from some 30 rewards, not from 10
    same, other = (choices(each, world, 400) for each in capped)
    assert np.array_equal(choices(policy, world, 400), same)
    assert not np.array_equal(same, other)


def test_sums_over_a_ring_are_sums_of_what_was_last_put_into_it() -> None:
    rewards = [float(i * i % 7) for i in range(23)]
    for size in (5, 8, 23, 40):
        for count in range(1, len(rewards) + 1):
            ring = np.zeros(size)
            for i, reward in enumerate(rewards[:count]):
                ring[i % size] = reward
            history: History = (ring, count, size)
            past = rewards[:count][::-1][: kept(history)]
            for first in range(len(past)):
                for length in range(len(past) - first + 1):
                    assert sum_ago(history, first, length) == sum(past[first : first + length])


def test_a_published_share_of_exploration_grows_with_alarms() -> None:
    rule = db.GLRKLUCB(exploration=0.1, false_alarm=0.5, growing=True).rule(3)
    assert [rule.explored(1, (alarms,)) for alarms in (0.0, 3.0, 399.0)] == [0.1, 0.2, 1.0]
    assert rule.renew((), (3.0,)) == (4.0,)


@pytest.mark.parametrize(
    ("scope", "growing", "learning"),
    [("arm", False, "by arm"), ("arm", True, "sequential"), ("all", False, "sequential")],
)
def test_rewards_may_come_arm_by_arm_only_where_arms_do_not_meet(scope: str, growing: bool, learning: str) -> None:
    assert db.GLRKLUCB(exploration=0.1, false_alarm=0.5, scope=scope, growing=growing).rule(3).learning == learning


def test_bounds_hold_the_mean_between_them() -> None:
    kinds = [
        db.CusumUCB(threshold=5, exploration=0.1, index="kl"),
        db.MonitoredUCB(window=4, threshold=5, exploration=0.1, index="kl"),
        db.GLRKLUCB(exploration=0.1, false_alarm=0.5),
    ]
    for policy in kinds:
        rule = policy.rule(2)
        rest = (0.0,) * (len(rule.initial) - 2) if policy.name != "glr-kl-ucb" else (50.0,)
        mean, low, high = rule.interval(rule.parameters, math.log(50.0), 10.0, 4.0, *rest)
        assert low < mean == 0.4 < high
        assert [10.0 * kl(mean, end) for end in (low, high)] == pytest.approx([math.log(50.0)] * 2, rel=1e-6)
        assert all(math.isnan(end) for end in rule.interval(rule.parameters, 1.0, *rule.initial))
