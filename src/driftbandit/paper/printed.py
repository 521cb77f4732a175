"""What the paper prints: its three environments, the parameters in its four tables, and its scale."""

import dataclasses

from driftbandit.environments import Abrupt, Environment, Fast, Slow

HORIZON = 5000
"""Steps in every experiment, unless a comparison has its own horizon."""
MAIN_RUNS = 5000
"""Runs behind the figures of the main text."""
APPENDIX_RUNS = 1000
"""Runs behind the figures of the appendix."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """One of the paper's environments, with everything that the tables print for it."""

    id: str
    adjective: str
    environment: Environment
    period: int
    discount: float
    """γ of dTS and dOTS, the same in all four tables."""
    batch: int
    """Δ of REXP3."""
    exploration: float
    """γ of REXP3; also used when there are more arms, as the paper does."""
    threshold: float
    """C of Dynamic TS."""
    change_interval: int
    """Steps between two changes of the best arm."""
    horizon: int
    """Steps in the comparisons with D-UCB, SW-UCB and EXP3-IX."""
    change_points: int
    """Υ within that horizon."""
    ucb_discount: float
    """γ of D-UCB."""
    window: int
    """τ of SW-UCB."""
    learning_rate: float
    """η of EXP3-IX."""
    implicit_exploration: float
    """γ of EXP3-IX."""

    def with_arms(self, n_arms: int) -> Environment:
        """The environment with another number of arms."""
        return dataclasses.replace(self.environment, n_arms=n_arms)

    @property
    def rested(self) -> Environment:
        """The environment in which an arm moves only when it is chosen."""
        return dataclasses.replace(self.environment, rested=True)


SLOW = Setting(
    id="slow",
    adjective="slowly varying",
    environment=Slow(),
    period=1000,
    discount=0.75,
    batch=250,
    exploration=0.1136,
    threshold=250,
    change_interval=250,
    horizon=2500,
    change_points=10,
    ucb_discount=0.9842,
    window=89,
    learning_rate=0.01665,
    implicit_exploration=0.00832,
)
FAST = Setting(
    id="fast",
    adjective="fast varying",
    environment=Fast(),
    period=100,
    discount=0.40,
    batch=25,
    exploration=0.3593,
    threshold=25,
    change_interval=25,
    horizon=500,
    change_points=20,
    ucb_discount=0.9500,
    window=24,
    learning_rate=0.0263,
    implicit_exploration=0.0132,
)
ABRUPT = Setting(
    id="abrupt",
    adjective="abruptly varying",
    environment=Abrupt(),
    period=250,
    discount=0.60,
    batch=25,
    exploration=0.5000,
    threshold=25,
    change_interval=50,
    horizon=1000,
    change_points=20,
    ucb_discount=0.9646,
    window=37,
    learning_rate=0.0263,
    implicit_exploration=0.0132,
)
SETTINGS = (SLOW, FAST, ABRUPT)
