"""The drift filter: its odds, its time, late rewards, and beliefs of a user's own."""

import dataclasses
from typing import ClassVar

import numpy as np
import pytest

import driftbandit as db
import naive
from driftbandit.compiling.interpreter import INTERPRETED
from driftbandit.compiling.linking import link
from driftbandit.engine.cpu.shard import Shard, run_shard
from driftbandit.policies import drift_models as models
from driftbandit.policies.validation import tried

ARMS = np.arange(4)


class Played:
    """Four arms that were chosen for a while, in plain arrays."""

    def __init__(self, steps: int, randomized: bool = False, seed: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.beliefs = db.DriftFilter(randomized=randomized).rule(4).beliefs
        self.arms, self.common = np.tile(self.beliefs.initial, (4, 1)), self.beliefs.common.copy()
        self.own, self.room = np.zeros((4, 4)), np.empty(self.beliefs.room, np.float32)
        for _ in range(steps):
            arm = int(rng.integers(4))
            self.learn(arm, float(rng.random() < (0.2, 0.5, 0.6, 0.55)[arm]))
            self.move(1.0, arm)

    def judge(self, luck: float = 0.5, pending: tuple[int, ...] = (0, 0, 0, 0)) -> np.ndarray:
        given = (self.beliefs.tables, self.common, self.arms, ARMS, np.array(pending), luck, self.own, self.room)
        link(models.judge)(*given)
        return self.own

    def learn(self, arm: int, reward: float) -> None:
        link(models.learn)(self.beliefs.tables, self.common, self.arms[arm], reward, self.room)

    def move(self, steps: float, chosen: int = -1) -> None:
        link(models.move)(self.beliefs.tables, self.common, self.arms, ARMS, steps, chosen, self.room)


def test_odds_over_all_luck_are_the_share_of_luck_that_chooses_each_arm() -> None:
    found = np.zeros(4)
    for seed in range(8):
        played = Played(40 + 30 * seed, randomized=True, seed=seed)
        luck = (np.arange(4000) + 0.5) / 4000
        chosen = np.bincount([played.judge(each)[:, 0].argmax() for each in luck], minlength=4) / 4000
        link(models.odds)(played.beliefs.tables, played.common, played.arms, ARMS, played.judge(), np.empty((2, 4)))
        odds = played.own[:, models.AT.chance]
        assert odds.sum() == pytest.approx(1.0, abs=1e-6)
        assert np.abs(odds - chosen).max() < 2e-3  # a boundary is a step of the grid of luck, and single precision
        found += (odds > 0.01) & (odds < 0.99)
    assert found.sum() >= 4  # some were close


@pytest.mark.parametrize("pending", [(9, 0, 0, 0), (0, 9, 1, 0), (2, 10, 0, 20)])
def test_odds_are_right_where_rewards_are_waited_for(pending: tuple[int, ...]) -> None:
    for seed in range(4):
        played = Played(6 + 10 * seed, randomized=True, seed=seed)
        luck = (np.arange(2000) + 0.5) / 2000
        chosen = np.bincount([played.judge(each, pending)[:, 0].argmax() for each in luck], minlength=4) / 2000
        own = played.judge(pending=pending)
        link(models.odds)(played.beliefs.tables, played.common, played.arms, ARMS, own, np.empty((2, 4)))
        assert np.abs(own[:, models.AT.chance] - chosen).max() < 4e-3


def test_arms_of_which_the_same_is_known_share_the_odds() -> None:
    bandit = db.Bandit(range(5), db.DriftFilter(randomized=True), seed=1)
    assert list(bandit.probabilities().values()) == pytest.approx([0.2] * 5, abs=1e-12)
    assert list(db.Bandit(range(3), db.DriftFilter(), seed=1).probabilities().values()) == pytest.approx([1 / 3] * 3)


def test_what_is_believed_stays_a_law_through_rewards_and_time() -> None:
    played = Played(300)
    tables = played.beliefs.tables
    rows = played.arms.reshape(4, -1, models.CELLS)[:, 1:-1]
    sums = rows.sum(axis=2, dtype=np.float64)
    assert sums[:, : models.PARTS].sum(axis=1) == pytest.approx(np.ones(4), abs=1e-4)
    walks = slice(models.PARTS, models.PARTS + tables.hazard.size)
    assert sums[:, walks] == pytest.approx(np.ones((4, tables.hazard.size)), abs=1e-4)
    rings = sums[:, walks.stop : walks.stop + 4 * tables.rings].reshape(4, 2, 2, tables.rings)
    assert rings.sum(axis=2) == pytest.approx(np.ones((4, 2, tables.rings)), abs=1e-4)
    assert played.common[:-1].sum() == pytest.approx(1.0, abs=1e-5)
    assert played.common[-1] == 300.0


@pytest.mark.parametrize("steps", [2, 7])
def test_a_long_step_is_nearly_as_many_short_ones(steps: int) -> None:
    one, other = Played(60), Played(60)
    for _ in range(steps):
        one.move(1.0)
    other.move(float(steps))
    assert other.judge()[:, 1] == pytest.approx(one.judge()[:, 1], abs=0.004)
    assert other.own[:, 0] == pytest.approx(one.own[:, 0], abs=0.35)  # of 32 cells


def test_no_time_changes_nothing_and_an_age_forgets_all_but_what_stands_still() -> None:
    played = Played(60)
    before = played.arms.copy()
    played.move(0.0)
    assert played.arms == pytest.approx(before, abs=1e-6)
    played.move(1e9)
    assert np.all(np.isfinite(played.judge()))
    rows = played.arms.reshape(4, -1, models.CELLS)
    start = played.beliefs.tables.start
    assert rows[:, 1 + models.PARTS] == pytest.approx(np.tile(start, (4, 1)), abs=1e-6)  # a walk that jumps


def test_choices_without_a_reward_yet_narrow_what_is_believed() -> None:
    played = Played(60)
    free = played.judge().copy()
    waiting = played.judge(pending=(0, 0, 9, 0)).copy()
    assert waiting[2, 0] < free[2, 0]
    assert waiting[2, 2] > free[2, 2]
    assert waiting[[0, 1, 3], 1] == pytest.approx(free[[0, 1, 3], 1], abs=0)
    assert played.judge()[:, 1] == pytest.approx(free[:, 1], abs=0)  # nothing of it stays


def test_a_bandit_whose_rewards_are_late_explores_others_meanwhile() -> None:
    bandit = db.Bandit(list("abcd"), db.DriftFilter(), seed=1)
    waiting = [bandit.select() for _ in range(8)]
    assert {decision.arm for decision in waiting} == set("abcd")
    for decision in waiting:
        bandit.reward(decision, 1.0)
    assert bandit._evidence.waiting.tolist() == [0, 0, 0, 0]


def test_decisions_that_expire_are_no_longer_waited_for() -> None:
    bandit = db.Bandit(list("ab"), db.DriftFilter(), seed=1, step_seconds=1.0, wait=5.0)
    for time in range(4):
        bandit.select(time=float(time))
    assert bandit._evidence.waiting.sum() == 4
    state = bandit.state()
    assert db.Bandit.from_state(state)._evidence.waiting.sum() == 4
    bandit.select(time=100.0)
    assert bandit._evidence.waiting.sum() == 1


def test_what_expires_is_seen_as_it_will_be_decided() -> None:
    for seed in range(6):
        bandit = db.Bandit(list("ab"), db.DriftFilter(), seed=seed, step_seconds=1.0, wait=10.0)
        for time in range(3):
            decision = bandit.select(time=float(time))
            bandit.reward(decision, float(decision.arm == "a"), time=float(time))
        for time in range(3, 11):
            bandit.select(time=float(time), arms=["a"])
        seen = bandit.probabilities(time=50.0)
        decision = bandit.select(time=50.0)
        assert decision.probability == seen[decision.arm] > 0.0


def test_time_that_passes_in_little_pieces_passes_all_the_same() -> None:
    """An hour a step and ten decisions a second: what single precision would lose is waited for."""

    def after(pieces: int) -> np.ndarray:
        bandit = db.Bandit(list("abc"), db.DriftFilter(), seed=1, step_seconds=3600.0)
        for arm in "aabbcaab":
            bandit.reward(bandit.select(time=0.0, arms=[arm]), float(arm == "a"))
        for piece in range(1, pieces + 1):
            bandit.evidence(time=0.0)
            bandit._evidence.advance(7.0 * piece / pieces)
        bandit._evidence.advance(8.0)
        return bandit._evidence.copied().beliefs

    many, few = (after(pieces).reshape(3, -1, models.CELLS) for pieces in (5000, 70))
    jumps = slice(1 + models.PARTS, 1 + models.PARTS + db.DriftFilter().rule(3).beliefs.tables.jumping)
    assert np.abs(many[:, jumps] - few[:, jumps]).max() < 1e-5
    assert np.abs(many[:, jumps].sum(axis=2) - 1.0).max() < 1e-4
    assert np.abs(many - few).max() < 1e-3  # others spread a little otherwise in more moves


def test_new_arms_start_as_any_arm_does_whoever_was_there_before() -> None:
    bandit = db.Bandit(["a", "b"], Counting(), seed=1)
    for _ in range(9):
        bandit.reward(bandit.select(arms=["a"]), 1.0)
    bandit.remove("a")
    for arm in "cdefgh":
        bandit.add(arm)
    assert np.all(bandit._evidence.beliefs[bandit._evidence.order.all[1:]] == 0.0)
    again = db.Bandit.from_state(bandit.state(), continued=True)
    assert [bandit.select().arm for _ in range(5)] == [again.select().arm for _ in range(5)]


@pytest.mark.parametrize("change", [
    lambda evidence: evidence["beliefs"][0].__setitem__(1, "no base 64!"),
    lambda evidence: evidence["beliefs"][0].__setitem__(1, "AAAA"),
    lambda evidence: evidence["beliefs"][0].__setitem__(1, evidence["shared"]),
    lambda evidence: evidence["beliefs"][0].__setitem__(0, 77),
    lambda evidence: evidence.__setitem__("shared", "AADAfw" + evidence["shared"][6:]),  # not a number
    lambda evidence: evidence.__setitem__("shared", None),
    lambda evidence: evidence["beliefs"][0].__setitem__(1, "A" * len(evidence["beliefs"][0][1])),  # nothing anywhere
    lambda evidence: evidence.__setitem__("chosen", 9),
    lambda evidence: evidence.__setitem__("chosen", "a"),
])  # fmt: skip
def test_damaged_beliefs_are_refused_in_one_line(change) -> None:
    bandit = db.Bandit(list("abc"), db.DriftFilter(), seed=1)
    for _ in range(5):
        bandit.reward(bandit.select(), 1.0)
    state = bandit.state()
    change(state["evidence"])
    with pytest.raises(db.InvalidValue) as error:
        db.Bandit.from_state(state)
    assert "\n" not in str(error.value)


def test_fifty_runs_have_the_regret_of_the_reference() -> None:
    """The slow reference computes in double precision: regret agrees to 1e-5 of a step, 50 runs together."""
    environment, horizon = db.Abrupt(period=60), 60
    outcome = run_shard(Shard(db.DriftFilter(), environment, horizon, 11, 0, 50, (horizon,)))
    twins = [
        naive.play("drift-filter", db.DriftFilter().parameters(), "abrupt", environment.parameters(), horizon, 11, run)
        for run in range(50)
    ]
    found, expected = outcome.regret[:, 0].mean() / horizon, np.mean([twin.regret[-1] for twin in twins]) / horizon
    assert found == pytest.approx(expected, abs=1e-5)


def test_it_learns_how_arms_drift() -> None:
    """Seeded; regret as a first form of this filter had it, within 3 standard errors of both and a thousandth."""
    for environment, expected, error in ((db.Slow(), 0.0200, 0.0005), (db.Fast(), 0.0476, 0.0005)):
        outcome = run_shard(Shard(db.DriftFilter(), environment, 5000, 3, 0, 24, (5000,)))
        regret = outcome.regret[:, 0] / 5000
        assert abs(regret.mean() - expected) < 3 * np.hypot(error, regret.std() / np.sqrt(24)) + 0.001


def counted(tables, common, beliefs, arms, pending, luck, own, room):
    for i in range(arms.size):
        k = arms[i]
        own[k, 0] = beliefs[k, 1] / max(beliefs[k, 0], tables[0]) + tables[1] / (tables[0] + beliefs[k, 0])


def count(tables, common, belief, reward, room):
    belief[0] += tables[0]
    belief[1] += reward


def divide(tables, common, belief, reward, room):
    belief[0] = 1 / 0


def fade(tables, common, beliefs, arms, steps, chosen, room):
    for i in range(arms.size):
        beliefs[arms[i], 0] *= tables[2] ** steps
        beliefs[arms[i], 1] *= tables[2] ** steps


def first(parameters, shared, value):
    return value


def nothing(parameters, value, reward, probability):
    return (value,)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counting(db.Policy):
    """Discounted counts as beliefs, of a user's own."""

    name: ClassVar[str] = "test-counting"
    given: ClassVar[dict[str, object]] = {}

    def rule(self, n_arms):
        beliefs = db.Beliefs(
            initial=np.zeros(2, np.float32),
            common=np.zeros(1, np.float32),
            tables=np.array([1.0, 2.0, 0.9], np.float32),
            judge=counted,
            learn=count,
            move=fade,
        )
        rule = db.Rule(
            selection="index", score=first, learn=nothing, parameters=(), initial=(0.0,), learning="sequential"
        )
        return dataclasses.replace(rule, **({"beliefs": beliefs} | self.given))


def test_beliefs_of_a_users_own_are_played_and_interpreted_alike() -> None:
    shard = Shard(Counting(), db.Fast(n_arms=3), 40, 1, 0, 4, (40,))
    compiled, interpreted = run_shard(shard), run_shard(shard, target=INTERPRETED)
    assert compiled.choices.tobytes() == interpreted.choices.tobytes()
    assert (compiled.choices.sum(axis=0) > 0).sum() > 0
    bandit = db.Bandit(list("abc"), Counting(), seed=1)
    chosen = []
    for _ in range(60):
        decision = bandit.select()
        chosen.append(decision.arm)
        bandit.reward(decision, float(decision.arm == "b"))
    assert chosen.count("b") > 25 > chosen.count("a") > 0


@pytest.mark.parametrize(("given", "message"), [
    ({"beliefs": 3}, "^beliefs of Counting must be Beliefs, got 3"),
    ({"decay": 0.9}, "^decay of Counting must be left out, as its rule has beliefs"),
    ({"restart": 5}, "^restart of Counting must be left out"),
    ({"learning": "by arm"}, "^learning of Counting, which has beliefs, must be"),
])  # fmt: skip
def test_beliefs_that_cannot_be_are_refused_in_one_line(given, message, monkeypatch) -> None:
    monkeypatch.setattr(Counting, "given", given)
    with pytest.raises(db.InvalidValue, match=message) as error:
        tried(Counting(), 3)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("change", "message"), [
    ({"initial": np.zeros(2)}, r"^initial of the beliefs of Counting must be an array of np.float32"),
    ({"judge": None}, r"^judge of the beliefs of Counting must be what can be compiled, but it is no function"),
    ({"learn": divide}, r"^learn of the beliefs of Counting fails at step 1: ZeroDivisionError"),
    ({"tables": np.array([1.0, np.nan, 0.9], np.float32)}, r"^judge of the beliefs of Counting must fill numbers"),
    ({"chance_at": 1}, r"^chance_at of the beliefs of Counting must be"),
    ({"room": 0}, r"^room of the beliefs of Counting must be"),
])  # fmt: skip
def test_mistakes_in_beliefs_are_answered_in_one_line(change, message, monkeypatch) -> None:
    right = Counting().rule(3).beliefs
    monkeypatch.setattr(Counting, "given", {"beliefs": dataclasses.replace(right, **change)})
    with pytest.raises(db.InvalidValue, match=message) as error:
        tried(Counting(), 3)
    assert "\n" not in str(error.value)
