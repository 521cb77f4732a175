"""Every part of a rule does on the processor what `naive.Ruled` reads in it, decision by decision.

The kernel of every rule is linked and run as plain Python, which needs no compiler; those that together use every part
are compiled too.
"""

import numpy as np
import pytest

import driftbandit as db
import naive
from driftbandit.engine.cpu import shard
from driftbandit.engine.cpu.shard import Shard, run_shard
from rules import RULES, Given, Plain

HORIZON = 150
SEED = 411


COMPILED = [
    "a drift",
    "an alarm and a window",
    "an alarm that renews",
    "a history for all",
    "a window of choices and a longer history",
    "exploration by shared numbers",
    "an optimistic mixture",
    "a normal posterior",
    "weights and exploration",
    "thirty-two numbers",
]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("rewards", ["bernoulli", "mean"])
def test_a_rule_is_played_as_it_reads(name: str, rewards: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard, "CPU", Plain())
    assert_played_as_it_reads(name, rewards, runs=2)


@pytest.mark.parametrize("name", COMPILED)
def test_a_rule_is_compiled_as_it_reads(name: str) -> None:
    assert_played_as_it_reads(name, "bernoulli", runs=9)


def assert_played_as_it_reads(name: str, rewards: str, runs: int) -> None:
    rule = RULES[name]
    environment = db.Sinusoidal(period=60.5, n_arms=3, rewards=rewards)
    policy = Given(given=rule)
    steps = tuple(range(1, HORIZON + 1))
    together = run_shard(Shard(policy, environment, HORIZON, SEED, 2, runs, steps))
    decisions = np.zeros((HORIZON, 3), int)
    for i in range(runs):
        twin = naive.play(
            lambda n: naive.Ruled(n, rule), {}, "sinusoidal", environment.parameters(), HORIZON, SEED, 2 + i
        )
        alone = run_shard(Shard(policy, environment, HORIZON, SEED, 2 + i, 1, steps))
        assert alone.choices.argmax(axis=1).tolist() == twin.chosen
        np.testing.assert_allclose(together.reward[i], twin.reward, rtol=1e-12)
        decisions += alone.choices
    assert np.array_equal(together.choices, decisions)
