"""The kinds of experiments: each is a frozen value that knows which games its figure needs."""

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from driftbandit.paper.contenders import PROPOSED, Discounts, contender, discounted
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.printed import APPENDIX_RUNS, HORIZON, MAIN_RUNS, SETTINGS, Setting
from driftbandit.paper.profiles import Profile


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One figure or table."""

    id: str
    title: str
    section: ClassVar[str] = ""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The environments it is about."""
        return SETTINGS

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        """The games behind it under a profile."""
        return ()


@dataclasses.dataclass(frozen=True)
class Tables(Experiment):
    """The paper's parameter tables and the fitted discounts: no games."""

    section: ClassVar[str] = "tables"


@dataclasses.dataclass(frozen=True)
class Environments(Experiment):
    """The means of the arms over time: no games."""

    section: ClassVar[str] = "environments"


@dataclasses.dataclass(frozen=True)
class _InSetting(Experiment):
    setting: Setting

    @property
    def settings(self) -> tuple[Setting, ...]:
        return (self.setting,)


@dataclasses.dataclass(frozen=True)
class OverTime(_InSetting):
    """Mean reward and normalised regret over time."""

    contenders: tuple[str, ...]
    horizon: int = HORIZON
    runs: int = MAIN_RUNS
    beside: tuple[str, ...] = ()
    """Policies that a claim compares with, and that the paper's figure does not show."""
    section: ClassVar[str] = "over-time"

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        return [
            Entry(
                name,
                scale.game(
                    contender(name, self.setting, profile, fits), self.setting.environment, self.horizon, self.runs
                ),
            )
            for name in (*self.contenders, *self.beside)
        ]


@dataclasses.dataclass(frozen=True)
class ByArms(_InSetting):
    """Normalised regret against the number of arms; no parameter is changed with it."""

    contenders: tuple[str, ...]
    numbers: tuple[int, ...]
    section: ClassVar[str] = "arms"

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        return [
            Entry(
                name,
                scale.game(
                    contender(name, self.setting, profile, fits), self.setting.with_arms(number), HORIZON, MAIN_RUNS
                ),
                float(number),
            )
            for name in self.contenders
            for number in self.numbers
        ]


@dataclasses.dataclass(frozen=True)
class ByDiscount(_InSetting):
    """Normalised regret against the discount, beside the same policy without one."""

    policy: str
    undiscounted: str
    grid: tuple[float, ...]
    fine: tuple[float, ...]
    """More discounts for Algorithm 1, whose best ones lie close together."""
    section: ClassVar[str] = "discounts"

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        grid = sorted({*self.grid, *self.fine}) if profile.discounted_arms == "all" else self.grid
        policies = [(discount, discounted(self.policy, profile, discount)) for discount in grid]
        where = (self.setting.environment, HORIZON, APPENDIX_RUNS)
        alone = contender(self.undiscounted, self.setting, profile, fits)
        return [
            *(Entry(self.policy, scale.game(policy, *where), discount) for discount, policy in policies),
            Entry(self.undiscounted, scale.game(alone, *where)),
        ]


@dataclasses.dataclass(frozen=True)
class DiscountByArms(_InSetting):
    """Normalised regret against the discount for several numbers of arms: does the best one move?"""

    numbers: tuple[int, ...]
    grid: tuple[float, ...]
    runs: int
    section: ClassVar[str] = "discount-arms"

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        return [
            Entry(
                name,
                scale.game(discounted(name, profile, discount), self.setting.with_arms(number), HORIZON, self.runs),
                discount,
                float(number),
            )
            for name in PROPOSED
            for number in self.numbers
            for discount in self.grid
        ]


@dataclasses.dataclass(frozen=True)
class PriorMap(_InSetting):
    """Normalised regret over discount and prior."""

    policy: str
    grid: tuple[float, ...]
    priors: tuple[float, ...]
    runs: int
    section: ClassVar[str] = "prior"

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        return [
            Entry(
                self.policy,
                scale.game(
                    discounted(self.policy, profile, discount, prior), self.setting.environment, HORIZON, self.runs
                ),
                discount,
                prior,
            )
            for prior in self.priors
            for discount in self.grid
        ]


@dataclasses.dataclass(frozen=True)
class Rested(_InSetting):
    """The final comparison where an arm moves only when it is chosen, beside the restless one."""

    contenders: tuple[str, ...]
    section: ClassVar[str] = "rested"

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        policies = [(name, contender(name, self.setting, profile, fits)) for name in self.contenders]
        return [
            Entry(name, scale.game(policy, environment, HORIZON, APPENDIX_RUNS), None, rested)
            for name, policy in policies
            for rested, environment in ((0.0, self.setting.environment), (1.0, self.setting.rested))
        ]


@dataclasses.dataclass(frozen=True)
class TwoOracles(_InSetting):
    """Regret against the best single arm in hindsight beside that against the best arm of every step."""

    contenders: tuple[str, ...]
    section: ClassVar[str] = "oracles"

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        return OverTime(self.id, self.title, self.setting, self.contenders).entries(profile, scale, fits)
