"""Values are what their definitions say, computed here decision by decision."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from tests.logs import reader
from tests.logs.makers import lived

import driftbandit as db
from driftbandit.logs import arm_sums, confidence_sequence, terms
from driftbandit.logs.arm_sums import ArmSums
from driftbandit.logs.chunk import last_decisions
from driftbandit.logs.smoothing import Smoothed, smoothed
from driftbandit.logs.value import snips
from driftbandit.policies import Policy

Z95 = 1.959963984540054


def terms_of(path: Path, target: Any, missing: float = math.nan) -> list[dict[str, float]]:
    """By decision that the arm could have been chosen in: its DR term, and what IPS and the bounds look at."""
    _, events = reader.read(path, missing)
    paid, seen, rows, of = {}, {}, [], {}
    for kind, one in events:
        key = (one.replica, one.arm)
        if kind == "decided":
            if target in one.eligible:
                mine = (one.replica, target)
                guess = paid[mine] / seen[mine] if mine in seen else 0.5
                w = 1.0 / one.probability if one.arm == target else 0.0
                of[id(one)] = row = {"guess": guess, "w": w, "time": one.time, "term": guess, "x": 0.0, "y": 0.0}
                rows.append(row)
        else:
            row = of.get(id(one))
            if row is not None and one.arm == target and not math.isnan(one.reward):
                row["x"], row["y"] = row["w"] * one.reward, row["w"] * (1.0 - one.reward)
                row["term"] += row["w"] * (one.reward - row["guess"])
            if not math.isnan(one.reward):
                paid[key] = 0.98 * paid.get(key, 0.0) + one.reward
                seen[key] = 0.98 * seen.get(key, 0.0) + 1.0
    return rows


def test_an_arm_is_worth_what_the_definitions_say(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 500)
    log = db.Log.read(path, missing=0.0)
    for arm in log.arms:
        rows = terms_of(path, arm, missing=0.0)
        term, w, x = (np.array([row[name] for row in rows]) for name in ("term", "w", "x"))
        value = log.value(arm)
        assert value.decisions == len(rows)
        half = Z95 * term.std() / math.sqrt(len(rows))
        ends = [min(max(end, 0.0), 1.0) for end in (term.mean(), term.mean() - half, term.mean() + half)]
        assert [value.mean, value.low, value.high] == pytest.approx(ends, rel=1e-9)
        if w.any():
            assert value.snips == pytest.approx(x.sum() / w.sum(), rel=1e-12)
            assert value.effective_size == pytest.approx(w.sum() ** 2 / (w @ w), rel=1e-12)
            assert value.largest_weight == pytest.approx(w.max(), rel=1e-12)


def test_values_and_their_intervals_lie_where_rewards_lie() -> None:
    """One decision says nothing but that; and few may say nothing that cannot be."""
    one = db.Log(["blue"], [0.25], [1.0], names=["blue", "red"], times=[0.0])
    for value in (one.value("blue"), one.value("blue", anytime=True), one.value("ts")):
        assert (value.low, value.high) == (0.0, 1.0)
        assert 0.0 <= value.mean <= 1.0
    data = one.over_time("blue", window=1.0)
    assert [float(data[name][0]) for name in ("mean", "low", "high", "so_far")] == [1.0, 0.0, 1.0, 1.0]
    two = db.Log(["blue", "red"], [0.05, 0.05], [1.0, 0.0], policy="ts")
    for value in (two.value("blue"), two.value("red"), two.value("ts"), two.value("ts", live=True)):
        assert 0.0 <= value.low <= value.mean <= value.high <= 1.0
    assert one.value("blue").warnings[0] == "blue: 1 decision is few"


def naive_bound(x: np.ndarray, guess: np.ndarray, alpha: float) -> float:
    """The lower end of the empirical-Bernstein mixture: a root, found by somebody else's method."""
    rates = 2.0 ** -np.arange(1.0, 13.0)
    costs = -np.log(1.0 - rates) - rates
    variance = float(((x - guess) ** 2).sum())

    def excess(u: float) -> float:
        return float(np.log(np.mean(np.exp(np.clip(rates * u - costs * variance, -700, 700)))) - math.log(1.0 / alpha))

    return (x.sum() - optimize.brentq(excess, 0.0, 1e6)) / len(x)


def test_bounds_for_all_looks_are_those_of_the_mixture(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 500)
    log = db.Log.read(path)
    for arm in log.arms[:3]:
        rows = terms_of(path, arm)
        x, y, guess = (np.array([row[name] for row in rows]) for name in ("x", "y", "guess"))
        value = log.value(arm, anytime=True)
        assert value.anytime
        assert value.low == pytest.approx(max(0.0, naive_bound(x, guess, 0.025)), abs=1e-9)
        assert value.high == pytest.approx(min(1.0, 1.0 - naive_bound(y, 1.0 - guess, 0.025)), abs=1e-9)
        assert value.high - value.low > log.value(arm).high - log.value(arm).low


def test_the_process_behind_the_bounds_shrinks_whatever_is_drawn() -> None:
    """E[exp(λ(X − μ) − ψ(λ)(X − m)²)] ≤ 1 for every law of X ≥ 0 with mean μ: tried on many with two values."""
    dice = np.random.default_rng(5)
    for rate, cost in zip(confidence_sequence.RATES, confidence_sequence.COSTS, strict=True):
        for _ in range(300):
            chance, guess = dice.uniform(0.01, 1.0), dice.uniform(0.0, 1.0)
            high = dice.uniform(0.0, 1.0) / chance
            mean = chance * high
            values, odds = np.array([0.0, high]), np.array([1.0 - chance, chance])
            process = np.exp(rate * (values - mean) - cost * (values - guess) ** 2)
            assert odds @ process <= 1.0 + 1e-12


def test_windows_of_time_have_the_values_of_their_decisions(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 400)
    log = db.Log.read(path)
    data = log.over_time("red", window=50)
    assert data["begin"].values.tolist() == [1.0 + 50 * i for i in range(8)]
    rows = terms_of(path, "red")
    for i in range(8):
        own = np.array([row["term"] for row in rows if 1 + 50 * i <= row["time"] < 51 + 50 * i])
        half = Z95 * own.std() / math.sqrt(len(own))
        for name, wanted in (("mean", own.mean()), ("low", own.mean() - half), ("high", own.mean() + half)):
            assert float(data[name][i]) == pytest.approx(min(max(wanted, 0.0), 1.0), rel=1e-9)
        until = [row for row in rows if row["time"] < 51 + 50 * i]
        x, guess = (np.array([row[name] for row in until]) for name in ("x", "guess"))
        so_far = np.clip(np.mean([row["term"] for row in until]), 0.0, 1.0)
        assert float(data["so_far"][i]) == pytest.approx(so_far, rel=1e-9)
        assert float(data["so_far_low"][i]) == pytest.approx(max(0.0, naive_bound(x, guess, 0.025)), abs=1e-9)
    assert float(data["so_far"][-1]) == pytest.approx(log.value("red").mean, rel=1e-12)


def test_a_long_log_has_as_many_pieces_as_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 600, step_seconds=1.0)
    whole = db.Log.read(path)
    monkeypatch.setattr(terms, "MOST", 16)
    short = db.Log.read(path)
    for arm in whole.arms[:4]:
        one, other = short.value(arm), whole.value(arm)
        assert (one.mean, one.low) == pytest.approx((other.mean, other.low), rel=1e-9)
    assert len(short._arms.sums.bins.terms.count) == 16
    data = short.over_time("red")
    assert 8 <= data.sizes["window"] <= 16
    assert float(data["so_far"][-1]) == pytest.approx(whole.value("red").mean, rel=1e-9)


@pytest.mark.parametrize("window", [7.3, 0.25, 100.0, 1e6])
@pytest.mark.parametrize("replicas", [1, 2])
def test_windows_are_exactly_as_long_as_somebody_says(
    window: float, replicas: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However coarse the pieces are in which sums are kept: by another pass."""
    monkeypatch.setattr(terms, "MOST", 16)
    paths = [tmp_path / f"{number}.jsonl" for number in range(replicas)]
    for number, path in enumerate(paths):
        lived(path, 300, seed=2 - number, replica=number, step_seconds=1.0)
    log = db.Log.read(paths)
    rows = [row for path in paths for row in terms_of(path, "red")]
    first, last = min(row["time"] for row in rows), max(row["time"] for row in rows)
    for target, kind in (("red", "arm"), (db.UCB1(), "one-step")):
        data = log.over_time(target, window=window)
        assert (data.attrs["window"], data.attrs["kind"]) == (window, kind)
        assert data.sizes["window"] == (last - first) // window + 1
        np.testing.assert_allclose(data["begin"], first + window * np.arange(data.sizes["window"]), rtol=1e-12)
        np.testing.assert_allclose(data["end"] - data["begin"], window, rtol=1e-9)
        assert float(data["so_far"][-1]) == pytest.approx(log.value(target).mean, rel=1e-12)
        if kind == "arm":
            for begin, mean in zip(data["begin"].values, data["mean"].values, strict=True):
                own = [row["term"] for row in rows if begin <= row["time"] < begin + window]
                chosen = any(row["w"] for row in rows if begin <= row["time"] < begin + window)
                assert mean == pytest.approx(np.clip(np.mean(own), 0, 1), rel=1e-9) if chosen else math.isnan(mean)


def test_windows_for_which_there_is_no_room_are_refused_and_the_usual_ones_say_how_long_they_are() -> None:
    dice = np.random.default_rng(1)
    times = np.sort(365 * 86400.0 * dice.random(3000))
    log = db.Log(dice.integers(0, 2, 3000), np.full(3000, 0.5), dice.random(3000) < 0.5, times)
    for window in (3600.0, 86400.0, 604800.0):
        data = log.over_time(0, window)
        assert np.allclose(data["end"] - data["begin"], window, rtol=1e-9)
        assert data.sizes["window"] == np.ptp(times) // window + 1
    with pytest.raises(db.InvalidValue, match=r"window must be at least 225\.\d+, for 139810 windows .*, got 60"):
        log.over_time(0, 60)
    for window in (1e9, 1e19, 1e300):
        data = log.over_time(0, window)
        assert (data.sizes["window"], float(data["mean"][0])) == (1, pytest.approx(log.value(0).mean))
    data = log.over_time(0)
    assert 18 <= data.sizes["window"] <= 22
    assert data.attrs["window"] == float(data["end"][0] - data["begin"][0])


def test_sums_of_many_arms_keep_to_the_room_there_is(tmp_path: Path) -> None:
    """Also where arms come one after the other, and where all come at once."""
    dice, path = np.random.default_rng(0), tmp_path / "log.jsonl"
    log = db.Log(dice.integers(0, 2000, 300), np.full(300, 0.0005), dice.random(300) < 0.5, names=range(2000))
    bandit = db.Bandit([0], db.UniformRandom(), seed=1, log=path)
    for arm in range(1, 1500):
        bandit.add(arm)
        bandit.reward(bandit.select(), 1.0)
    for each in (log, db.Log.read(path)):
        _ = each.arms
        bins = each._arms.sums.bins.terms
        assert len(bins) * bins.count.size <= terms.ROOM
        assert bins.count.sum(axis=0).tolist() == [row.eligible for row in each.check().arms]
    assert [row.eligible for row in each.check().arms] == [1499, *range(1499, 0, -1)]


def test_times_before_the_first_find_room_too() -> None:
    found = terms.TermSums(1)
    for times in ([100.0, 101.0], [5.0], [3000.0], [-50.0, 2999.0]):
        bins = found.fit(np.array(times))
        for time in times:
            bins.terms.count[int((time - bins.origin) // bins.width), 0] += 1.0
    begin, end, rows = found.over_time(0, 500.0)
    assert rows.count.sum() == 6
    assert begin[0] <= -50.0 < end[0]
    assert begin[-1] <= 3000.0 < end[-1]


def test_missing_rewards_are_what_is_said_or_what_was_expected(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    bandit = db.Bandit(["a", "b"], db.UniformRandom(), seed=1, log=path)
    ids = [bandit.select().id for _ in range(1000)]
    for number, id in enumerate(ids):
        if number % 200:
            bandit.reward(id, float(number % 3 == 0))
    log = db.Log.read(path)
    assert log.value("a").mean == pytest.approx(np.mean([row["term"] for row in terms_of(path, "a")]), rel=1e-12)
    assert "5 decisions have no reward" in " ".join(log.check().warnings)
    for said in (0.0, 1.0):
        rows = terms_of(path, "a", missing=said)
        found = db.Log.read(path, missing=said).value("a").mean
        assert found == pytest.approx(np.mean([row["term"] for row in rows]), rel=1e-12)
    for id in ids[::200]:
        bandit.reward(id, 1.0)
    waiting = [bandit.select().id for _ in range(100)]
    assert waiting
    with pytest.raises(db.InvalidValue, match="missing must be given where more than 1% of decisions have no reward"):
        db.Log.read(path).value("a")


def censored(seed: int, steps: int = 2000, **options: Any) -> list[dict[str, Any]]:
    """Good rewards, one in ten, come at once; bad ones never do."""
    dice, events = np.random.default_rng(seed), list[dict[str, Any]]()
    bandit = db.Bandit(["a", "b"], db.UniformRandom(), seed=seed, log=events.append, **options)
    for _ in range(steps):
        decision = bandit.select()
        if dice.random() < 0.1:
            bandit.reward(decision, 1.0)
    return events


def test_decisions_younger_than_their_wait_do_not_count_with_a_reward_or_without() -> None:
    held, means = [], []
    for seed in range(10):
        log = db.Log.of(censored(seed, wait=700, default_reward=0.0))
        assert log.notes == ("701 decisions at the end are younger than their wait, and do not count, rewarded or not",)
        assert log.decisions == len(log) == log.check().rewards == 1299
        value, live = log.value("a"), log.value(db.ThompsonSampling(), live=True)
        for each in (value, log.value(db.ThompsonSampling()), live):
            assert each.decisions == 1299
        data = log.over_time("a", window=1300)
        assert (data.sizes["window"], float(data["so_far"][0])) == (1, pytest.approx(value.mean))
        held += [value.low <= 0.1 <= value.high, live.low <= 0.1 <= live.high]
        means.append([value.mean, live.mean, log.mean_reward.mean, float(smoothed_of(log).means[-300:].mean())])
    assert np.mean(held) >= 0.9
    np.testing.assert_allclose(np.mean(means, axis=0), 0.1, atol=0.01)


def smoothed_of(log: db.Log) -> Smoothed:
    return smoothed(last_decisions(log._passes.source.chunks(), 1 << 40), 2)


def test_without_a_wait_rewards_that_have_not_come_are_missing() -> None:
    events = censored(1)
    with pytest.raises(db.InvalidValue, match="missing must be given where more than 1% of decisions have no reward"):
        db.Log.of(events).check()
    assert db.Log.of(events, missing=0.0).value("a").mean == pytest.approx(0.1, abs=0.03)


def test_a_log_in_which_all_decisions_are_younger_than_their_wait_has_none() -> None:
    events = censored(1, steps=50, wait=1e6)
    with pytest.raises(db.InvalidValue, match="log must have decisions, got none that is older than its wait, of 50"):
        db.Log.of(events).check()


def test_decisions_that_are_overdue_have_the_default_reward_though_no_line_says_so() -> None:
    """That of an arm that was removed never gets a line; nor does the latest that is overdue."""
    events: list[dict[str, Any]] = []
    bandit = db.Bandit(["a", "b", "c"], db.UniformRandom(), seed=1, log=events.append, wait=5, default_reward=0.25)
    arm = bandit.select().arm
    bandit.remove(arm)
    for _ in range(20):
        bandit.reward(bandit.select(), 1.0)
    assert not any(event["event"] == "expired" for event in events)
    for missing in (None, 1.0):
        log = db.Log.of(events, missing=missing)
        assert (log.decisions, log.check().rewards) == (15, 15)
        assert log.mean_reward.mean == pytest.approx((14 + 0.25) / 15)
    events[0]["default_reward"] = 7
    with pytest.raises(db.InvalidValue, match=r"event 1: default_reward must be in \[0, 1\], got 7"):
        db.Log.of(events).check()


def test_weights_that_are_not_1_on_average_are_noticed(tmp_path: Path) -> None:
    dice = np.random.default_rng(2)
    arms = dice.integers(0, 2, 4000)
    wrong = db.Log(arms, np.full(4000, 0.4), dice.random(4000) < 0.5)  # they were chosen with .5
    assert any("the mean weight is" in said for said in wrong.value(0).warnings)
    assert not any("odds are so small" in said for said in wrong.value(0).warnings)
    low = db.Log(arms, np.full(4000, 0.6), dice.random(4000) < 0.5)  # may be chance, where odds are tiny
    assert any("odds are so small that chance has not shown" in said for said in low.value(0).warnings)
    right = db.Log(arms, np.full(4000, 0.5), dice.random(4000) < 0.5)
    assert right.value(0).warnings == ()


@pytest.mark.parametrize("scans", [False, True])
def test_a_log_of_certain_decisions_says_that_it_cannot_judge_them(scans: bool, tmp_path: Path) -> None:
    """An index has no luck but among ties: what a log of it says of others is hardly more than its own reward."""
    path = tmp_path / "log.jsonl"
    bandit, dice = db.Bandit(["a", "b", "c"], db.UCB1(), seed=1, log=path), np.random.default_rng(1)
    decisions = [bandit.select()]
    for _ in range(499):
        bandit.reward(decisions[-1], float(dice.random() < {"a": 0.9, "b": 0.1, "c": 0.1}[decisions[-1].arm]))
        decisions.append(bandit.select())
    bandit.reward(decisions[-1], 0.0)
    log = db.Log.read(path)
    source: Any = log._passes.source
    source._scans = scans
    certain = sum(decision.probability == 1.0 for decision in decisions)
    value = log.value(db.UniformRandom())
    assert value.low > 0.6  # where it is 0.37
    assert certain > 450
    for warnings in (value.warnings, log.value("a").warnings, log.notes, log.check().warnings):
        assert any(said.startswith(f"{certain} decisions had a probability of 1 and say nothing") for said in warnings)
    names = [decision.arm for decision in decisions]
    table = db.Log(names, [decision.probability for decision in decisions], np.ones(500))
    assert table.notes == log.notes


def test_decisions_that_a_mask_made_certain_are_no_reason_for_doubt() -> None:
    events: list[Any] = []
    bandit = db.Bandit(["a", "b", "c"], db.UniformRandom(), seed=1, log=events.append)
    for _ in range(100):
        for decision in bandit.select_many(3, replace=False):
            bandit.reward(decision, 1.0)
    log = db.Log.of(events)
    assert log.notes == log.value("ts").warnings == log.value("a").warnings == ()
    masks = [[arm == name for arm in "abc"] for name in "ab"] * 100 + [[True] * 3] * 100
    assert not db.Log(["a", "b"] * 100 + ["c"] * 100, [1.0] * 200 + [1 / 3] * 100, [1.0] * 300, among=masks).notes


def test_an_arm_that_was_never_chosen_has_no_value_and_windows_without_it_have_none() -> None:
    dice = np.random.default_rng(2)
    arms = np.where(np.arange(1000) < 500, 0, dice.integers(0, 2, 1000))
    log = db.Log(arms, np.where(np.arange(1000) < 500, 0.9, 0.5), dice.random(1000) < 0.5, names=[0, 1, 2])
    value = log.value(2)
    assert (math.isnan(value.mean), value.low, value.high, value.effective_size) == (True, 0.0, 1.0, 0.0)
    assert log.value(2, anytime=True).low == 0.0
    data = log.over_time(1, window=250)
    assert np.isnan(data["mean"].values).tolist() == [True, True, False, False]
    assert log.check().arms[2].chosen == 0


def test_masks_are_part_of_a_table() -> None:
    dice = np.random.default_rng(3)
    among = np.ones((2000, 3), bool)
    among[::2, 2] = False
    arms = np.array([dice.choice(np.flatnonzero(row)) for row in among])
    chances, rewards = 1.0 / among.sum(axis=1), (dice.random(2000) < np.array([0.2, 0.5, 0.8])[arms]).astype(float)
    log = db.Log(arms, chances, rewards, names=[0, 1, 2], among=among)
    assert [log.value(arm).decisions for arm in (0, 1, 2)] == [2000, 2000, 1000]
    for arm, mean in enumerate((0.2, 0.5, 0.8)):
        value = log.value(arm)
        assert abs(value.mean - mean) < 4.0 * (value.high - value.mean) / Z95
        assert value.warnings == ()


def test_frames_and_parquet_files_are_the_log_that_their_columns_are(tmp_path: Path) -> None:
    import pandas
    import polars
    import pyarrow.parquet

    dice = np.random.default_rng(4)
    arms = dice.choice(["a", "b"], 500, p=[0.7, 0.3])
    columns = {"arm": arms, "probability": np.where(arms == "a", 0.7, 0.3), "reward": dice.random(500).round(2)}
    log = db.Log(*columns.values())
    frames = [pandas.DataFrame(columns), polars.DataFrame(columns), pyarrow.table(columns)]
    for frame in frames:
        assert db.Log.of(frame).value("b") == log.value("b")
    dated = pandas.DataFrame(columns | {"time": pandas.date_range("2026-01-01", periods=500, freq="min")})
    assert db.Log.of(dated).over_time("b", window=3600.0).sizes["window"] == 9
    pyarrow.parquet.write_table(frames[2], tmp_path / "log.parquet", row_group_size=100)
    assert db.Log.read(tmp_path / "log.parquet").value("b") == log.value("b")


def test_columns_are_the_same_log_whatever_they_are_kept_in(tmp_path: Path) -> None:
    """Times are seconds since 1970, and what is missing has no value: in frames, arrays and lists alike."""
    import pandas
    import polars
    import pyarrow.parquet

    dice = np.random.default_rng(4)
    arms, rewards = dice.choice(["a", "b"], 500), [float(reward) for reward in dice.random(500) < 0.5]
    rewards[3] = math.nan
    seconds = 1767225600.0 + 60.0 * np.arange(500)
    log = db.Log(arms, np.full(500, 0.5), rewards, seconds)
    wanted = log.over_time("b", window=3600.0)
    given = [None if number == 3 else reward for number, reward in enumerate(rewards)]
    truths = [None if reward is None else bool(reward) for reward in given]
    naive = pandas.date_range("2026-01-01", periods=500, freq="min")
    zoned = naive.tz_localize("UTC").tz_convert("America/New_York")
    frame = pandas.DataFrame({"arm": arms, "probability": 0.5, "reward": rewards, "time": naive})
    times = {
        "pandas": naive, "zoned": zoned, "us": naive.values.astype("M8[us]"), "objects": list(zoned.to_pydatetime()),
        "naive objects": list(naive.to_pydatetime()), "since": (naive - pandas.Timestamp("1970-01-01")).values,
    }  # fmt: skip
    columns = {
        "boolean": pandas.array(truths, "boolean"), "Float64": pandas.array(given, "Float64"), "list": given,
        "truths": truths, "polars": polars.Series(truths),
    }  # fmt: skip
    lazy = polars.from_pandas(frame.assign(time=zoned)).lazy()
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(frame.assign(time=zoned)), tmp_path / "log.parquet")
    logs = {
        "lazy": db.Log.of(lazy), "parquet": db.Log.read(tmp_path / "log.parquet"),
        **{name: db.Log(arms, np.full(500, 0.5), rewards, column) for name, column in times.items()},
        **{name: db.Log(arms, np.full(500, 0.5), column, seconds) for name, column in columns.items()},
        **{f"frame {name}": db.Log.of(frame.assign(time=column)) for name, column in times.items() if name != "since"},
        **{f"frame {name}": db.Log.of(frame.assign(reward=list(column))) for name, column in columns.items()},
    }  # fmt: skip
    for name, each in logs.items():
        assert each.over_time("b", window=3600.0).identical(wanted), name
    with pytest.raises(db.InvalidValue, match=r"time must be in \[-1e15, 1e15\], got nan in row 1"):
        db.Log.of(frame.assign(time=[pandas.NaT, *naive[1:]])).check()


def test_sums_by_python_and_by_compiled_code_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 300)
    found = []
    for most in (0, 1 << 40):
        monkeypatch.setattr(arm_sums, "MOST_INTERPRETED", most)
        made = ArmSums()
        for chunk in db.Log.read(path)._passes.source.chunks():
            made.take(chunk)
        found.append(np.stack(made.sums.bins.terms))
    np.testing.assert_allclose(*found, rtol=1e-13, atol=1e-13)


def test_the_standard_error_of_snips_is_that_of_a_ratio() -> None:
    dice = np.random.default_rng(6)
    means = []
    for seed in range(400):
        dice = np.random.default_rng(seed)
        arms = (dice.random(500) < 0.3).astype(int)
        log = db.Log(arms, np.where(arms == 1, 0.3, 0.7), dice.random(500) < np.where(arms == 1, 0.6, 0.2))
        means.append(snips(log._arms.sums.total(1)))
    mean, error = np.array(means).T
    assert mean.mean() == pytest.approx(0.6, abs=4.0 * mean.std() / 20.0)
    assert error.mean() == pytest.approx(mean.std(), rel=0.15)


@pytest.mark.parametrize("policy", ["ts", "drift-filter"])
def test_what_a_policy_earns_one_step_at_a_time_is_without_bias(policy: str) -> None:
    """In a world that stays, with logs of arms at random: the truth is its choice at each step, times the means."""
    truth, errors = np.array([0.2, 0.7]), []
    for seed in range(12):
        dice = np.random.default_rng(seed)
        arms = dice.integers(0, 2, 300)
        rewards = (dice.random(300) < truth[arms]).astype(float)
        log = db.Log(arms, np.full(300, 0.5), rewards, names=[0, 1])
        value = log.value(Policy.parse(policy), seed=seed)
        assert log._passes.of_policy(log._asked(Policy.parse(policy), 0.0, seed)).total(0).count == 300
        errors.append((value.mean - one_step(policy, arms, rewards, truth), value.high - value.mean))
    error, half = np.array(errors).T
    assert abs(error.mean()) < 4.0 * error.std() / math.sqrt(len(error))
    assert (np.abs(error) < 1.5 * half).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_policy_is_asked_with_other_random_numbers_than_the_log_was_made_with(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lived(path, 1000, seed=seed)
    log = db.Log.read(path, missing=0.0)
    for text in ("ts", "dts:discount=0.9"):
        value = log.value(Policy.parse(text), seed=seed)
        assert not any("mean weight" in said for said in value.warnings)


def one_step(policy: str, arms: np.ndarray, rewards: np.ndarray, truth: np.ndarray) -> float:
    """By a live bandit that is asked for its odds, and is then given the logged decision."""
    bandit = db.Bandit([0, 1], Policy.parse(policy), seed=1)
    earned = []
    for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
        odds = bandit.probabilities()
        earned.append(odds[0] * truth[0] + odds[1] * truth[1])
        bandit.reward(bandit.select(arms=[arm]), reward)
    return float(np.mean(earned))
