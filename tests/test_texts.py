"""A text is taken wherever a policy or an environment is, and means the same everywhere."""

from pathlib import Path

import numpy as np
import pytest

import driftbandit as db

OWN = '''
import dataclasses
from typing import ClassVar

import numpy as np

import driftbandit as db


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mild(db.UCB1):
    """UCB1 with a small bonus."""

    name: ClassVar[str] = "mild-of-texts"
    confidence: float = 0.1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Steps(db.Environment):
    """Means that change places at step 10."""

    name: ClassVar[str] = "steps-of-texts"
    n_arms: int = 2
    high: float = 0.9

    def means_at(self, clock):
        late = clock > 10
        return np.stack([np.where(late, 0.1, self.high), np.where(late, self.high, 0.1)], axis=1)
'''
GAME = {"horizon": 30, "runs": 4, "seed": 1, "progress": False}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "own_texts.py"
    path.write_text(OWN)
    return path


@pytest.fixture(scope="module")
def log() -> db.Log:
    dice = np.random.default_rng(1)
    arms = dice.choice(["red", "ts"], 400)
    return db.Log(arms, np.full(400, 0.5), dice.random(400) < np.where(arms == "red", 0.4, 0.6), policy="uniform")


def test_simulate_takes_texts_and_values_side_by_side() -> None:
    told = db.simulate(["dts:discount=0.90", db.UCB1()], "abrupt:n_arms=3", **GAME)
    made = db.simulate([db.DiscountedThompsonSampling(discount=0.9), db.UCB1()], db.Abrupt(n_arms=3), **GAME)
    assert told.dataset.identical(made.dataset)
    assert db.simulate("ts", "fast", **GAME).policies == ["ts"]


def test_files_and_tables_are_named_by_texts(own: Path, tmp_path: Path) -> None:
    (tmp_path / "means.csv").write_text("red,green\n0.1,0.9\n0.2,0.8\n")
    found = db.simulate([f"{own}:Mild", f"{own}:Mild:confidence=0.3"], f"{own}:Steps:high=0.8", **GAME)
    assert found.policies == ["mild-of-texts", "mild-of-texts:confidence=0.3"]
    assert found.environment == "steps-of-texts:high=0.8"
    assert found.normalized_regret[f"{own}:Mild"] == found.normalized_regret["mild-of-texts"]
    assert "2 arms" in db.simulate("ts", str(tmp_path / "means.csv"), **GAME).environment


def test_a_bandit_takes_a_text() -> None:
    told, made = (
        db.Bandit(["a", "b"], "dots:discount=0.9", seed=1),
        db.Bandit(["a", "b"], db.DiscountedOptimisticThompsonSampling(discount=0.9), seed=1),
    )
    assert told.state() == made.state()
    assert db.Bandit.from_state(told.state()).state()["settings"]["policy"]["name"] == "dots"


def test_replay_takes_texts() -> None:
    told = db.replay("weather", ["ts", "ucb1"], runs=2, progress=False)
    made = db.replay(db.datasets.weather(), [db.ThompsonSampling(), db.UCB1()], runs=2, progress=False)
    assert told.by_block == made.by_block
    assert told.difference(db.UCB1(), db.ThompsonSampling()) == told.difference("ucb1", "ts")
    assert told.difference_by_block(db.UCB1()) == told.difference_by_block("ucb1")


def test_a_log_takes_texts_and_an_arm_comes_first(log: db.Log) -> None:
    assert log.policy == db.UniformRandom()
    assert log.value("dts:discount=0.9") == log.value(db.DiscountedThompsonSampling(discount=0.9))
    assert log.value("ts").kind == "arm", "it is the name of an arm"
    assert log.value(db.ThompsonSampling()).kind == "one-step"
    assert log.over_time("ucb1").identical(log.over_time(db.UCB1()))
    assert log.value("ots", live=True, current="uniform") == log.value(db.OptimisticThompsonSampling(), live=True)
    assert log.tune(["dts:discount=0.9"]).candidates == log.tune(db.DiscountedThompsonSampling(discount=0.9)).candidates


def test_exact_odds_over_time_take_texts() -> None:
    told = db.expected_path("ts", "fast", 5)
    assert np.array_equal(told.means, db.expected_path(db.ThompsonSampling(), db.Fast(), 5).means)
    with pytest.raises(db.InvalidValue, match=r"^policy must be one of ts, ots, dts and dots, got UCB1"):
        db.expected_path("ucb1", "fast", 5)


def test_results_are_asked_by_policy_label_or_any_way_to_write_it() -> None:
    result = db.simulate(["dts:discount=0.9", "ts"], "fast", **GAME)
    dts, ts = db.DiscountedThompsonSampling(discount=0.9), db.ThompsonSampling()
    for name in (dts, "dts:discount=0.9", "dts:discount=0.90", "dts: discount=9e-1"):
        assert result.normalized_regret[name] == result.normalized_regret["dts:discount=0.9"]
        assert result.difference(name, ts) == result.difference("dts:discount=0.9", "ts")
        assert name in result.mean_reward
        assert result.mean_reward.get(name) == result.mean_reward["dts:discount=0.9"]
    for name in (db.UCB1(), "ucb1", "", "nonsense:", 3, None):
        assert name not in result.mean_reward
        assert result.mean_reward.get(name) is None
        with pytest.raises(db.InvalidValue, match=r"^policy must be one of dts:discount=0\.9, ts, got "):
            result.normalized_regret[name]


def test_texts_of_strangers_run_no_file(own: Path) -> None:
    for parse in (db.Policy.parse, db.Environment.parse):
        with pytest.raises(db.InvalidValue, match=r" must be (one of those that|written as name)"):
            parse(f"{own}:Mild")
    state = db.Bandit(["a", "b"], "ts", seed=1).state()
    state["settings"]["policy"]["name"] = f"{own}:Mild"
    with pytest.raises(db.InvalidValue, match=r"^state: policy must be one of those that"):
        db.Bandit.from_state(state)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (db.Policy, "", "policy must be one of those that `driftbandit policies` lists"),
        (db.Policy, ":", "policy must be one of those"),
        (db.Policy, "dts:discount=nan", r"discount must be in \(0, 1\], got nan"),
        (db.Policy, "dts:discount=0.9,discount=0.8", "discount must be given once"),
        (db.Policy, "dts:0.9", "policy must be written as name:parameter=value,…, got 'dts:0.9'"),
        (db.Policy, "dts", "dts needs discount, as in dts:discount=…"),
        (db.Policy, "dtss", r".* lists, got 'dtss' \(did you mean dts\?\)$"),
        (db.Policy, "zzzzzz", ".* lists, got 'zzzzzz'$"),
        (db.Policy, "OWN:Steps", "policy must be a class that derives from driftbandit.Policy, got Steps of"),
        (db.Environment, "OWN:Mild", "environment must be a class that derives from driftbandit.Environment, got Mild"),
        (db.Environment, "OWN:None", "environment must name a class of .*, which has Steps, got 'None'"),
        (db.Environment, "nowhere.csv", "means must be a readable CSV file"),
        (db.Environment, "fast:n_arms=1", "n_arms must be a whole number from 2"),
        (db.Environment, 7, "environment must be one of the environments, or its text, got 7"),
        (db.Policy, db.Fast(), "policy must be one of the policies, or its text, got Fast"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(own: Path, kind, text, message: str) -> None:
    given = text.replace("OWN", str(own)) if isinstance(text, str) else text
    with pytest.raises(db.InvalidValue, match=f"^{message}") as error:
        kind.of(given)
    assert "\n" not in str(error.value)
