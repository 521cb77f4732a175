"""The paper's parameter tables: what it prints, what its formulas give, and whether the two agree."""

import dataclasses
import math

from driftbandit.paper.printed import SETTINGS, Setting
from driftbandit.policies import DiscountedUCB, DynamicThompsonSampling, Exp3IX
from driftbandit.policies.exp3 import exploration_for


@dataclasses.dataclass(frozen=True)
class Cell:
    """One printed parameter and what its formula gives."""

    table: str
    setting: str
    parameter: str
    printed: float
    formula: float
    """The formula's value before any rounding."""
    decimals: int
    """How many decimals are printed."""
    rule: str

    @property
    def agrees(self) -> bool:
        """Whether the printed value is that of the formula, rounded; halves may go up or down."""
        return abs(self.formula - self.printed) <= 0.5 * 10.0**-self.decimals * (1 + 1e-9)

    @property
    def remark(self) -> str:
        """How the printed value differs; nothing where it agrees."""
        if self.agrees:
            return ""
        if self.decimals == 0 and abs(self.formula - self.printed) < 1:
            return "rounded down" if self.printed < self.formula else "rounded up"
        return f"off by {abs(self.printed / self.formula - 1):.0%}"


def parameter_cells() -> list[Cell]:
    """Every cell of the paper's tables that has a formula, recomputed, table by table."""
    by_setting = [_cells(setting) for setting in SETTINGS]
    return [cell for cells in zip(*by_setting, strict=True) for cell in cells]


def _cells(setting: Setting) -> list[Cell]:
    n_arms = setting.environment.n_arms
    bandwidth = DiscountedUCB.tuned(setting.horizon, setting.change_points)
    weights = Exp3IX.tuned(setting.horizon, n_arms)
    capped = DynamicThompsonSampling.tuned(setting.change_interval)
    window = 2.0 * math.sqrt(setting.horizon * math.log(setting.horizon) / setting.change_points)
    return [
        Cell(
            "REXP3", setting.id, "Δ", setting.batch, setting.change_interval, 0,
            "steps between changes of the best arm",
        ),
        Cell(
            "REXP3", setting.id, "γ", setting.exploration, exploration_for(setting.batch, n_arms), 4,
            f"min(1, √(K ln K / ((e−1)Δ))) with the printed Δ = {setting.batch}",
        ),
        Cell(
            "Dynamic TS", setting.id, "C", setting.threshold, capped.threshold, 0,
            "steps between changes of the best arm",
        ),
        Cell(
            "D-UCB", setting.id, "γ", setting.ucb_discount, bandwidth.discount, 4,
            f"1 − (4B)⁻¹√(Υ/T) with T = {setting.horizon}, Υ = {setting.change_points}",
        ),
        Cell(
            "SW-UCB", setting.id, "τ", setting.window, window, 0,
            f"2B√(T ln T / Υ) with T = {setting.horizon}, Υ = {setting.change_points}",
        ),
        Cell(
            "EXP3-IX", setting.id, "η", setting.learning_rate, weights.learning_rate,
            5 if setting.id == "slow" else 4, f"√(2 ln K / (KT)) with T = {setting.horizon}",
        ),
        Cell(
            "EXP3-IX", setting.id, "γ", setting.implicit_exploration, setting.learning_rate / 2.0,
            5 if setting.id == "slow" else 4, "η/2 with the printed η",
        ),
    ]  # fmt: skip
