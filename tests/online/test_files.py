"""States that older versions wrote load, and decisions go on as they would have."""

import json
from pathlib import Path

import pytest
from tests.own_policies import EXAMPLES

import driftbandit as db
from driftbandit.online import Bandit
from driftbandit.online.state import VERSION, upgraded

DATA = Path(__file__).parent / "data"
FOLDER = DATA / "version-1"
NAMES = sorted(path.name.removesuffix(".next.json") for path in FOLDER.glob("*.next.json"))
STATES = sorted(path for path in DATA.glob("version-*/*.json") if not path.name.endswith(".next.json"))


def test_there_is_a_state_of_every_policy_under_both_kinds_of_time() -> None:
    """And of rules whose rewards do not add up, with shared numbers, histories and alarms."""
    assert len(NAMES) >= 33
    assert len({policy.name for policy in EXAMPLES} & set(NAMES)) >= 4


def test_an_old_state_with_something_missing_is_answered_in_one_line() -> None:
    state = json.loads((FOLDER / f"{NAMES[0]}.json").read_text())
    for name in state:
        with pytest.raises(db.InvalidValue, match=r"^state: .* must be given, got ") as caught:
            Bandit.from_state({key: value for key, value in state.items() if key != name})
        assert "\n" not in str(caught.value)


def test_a_state_of_a_later_version_is_refused() -> None:
    state = Bandit(["a", "b"], db.UCB1(), seed=1).state()
    with pytest.raises(db.InvalidValue, match="version must be a whole number from 1 to 3, got 4"):
        Bandit.from_state(state | {"version": 4})


def test_there_are_states_of_every_version() -> None:
    assert {path.parent.name for path in STATES} == {f"version-{number}" for number in range(1, VERSION + 1)}


@pytest.mark.parametrize("path", STATES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_old_state_loads_and_decides_as_it_did(path: Path) -> None:
    """Merged from two replicas, with late rewards, a removed arm, a new one and decisions that expire."""
    bandit = Bandit.load(path, continued=True)
    before, now = upgraded(json.loads(path.read_text())), bandit.state()
    for part, entries in before.items():
        kept = {name: now[part][name] for name in entries} if isinstance(entries, dict) else now[part]
        assert kept == entries  # what was added later is not in the file
    for event, time, *details in json.loads((FOLDER / f"{path.stem}.next.json").read_text()):
        if event == "select":
            mask, id, arm, probability = details
            decision = bandit.select(time=time, arms=mask)
            assert (decision.id, decision.arm) == (id, arm)
            assert decision.probability == pytest.approx(probability, rel=1e-13)
        else:
            id, value, status = details
            assert bandit.reward(id, value, time=time) == status
