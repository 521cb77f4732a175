"""Wrong arguments of `simulate` are answered in one line that names them, before any work starts."""

import math
from typing import Any

import pytest

import driftbandit as db
from driftbandit.engine.cpu import shard

GOOD: dict[str, Any] = {
    "policies": [db.ThompsonSampling()],
    "environment": db.Fast(),
    "horizon": 10,
    "runs": 2,
    "seed": 0,
    "progress": False,
}
NUMBERS = [0, -1, 1.5, math.nan, math.inf, -math.inf, "5", None, True, [5], 10**400, 2**64]
WRONG: list[tuple[str, Any]] = [
    *[("horizon", value) for value in [*NUMBERS, 2**40]],
    *[("runs", value) for value in [*NUMBERS, 2**40]],
    *[("seed", value) for value in NUMBERS if value not in (0, None)],
    *[("threads", value) for value in NUMBERS if value is not None],
    *[("device", value) for value in ["gpu", "CPU", "", None, 0]],
    *[("precision", value) for value in ["float16", "double", None, "float32"]],
    *[("progress", value) for value in [0, 1, "yes", 0.5]],
    *[("environment", value) for value in [None, db.Fast, db.ThompsonSampling(), 3, [db.Fast()]]],
    *[("policies", value) for value in [[], (), None, db.ThompsonSampling, [db.ThompsonSampling], 3]],
    ("policies", [db.ThompsonSampling(), db.ThompsonSampling()]),
    ("policies", [db.ThompsonSampling(), db.UCB1(), db.ThompsonSampling(prior_successes=1.0)]),
    ("policies", [db.ThompsonSampling(), None]),
    ("policies", {"ts": db.ThompsonSampling()}),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=lambda each: repr(each)[:30])
def test_a_wrong_argument_is_named_in_one_line_before_any_work(name, value, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: Any) -> None:
        raise AssertionError("work has started")

    monkeypatch.setattr(shard, "kernel_for", work)
    with pytest.raises(db.InvalidValue) as error:
        db.simulate(**(GOOD | {name: value}))
    message = str(error.value)
    assert message.startswith(f"{name} must ")
    assert "\n" not in message
    assert len(message) < 250


def test_policies_may_be_one_a_list_or_a_generator() -> None:
    options = {name: value for name, value in GOOD.items() if name != "policies"}
    one = db.simulate(db.ThompsonSampling(), **options)
    many = db.simulate((policy for policy in [db.ThompsonSampling()]), **options)
    assert one.policies == many.policies == ["ts"]


def test_a_game_of_one_step_and_one_run_is_a_game() -> None:
    result = db.simulate(db.ThompsonSampling(), db.Fast(), horizon=1, runs=1, seed=3, progress=False)
    estimate = result.normalized_regret["ts"]
    assert 0 <= estimate.mean <= 1
    assert math.isnan(estimate.ci95)
    assert str(estimate) == f"{estimate.mean:.4f}"


def test_a_missing_result_file_and_a_damaged_one_are_refused_in_one_line(tmp_path) -> None:
    (tmp_path / "text.nc").write_text("not a result")
    result = db.simulate(db.ThompsonSampling(), db.Fast(), horizon=5, runs=2, seed=3, progress=False)
    result.save(tmp_path / "cut.nc")
    (tmp_path / "cut.nc").write_bytes((tmp_path / "cut.nc").read_bytes()[:200])
    (tmp_path / "empty.nc").write_bytes(b"")
    for name in ("absent.nc", "text.nc", "cut.nc", "empty.nc", "."):
        with pytest.raises(db.InvalidValue, match=r"^path must be ") as error:
            db.Result.load(tmp_path / name)
        assert "\n" not in str(error.value)


def test_a_result_that_cannot_be_written_says_so_in_one_line(tmp_path) -> None:
    result = db.simulate(db.ThompsonSampling(), db.Fast(), horizon=5, runs=2, seed=3, progress=False)
    with pytest.raises(db.InvalidValue, match=r"^path must be writable, got .*No such file"):
        result.save(tmp_path / "absent" / "result.nc")
    with pytest.raises(db.InvalidValue, match=r"^path must be a file, got .* \(a folder\)$"):
        result.save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_difference_with_a_policy_that_was_not_there_is_refused() -> None:
    result = db.simulate(db.ThompsonSampling(), db.Fast(), horizon=5, runs=2, seed=3, progress=False)
    with pytest.raises(db.InvalidValue, match=r"^policy must be one of ts, got 'ucb1'$"):
        result.difference("ts", "ucb1")


def test_no_seed_is_another_one_each_time_and_the_result_tells_it(tmp_path) -> None:
    options = {name: value for name, value in GOOD.items() if name != "seed"}
    first, second = db.simulate(**options, seed=None), db.simulate(**options, seed=None)
    assert first.seed != second.seed
    again = db.simulate(**options, seed=first.seed)
    assert again.dataset.identical(first.dataset)
    with pytest.raises(db.InvalidValue, match=r"^seed must be given with keep, as the same call must go on, got None$"):
        db.simulate(**options, seed=None, keep=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
