"""Environments for Gymnasium: its own checker is content, and worlds and rewards are those of `simulate`."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

import gymnasium
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import driftbandit as db
import driftbandit.gym as ours
import naive
from driftbandit.engine.cpu.shard import Shard
from driftbandit.engine.visitors import played
from foreign_twins import Twin
from own_environments import Jumping, Tide

SEED, HORIZON = 9, 60
REGISTERED = sorted(name for name in gymnasium.registry if name.startswith("driftbandit/"))
NEEDED: dict[str, dict[str, Any]] = {
    "driftbandit/Bandit-v0": {"environment": "fast:n_arms=3"},
    "driftbandit/FromMeans-v0": {"means": [[0.1, 0.9], [0.8, 0.2]]},
    "driftbandit/Piecewise-v0": {"levels": ((0.1, 0.9), (0.8, 0.2)), "change_points": (5,)},
    "driftbandit/Sinusoidal-v0": {"period": 50.5},
}
WORLDS: list[db.Environment] = [
    db.Sinusoidal(period=50.5),
    db.Abrupt(period=7, rested=True, n_arms=7),
    db.Brownian(volatility=0.2),
    db.Brownian(volatility=0.2, rested=True),
    db.Fast(rewards="beta", concentration=0.7),
    db.Fast(rewards="normal", deviation=2.0),
    db.datasets.weather(),
]


def test_every_environment_of_the_package_is_registered_by_its_name() -> None:
    there = (*db.environments.__all__, *db.datasets.__all__)
    kinds = {**vars(db.environments), **vars(db.datasets)}
    named = {name for name in there if isinstance(kinds[name], type) and getattr(kinds[name], "name", "")}
    assert {f"driftbandit/{name}-v0" for name in named} | {"driftbandit/Bandit-v0"} == set(REGISTERED)
    assert {"Slow", "Fast", "Abrupt", "Flights"} <= named
    assert gymnasium.spec("driftbandit/EnvA-v0").max_episode_steps == db.EnvA().usual_horizon
    assert gymnasium.spec("driftbandit/Fast-v0").max_episode_steps == 1000


@pytest.mark.parametrize("observation", ["none", "last"])
@pytest.mark.parametrize("name", REGISTERED)
def test_the_checker_of_gymnasium_is_content(name: str, observation: str) -> None:
    """Its warnings are errors here, as all are."""
    env = gymnasium.make(name, observation=observation, **NEEDED.get(name, {}))
    check_env(env.unwrapped)
    assert env.unwrapped.spec is not None
    gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.unwrapped.spec.to_json()))


@pytest.mark.parametrize("rewards", ["mean", "beta", "normal"])
@pytest.mark.parametrize("environment", [db.Brownian(), Tide(), Jumping(rested=True)], ids=str)
def test_the_checker_is_content_with_rewards_of_every_kind_and_with_a_users_own(
    environment: db.Environment, rewards: str
) -> None:
    made = type(environment)(**(environment.parameters() | {"rewards": rewards}))
    check_env(gymnasium.make("driftbandit/Bandit-v0", environment=made, observation="last").unwrapped)


@pytest.mark.parametrize("environment", WORLDS, ids=str)
@pytest.mark.parametrize("vectors", [False, True], ids=["one", "many"])
def test_an_agent_meets_step_by_step_what_the_definition_says(environment: db.Environment, vectors: bool) -> None:
    """A policy plays runs 5 to 7 by `step`, and as the definition of a run does."""
    given = "ucb1", db.UCB1().parameters(), environment.name, environment.parameters()
    fractional = environment.rewards != "bernoulli"
    runs = range(5, 8)
    twins = [Twin(db.UCB1(), environment.n_arms, SEED, run, fractional) for run in runs]
    found = by_vector(environment, twins) if vectors else by_one(environment, twins)
    for row, run in enumerate(runs):
        trace = naive.play(*given, HORIZON, SEED, run)
        assert found["chosen"][row].tolist() == trace.chosen
        np.testing.assert_allclose(found["reward"][row].cumsum(), trace.reward, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found["total_regret"][row], trace.regret, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found["regret"][row].cumsum(), trace.regret, rtol=1e-12, atol=1e-13)
        its_mean = np.take_along_axis(found["means"][row], found["chosen"][row][:, None], 1)[:, 0]
        np.testing.assert_allclose(its_mean.cumsum(), trace.expected, rtol=1e-12, atol=1e-13)
    foreign = db.Foreign(lambda n_arms, run: Twin(db.UCB1(), n_arms, SEED, run, fractional), label="twin")
    shard = Shard(foreign, environment, HORIZON, SEED, 5, 3, tuple(range(1, HORIZON + 1)))
    simulated = played(shard, lambda steps: None)
    assert np.array_equal(simulated.regret, found["total_regret"]), "the very bits"
    assert np.array_equal(simulated.reward[:, -1], found["reward"].cumsum(axis=1)[:, -1])


def by_one(environment: db.Environment, twins: list[Twin]) -> dict[str, np.ndarray]:
    env = gymnasium.make("driftbandit/Bandit-v0", environment=environment)
    rows: list[dict[str, list[Any]]] = []
    for row, twin in enumerate(twins):
        _, info = env.reset(seed=SEED, options={"run": 5}) if row == 0 else env.reset()
        assert info == {"seed": SEED, "run": 5 + row}
        rows.append({})
        for _ in range(HORIZON):
            arm = twin.select()
            _, reward, terminated, truncated, info = env.step(arm)
            assert not terminated
            assert not truncated
            twin.update(arm, reward)
            for name, value in {"chosen": arm, "reward": reward, **info}.items():
                rows[-1].setdefault(name, []).append(value)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def by_vector(environment: db.Environment, twins: list[Twin]) -> dict[str, np.ndarray]:
    envs = gymnasium.make_vec("driftbandit/Bandit-v0", num_envs=len(twins), environment=environment)
    assert isinstance(envs, ours.BanditVectorEnv)
    _, info = envs.reset(seed=SEED, options={"run": 5})
    assert info["run"].tolist() == [5, 6, 7]
    steps: dict[str, list[Any]] = {}
    for _ in range(HORIZON):
        arms = np.array([twin.select() for twin in twins])
        _, reward, terminated, truncated, info = envs.step(arms)
        assert not (terminated | truncated).any()
        for twin, arm, its in zip(twins, arms, reward, strict=True):
            twin.update(int(arm), float(its))
        for name, value in {"chosen": arms, "reward": reward, **info}.items():
            steps.setdefault(name, []).append(value)
    return {name: np.swapaxes(np.array(values), 0, 1) for name, values in steps.items()}


def test_the_mean_reward_of_an_arm_is_what_simulate_says() -> None:
    class First:
        def select(self) -> int:
            return 0

        def update(self, arm: int, reward: float) -> None:
            pass

    result = db.simulate(db.Foreign(First, label="first"), db.Slow(), horizon=50, runs=40, seed=SEED)
    envs = gymnasium.make_vec("driftbandit/Slow-v0", num_envs=40)
    envs.reset(seed=SEED)
    rewards = sum(envs.step(np.zeros(40, int))[1] for _ in range(50))
    assert np.array_equal(result.dataset["reward"].values[0, :, -1], rewards)


def test_the_next_episode_is_the_next_run_and_the_same_seed_the_same_again() -> None:
    env = gymnasium.make("driftbandit/Brownian-v0", observation="last")

    def episode(**given: Any) -> list[Any]:
        env.reset(**given)
        return [env.step(1)[4]["means"].tolist() for _ in range(5)]

    first, second = episode(seed=1), episode()
    assert first != second
    assert [episode(seed=1), episode()] == [first, second]
    assert episode(options={"run": 0}) == first
    assert episode(seed=2) != first
    assert episode(seed=1, options={"run": 1}) == second
    fresh = gymnasium.make("driftbandit/Brownian-v0"), gymnasium.make("driftbandit/Brownian-v0")
    assert fresh[0].reset()[1]["seed"] != fresh[1].reset()[1]["seed"]


def test_observations_are_nothing_or_the_last_arm_and_its_reward() -> None:
    env = gymnasium.make("driftbandit/Fast-v0", n_arms=3)
    assert env.observation_space == gymnasium.spaces.Discrete(1)
    assert env.reset(seed=1)[0] == 0
    assert env.step(2)[0] == 0
    env = gymnasium.make("driftbandit/Fast-v0", n_arms=3, observation="last", rewards="mean")
    assert env.reset(seed=1)[0].tolist() == [0, 0, 0, 0]
    observation, reward, *_ = env.step(2)
    assert observation.tolist() == [0, 0, 1, np.float32(reward)]


def test_an_episode_is_truncated_where_gymnasium_says_so() -> None:
    env = gymnasium.make("driftbandit/Fast-v0", max_episode_steps=3)
    env.reset(seed=1)
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]


def test_vectors_are_truncated_together_and_go_on_with_the_next_runs() -> None:
    envs = gymnasium.make_vec("driftbandit/Brownian-v0", num_envs=2, max_episode_steps=3, observation="last")
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    envs.reset(seed=1)
    truncated = [envs.step(np.array([0, 1]))[3].tolist() for _ in range(3)]
    assert truncated == [[False] * 2, [False] * 2, [True] * 2]
    observation, reward, terminated, truncated_now, info = envs.step(np.array([3, 3]))
    assert observation in envs.observation_space
    assert not observation.any()
    assert not reward.any()
    assert not (terminated | truncated_now).any()
    assert info["run"].tolist() == [2, 3]
    after = envs.step(np.array([0, 0]))[4]["means"]
    alone = gymnasium.make("driftbandit/Brownian-v0")
    for run in (2, 3):
        alone.reset(seed=1, options={"run": run})
        assert np.array_equal(alone.step(0)[4]["means"], after[run - 2])


def test_vectors_are_what_gymnasium_makes_of_single_ones() -> None:
    """But for seeds: its own vectors take seed + i for environment i, ours run i of one seed."""
    made = [lambda: gymnasium.make("driftbandit/Fast-v0", observation="last", max_episode_steps=4)] * 3
    theirs, envs = SyncVectorEnv(made), gymnasium.make_vec(
        "driftbandit/Fast-v0", num_envs=3, observation="last", max_episode_steps=4
    )  # fmt: skip
    assert envs.observation_space == theirs.observation_space
    assert envs.action_space == theirs.action_space
    theirs.reset(options={"run": 0}, seed=[5, 5, 5])
    envs.reset(seed=5)
    dice = np.random.default_rng(1)
    for _ in range(4):
        actions = dice.integers(0, 4, 3)
        for one, other in zip(theirs.step(actions)[:4], envs.step(actions)[:4], strict=True):
            assert one.shape == other.shape
            assert one.dtype == other.dtype
    theirs.reset(seed=[5, 5, 5])
    envs.reset(seed=5)
    one, other = theirs.step(np.array([1, 1, 1])), envs.step(np.array([1, 1, 1]))
    assert one[4].keys() == other[4].keys()
    assert np.array_equal(one[4]["means"], other[4]["means"])
    assert one[1][0] == other[1][0]
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    wrapped.reset(seed=1)
    ends = [wrapped.step(np.zeros(3, int))[4] for _ in range(4)][-1]
    assert ends["episode"]["l"].tolist() == [4, 4, 4]


@pytest.mark.parametrize("action", [4, -1, 1.0, True, None, "1", float("nan"), [1]])
def test_what_is_no_arm_is_refused_in_one_line(action: Any) -> None:
    env = gymnasium.make("driftbandit/Fast-v0").unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(db.InvalidValue, match=r"^action must be a whole number from 0 to 3, got [^\n]*$"):
        env.step(action)
    envs = gymnasium.make_vec("driftbandit/Fast-v0", num_envs=2)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step([0, 0])
    envs.reset(seed=1)
    for wrong in ([action, 0], [0], 0):
        if isinstance(action, bool) and isinstance(wrong, list) and len(wrong) == 2:
            continue  # NumPy makes whole numbers of these
        with pytest.raises((db.InvalidValue, ValueError)):
            envs.step(wrong)


def test_other_mistakes_are_one_line_too() -> None:
    make, name = gymnasium.make, "driftbandit/Fast-v0"
    for call, line in (
        (lambda: make(name, n_arms=1), "^n_arms must be a whole number"),
        (lambda: make(name, arms=3), "^fast has the parameters"),
        (lambda: make(name, observation="all"), '^observation must be "none" or "last"'),
        (lambda: make("driftbandit/Bandit-v0", environment=3), "^environment must be an environment such as"),
        (lambda: make("driftbandit/Bandit-v0", environment=db.Fast(), n_arms=3), "^parameters must go with the name"),
        (lambda: make(name).reset(seed=1, options={"rum": 2}), "^options must be run or nothing, got rum"),
        (lambda: make(name).reset(seed=1, options={"run": -1}), "^run must be a whole number"),
        (lambda: make(name).reset(seed=2**64), "^seed must be a whole number"),
        (lambda: gymnasium.make_vec(name, num_envs=0), "^num_envs must be a whole number"),
        (lambda: gymnasium.make_vec(name, max_episode_steps=0), "^max_episode_steps must be a whole number"),
    ):
        with pytest.raises(db.InvalidValue, match=line) as error:
            call()
        assert "\n" not in str(error.value)


def test_gymnasium_finds_it_by_the_name_of_the_module_too() -> None:
    program = (
        "import gymnasium; env = gymnasium.make('driftbandit.gym:driftbandit/Fast-v0', n_arms=4); "
        "assert env.action_space.n == 4"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)


def test_without_gymnasium_one_line_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "import driftbandit as db\n"
        "try:\n    import driftbandit.gym\nexcept db.MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "these environments need Gymnasium: pip install 'driftbandit[gym]'\n"
