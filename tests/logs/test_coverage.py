"""How often intervals hold: a little here, and at full size behind `slow` (docs/evaluation.md has the tables)."""

import math

import numpy as np
import pytest
from benchmarks import evaluation
from tests.logs.worlds import STEPS, log_of, logged, worlds

LOGS = 120


@pytest.mark.parametrize("world", ["slow", "abrupt"])
def test_intervals_of_arms_hold_as_often_as_they_say(world: str) -> None:
    """Of logs of arms at random, which are made at once."""
    truth = worlds()[world]
    held, at_all_looks = [], []
    for seed in range(LOGS):
        log = log_of(logged(truth, "uniform", seed), "uniform")
        for arm in range(truth.shape[1]):
            value = log.value(arm)
            held.append(value.low <= truth[:, arm].mean() <= value.high)
        data = log.over_time(0, window=100)
        ends = np.minimum(data["end"].values.astype(int) - 1, STEPS)
        so_far = np.cumsum(truth[:, 0])[ends - 1] / ends
        at_all_looks.append(
            bool(((data["so_far_low"].values <= so_far) & (so_far <= data["so_far_high"].values)).all())
        )
    error = math.sqrt(0.95 * 0.05 / LOGS)  # arms of one log are nearly independent: this is on the safe side
    assert abs(np.mean(held) - 0.95) < 3.0 * error
    assert np.mean(at_all_looks) >= 0.95


@pytest.mark.slow
def test_arms_at_full_size() -> None:
    rows = {(row["logger"], row["way"]): row for row in evaluation.arms(400)}
    error = math.sqrt(0.95 * 0.05 / 400)
    for world in worlds():
        assert 0.93 <= rows["floor", "DR"][world] <= 0.97
        assert rows["floor", "DR"][f"{world} least"] >= 0.95 - 3.0 * error  # of 23 arms in five worlds
        for logger in ("floor", "bare", "uniform"):
            assert rows[logger, "sequence, at all looks"][f"{world} least"] >= 0.95
        assert rows["floor", "DR, at all looks"][world] < 0.9  # one look is one look
    for wrong in ("naive mean", "adaptive weights"):
        assert rows["floor", wrong]["slow"] < 0.05
        assert max(rows["floor", wrong][world] for world in ("slow", "abrupt", "walk")) < 0.8


@pytest.mark.slow
def test_policies_and_tuning_at_full_size() -> None:
    rows = evaluation.policies(60)
    assert 0.90 <= np.mean([row["live coverage"] for row in rows]) <= 0.97
    assert min(row["live least"] for row in rows) >= 0.85
    assert sum(row["sure and wrong"] for row in rows) == 0
    assert sum(row["loss"] for row in rows) < 0.1 * sum(row["loss of keeping"] for row in rows)


@pytest.mark.slow
def test_the_values_of_carriers_are_recovered_from_uniform_logs() -> None:
    for row in evaluation.flights(1000):
        assert abs(row["held"] - 0.95) <= 0.02, row
