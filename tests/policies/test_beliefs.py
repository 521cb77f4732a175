"""Policies with beliefs: where they are others in disguise, their exact odds, and what time does to them."""

import base64
import dataclasses
import itertools
import math
from typing import Any, ClassVar

import numpy as np
import pytest

import driftbandit as db
from dice import LUCK, Dice
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.engine.cpu.shard import Outcome, Shard, run_shard
from driftbandit.policies import gittins
from driftbandit.policies.gittins_tables import index_table
from driftbandit.policies.validation import tried

CTS = db.ChangePointThompsonSampling


def played(policy: db.Policy, steps: int = 60, runs: int = 3, first_run: int = 0, n_arms: int = 4) -> Outcome:
    shard = Shard(policy, db.Abrupt(period=20, n_arms=n_arms), steps, 7, first_run, runs, (steps,))
    with np.errstate(all="ignore"):
        return run_shard(shard, target=INTERPRETED)


# Change points


@pytest.mark.parametrize("scope", ["all", "arm"])
@pytest.mark.parametrize("prior", [1.0, 0.25])
def test_without_changes_change_points_are_thompson_sampling(scope: str, prior: float) -> None:
    found = played(CTS(hazard=0, scope=scope, runs=3, prior_successes=prior))
    expected = played(db.ThompsonSampling(prior_successes=prior))
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


def test_where_everything_always_changes_all_arms_are_alike() -> None:
    bandit = db.Bandit(range(3), CTS(hazard=1), seed=1)
    for _ in range(5):
        bandit.reward(bandit.select(arms=[0]), 1.0)
    assert list(bandit.probabilities().values()) == pytest.approx([1 / 3] * 3, abs=1e-9)


@pytest.mark.parametrize("policy", [CTS(hazard=0.2, runs=3), CTS(runs=5, prior_successes=0.5)], ids=str)
def test_odds_are_what_simulate_records(policy: db.Policy) -> None:
    """Arm 0 always pays and arm 1 never: a history is a sequence of arms, so frequencies can be summed exactly."""
    steps, runs, expected = 4, 60_000, np.zeros((4, 2))
    histories: dict[tuple[int, ...], float] = {(): 1.0}
    for step in range(steps):
        following = {}
        for history, weight in histories.items():
            bandit = db.Bandit([0, 1], policy, seed=1)
            for arm in history:
                bandit.reward(bandit.select(arms=[arm]), 1.0 - arm)
            chances = np.array(list(bandit.probabilities().values()))
            assert bandit.select().probability in chances
            expected[step] += weight * chances
            following |= {(*history, arm): weight * chances[arm] for arm in (0, 1)}
        histories = following
    shard = Shard(policy, db.FromMeans(means=[[1.0, 0.0]]), steps, 3, 0, runs, (steps,))
    found = run_shard(shard).choices / runs
    assert expected.sum(axis=1) == pytest.approx(np.ones(steps), abs=1e-9)
    assert np.all(np.abs(found - expected) <= 4.5 * np.sqrt(expected * (1 - expected) / runs) + 1e-9)


def test_what_odds_are_not_known_is_said_in_one_line() -> None:
    with pytest.raises(db.InvalidValue, match=r"must be asked live, with Bandit\.probabilities"):
        CTS(hazard=0.1).selection_probabilities([(1, 0), (0, 0)])
    bandit = db.Bandit([0, 1], CTS(hazard=0.1, scope="arm"), seed=1)
    if not CTS(scope="arm").rule(2).knows_odds:
        with pytest.raises(db.InvalidValue, match="policy must have the same luck for all arms"):
            bandit.probabilities()


@pytest.mark.parametrize("scope", ["all", "arm"])
@pytest.mark.parametrize("hazard", [0.05, None])
def test_time_passes_alike_in_one_piece_and_in_many(scope: str, hazard: float | None) -> None:
    beliefs = CTS(hazard=hazard, scope=scope, runs=4).rule(2).beliefs
    assert beliefs is not None
    arms, room = np.arange(2), np.zeros(beliefs.room, np.float32)
    pair = [(beliefs.common.copy(), np.tile(beliefs.initial, (2, 1))) for _ in range(2)]
    for (common, arrays), pieces in zip(pair, ([5.0, 5.0], [1.0] * 5 + [0.25] * 8 + [3.0]), strict=True):
        for reward in (1.0, 0.0, 1.0):
            beliefs.learn(beliefs.tables, common, arrays[0], reward, room)
            for steps in pieces:
                beliefs.move(beliefs.tables, common, arrays, arms, steps, 0, room)
    for one, other in zip(*pair, strict=True):
        assert one == pytest.approx(other, rel=1e-5)


def test_a_summary_is_of_the_whole_mixture() -> None:
    bandit = db.Bandit(["a", "b"], CTS(hazard=0.1), seed=1)
    for reward in (1.0, 1.0, 0.0, 1.0):
        bandit.reward(bandit.select(arms=["a"]), reward)
    rows = {row.arm: row for row in bandit._summary()}
    assert 1.0 < rows["a"].observations < 4.0
    assert rows["b"].mean == pytest.approx(0.5)
    assert (rows["b"].low, rows["b"].high) == pytest.approx((0.025, 0.975))
    assert 0.5 < rows["a"].mean < 2 / 3


class Own(CTS):
    """The same by a user, who has changed something."""

    name = "own-cts"
    change: ClassVar[dict[str, Any]] = {}

    def rule(self, n_arms: int) -> db.Rule:
        right = super().rule(n_arms)
        assert right.beliefs is not None
        return dataclasses.replace(right, beliefs=dataclasses.replace(right.beliefs, **self.change))


@pytest.mark.parametrize("scope", ["all", "arm"])
def test_beliefs_of_a_users_own_can_be_sampled_from(scope: str) -> None:
    assert tried(Own(hazard=0.1, scope=scope), 3).selection == "sampled"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lucky": False}, "^lucky of the beliefs of Own must be True, as its judge looks at luck"),
        ({"own_luck": 1}, "^own_luck of the beliefs of Own must be"),
        ({"pieces": 3}, "^pieces of the beliefs of Own must be a function"),
        ({"pieces": lambda *_: (np.ones((2, 1)), np.ones((3, 1, 2)))}, "^pieces of the beliefs of Own must be weights"),
        ({"pieces": lambda *_: (np.ones((1, 2)), np.ones((3, 2, 2)))}, "^weights of the pieces of Own must be"),
    ],
)
def test_mistakes_in_pieces_are_answered_in_one_line(
    change: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Own, "change", change)
    with pytest.raises(db.InvalidValue, match=message) as error:
        tried(Own(hazard=0.1), 3)
    assert "\n" not in str(error.value)


# The Gittins index


@pytest.mark.parametrize(
    ("shape", "future", "index"),
    [
        ((1, 1), 0.5, 0.5590),
        *(
            (shape, future, index)
            for shape, row in {
                (1, 1): (0.7029, 0.7614, 0.8699),
                (2, 1): (0.8001, 0.8381, 0.9102),
                (1, 2): (0.5001, 0.5601, 0.7005),
                (2, 2): (0.6346, 0.6810, 0.7844),
            }.items()
            for future, index in zip((0.9, 0.95, 0.99), row, strict=True)
        ),
    ],
)
def test_gittins_indices_are_the_known_ones(shape: tuple[int, int], future: float, index: float) -> None:
    assert db.gittins_index(*shape, future) == pytest.approx(index, abs=5.1e-5)


def test_a_table_has_the_indices_and_goes_on_beyond_its_end() -> None:
    rule = db.GittinsIndex(future=0.9).rule(2)
    assert rule.beliefs is not None
    known = rule.beliefs.tables
    assert known.most == 48
    for s, f in [(0, 0), (3, 1), (0, 20), (24, 24), (45, 3)]:
        assert known.table[s, f] == pytest.approx(db.gittins_index(1 + s, 1 + f, 0.9), abs=2e-4)
    for s, f in [(25, 24), (40, 20), (3, 46), (100, 50)]:
        mean = (1 + s) / (2 + s + f)
        assert gittins.beyond(known, s, f, mean) == pytest.approx(db.gittins_index(1 + s, 1 + f, 0.9), abs=1e-3)


def test_an_index_grows_with_successes_and_falls_with_failures() -> None:
    table = index_table(1.0, 1.0, 0.9, 20)
    for s, f in itertools.product(range(20), repeat=2):
        if s + f < 20:
            assert table[s + 1, f] > table[s, f] > table[s, f + 1]


def test_the_approximation_is_the_published_one() -> None:
    rule = db.GittinsIndex(future=0.95, method="approximation").rule(2)
    assert rule.score is not None
    assert rule.score(rule.parameters, 0.0, 0.0, 0.0) == pytest.approx(0.657, abs=5e-4)
    for future in (0.5, 0.9, 0.99, 0.99999):  # every piece of ψ
        p = db.GittinsIndex(future=future, method="approximation").rule(2).parameters
        found = [gittins.index(p, 0.0, n, n) - 0.5 for n in (0.0, 5.0, 50.0, 500.0)]
        assert found == sorted(found, reverse=True)


# Bandit over bandit


def test_within_a_block_it_is_a_sliding_window() -> None:
    policy = db.BanditOverBandit(horizon=60, batch=60)
    beliefs = policy.rule(4).beliefs
    assert beliefs is not None
    windows = beliefs.tables.windows.tolist()
    assert windows == [1, 2, 5, 11, 26, 60]
    seen = set()
    for run in range(8):
        window = windows[int(Dice(7, run).uniform(1, 0, LUCK) * len(windows))]
        seen.add(window)
        found = played(policy, runs=1, first_run=run).choices
        assert np.array_equal(found, played(db.SlidingWindowUCB(window=window), runs=1, first_run=run).choices)
    assert len(seen) >= 3


def test_windows_that_earned_more_are_drawn_more_often() -> None:
    policy = db.BanditOverBandit(horizon=10**6, batch=3)
    bandit = db.Bandit([0, 1], policy, seed=1)
    shared = bandit._state.evidence.shared
    for _ in range(30):
        for _ in range(3):
            decision = bandit.select()
            bandit.reward(decision, float(shared[1] == 1.0))  # only the first window earns anything
    bandit.select()
    assert shared[3] == 0.0
    assert shared[4] < -1e-3
    assert math.isclose(sum(bandit.probabilities().values()), 1.0)


@pytest.mark.parametrize("scope", ["all", "arm"])
def test_a_file_whose_runs_weigh_nothing_is_refused(scope: str) -> None:
    bandit = db.Bandit(["a", "b"], CTS(scope=scope, hazard=0.1, runs=4), seed=1)
    for _ in range(9):
        bandit.reward(bandit.select(), 1.0)
    state = bandit.state()
    assert db.Bandit.from_state(state).probabilities().keys() == {"a", "b"}
    evidence = state["evidence"]
    size = len(base64.b64decode(evidence["shared"])) // 4
    evidence["shared"] = base64.b64encode(np.zeros(size, "<f4").tobytes()).decode()
    evidence["beliefs"] = [
        [k, base64.b64encode(np.zeros(len(base64.b64decode(text)) // 4, "<f4").tobytes()).decode()]
        for k, text in evidence["beliefs"]
    ]
    with pytest.raises(db.InvalidValue, match="weights of which one is above 0"):
        db.Bandit.from_state(state)
