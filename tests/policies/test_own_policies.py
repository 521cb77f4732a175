"""The worked examples of docs/policies.md decide as their twins in naive.py do, and their odds are frequencies."""

from pathlib import Path

import numpy as np
import pytest

import driftbandit as db
import naive
from driftbandit.engine.cpu import shard
from driftbandit.engine.cpu.shard import Shard, run_shard
from own_policies import GUIDE
from rules import Plain

EXAMPLES = Path(__file__).parents[2] / "examples" / "policies"
HORIZON = 150
WORLDS = [
    db.Sinusoidal(period=37, n_arms=4),
    db.Abrupt(period=50, n_arms=3),
    db.Switching(hazard=0.05, n_arms=2, rested=True),
    db.Sinusoidal(period=60.5, n_arms=3, rewards="normal", deviation=0.3),
    db.FromMeans(means=[[0.2, 0.8, 0.5]], rewards="beta", concentration=2.0),
]


def fits(policy: db.Policy, world: db.Environment) -> bool:
    return world.rewards != "normal" or not policy.rule(world.n_arms).binary


def twin_of(policy: db.Policy, world: db.Environment, run: int) -> naive.Trace:
    return naive.play(policy.name, policy.parameters(), world.name, world.parameters(), HORIZON, 8, run)


@pytest.mark.parametrize("world", WORLDS, ids=str)
@pytest.mark.parametrize("policy", GUIDE, ids=str)
def test_an_example_decides_as_its_twin_does(
    policy: db.Policy, world: db.Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fits(policy, world):
        with pytest.raises(db.InvalidValue, match="policies must not count successes and failures where rewards are"):
            db.simulate(policy, world, horizon=5, runs=2)
        return
    monkeypatch.setattr(shard, "CPU", Plain())
    for run in (3, 4):
        outcome = run_shard(Shard(policy, world, HORIZON, 8, run, 1, (HORIZON,)))
        assert outcome.choices.argmax(axis=1).tolist() == twin_of(policy, world, run).chosen


@pytest.mark.parametrize("policy", GUIDE, ids=str)
def test_a_compiled_example_decides_as_its_twin_does(policy: db.Policy) -> None:
    runs = 6
    outcome = run_shard(Shard(policy, WORLDS[0], HORIZON, 8, 0, runs, (HORIZON,)))
    expected = np.zeros((HORIZON, WORLDS[0].n_arms), int)
    for run in range(runs):
        expected[np.arange(HORIZON), twin_of(policy, WORLDS[0], run).chosen] += 1
    assert np.array_equal(outcome.choices, expected)


@pytest.mark.parametrize("policy", GUIDE, ids=str)
def test_exact_odds_are_frequencies(policy: db.Policy) -> None:
    """Arm 0 always pays and arm 1 never, so a history is a sequence of arms, whose probabilities multiply."""
    steps, runs = 5, 100_000
    rule = policy.rule(2)
    players = {(): (1.0, naive.Ruled(2, rule))}
    expected = np.zeros((steps, 2))
    for step in range(steps):
        following = {}
        for arms, (weight, player) in players.items():
            odds = policy.selection_probabilities(player.own, common=player.common, total=player.total(), step=step + 1)
            expected[step] += weight * odds
            for arm in range(2):
                if odds[arm] > 0.0:
                    again = naive.Ruled(2, rule)
                    for each in (*arms, arm):
                        again.learn(each, 1.0 - each)
                    following[(*arms, arm)] = (weight * odds[arm], again)
        players = following
    outcome = run_shard(Shard(policy, db.FromMeans(means=[[1.0, 0.0]]), steps, 3, 0, runs, (steps,)))
    error = np.sqrt(expected * (1 - expected) / runs)
    assert expected.sum(axis=1) == pytest.approx(np.ones(steps), abs=1e-12)
    assert np.all(np.abs(outcome.choices / runs - expected) <= 4.5 * error + 1e-12)


def test_the_guide_shows_every_example_as_it_is() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")
    files = sorted(EXAMPLES.glob("*.py"))
    assert len(files) == len(GUIDE)
    for file in files:
        assert file.read_text(encoding="utf-8").strip() in guide, f"{file.name} in docs/policies.md is another"
