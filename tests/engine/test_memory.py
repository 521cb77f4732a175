"""A million runs fit into a small memory."""

import subprocess
import sys
import time
from typing import Any

import pytest

import driftbandit as db
from driftbandit.engine import games, room
from driftbandit.engine.games import Game

SCRIPT = """
import driftbandit as db
result = db.simulate({policies}, db.Fast(), horizon={horizon}, runs={runs}, seed=1, progress=False)
for label, value in result.normalized_regret.items():
    assert 0 < value.mean < 1 and 0 < value.ci95 < 0.01, (label, value)
assert result.runs == {runs}
assert int(result.dataset["choices"].values.sum()) == {runs} * {horizon} * len(result.policies)
print(*[line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")])
"""
# VmHWM and not getrusage: that one counts the memory of the process that started this one too.
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's own count of memory")


def peak(policies: str, horizon: int, runs: int) -> float:
    """The largest memory of a process that plays this, in MiB."""
    script = SCRIPT.format(policies=policies, horizon=horizon, runs=runs)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=3000, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) / 1024


def test_a_million_runs_of_ten_steps_need_less_than_a_gibibyte() -> None:
    assert peak("db.UniformRandom()", horizon=10, runs=1_000_000) < 1024


@pytest.mark.slow
def test_a_million_runs_of_a_thousand_steps_need_less_than_a_gibibyte() -> None:
    assert peak("db.DiscountedThompsonSampling(discount=0.9)", horizon=1000, runs=1_000_000) < 1024


@pytest.mark.slow
def test_a_million_runs_of_a_wide_window_need_less_than_a_gibibyte() -> None:
    assert peak("db.SlidingWindowUCB(window=900)", horizon=1000, runs=1_000_000) < 1024


TOO_LARGE: dict[str, tuple[Any, db.Environment, int, int]] = {
    "runs": (db.ThompsonSampling(), db.Slow(), 1, 10**10),
    "runs of many steps": (db.ThompsonSampling(), db.Slow(), 10**6, 10**12),
    "a long rested table": (db.ThompsonSampling(), db.FromMeans(means=[[0.2, 0.8]], rested=True), 10**12, 1),
    "policies": ([db.ThompsonSampling(prior_successes=i) for i in range(1, 2000)], db.Slow(), 200, 10**8),
}


@pytest.mark.parametrize("case", TOO_LARGE)
@pytest.mark.parametrize("kept", [False, True])
def test_a_result_that_no_memory_holds_is_refused_at_once(case: str, kept: bool, tmp_path) -> None:
    policies, environment, horizon, runs = TOO_LARGE[case]
    keep, began = (tmp_path / "kept" if kept else None), time.monotonic()
    with pytest.raises(
        db.InvalidValue, match=r"^runs must be so few that the result fits into memory, .* GiB$"
    ) as error:
        db.simulate(policies, environment, horizon=horizon, runs=runs, progress=False, keep=keep)
    assert "\n" not in str(error.value)
    assert time.monotonic() - began < 60
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_is_not_asked_for_what_does_not_fit_here(monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere:
        arithmetic = "cpu"

        def pieces(self, job):
            pytest.fail("work is handed out")

    monkeypatch.setattr(room, "free_bytes", lambda: 1000)
    game = Game((db.UCB1(),), db.Fast(), 5, 10)
    with pytest.raises(db.InvalidValue, match=r"got 10 of 1 policy with 4 arms, which need 0.0 GiB"):
        list(games.play_games([game], Elsewhere()))


@pytest.mark.parametrize(("horizon", "runs"), [(5, 3), (700, 40), (5000, 9)])
def test_the_estimate_is_the_size_of_the_result(horizon: int, runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(room, "bytes_of", lambda *given, right=room.bytes_of: asked.append(right(*given)) or asked[-1])
    result = db.simulate([db.UCB1(), db.UniformRandom()], db.Fast(), horizon=horizon, runs=runs, progress=False)
    held = sum(result.dataset[name].nbytes for name in result.dataset.data_vars)
    assert held <= asked[0] <= 2 * held


def test_limits_of_a_container_and_of_a_process_count(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = room.free_bytes()
    assert whole is not None
    assert whole > 1 << 20
    monkeypatch.setattr(room, "CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert room.free_bytes() == 3000
    (tmp_path / "memory.stat").write_text("anon 100\ninactive_file 500\n")
    assert room.free_bytes() == 3500
    (tmp_path / "memory.max").write_text("max\n")
    assert (room.free_bytes() or 0) > 1 << 20
    script = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 33, resource.RLIM_INFINITY))
from driftbandit.engine import room
print(room.free_bytes() < 1 << 33)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\n"
