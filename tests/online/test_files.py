"""States that version 1 wrote, before rules had more than two numbers an arm: they load, and decisions go on."""

import json
from pathlib import Path

import pytest

from driftbandit.online import Bandit

FOLDER = Path(__file__).parent / "data" / "version-1"
NAMES = sorted(path.name.removesuffix(".next.json") for path in FOLDER.glob("*.next.json"))


def test_there_is_a_state_of_every_policy_under_both_kinds_of_time() -> None:
    assert len(NAMES) >= 29


@pytest.mark.parametrize("name", NAMES)
def test_an_old_state_loads_and_decides_as_it_did(name: str) -> None:
    """Merged from two replicas, with late rewards, a removed arm, a new one and decisions that expire."""
    path = FOLDER / f"{name}.json"
    bandit = Bandit.load(path)
    assert bandit.state() == json.loads(path.read_text())
    for event, time, *details in json.loads((FOLDER / f"{name}.next.json").read_text()):
        if event == "select":
            mask, id, arm, probability = details
            decision = bandit.select(time=time, arms=mask)
            assert (decision.id, decision.arm) == (id, arm)
            assert decision.probability == pytest.approx(probability, rel=1e-13)
        else:
            id, value, status = details
            assert bandit.reward(id, value, time=time) == status
