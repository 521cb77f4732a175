"""Replays of tables, against the definition: one run, one decision, one row at a time."""

import collections
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import driftbandit as db
import naive
from dice import Dice
from driftbandit.logs import late, yardsticks
from driftbandit.logs.replay import NOISY, usual
from driftbandit.logs.yardsticks import BEST, ROLLING, UNIFORM

POLICIES: list[db.Policy] = [
    db.DiscountedUCB(discount=0.9),
    db.DiscountedThompsonSampling(discount=0.9),
    db.UniformRandom(),
]
RNG = np.random.default_rng(4)
SHARES = RNG.random((30, 3)).round(2)
OUTCOMES = (RNG.random((30, 3)) < 0.6).astype(float)


@pytest.fixture(autouse=True)
def nothing_is_compiled_for_live_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db.Bandit, "warm_up", lambda bandit: None)


def by_hand(policy: db.Policy, table: np.ndarray, repeat: int, runs: int, seed: int) -> np.ndarray:
    """What was earned at every decision, `[run, step]`."""
    world = db.FromMeans(means=table, repeat=repeat).parameters()
    args = (policy.name, policy.parameters(), "from-means", world, len(table) * repeat, seed)
    return np.diff([naive.play(*args, run).reward for run in range(runs)], prepend=0.0, axis=1)


@pytest.mark.parametrize("repeat", [1, 4])
def test_rewards_and_blocks_are_those_of_the_definition(repeat: int) -> None:
    found = db.replay(SHARES, POLICIES, repeat=repeat, blocks=5, window=6, runs=7, seed=3, progress=False)
    assert found.result.horizon == 30 * repeat
    assert found.lasts.tolist() == [6 * repeat * block for block in range(1, 6)]
    arm = max(range(3), key=lambda k: sum(row[k] for row in SHARES))
    played = {str(policy): by_hand(policy, SHARES, repeat, 7, 3) for policy in POLICIES}
    steps = {label: earned.mean(axis=0) for label, earned in played.items()}
    steps |= {
        UNIFORM: np.repeat([sum(row) / 3 for row in SHARES], repeat),
        BEST: np.repeat([row[arm] for row in SHARES], repeat),
        ROLLING: np.repeat(rolling_by_hand(SHARES, 3), repeat),
    }
    assert list(found.blocks) == list(steps)
    means = {label: [np.mean(part) for part in np.split(earned, 5)] for label, earned in steps.items()}
    for label, blocks in means.items():
        np.testing.assert_allclose(found.blocks[label], blocks, rtol=0, atol=1e-12)
        half = stats.t.ppf(0.975, 4) * np.std(blocks, ddof=1) / math.sqrt(5)
        assert found.by_block[label] == pytest.approx((np.mean(steps[label]), half), abs=1e-12)
    one, other = str(POLICIES[0]), str(POLICIES[1])
    apart = np.array(means[one]) - means[other]
    half = stats.t.ppf(0.975, 4) * np.std(apart, ddof=1) / math.sqrt(5)
    assert found.difference_by_block(one, other) == pytest.approx((apart.mean(), half), abs=1e-12)
    runs = (played[one] - played[other]).mean(axis=1)
    luck = stats.t.ppf(0.975, 6) * np.std(runs, ddof=1) / math.sqrt(7)
    assert found.difference(one, other) == pytest.approx((apart.mean(), math.hypot(half, luck)), abs=1e-12)
    assert found.arm == f"arm {arm + 1}"


def rolling_by_hand(table: np.ndarray, reach: int) -> list[float]:
    """In each row, the mean reward of the arms that are best on average in up to `reach` rows on either side."""
    earned = []
    for row in range(len(table)):
        around = [other for other in range(len(table)) if other != row and abs(other - row) <= reach]
        means = [sum(table[other][k] for other in around) for k in range(table.shape[1])]
        best = [k for k in range(table.shape[1]) if means[k] > max(means) - 1e-9]
        earned.append(sum(table[row][k] for k in best) / len(best))
    return earned


@pytest.mark.parametrize("window", [2, 3, 10, 500])
@pytest.mark.parametrize("table", [SHARES, OUTCOMES, SHARES[:1]], ids=["shares", "outcomes", "one row"])
def test_the_rolling_oracle_chooses_by_the_rows_around(table: np.ndarray, window: int) -> None:
    expected = rolling_by_hand(table, window // 2)
    np.testing.assert_allclose(yardsticks.rolling_oracle(table, window), expected, rtol=0, atol=1e-12)


def test_the_rolling_oracle_is_not_lifted_by_noise_as_the_largest_share_is() -> None:
    """Shares of five events each, all with the probability .7: there is nothing to choose."""
    table = np.random.default_rng(1).binomial(5, 0.7, (4000, 7)) / 5
    error = math.sqrt(0.7 * 0.3 / 5 / 4000)
    assert abs(yardsticks.rolling_oracle(table, 14).mean() - 0.7) < 4 * error
    assert table.max(axis=1).mean() > 0.9


def test_the_engine_plays_where_rewards_come_at_once() -> None:
    found = db.replay(SHARES, POLICIES, repeat=2, runs=6, seed=9, progress=False)
    same = db.simulate(POLICIES, db.FromMeans(means=SHARES, repeat=2), horizon=60, runs=6, seed=9, progress=False)
    assert found.result.dataset.identical(same.dataset)
    assert found.mean_reward == same.mean_reward


@pytest.mark.parametrize("rewards", ["bernoulli", "mean"])
@pytest.mark.parametrize(
    "policy",
    [
        *POLICIES,
        db.DriftFilter(),
        db.ChangePointThompsonSampling(),
        db.Exp3S(exploration=0.1, sharing=0.01),
        db.SlidingWindowUCB(window=7),
        db.GLRKLUCB(exploration=0.1, false_alarm=0.5),
    ],
    ids=str,
)
def test_live_bandits_without_a_delay_play_the_runs_of_the_engine(policy: db.Policy, rewards: str) -> None:
    environment = db.FromMeans(means=SHARES, rewards=rewards)
    game = late.Game((policy,), environment, 30, 3, 5)
    live, engine = late.play_late(game, 0, False), db.simulate(policy, environment, horizon=30, runs=3, seed=5)
    for name in ("regret", "expected", "reward", "choices", "static_oracle"):
        np.testing.assert_allclose(live.dataset[name].values, engine.dataset[name].values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("delay", [1, 3, 29, 100])
def test_a_reward_comes_so_many_decisions_late(delay: int) -> None:
    """The greedy policy, whose late rewards are learned as they come, run by run."""
    policy = db.EpsilonGreedy(exploration=0)
    found = db.replay(SHARES, policy, delay=delay, runs=4, seed=2, blocks=30, progress=False)
    earned = np.zeros(30)
    for run in range(4):
        dice, player = Dice(2, run), naive.Ruled(3, policy.rule(3))
        waiting: collections.deque[tuple[int, float]] = collections.deque()
        for t, row in enumerate(SHARES.tolist(), start=1):
            arm = player.select(dice, t)
            reward = naive.reward_of("bernoulli", row[arm], 1.0, 1.0, dice, t)
            earned[t - 1] += reward / 4
            waiting.append((arm, reward))
            if len(waiting) > delay:
                player.learn(*waiting.popleft())
    np.testing.assert_allclose(found.blocks[str(policy)], earned, rtol=0, atol=1e-12)
    assert found.result.environment == f"from-means:means=<30 steps of 3 arms>, rewards {delay} decisions late"
    assert json.loads(found.result.given.attrs["specification"])["delay"] == delay


def test_a_late_result_can_be_saved(tmp_path: Path) -> None:
    found = db.replay(SHARES, db.UCB1(), delay=2, runs=3, progress=False)
    found.result.save(tmp_path / "late.nc")
    assert "2 decisions late" in db.Result.load(tmp_path / "late.nc").environment


def test_runs_of_one_deterministic_policy_differ_less_than_blocks_of_time() -> None:
    policy = db.DiscountedUCB(discount=0.9, confidence=0.01)
    found = db.replay(db.datasets.weather(), policy, runs=50, progress=False)
    assert found.mean_reward[str(policy)].ci95 < 0.002
    assert found.by_block[str(policy)].ci95 > 0.02
    assert found.mean_reward[str(policy)].mean == pytest.approx(found.by_block[str(policy)].mean, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "repeat", "warned"),
    [
        (SHARES, 1, False),
        (SHARES, 2, True),
        (OUTCOMES, 3, False),
        (db.FromMeans(means=SHARES, repeat=2), 1, True),
        (db.datasets.weather(), 2, False),
        (db.datasets.flights(by="day"), 2, False),
        (db.datasets.flights(repeat=2), 1, True),
    ],
    ids=["once", "twice", "outcomes", "told before", "weather", "days", "hours"],
)
def test_repeated_shares_are_warned_of(table: Any, repeat: int, warned: bool) -> None:
    found = db.replay(table, db.UniformRandom(), repeat=repeat, runs=2, progress=False)
    assert found.warnings == ((NOISY,) if warned else ())
    assert ("warning: rows of shares are repeated" in repr(found)) == warned


def test_noise_that_is_repeated_looks_like_a_gain_from_forgetting() -> None:
    """Nothing differs and nothing moves here, yet who may decide ten times on one row of counted shares earns more."""
    table = np.random.default_rng(2).binomial(6, 0.7, (300, 4)) / 6
    policy = db.DiscountedUCB(discount=0.9, confidence=0.02)
    once, often = (db.replay(table, policy, repeat=n, runs=20, progress=False) for n in (1, 10))
    assert abs(once.difference(str(policy), UNIFORM).mean) < 0.02
    assert often.difference(str(policy), UNIFORM).low > 0.03


def test_a_split_chooses_on_the_first_rows_and_reports_the_rest() -> None:
    table = np.zeros((40, 2))
    table[:10, 0], table[10:, 1] = 1.0, 1.0
    policies = [db.ThompsonSampling(), db.UniformRandom()]
    found = db.replay(table, policies, split=0.25, runs=5, seed=1, progress=False)
    assert found.before is not None
    assert (found.before.arm, found.arm) == ("arm 1", "arm 2")
    earned = found.before.mean_reward
    assert found.chosen == max(earned, key=lambda label: earned[label].mean) == "ts"
    alone = db.replay(table[10:], policies, runs=5, seed=1, progress=False)
    assert alone.mean_reward == found.mean_reward
    assert "rows 11 to 40" in found.result.environment
    assert "ts (chosen before)" in repr(found)
    assert alone.chosen is None


def test_the_interval_of_a_difference_knows_luck_that_lasts_and_times_that_differ() -> None:
    """Worlds of 20 blocks, each with a gap of its own, where a policy that explores little lives on its first luck."""
    rng = np.random.default_rng(5)
    policies = [db.ThompsonSampling(prior_successes=1e-3, prior_failures=1e-3), db.UniformRandom()]
    found = []
    for world in range(150):
        gaps = np.repeat(0.1 + 0.1 * rng.standard_normal(20), 5)
        table = np.clip(np.column_stack([0.5 + gaps / 2, 0.5 - gaps / 2]), 0, 1)
        replay = db.replay(table, policies, blocks=20, runs=12, seed=world, progress=False)
        labels = replay.policies
        found.append((*replay.difference(*labels), replay.difference_by_block(*labels).ci95))
    means, both, blocks = np.array(found).T
    off = np.abs(means - means.mean())  # their mean is 12 times as sure as each
    assert (off <= both).mean() > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 150)
    assert (off <= blocks).mean() < 0.85, "time alone is not enough"


def test_names_of_rows_and_arms_are_told(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("day,red,green\nMon,0,1\nTue,1,1\nWed,0,1\nThu,1,0\n")
    found = db.replay(path, db.UniformRandom(), blocks=2, repeat=3, runs=2, progress=False)
    assert found.arm == "green"
    assert found.names == ("Tue", "Thu")
    assert "best single arm, green" in repr(found)
    assert db.replay(str(path), db.UniformRandom(), runs=1, progress=False).by_block["uniform"].mean >= 0


@pytest.mark.parametrize("horizon", [1, 2, 7, 50, 1461, 10**6])
def test_the_usual_policies_are_all_different(horizon: int) -> None:
    labels = [str(policy) for policy in usual(horizon)]
    assert len(set(labels)) == 5
    assert labels[0] == "ts"


def test_half_lives_of_the_usual_policies_are_shares_of_the_horizon() -> None:
    slow, fast = (policy.parameters()["discount"] for policy in usual(100_000)[1:3])
    for discount, steps in ((slow, 10_000), (fast, 1000)):
        assert math.log(0.5) / math.log(discount) == pytest.approx(steps, rel=0.05)


def test_few_rows_have_few_blocks_and_one_has_no_interval() -> None:
    assert len(db.replay(SHARES[:3], db.UCB1(), repeat=10, runs=2, progress=False).lasts) == 3
    one = db.replay(OUTCOMES[:1], db.UCB1(), repeat=10, runs=2, progress=False)
    assert math.isnan(one.by_block["ucb1"].ci95)
    assert "nan" not in repr(one)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"table": [[0.5, 1.5]]}, "table must be in [0, 1], got 1.5 in row 1, column 2"),
        ({"table": [[0.5], [0.5]]}, "table must be a table with a row a step, at least two columns (arms), and every"),
        ({"table": [[0.5, 0.5], [0.5]]}, "table must be a table with a row a step, at least two columns"),
        ({"table": []}, "table must be a table with a row a step, at least two columns"),
        ({"table": "nowhere.csv"}, "table must be a readable CSV file, got 'nowhere.csv' (No such file or directory)"),
        ({"table": None}, "table must be a table with a row a step"),
        ({"table": db.Fast()}, "table must be an array, the path of a CSV file, or an environment with a table, such"),
        ({"table": db.FromMeans(means=SHARES, rested=True)}, "table must be of moments, which pass for all arms, got "),
        ({"table": db.FromMeans(means=SHARES, rewards="beta"), "delay": 1},
         'table must have "bernoulli" or "mean" rewards with a delay, got from-means:'),
        ({"policies": []}, "policies must be at least one policy, got []"),
        ({"policies": [7]}, "policies must be policies such as ThompsonSampling(), got 7"),
        ({"policies": ["tss"]}, "policy must be one of those that `driftbandit policies` lists"),
        ({"table": "fast"}, "table must be an array, the path of a CSV file, or an environment with a table, such"),
        ({"table": "weather:by=day"}, "weather has the parameters rested, rewards, "),
        ({"policies": [db.UCB1(), db.UCB1()]}, "policies must all be different, got ucb1 2 times"),
        ({"repeat": 0}, "repeat must be a whole number of at least 1, got 0"),
        ({"repeat": 1.5}, "repeat must be a whole number of at least 1, got 1.5"),
        ({"delay": -1}, "delay must be a whole number of at least 0, got -1"),
        ({"delay": 1, "runs": 4097}, "runs must be a whole number from 1 to 4096, got 4097"),
        ({"runs": 0}, "runs must be a whole number from 1 to 1099511627775, got 0"),
        ({"blocks": 1}, "blocks must be a whole number of at least 2, got 1"),
        ({"window": 1}, "window must be a whole number of at least 2, got 1"),
        ({"split": 0}, "split must be in (0, 1), got 0"),
        ({"split": 1}, "split must be in (0, 1), got 1"),
        ({"split": "half"}, "split must be in (0, 1), got 'half'"),
        ({"split": 0.001}, "split must leave rows on both sides, got 0.001 of 30"),
        ({"seed": -1}, "seed must be a whole number from 0 to 18446744073709551615, got -1"),
    ],
)  # fmt: skip
def test_wrong_values_are_answered_in_one_line_before_anything_is_played(
    arguments: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["driftbandit.logs.replay"]  # its function has the same name
    for name in ("simulate", "play_late"):
        monkeypatch.setattr(module, name, lambda *_, **__: pytest.fail("something is played"))
    with pytest.raises(db.InvalidValue) as error:
        db.replay(**{"table": SHARES, "policies": POLICIES} | arguments)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_difference_is_of_what_was_played() -> None:
    found = db.replay(SHARES, POLICIES, runs=2, progress=False)
    assert found.difference("uniform").mean == pytest.approx(found.difference("uniform", BEST).mean)
    with pytest.raises(db.InvalidValue, match=r"^policy must be one of d-ucb:discount=0\.9, .*, got 'ts'$"):
        found.difference("ts")
