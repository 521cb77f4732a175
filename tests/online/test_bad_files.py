"""A spoiled state is refused in one line, or is a state: no other error, no hang, no memory without bound.

The work is done by `bad_files.py` in another process: what hangs in compiled code can only be killed from outside.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import driftbandit as db
from driftbandit.online import Bandit

PROGRAM = Path(__file__).with_name("bad_files.py")
WAYS = ["load", "from_state"]
MOST_MEMORY = 256
"""MiB by which the process may grow."""


def spoil(scale: str, way: str, first: int, count: int, folder: Path, limit: float) -> tuple[int, int]:
    """How many mutations were refused, and how many went on; all others are failures, told by their number."""
    command = [sys.executable, str(PROGRAM), scale, way, str(first), str(count), str(folder)]
    paths = [str(Path(db.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        seen = (error.stdout or b"").decode().split()
        pytest.fail(f"mutation {seen[-1:]} of {scale} {way} did not end")
    lines = result.stdout.splitlines()
    assert result.returncode == 0, f"mutation {lines[-1:]} of {scale} {way}: {result.stderr[-3000:]}"
    found = re.fullmatch(r"refused (\d+), went on (\d+), grew (\d+) MiB", lines[-1])
    assert found is not None
    refused, went_on, grown = map(int, found.groups())
    assert grown < MOST_MEMORY
    return refused, went_on


@pytest.mark.parametrize("way", WAYS)
def test_a_spoiled_state_is_refused_or_works(way: str, tmp_path: Path) -> None:
    refused, went_on = spoil("few", way, 0, 750, tmp_path, limit=300.0)
    assert refused > 100
    assert went_on > 100


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 11_000, 2500))
@pytest.mark.parametrize("way", WAYS)
def test_thousands_of_spoiled_states_are_refused_or_work(way: str, first: int, tmp_path: Path) -> None:
    refused, went_on = spoil("many", way, first, 2500, tmp_path, limit=1200.0)
    assert refused > 500
    assert went_on > 300


def test_an_arm_that_only_won_or_was_never_answered_keeps_its_odds() -> None:
    """α or β of dynamic Thompson sampling shrinks below every number; that is no reason to stop."""
    bandit = Bandit(["a", "b"], db.DynamicThompsonSampling(threshold=0.5), seed=1)
    for _ in range(1000):
        bandit.reward(bandit.select(arms=["a"]).id, 1.0)
        bandit.select(arms=["b"])
    assert sum(bandit.probabilities().values()) == pytest.approx(1.0)
    bandit = Bandit.from_state(bandit.state())
    assert 0.0 < bandit.select().probability <= 1.0
    bandit.describe()


@pytest.mark.parametrize("policy", [db.DiscountedThompsonSampling(discount=0.9), db.RestartingExp3(batch=7)], ids=str)
def test_time_before_zero_is_time(policy: db.Policy) -> None:
    late = Bandit(["a", "b"], policy, seed=1, step_seconds=1.0)
    early = Bandit(["a", "b"], policy, seed=1, step_seconds=1.0)
    shift = 7.0 * 200_000
    for time in (0.0, 3.5, 4.0, 9.0, 30.0):
        decisions = late.select(time=time), early.select(time=time - shift)
        assert decisions[0].arm == decisions[1].arm
        late.reward(decisions[0].id, 1.0, time=time)
        early.reward(decisions[1].id, 1.0, time=time - shift)
        early = Bandit.from_state(early.state(), continued=True)
    for arm, numbers in late.evidence(31.0).items():
        assert early.evidence(31.0 - shift)[arm] == pytest.approx(numbers, rel=1e-9)


def test_a_discount_near_nothing_leaves_the_latest_reward() -> None:
    bandit = Bandit(["a"], db.DiscountedThompsonSampling(discount=5e-324), seed=1)
    for _ in range(3):
        bandit.reward(bandit.select().id, 1.0)
    assert bandit.evidence() == {"a": (1.0, 0.0, 1.0)}
