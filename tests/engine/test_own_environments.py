"""Environments of a user's own are played alike in plain Python, compiled, on a card and on a cluster.

The card is Numba's simulator, as in test_cuda.py: this file, run as a program, prints one line a check.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import driftbandit as db
import naive
import own_environments as own
from driftbandit.engine.checkpoints import Keeper
from driftbandit.engine.cpu import shard as processor
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.engine.oracle import static_oracle
from driftbandit.numerics.rng import START, TOGETHER, WALK
from own_policies import DiscountMixture
from rules import Plain

TESTS = Path(__file__).parent.parent
ENVIRONMENTS: list[db.Environment] = [
    own.Tide(),
    own.Tide(rested=True, rewards="normal"),
    own.Jumping(),
    own.Jumping(rested=True, rewards="normal", deviation=0.2),
    own.Relay(),
    own.Relay(rested=True),
    db.Switching(n_arms=3, hazard=0.3),
    db.Switching(n_arms=2, hazard=0.3, together=True, low=0.2, rested=True, rewards="normal"),
]
HORIZON, SEED = 40, 11


def path_of(environment: db.Environment, run: int) -> list[list[float]]:
    """The means of one run at clock 1 to HORIZON + 1, a list an arm, by the functions themselves."""
    path, dice = environment.path(), naive.Dice(SEED, run)
    assert path is not None

    def words(step: int, arm: int, purpose: np.uint64) -> tuple[np.uint64, ...]:
        return tuple(map(np.uint64, dice.words(step, arm, int(purpose))))

    means = []
    for k in range(environment.n_arms):
        means.append([float(path.first(path.parameters, k, words(0, k, START), words(0, 0, TOGETHER)))])
        for t in range(1, HORIZON + 1):
            luck = words(t, k, WALK), words(t, 0, TOGETHER)
            means[-1].append(float(path.following(path.parameters, means[-1][-1], t, k, *luck)))
    return means


@pytest.mark.parametrize("environment", [e for e in ENVIRONMENTS if e.path() is not None], ids=str)
def test_compiled_paths_are_those_of_the_plain_functions(environment: db.Environment) -> None:
    steps = tuple(range(1, HORIZON + 1))
    best = static_oracle(environment, HORIZON, SEED, 3)
    for run in range(3):
        outcome = run_shard(Shard(db.UniformRandom(), environment, HORIZON, SEED, run, 1, steps))
        means = path_of(environment, run)
        clocks = [1] * environment.n_arms
        expected, regret = [], []
        for t, arm in enumerate(outcome.choices.argmax(axis=1).tolist(), 1):
            now = [means[k][(clocks[k] if environment.rested else t) - 1] for k in range(environment.n_arms)]
            expected.append(now[arm])
            regret.append(max(now) - now[arm])
            clocks[arm] += 1
        np.testing.assert_allclose(outcome.expected[0], np.cumsum(expected), rtol=1e-12)
        np.testing.assert_allclose(outcome.regret[0], np.cumsum(regret), rtol=1e-12, atol=1e-12)
        assert best[run] == pytest.approx(max(sum(arm[:HORIZON]) for arm in means), rel=1e-12)


def test_an_own_function_of_the_clock_is_the_same_means_given_as_a_table() -> None:
    for rested in (False, True):
        mine = own.Tide(rested=rested)
        given = db.FromMeans(means=mine.means_at(np.arange(1, 102)), rested=rested)
        results = [db.simulate(db.UCB1(), e, horizon=100, runs=20, seed=3, progress=False) for e in (mine, given)]
        for name in ("regret", "expected", "reward", "choices", "static_oracle"):
            assert np.array_equal(results[0].dataset[name].values, results[1].dataset[name].values), name


def test_any_number_of_threads_and_size_of_blocks_give_the_same_bits() -> None:
    environment = own.Jumping(n_arms=4)
    one, two = (
        db.simulate(db.UCB1(), environment, horizon=50, runs=300, seed=3, threads=threads, progress=False).dataset
        for threads in (1, 2)
    )
    assert one.identical(two)
    whole = run_shard(Shard(db.UCB1(), environment, 50, 3, 0, 40, (50,)))
    parts = run_shard(Shard(db.UCB1(), environment, 50, 3, 0, 40, (50,)), block_size=8)
    assert all(np.array_equal(ours, theirs) for ours, theirs in zip(whole, parts, strict=True))


def test_an_edited_environment_does_not_meet_outcomes_that_were_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = Keeper(tmp_path, "cpu")
    for environment in (own.Jumping(), own.Tide()):
        shard = Shard(db.UCB1(), environment, 5, 3, 0, 2, (5,))
        keeper.keep(shard, run_shard(shard))
        assert keeper.find(shard) is not None
    monkeypatch.setattr(own, "walk_or_jump", lambda p, mean, clock, arm, words, together: mean)
    monkeypatch.setattr(own.Tide, "means_at", lambda self, clock: np.full((len(clock), 2), 0.25))
    for environment in (own.Jumping(), own.Tide()):
        assert keeper.find(Shard(db.UCB1(), environment, 5, 3, 0, 2, (5,))) is None


def compare_on_card() -> Iterator[tuple[str, bool]]:
    from engine.test_cuda import alike, played, shard_of

    policies = [db.DiscountedUCB(discount=0.9), db.Exp3IX(learning_rate=0.5)]
    shards = [shard_of(policy, environment) for policy in policies for environment in ENVIRONMENTS]
    outcomes = played(shards)
    processor.CPU = Plain()  # type: ignore[assignment]  # for the rest of this process
    for shard, outcome in zip(shards, outcomes, strict=True):
        yield f"{shard.policy} in {shard.environment}", alike(outcome, run_shard(shard))


def test_a_card_plays_as_the_processor_does() -> None:
    paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    settings = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": paths}
    command = [sys.executable, "-m", "engine.test_own_environments"]
    answer = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 0, answer.stderr[-3000:]
    verdicts = dict(line.rsplit("\t", 1) for line in answer.stdout.splitlines())
    assert len(verdicts) == 2 * len(ENVIRONMENTS)
    assert [name for name, verdict in verdicts.items() if verdict != "True"] == []


def test_a_cluster_gives_the_bits_of_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    from .cluster_machines import Machines

    folders = [str(TESTS), str(TESTS.parent / "examples" / "policies"), os.environ.get("PYTHONPATH")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, folders)))
    with Machines(tmp_path) as machines:
        _, address = machines.scheduler()
        machines.worker(address)
        for policy, environment in (
            (db.UCB1(), own.Tide()),
            (db.UCB1(), own.Jumping(rested=True)),
            (DiscountMixture(), db.Fast()),  # a rule with shared numbers and luck
        ):
            options = {"horizon": 50, "runs": 40, "seed": 3, "progress": False}
            there = db.simulate(policy, environment, cluster=address, **options)
            here = db.simulate(policy, environment, threads=1, **options)
            assert there.dataset.identical(here.dataset)


if __name__ == "__main__":
    for name, verdict in compare_on_card():
        print(f"{name}\t{verdict}")
