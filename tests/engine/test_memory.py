"""A million runs fit into a small memory."""

import subprocess
import sys

import pytest

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
