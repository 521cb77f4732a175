import pytest

from driftbandit import SlidingWindowUCB
from driftbandit.paper.parameters import parameter_cells
from driftbandit.paper.printed import SETTINGS

CELLS = {(cell.table, cell.parameter, cell.setting): cell for cell in parameter_cells()}


@pytest.mark.parametrize(
    ("place", "formula"),
    [
        (("REXP3", "γ", "fast"), 0.3593),
        (("REXP3", "γ", "slow"), 0.1136),
        (("REXP3", "γ", "abrupt"), 0.3593),
        (("Dynamic TS", "C", "abrupt"), 50),
        (("D-UCB", "γ", "fast"), 0.95),
        (("D-UCB", "γ", "slow"), 0.98419),
        (("D-UCB", "γ", "abrupt"), 0.96464),
        (("SW-UCB", "τ", "fast"), 24.93),
        (("SW-UCB", "τ", "slow"), 88.45),
        (("SW-UCB", "τ", "abrupt"), 37.17),
        (("EXP3-IX", "η", "fast"), 0.0372),
        (("EXP3-IX", "η", "slow"), 0.01665),
        (("EXP3-IX", "η", "abrupt"), 0.0263),
    ],
)
def test_formulas_give_what_was_computed_by_hand(place, formula):
    digits = len(str(formula).partition(".")[2])
    assert round(CELLS[place].formula, digits) == formula


def test_the_cells_that_disagree_are_exactly_those_known():
    assert {place for place, cell in CELLS.items() if not cell.agrees} == {
        ("REXP3", "Δ", "abrupt"),
        ("REXP3", "γ", "abrupt"),
        ("Dynamic TS", "C", "abrupt"),
        ("SW-UCB", "τ", "slow"),
        ("SW-UCB", "τ", "fast"),
        ("EXP3-IX", "η", "fast"),
    }
    assert CELLS["SW-UCB", "τ", "slow"].remark == "rounded up"
    assert CELLS["SW-UCB", "τ", "fast"].remark == "rounded down"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.id)
def test_the_window_is_the_policys_own_before_rounding(setting):
    tuned = SlidingWindowUCB.tuned(setting.horizon, setting.change_points)
    assert tuned.window == round(CELLS["SW-UCB", "τ", setting.id].formula)
