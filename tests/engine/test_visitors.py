"""Policies that Python plays meet the same worlds and draws as all others, and their mistakes are one line."""

import functools
import math
import random
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import driftbandit as db
import naive
from driftbandit.compiling.gears import Gears
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.compiling.linking import link
from driftbandit.engine import encounter
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.engine.foreign import seed_of
from driftbandit.engine.visitors import Visitors, played
from foreign_twins import Twin
from own_environments import Jumping, Tide

SEED, HORIZON, RUNS = 9, 60, 3
WORLDS: list[tuple[db.Policy, db.Environment]] = [
    (db.ThompsonSampling(), db.Sinusoidal(period=50.5)),
    (db.UCB1(), db.Abrupt(period=7, rested=True, n_arms=7)),
    (db.UCB1(), db.Fast(rested=True)),
    (db.Exp3(exploration=0.2), db.Brownian(volatility=0.2)),
    (db.UCB1(), db.Brownian(volatility=0.2, rested=True)),
    (db.ThompsonSampling(), db.Switching(hazard=0.2, together=True)),
    (db.ThompsonSampling(), db.Fast(rewards="beta", concentration=0.7)),
    (db.GaussianThompsonSampling(), db.Fast(rewards="normal", deviation=2.0)),
    (db.UCB1(), db.Fast(rewards="mean")),
    (db.UCB1(), db.datasets.flights(by="day")),
    (db.UCB1(), db.Besson(problem=4)),
]


class Fixed:
    """Always the same arm."""

    def __init__(self, arm: Any = 0) -> None:
        self.arm, self.heard = arm, []

    def select(self) -> Any:
        return self.arm

    def update(self, arm: int, reward: float) -> None:
        self.heard.append((arm, reward))


def twin_of(policy: db.Policy, environment: db.Environment) -> db.Foreign:
    fractional = environment.rewards != "bernoulli"
    return db.Foreign(lambda n_arms, run: Twin(policy, n_arms, SEED, run, fractional), label="twin")


def shard_of(policy: db.Policy, environment: db.Environment, horizon: int = HORIZON, first_run: int = 5) -> Shard:
    return Shard(policy, environment, horizon, SEED, first_run, RUNS, tuple(range(1, horizon + 1)))


@pytest.mark.parametrize(("policy", "environment"), WORLDS, ids=str)
def test_a_twin_that_python_plays_is_the_policy_step_by_step(policy: db.Policy, environment: db.Environment) -> None:
    """To the bit that of the engine, and that of the definition but for rounding."""
    found = played(shard_of(twin_of(policy, environment), environment), lambda steps: None)
    with np.errstate(all="ignore"):
        engine = run_shard(shard_of(policy, environment), target=INTERPRETED)
    for figure, same in zip(found, engine, strict=True):
        assert figure.tobytes() == same.tobytes()
    given = policy.name, policy.parameters(), environment.name, environment.parameters()
    twins = [naive.play(*given, HORIZON, SEED, 5 + row) for row in range(RUNS)]
    for name in ("regret", "expected", "reward"):
        expected = np.array([getattr(twin, name) for twin in twins])
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-12, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("environment", [Tide(), Tide(rested=True), Jumping(), Jumping(rested=True)], ids=str)
def test_an_environment_of_a_users_own_is_the_same_too(environment: db.Environment) -> None:
    found = played(shard_of(twin_of(db.UCB1(), environment), environment), lambda steps: None)
    with np.errstate(all="ignore"):
        engine = run_shard(shard_of(db.UCB1(), environment), target=INTERPRETED)
    assert all(figure.tobytes() == same.tobytes() for figure, same in zip(found, engine, strict=True))


@pytest.mark.parametrize("environment", [db.Fast(), db.Brownian(rested=True)], ids=str)
def test_interpreted_and_compiled_steps_are_the_same(
    environment: db.Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = shard_of(twin_of(db.UCB1(), environment), environment)
    found = []
    for most in (0, 10**9):  # only the compiled gear; only the interpreted one
        monkeypatch.setattr(encounter, "MOST_INTERPRETED", most)
        if most:
            monkeypatch.setattr(encounter, "geared", lambda function, **slots: _interpreted(function, slots))
        found.append(played(shard, lambda steps: None))
    assert all(one.tobytes() == other.tobytes() for one, other in zip(*found, strict=True))


def _interpreted(function: Any, slots: dict[str, Any]) -> Gears:
    return Gears(link(function, INTERPRETED, **slots), function, INTERPRETED, slots)


@pytest.mark.parametrize("rested", [False, True])
@pytest.mark.parametrize("period", [30, 30.5])
def test_how_far_means_are_read_ahead_changes_nothing(
    period: float, rested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = db.Sinusoidal(period=period, rested=rested)
    shard = shard_of(twin_of(db.UCB1(), environment), environment)
    whole = played(shard, lambda steps: None)
    for rows in (1, 7, 59):
        monkeypatch.setattr(encounter, "READ_AHEAD", rows)
        again = played(shard, lambda steps: None)
        assert all(figure.tobytes() == same.tobytes() for figure, same in zip(whole, again, strict=True))


def test_nobody_asks_a_users_environment_for_what_lies_beyond_the_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def means_at(self: Any, clock: Any) -> Any:
        asked.extend(clock)
        return (
            db.Environment.means_at(self, clock)
            if clock.max() > HORIZON + self.rested
            else np.full((len(clock), 2), 0.5)
        )

    monkeypatch.setattr(Tide, "means_at", means_at)
    monkeypatch.setattr(Tide, "cycle", None)
    for rested in (False, True):
        played(shard_of(db.Foreign(Fixed, label="fixed"), Tide(rested=rested)), lambda steps: None)
        assert max(asked) == HORIZON + rested


def test_it_plays_beside_policies_with_rules_and_changes_nothing_for_them() -> None:
    options: dict[str, Any] = {"horizon": 50, "runs": 40, "seed": SEED}
    ours, theirs = db.UCB1(), twin_of(db.UCB1(), db.Fast())
    both = db.simulate([theirs, ours], db.Fast(), **options)
    alone = db.simulate(ours, db.Fast(), **options)
    assert both.policies == ["twin", "ucb1"]
    assert both.difference("twin", "ucb1").mean == 0.0
    for name in ("regret", "expected", "reward", "choices"):
        assert np.array_equal(both.dataset[name].sel(policy="ucb1"), alone.dataset[name].sel(policy="ucb1"))
        assert np.array_equal(both.dataset[name].sel(policy="twin"), alone.dataset[name].sel(policy="ucb1"))


def test_a_result_with_one_is_saved_and_read(tmp_path: Path) -> None:
    result = db.simulate(db.Foreign(Fixed, label="fixed"), db.Fast(), horizon=20, runs=3)
    result.save(tmp_path / "result.nc")
    again = db.Result.load(tmp_path / "result.nc")
    assert again.policies == ["fixed"]
    assert again.normalized_regret == result.normalized_regret


def test_a_factory_is_told_what_it_asks_for_and_another_seed_for_every_run() -> None:
    told = []

    def made(run: int, seed: int, horizon: int, n_arms: int, more: int = 3) -> Fixed:
        told.append((n_arms, horizon, seed, run, more))
        return Fixed()

    db.simulate(db.Foreign(made, label="told"), db.Fast(n_arms=3), horizon=7, runs=4, seed=11)
    assert told[0] == told[1], "the first is looked at beforehand"
    assert told[1:] == [(3, 7, seed_of(11, run), run, 3) for run in range(4)]
    seeds = {seed for *_, seed, _, _ in told}
    assert len(seeds) == 4
    assert all(0 <= seed < 2**32 for seed in seeds)


def test_a_player_hears_the_rewards_of_its_choices_and_pull_gets_the_arms() -> None:
    class Pulled(Fixed):
        select = None

        def pull(self, arms: list[int]) -> np.int64:
            assert arms == [0, 1, 2]
            return np.int64(2)

    made: list[Pulled] = []

    def factory() -> Pulled:
        made.append(Pulled())
        return made[-1]

    result = db.simulate(db.Foreign(factory, label="pulled"), db.Fast(n_arms=3), horizon=30, runs=2, seed=1)
    assert {arm for player in made for arm, _ in player.heard} == {2}
    heard = [sum(reward for _, reward in player.heard) for player in made[1:]]
    assert heard == result.dataset["reward"].values[0, :, -1].tolist()
    assert all(type(reward) is float for player in made for _, reward in player.heard)


@pytest.mark.parametrize("arm", [4, -1, math.nan, 1.0, True, None, "1", [2], np.float64(1.0), np.True_, 10**30])
def test_what_is_no_arm_is_answered_with_the_step_and_the_run(arm: Any) -> None:
    class Late(Fixed):
        def select(self) -> Any:
            return arm if len(self.heard) == 6 else 0

    with pytest.raises(
        db.InvalidValue, match=r"^select of late at step 7 of run 0 must return an arm from 0 to 3, got"
    ):
        db.simulate(db.Foreign(Late, label="late"), db.Fast(), horizon=20, runs=2)


def test_errors_of_its_code_are_one_line_with_the_step_and_the_run() -> None:
    class Broken(Fixed):
        def __init__(self, run: int, where: str) -> None:
            super().__init__()
            self.broken = where if run == 1 else ""

        def select(self) -> int:
            if self.broken == "select" and len(self.heard) == 3:
                raise ValueError("two\nlines")
            return 0

        def update(self, arm: int, reward: float) -> None:
            super().update(arm, reward)
            if self.broken == "update":
                raise StopIteration

    def factory(run: int) -> Any:
        if run == 1 and where == "factory":
            raise KeyError("x")
        return Broken(run, where)

    said = {
        "select": "select of mine at step 4 of run 1 fails: ValueError: two lines",
        "update": "update of mine at step 1 of run 1 fails: StopIteration:",
        "factory": "factory of mine fails for run 1: KeyError: 'x'",
    }
    for where, line in said.items():  # noqa: B007  # the factory looks at it
        with pytest.raises(db.InvalidValue) as error:
            db.simulate(db.Foreign(factory, label="mine"), db.Fast(), horizon=20, runs=2)
        assert str(error.value) == line


def test_what_is_called_needs_no_name_of_its_own() -> None:
    """A partial has none; errors call it what it was asked for as."""
    for number, line in ((0, "fails: ZeroDivisionError"), (1, "must return an arm from 0 to 3, got")):
        player = types.SimpleNamespace(select=functools.partial(divmod, 1, number), update=print)
        with pytest.raises(db.InvalidValue, match=f"^select of mine at step 1 of run 0 {line}"):
            db.simulate(db.Foreign(lambda player=player: player, label="mine"), db.Fast(), horizon=20, runs=2)


@pytest.mark.parametrize(
    ("factory", "line"),
    [
        (lambda k: Fixed(), "factory of mine must ask for n_arms, horizon, seed, run only, got k"),
        (lambda run, /: Fixed(), "factory of mine must ask for n_arms, horizon, seed, run only, got run"),
        (dict, r"factory of mine must make what has update\(arm, reward\), and select\(\) or pull\(arms\), got {}"),
        (lambda: random.Random(1), "factory of mine must make what has update"),
        (lambda: None, "factory of mine must make what has update"),
    ],
)
def test_a_factory_that_makes_no_player_is_answered_before_anything_is_played(factory: Any, line: str) -> None:
    with pytest.raises(db.InvalidValue, match=f"^{line}"):
        db.simulate([db.UCB1(), db.Foreign(factory, label="mine")], db.Fast(), horizon=10**6, runs=10**6 // 50)


@pytest.mark.parametrize("label", ["", "a b", "a:b", "x=1", "a,b", "two\nlines", None, 3, "ts"])
def test_a_label_is_a_word_that_no_policy_has(label: Any) -> None:
    with pytest.raises(db.InvalidValue, match=r"^label must be a (word|new one)"):
        db.Foreign(Fixed, label=label)
    with pytest.raises(db.InvalidValue, match=r"^factory must be a class or function that"):
        db.Foreign(3, label="three")


def test_labels_must_be_different() -> None:
    with pytest.raises(db.InvalidValue, match=r"^policies must all be different, got same 2 times"):
        db.simulate([db.Foreign(Fixed, label="same")] * 2, db.Fast(), horizon=5, runs=5)


def test_where_python_cannot_play_is_refused_in_one_line(tmp_path: Path) -> None:
    mine = db.Foreign(Fixed, label="mine")
    options: dict[str, Any] = {"horizon": 5, "runs": 5}
    for given, line in (
        ({"device": "cuda"}, '^device must be "cpu" with Foreign policies'),
        ({"cluster": "tcp://127.0.0.1:1"}, "^cluster must be None with Foreign policies"),
        ({"keep": tmp_path}, "^keep must be None with Foreign policies"),
    ):
        with pytest.raises(db.InvalidValue, match=line):
            db.simulate(mine, db.Fast(), **options, **given)
    no_rule = "^policy must have a rule, got mine, a Foreign one, which only simulate can play$"
    table = np.full((50, 2), 0.5)
    for refused in (
        lambda: db.Bandit(["red", "green"], mine),
        lambda: mine.selection_probabilities([(1, 0), (0, 0)]),
        lambda: db.replay(table, [mine], delay=3, runs=2),
        lambda: db.Log([0, 1], [0.5, 0.5], [1.0, 0.0]).value(mine),
    ):
        with pytest.raises(db.InvalidValue, match=no_rule):
            refused()


def test_a_table_is_replayed_where_rewards_come_at_once() -> None:
    table = np.tile([[0.2, 0.9]], (200, 1))
    found = db.replay(table, [db.UCB1(), db.Foreign(lambda: Fixed(1), label="second")], runs=5)
    assert found.mean_reward["second"].mean > found.mean_reward["ucb1"].mean


def test_every_step_is_told_and_ctrl_c_ends_it() -> None:
    told: list[int] = []
    shards = [shard_of(policy, db.Fast()) for policy in (db.Foreign(Fixed, label="fixed"), db.UniformRandom())]
    found = dict(Visitors(1).run(shards, told.append))
    assert set(found) == {0, 1}
    assert sum(told) == 2 * RUNS * HORIZON

    class Stopped(Fixed):
        def select(self) -> int:
            if len(self.heard) == 10:
                raise KeyboardInterrupt
            return 0

    with pytest.raises(db.Interrupted, match=r"^interrupted after \d+%; nothing was kept$"):
        db.simulate(db.Foreign(Stopped, label="stopped"), db.Fast(), horizon=20, runs=2)


@pytest.mark.parametrize("environment", [db.Stationary(best=0.7, gap=0.3), db.Slow()], ids=str)
def test_thompson_sampling_of_river_has_the_regret_of_ours(environment: db.Environment) -> None:
    """Within three standard errors of the paired difference."""
    pytest.importorskip("river", reason="river is not installed")
    from river import bandit, proba

    river = db.Foreign(lambda seed: bandit.ThompsonSampling(reward_obj=proba.Beta(), seed=seed), label="river-ts")
    result = db.simulate([db.ThompsonSampling(), river], environment, horizon=300, runs=200, seed=3)
    ours, theirs = result.dataset["regret"].values[:, :, -1]
    error = (theirs - ours).std(ddof=1) / math.sqrt(len(ours))
    assert abs((theirs - ours).mean()) < 3.0 * error
    uniform = db.simulate(db.UniformRandom(), environment, horizon=300, runs=200, seed=3).dataset["regret"].values
    assert (uniform[0, :, -1] - theirs).mean() > 10.0 * error, "a test that can tell them from others"
