"""What a policy would earn in another's place: the world is that of the definition, and what is known comes out."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from tests.logs.makers import lived
from tests.logs.worlds import FLOOR, LOGGER, log_of, logged

import driftbandit as db
from driftbandit.logs import smoothing, tuning
from driftbandit.logs.chunk import Chunk, last_decisions
from driftbandit.logs.followers import follower
from driftbandit.logs.following import Asked, Scene, nowhere
from driftbandit.logs.half_lives import memory
from driftbandit.logs.rehearsal import LIVES, LOGS, Place, Rehearsal

STILL = np.tile([0.3, 0.5, 0.7], (600, 1))


def parts_of(log: db.Log) -> list:
    return last_decisions(log._passes.source.chunks(), 1 << 40)


def naive_curve(log: db.Log, arm: int, half_life: float) -> tuple[np.ndarray, float]:
    """The means of an arm over time and the error of predicting each reward without it, by two loops."""
    (part,) = parts_of(log)
    decided = ~part.rows.outcome
    arms, chances, rewards = part.rows.arm[decided], part.rows.value[decided], part.rows.value[~decided]
    own = np.flatnonzero(arms == arm)
    weights = 1.0 / chances[own]
    overall, prior = np.average(rewards[own], weights=weights), smoothing.PRIOR * weights.mean()

    def mean_at(t: int, left_out: int | None = None) -> float:
        paid, all_weights = prior * overall, prior
        for s, w in zip(own, weights, strict=True):
            if s != left_out:
                kernel = w * 2.0 ** (-abs(t - s) / half_life)
                paid, all_weights = paid + kernel * rewards[s], all_weights + kernel
        return paid / all_weights

    error = sum(w * (rewards[s] - mean_at(s, s)) ** 2 for s, w in zip(own, weights, strict=True))
    return np.array([mean_at(t) for t in range(len(arms))]), float(error)


def test_the_smoothed_world_is_that_of_the_definition() -> None:
    steps = np.arange(1, 201)
    means = np.stack([0.5 + 0.4 * np.sin(steps / 15.0), 0.5 + 0.0 * steps], axis=1)
    log = log_of(logged(means, "uniform", 3), "uniform")
    found = smoothing.smoothed(parts_of(log), 2)
    errors = {}
    for half_life in (8.0, 16.0, 32.0, 64.0, 128.0, 256.0):
        errors[half_life] = sum(naive_curve(log, arm, half_life)[1] for arm in (0, 1))
    assert found.half_life == min(errors, key=errors.__getitem__) == 8.0
    for arm in (0, 1):
        np.testing.assert_allclose(found.means[:, arm], naive_curve(log, arm, found.half_life)[0], rtol=1e-9)


def test_what_stands_still_is_smoothed_for_long() -> None:
    log = log_of(logged(STILL, "uniform", 1), "uniform")
    found = smoothing.smoothed(parts_of(log), 3)
    assert found.half_life >= 256.0
    assert np.abs(found.means.mean(axis=0) - STILL[0]).max() < 4.0 * 0.5 / math.sqrt(200)


def test_the_policy_that_made_the_log_is_worth_what_it_earned() -> None:
    made = logged(STILL, "floor", 5)
    log = log_of(made, "floor")
    value = log.value(LOGGER, live=True, seed=1, minimum_probability=FLOOR)
    assert value.kind == "live"
    assert value.low < made.rewards.mean() < value.high
    rehearsal = Rehearsal(parts_of(log), LOGGER, [FLOOR], Place(3, None, FLOOR, 1), 600)
    [found] = rehearsal.of([LOGGER])
    assert (len(found.on_logs), len(found.alone)) == (LOGS, LIVES)
    shift = found.alone.mean() - found.on_logs.mean()  # its own data change nothing
    assert abs(shift) < 4.0 * math.sqrt(found.alone.var(ddof=1) / LIVES + found.on_logs.var(ddof=1) / LOGS)
    assert abs(found.weights.mean() - 1.0) < 4.0 * found.weights.std() / math.sqrt(len(found.weights))


def test_simulated_logs_are_made_with_the_floor_of_the_logged_policy(tmp_path: Path) -> None:
    """Not with that of a policy which is judged; and each replica has its own."""
    paths = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for number, path in enumerate(paths):
        bandit = db.Bandit(
            ["a", "b"], db.UCB1(), seed=1, replica=number, minimum_probability=(0.2, 0.4)[number], log=path
        )
        for step in range(200):
            bandit.reward(bandit.select(), float(step % 3 == 0))
    log = db.Log.read(paths)
    with pytest.raises(
        db.InvalidValue, match=r"minimum_probability must be given where the log has several, got 0.2 and"
    ):
        log.value(db.ThompsonSampling())
    made = {}
    for floor in (0.0, 0.4):
        assert log.value(db.ThompsonSampling(), minimum_probability=floor).decisions == 400
        log.value(db.ThompsonSampling(), live=True, minimum_probability=floor)
        [rehearsal] = [each for (_, place), each in log._rehearsals.items() if place.floor == floor]
        made[floor] = [chance_of(part) for part in rehearsal._logs[0]]
    for number, least in enumerate((0.2, 0.4)):
        assert made[0.0][number].min() == pytest.approx(least)
        np.testing.assert_array_equal(made[0.0][number], made[0.4][number])
    table = logged(STILL, "floor", 5)
    known = db.Log(table.arms, table.probabilities, table.rewards, policy=db.UCB1(), minimum_probability=FLOOR)
    known.value(db.ThompsonSampling(), live=True, minimum_probability=0.0)
    [rehearsal] = known._rehearsals.values()
    assert chance_of(rehearsal._logs[0][0]).min() == pytest.approx(FLOOR)
    assert known.value(LOGGER) == known.value(LOGGER, minimum_probability=FLOOR)  # that of the log unless given
    with pytest.raises(db.InvalidValue, match=r"minimum_probability must be in \[0, 0.3"):
        db.Log(table.arms, table.probabilities, table.rewards, minimum_probability=0.9).value(LOGGER)


def chance_of(part: Chunk) -> np.ndarray:
    return part.rows.value[~part.rows.outcome]


@pytest.mark.parametrize("policy", [db.ThompsonSampling(), db.DriftFilter(randomized=True)], ids=str)
def test_a_floor_is_one_of_the_arms_that_are_there_not_of_all_that_ever_were(policy: db.Policy, tmp_path: Path) -> None:
    path, dice = tmp_path / "log.jsonl", np.random.default_rng(1)
    bandit = db.Bandit([0, 1], LOGGER, seed=1, minimum_probability=0.2, log=path)
    for arm in range(2, 9):
        for _ in range(40):
            bandit.reward(bandit.select(), float(dice.random() < 0.5))
        bandit.remove(arm - 2)
        bandit.add(arm)
    log = db.Log.read(path)
    assert log.value(policy).mean == pytest.approx(0.5, abs=0.1)
    assert not any("mean weight" in said for said in log.value(policy).warnings)
    assert log.value(policy, minimum_probability=0.5).mean == pytest.approx(0.5, abs=0.1)
    with pytest.raises(db.InvalidValue, match=r"minimum_probability must be in \[0, 0.5\], got 0.6"):
        log.value(policy, minimum_probability=0.6)
    (part,) = parts_of(log)
    decided = ~part.rows.outcome
    scene = Scene(np.full((1, 9), 0.5), 0.0, 1e9, np.uint64(1), np.uint64(0))
    half = Asked(policy, 9, None, 0.5, 50, 3)  # of two arms: each has exactly that
    follows, plays = follower(half).take(part, nowhere(0, 0)), follower(half).take(part, scene, plays=True)
    for share in ((follows.weight * part.rows.value)[decided], plays.value[decided]):
        assert share.mean() == pytest.approx(0.5, abs=4.0 * 0.5 / math.sqrt(50 * len(share)))
        assert share.std() == pytest.approx(0.5 / math.sqrt(50), rel=0.15)


def test_what_makes_values_doubtful_is_said_of_live_values_and_gains_too(tmp_path: Path) -> None:
    """Few decisions, little that the log tells, one heavy decision, and weights that are not 1 on average."""
    made = logged(np.tile([0.3, 0.7], (100, 1)), "uniform", 3)
    log, ts = log_of(made, "uniform"), db.ThompsonSampling()
    assert "ts: 100 decisions are few" in log.value(ts, live=True).warnings
    found = log.tune([ts, db.UCB1()])
    assert [said for said in found.notes if "few" in said] == ["100 decisions are few"]
    arms = np.zeros(400, int)
    arms[::100] = 1
    rare = db.Log(arms, np.where(arms == 1, 0.01, 0.99), arms, policy=db.UniformRandom())
    for said in (rare.value(ts, live=True).warnings, rare.tune([ts]).notes):
        assert any(re.search(r"^ts: the log tells as much of it as \d+ decisions of its own$", each) for each in said)
    arms[:] = 0
    arms[399] = 1
    heavy = db.Log(arms, np.where(arms == 1, 0.02, 0.98), arms, policy=db.UniformRandom())
    for said in (heavy.value(db.UniformRandom(), live=True).warnings, heavy.tune([ts]).notes):
        assert any(re.search(r"^uniform: one decision has \d\d% of all weight$", each) for each in said)
    dice = np.random.default_rng(1)
    arms = dice.integers(0, 2, 2000)
    wrong = db.Log(arms, np.full(2000, 0.4), dice.random(2000) < 0.5, policy=db.UniformRandom())
    off = "ts: the mean weight is 1.2"
    for said in (wrong.value(ts, live=True).warnings, wrong.tune([ts]).notes):
        assert any(each.startswith(off) for each in said)
    path = tmp_path / "log.jsonl"
    lived(path, 300)
    torn = path.read_text()[:-20]
    path.write_text(torn)
    log = db.Log.read(path, missing=0.0)
    assert set(log.notes) <= set(log.value(ts, live=True).warnings)
    assert any("cut off" in note for note in log.notes)


def test_the_same_seed_finds_the_same_and_another_seed_something_near() -> None:
    made = logged(STILL, "floor", 5)
    one, two = (
        log_of(made, "floor").value(db.ThompsonSampling(), live=True, seed=2, minimum_probability=FLOOR)
        for _ in range(2)
    )
    assert one == two
    other = log_of(made, "floor").value(db.ThompsonSampling(), live=True, seed=3, minimum_probability=FLOOR)
    assert other != one
    assert abs(other.mean - one.mean) < one.high - one.low


def test_tuning_finds_the_policy_that_does_not_forget_where_nothing_changes() -> None:
    log = log_of(logged(np.tile([0.2, 0.8], (1500, 1)), "floor", 2), "floor")
    found = log.tune(
        [db.DiscountedThompsonSampling(discount=0.5), db.ThompsonSampling()], seed=1, minimum_probability=FLOOR
    )
    assert (str(found.best), found.sure, str(found.current)) == ("ts", True, "dts:discount=0.97")
    better, worse = found.candidates
    assert better.low > 0.0 > worse.high
    assert better.beyond
    assert "remembers longer than the log can judge" in " ".join(found.notes)
    assert found.advice in repr(found)
    assert "sure: yes" in found.advice


def test_tuning_without_candidates_tries_half_lives_up_to_a_quarter_of_the_log() -> None:
    log = log_of(logged(np.tile([0.4, 0.5], (300, 1)), "floor", 2), "floor")
    found = log.tune(seed=1)
    assert found.longest_half_life == 75.0
    spans = {memory(row.policy, 2) for row in found.candidates}
    assert sorted(spans) == pytest.approx([8, 16, 32, 64, math.inf], rel=0.025)
    assert {str(row.policy) for row in found.candidates if row.beyond} == {"ts"}
    assert {row.policy.name for row in found.candidates} == {"dts", "dots", "ts"}


@pytest.mark.parametrize("steps", [32.0, 128.0, 1000.0, 3.15e7, 1e15])
def test_the_usual_candidates_are_different_and_remember_what_they_are_to(steps: float) -> None:
    *forgetting, ts = tuning.usual_candidates(steps)
    assert ts == db.ThompsonSampling()
    spans = [memory(policy, 2) for policy in forgetting]
    assert len(set(forgetting)) == len(forgetting)
    assert spans == 2 * sorted(set(spans))  # of dTS and of dOTS
    np.testing.assert_allclose(spans[: len(spans) // 2], 8.0 * 2.0 ** np.arange(len(spans) // 2), rtol=0.05)
    assert 0.1 * steps < max(spans) <= 0.25 * steps


def test_a_log_that_is_too_short_for_the_usual_candidates_says_so() -> None:
    log = log_of(logged(STILL[:31], "uniform", 1), "uniform")
    with pytest.raises(db.InvalidValue, match=r"log must have at least 32 steps, .* for the usual candidates, got 31"):
        log.tune()
    [row] = log.tune(db.ThompsonSampling()).candidates  # one policy is a candidate, too
    assert str(row.policy) == "ts"


def test_what_remembers_longer_than_the_log_can_judge_is_marked_wherever_it_stands() -> None:
    slow, fast, current = db.ThompsonSampling(), db.DiscountedThompsonSampling(discount=0.95), LOGGER
    rows = (tuning.Gain(slow, 0.03, -0.01, 0.07, True), tuning.Gain(fast, 0.02, -0.02, 0.06, False))
    found = tuning.Tuning(slow, False, current, rows, 100.0, 1000)
    lines = repr(found).splitlines()
    assert lines[1] == "ts                 +0.0300  -0.0100 to +0.0700 *"
    assert lines[2] == "dts:discount=0.95  +0.0200  -0.0200 to +0.0600"
    assert lines[3] == "the log can judge half-lives of up to 100 steps; * remembers longer"
    assert found.advice == (
        "best guess: ts (+0.0300 ± 0.0400), which remembers longer than the log can judge; sure: no, 780 more "
        "decisions could tell; the best guess of what it can judge is dts:discount=0.95"
    )
    assert found.best_judged == fast
    assert tuning.Tuning(slow, True, current, rows[:1], 100.0, 1000).best_judged == current
    sure = (tuning.Gain(fast, 0.03, -0.01, 0.07, False), tuning.Gain(slow, 0.02, 0.01, 0.03, True))
    said = tuning.Tuning(fast, False, current, sure, 100.0, 1000).advice
    assert said.endswith("ts, which remembers longer than the log can judge, is surely better than the current one")
    assert "*" not in tuning.Tuning(fast, False, current, rows[1:], 100.0, 1000).judged


def test_what_is_not_sure_says_how_many_more_decisions_could_tell() -> None:
    log = log_of(logged(np.tile([0.45, 0.5], (400, 1)), "floor", 3), "floor")
    found = log.tune([db.DiscountedThompsonSampling(discount=0.98)], seed=1)
    assert not found.sure
    if found.best != found.current:
        assert "more decisions could tell" in found.advice
    assert found.candidates[0].low < 0.0 < found.candidates[0].high


def test_advice_names_what_is_surely_better_where_the_best_guess_is_not() -> None:
    current, best, sure = (db.DiscountedThompsonSampling(discount=discount) for discount in (0.9, 0.99, 0.95))
    rows = (tuning.Gain(best, 0.03, -0.01, 0.07, False), tuning.Gain(sure, 0.02, 0.01, 0.03, False))
    found = tuning.Tuning(best, False, current, rows, 100.0, 1000)
    assert found.advice == (
        "best guess: dts:discount=0.99 (+0.0300 ± 0.0400); sure: no, 780 more decisions could tell; "
        "dts:discount=0.95 is surely better than the current one"
    )
    assert tuning.Tuning(current, False, current, rows, 100.0, 1000).advice == "best guess: keep dts:discount=0.9"


def test_intervals_of_all_candidates_hold_at_once_by_bonferroni() -> None:
    log = log_of(logged(STILL, "floor", 5), "floor")
    policies = [db.DiscountedThompsonSampling(discount=0.9), db.UCB1()]
    alone, together = log.tune(policies[:1], seed=1), log.tune(policies, seed=1)
    [one], [row] = alone.candidates, [row for row in together.candidates if row.policy == policies[0]]
    assert one.gain == row.gain
    assert (row.high - row.gain) / (one.high - one.gain) == pytest.approx(2.241402727604947 / 1.959963984540054)


def test_a_world_in_which_no_reward_is_known_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftbandit.logs.log.REHEARSED", 5)
    made = logged(STILL, "uniform", 5)
    made.rewards[-5:] = math.nan
    log = log_of(made, "uniform")
    for ask in (lambda: log.value(db.UCB1(), live=True), lambda: log.tune(db.UCB1())):
        with pytest.raises(db.InvalidValue, match="log must have rewards among the decisions that are looked at"):
            ask()


def test_only_the_latest_decisions_of_a_long_log_are_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftbandit.logs.log.REHEARSED", 200)
    log = log_of(logged(STILL, "floor", 5), "floor")
    found = log.tune([db.DiscountedThompsonSampling(discount=0.9)], seed=1)
    assert found.longest_half_life == 50.0
    assert "of 600 decisions the latest 200 were looked at" in found.notes
    assert log.value(db.UCB1(), live=True).decisions == 200


@pytest.mark.parametrize(
    ("policy", "steps"),
    [
        (db.DiscountedThompsonSampling(discount=0.5), 1.0),
        (db.SlidingWindowUCB(window=30), 30.0),
        (db.ThompsonSampling(), math.inf),
        (db.RestartingExp3(batch=50), 50.0),
    ],
    ids=str,
)
def test_how_long_a_policy_remembers(policy: db.Policy, steps: float) -> None:
    assert memory(policy, 3) == steps
