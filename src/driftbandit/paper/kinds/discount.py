"""Regret against the discount."""

import dataclasses
from collections.abc import Iterator, Sequence

from driftbandit import figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.contenders import Discounts, contender, discount_of, discounted
from driftbandit.paper.experiment import InSetting, Section
from driftbandit.paper.findings import Findings, lowest
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.panel import SIZE, ceiling, line
from driftbandit.paper.printed import APPENDIX_RUNS, HORIZON
from driftbandit.paper.profiles import Profile


@dataclasses.dataclass(frozen=True)
class ByDiscount(InSetting):
    """Normalised regret against the discount, beside the same policy without one."""

    policy: str
    undiscounted: str
    grid: tuple[float, ...]
    fine: tuple[float, ...]
    """More discounts for Algorithm 1, whose best ones lie close together."""
    section = Section(
        "discounts",
        "The discount",
        "Normalised regret after 5000 steps with the prior (1, 1). The fitted column looks closely at 0.80 and above.",
    )
    axes = ("discount",)

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        grid = sorted({*self.grid, *self.fine}) if profile.discounted_arms == "all" else self.grid
        policies = [(discount, discounted(self.policy, profile, discount)) for discount in grid]
        where = (self.setting.environment, HORIZON, APPENDIX_RUNS)
        alone = contender(self.undiscounted, self.setting, profile, fits)
        return [
            *(Entry(self.policy, scale.game(policy, *where), discount) for discount, policy in policies),
            Entry(self.undiscounted, scale.game(alone, *where)),
        ]

    def place(self, entry: Entry) -> tuple[float]:
        return (1.0 if entry.x is None else entry.x,)  # the undiscounted policy

    def panels(self, found: Findings) -> Iterator[Panel]:
        name = self.policy
        curves = {profile: found.curve(self.id, profile, name) for profile in found.profiles}
        top = ceiling(curves.values())
        for profile, curve in curves.items():
            if profile.fitted:
                curve = {discount: record for discount, record in curve.items() if discount >= min(self.fine)}
            else:
                curve = {discount: record for discount, record in curve.items() if discount in self.grid}
            used = discount_of(name, self.setting, profile, found.fits)
            best = lowest(curve)
            figure = figures.regret_by(
                "discount", [line(name, curve)], size=SIZE, title=profile.title, y_limits=(0, top),
                marks=[(used, f"fitted {used:g}" if profile.fitted else f"printed {used:.2f}")],
            )  # fmt: skip
            yield Panel(
                f"{self.id}-{profile.id}", "Normalised regret", figure,
                f"Normalised regret of {name} against the discount, {self.setting.id}, {profile.id}. Least at "
                f"{best:g}: {curve[best].normalized_regret.mean:.3f}; at {used:g}: "
                f"{found.record(self.id, profile, name, used).normalized_regret.mean:.3f}.",
            )  # fmt: skip
