"""The table and the figure say what the bandit believes."""

import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console
from scipy import stats
from tests.online.scenes import ARMS, POLICIES, ids

import driftbandit as db
from driftbandit.online import Bandit


def lived(policy: db.Policy, arms: int = 4) -> Bandit:
    rng = np.random.default_rng(3)
    bandit = Bandit([f"arm {k}" for k in range(arms)], policy, seed=2)
    for _ in range(100):
        decision = bandit.select()
        bandit.reward(decision.id, float(rng.random() < 0.2 + 0.1 * int(decision.arm[4:]) % 0.7))
    return bandit


@pytest.mark.parametrize("policy", POLICIES, ids=ids)
def test_every_policy_is_described_and_drawn(policy: db.Policy) -> None:
    bandit = lived(policy)
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(bandit)
    text = console.export_text()
    console.file.close()
    assert all(f"arm {k}" in text for k in range(4))
    assert "effective sample size" in text
    figure = bandit.plot()
    figure.canvas.draw()
    rows = bandit._summary()
    assert sum(row.probability for row in rows) == pytest.approx(1.0, abs=1e-11)
    assert sum(row.decisions for row in rows) == 100
    assert policy.name in repr(bandit)


def test_the_interval_is_that_of_the_posterior() -> None:
    bandit = lived(db.DiscountedThompsonSampling(discount=0.9))
    evidence = bandit.evidence()
    for row in bandit._summary():
        a, b, count = evidence[row.arm]
        posterior = stats.beta(a + 1, b + 1)
        assert row.mean == pytest.approx(posterior.mean())
        assert (row.low, row.high) == pytest.approx(posterior.interval(0.95))
        assert row.observations == count


def test_many_arms_alike_are_one_line() -> None:
    bandit = lived(db.DiscountedThompsonSampling(discount=0.5), arms=5000)
    rows = bandit._summary()
    assert rows[-1].arm is None
    assert sum(row.count for row in rows) == 5000
    assert sum(row.count * row.probability for row in rows) == pytest.approx(1.0, abs=1e-10)
    assert bandit.describe().row_count <= 21
    bandit.plot().canvas.draw()


def test_importing_live_use_is_quick() -> None:
    heavy = ("numba", "scipy", "matplotlib", "rich")
    code = f"import sys, driftbandit.online; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_one_is_counted_as_one() -> None:
    bandit = Bandit(["a"], db.ThompsonSampling(), seed=1)
    bandit.select()
    assert repr(bandit) == "<Bandit ts, 1 arm, 1 decision, 1 pending, step a decision>"
    assert str(bandit.describe().title) == "ts · 1 arm · 1 decision"


def test_the_texts_are_short() -> None:
    bandit = Bandit(ARMS, db.DiscountedThompsonSampling(discount=0.5), seed=1, step_seconds=60)
    assert repr(bandit) == "<Bandit dts:discount=0.5, 4 arms, 0 decisions, 0 pending, step 60 s>"
    decision = bandit.select(time=12.0)
    assert repr(decision) == f"Decision(id=1, arm={decision.arm!r}, time=12.0)", "not worked out to be looked at"
    chance = decision.probability
    assert repr(decision) == f"Decision(id=1, arm={decision.arm!r}, probability={chance!r}, time=12.0)"
