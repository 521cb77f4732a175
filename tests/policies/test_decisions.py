"""Every policy decides as its slow twin in naive.py does, on the same random numbers, step by step."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest

import driftbandit as db
import examples
import naive
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.engine.cpu.shard import Shard, run_shard

HORIZON = 120
RUNS = 3
FIRST_RUN = 5
SEED = 20171109


def random_means(n_arms: int) -> np.ndarray:
    return np.random.default_rng(n_arms).uniform(size=(90, n_arms)).round(3)


SMALL_PRIORS_AND_PLAYED_ARM = [
    *examples.SMALL_PRIORS,
    db.DiscountedOptimisticThompsonSampling(discount=0.6, discounted_arms="played"),
]
FRACTIONAL_REWARDS = {
    "mean": [
        db.DriftFilter(),
        db.DiscountedThompsonSampling(discount=0.9),
        db.Exp3IX(learning_rate=0.2),
        db.DiscountedUCB(discount=0.9),
        db.SlidingWindowUCB(window=11),
        db.ChangePointThompsonSampling(hazard=0.05, runs=8),
        db.BanditOverBandit(horizon=60, batch=9),
    ],
    "beta": [db.DiscountedThompsonSampling(discount=0.9), db.SlidingWindowUCB(window=11)],
    "normal": [db.DiscountedUCB(discount=0.9), db.SlidingWindowUCB(window=11), db.UCB1()],
}


class Case(NamedTuple):
    """A policy in an environment."""

    policy: db.Policy
    environment: db.Environment

    def __str__(self) -> str:
        shown = f"{type(self.environment).name}-{self.environment.n_arms}-{self.environment.rewards}"
        return f"{self.policy}-{shown}-{'rested' if self.environment.rested else 'restless'}"


def tables(n_arms: int, rested: bool, rewards: str = "bernoulli", concentration: float = 10.0) -> list[db.Environment]:
    common = {"rested": rested, "rewards": rewards, "concentration": concentration}
    return [
        db.Sinusoidal(period=37, n_arms=n_arms, **common),
        db.Sinusoidal(period=60.5, n_arms=n_arms, **common),
        db.Abrupt(period=50, n_arms=n_arms, **common),
        db.Piecewise(levels=random_means(n_arms)[:4], change_points=[4, 20, 55], **common),
        db.FromMeans(means=random_means(n_arms), **common),
    ]


def walks(n_arms: int, rested: bool) -> list[db.Environment]:
    return [
        db.Brownian(volatility=0.05, n_arms=n_arms, rested=rested),
        db.Brownian(volatility=0.8, start=0.9, n_arms=n_arms, rested=rested),
    ]


def switches() -> list[Case]:
    dts, ucb = db.DiscountedThompsonSampling(discount=0.9), db.SlidingWindowUCB(window=24)
    return [
        Case(dts, db.Switching(hazard=0.1, n_arms=4)),
        Case(dts, db.Switching(hazard=0.1, together=True, low=0.2, high=0.9, n_arms=2, rested=True)),
        Case(ucb, db.Switching(hazard=0.3, low=0.4, n_arms=7, rested=True)),
        Case(ucb, db.Switching(hazard=0.02, together=True, rewards="normal", deviation=0.1)),
    ]


def compiled_cases() -> list[Case]:
    """Of every policy one kernel, of one or the other kind of world in turns, and of a few policies all of them."""
    found = []
    for policy, turn in zip(examples.SHORT, itertools.cycle(range(4)), strict=False):
        rested, walking = turn % 2 == 1, turn >= 2 and policy.rule(2).beliefs is None
        found.append(Case(policy, (walks if walking else tables)((4, 2, 7)[turn % 3], rested)[turn // 2]))
    kinds = [
        db.DiscountedOptimisticThompsonSampling(discount=0.9, prior_successes=1e-3),
        db.SlidingWindowUCB(window=11),
    ]
    for policy in kinds:
        for rested in (False, True):
            found += [Case(policy, world) for world in (*tables(4, rested)[::2], *walks(7, rested))]
    found += [Case(policies[-1], tables(4, False, law, 0.7)[0]) for law, policies in FRACTIONAL_REWARDS.items()]
    return found + switches()


def worlds(n_arms: int, others: int) -> list[db.Environment]:
    """Every kind of environment: tables with so many arms, and walks with others."""
    return [
        world
        for rested in (False, True)
        for pair in itertools.zip_longest(tables(n_arms, rested), walks(others, rested))
        for world in pair
        if world is not None
    ]


def cases() -> list[Case]:
    """Every policy in four worlds, further parameters in two: kinds of worlds and numbers of arms take turns."""
    found = []
    for policies, count in ((examples.SHORT, 4), (examples.MORE, 2)):
        for turn, policy in enumerate(policies):
            every = worlds((4, 2, 7)[turn % 3], (7, 4, 2)[turn % 3])
            if policy.rule(2).beliefs is not None:  # a kernel takes long to compile, and longer to be interpreted
                found.append(Case(policy, every[turn % 2]))
                continue
            stride = len(every) // count
            found += [Case(policy, every[(turn + i * stride + i) % len(every)]) for i in range(count)]
    for turn, policy in enumerate(SMALL_PRIORS_AND_PLAYED_ARM):
        found += [Case(policy, world) for world in tables((4, 2, 7)[turn % 3], rested=turn % 2 == 1)[turn % 2 :: 2]]
    for law, policies in FRACTIONAL_REWARDS.items():
        found += [Case(policy, tables(4, False, law, concentration=0.7)[0]) for policy in policies]
    found.append(Case(FRACTIONAL_REWARDS["beta"][0], tables(2, False, "beta", concentration=30.0)[2]))
    recorded = db.datasets.flights(by="day", repeat=3), db.datasets.weather(rested=True)
    found += [Case(db.ThompsonSampling(), world) for world in recorded]
    return found + switches()


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_engine_decides_as_the_naive_twin_does(case: Case) -> None:
    """Interpreted, as a kernel takes seconds to compile; that compiled ones do the same is the next test's business."""
    policy, environment = case
    target = INTERPRETED if policy.rule(2).beliefs is None else None
    twins = [
        naive.play(
            policy.name, policy.parameters(), environment.name, environment.parameters(), HORIZON, SEED, FIRST_RUN + i
        )
        for i in range(RUNS)
    ]
    steps = tuple(range(1, HORIZON + 1))
    decisions = np.zeros((HORIZON, environment.n_arms), int)
    for i, twin in enumerate(twins):
        decisions[np.arange(HORIZON), twin.chosen] += 1
        if i == 1:
            alone = run_shard(Shard(policy, environment, HORIZON, SEED, FIRST_RUN + i, 1, steps), target=target)
            assert np.array_equal(alone.choices.sum(axis=1), np.ones(HORIZON))
            assert alone.choices.argmax(axis=1).tolist() == twin.chosen
    together = run_shard(Shard(policy, environment, HORIZON, SEED, FIRST_RUN, RUNS, steps), target=target)
    assert np.array_equal(together.choices, decisions)
    for figure in ("regret", "expected", "reward"):
        expected = np.array([getattr(twin, figure) for twin in twins])
        # the means of a table differ by rounding from the twin's, so a regret of 0 is not exactly 0
        np.testing.assert_allclose(getattr(together, figure), expected, rtol=1e-12, atol=1e-13, err_msg=figure)


@pytest.mark.parametrize("case", compiled_cases(), ids=str)
def test_small_games_are_the_same_to_the_bit_interpreted_and_compiled(case: Case) -> None:
    shard = Shard(case.policy, case.environment, 30, SEED, FIRST_RUN, 2, tuple(range(1, 31)))
    with np.errstate(all="ignore"):
        interpreted = run_shard(shard, target=INTERPRETED)
    for figure, compiled in zip(interpreted, run_shard(shard), strict=True):
        assert figure.tobytes() == compiled.tobytes()


def test_a_run_far_out_and_a_seed_of_64_bits_use_all_their_bits() -> None:
    policy, environment = db.ThompsonSampling(), db.Sinusoidal(period=37)
    traces = set()
    for seed, run in [(2**64 - 1, 2**40 - 1), (2**64 - 1, 2**32 - 1), (2**32 - 1, 2**40 - 1), (0, 2**32), (0, 0)]:
        twin = naive.play("ts", policy.parameters(), "sinusoidal", environment.parameters(), 60, seed, run)
        outcome = run_shard(Shard(policy, environment, 60, seed, run, 1, (60,)))
        assert outcome.choices.argmax(axis=1).tolist() == twin.chosen
        traces.add(tuple(twin.chosen))
    assert len(traces) == 5


def test_the_twins_know_every_public_policy_and_environment() -> None:
    assert set(naive.POLICIES) == {cls.name for cls in db.Policy.known.values() if cls.__module__.startswith("driftb")}
    for policies in (examples.SHORT, examples.LONG):
        assert {policy.name for policy in policies} == set(naive.POLICIES)
    known = {cls.name for cls in db.Environment.known.values() if cls.__module__.startswith("driftb")}
    assert set(naive.ENVIRONMENTS) | set(naive.PATHS) == known
