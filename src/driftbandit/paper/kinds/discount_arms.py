"""Regret against the discount, for several numbers of arms."""

import dataclasses
from collections.abc import Iterator, Sequence

from driftbandit import figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.contenders import PROPOSED, Discounts, discounted
from driftbandit.paper.experiment import InSetting, Section
from driftbandit.paper.findings import Findings, lowest
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.panel import SIZE, ceiling, line
from driftbandit.paper.printed import HORIZON
from driftbandit.paper.profiles import Profile


@dataclasses.dataclass(frozen=True)
class DiscountByArms(InSetting):
    """Normalised regret against the discount, a line for each number of arms: does the best discount move?"""

    numbers: tuple[int, ...]
    grid: tuple[float, ...]
    runs: int
    section = Section(
        "discount-arms",
        "Beyond the paper: the discount and the number of arms",
        "Whether a discount that was chosen for four arms still suits fewer or more.",
    )
    axes = ("discount", "arms")

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

    def place(self, entry: Entry) -> tuple[float | None, int]:
        return entry.x, int(entry.y or 0)

    def panels(self, found: Findings) -> Iterator[Panel]:
        curves = {
            (name, profile): {arms: found.curve(self.id, profile, name, float(arms)) for arms in self.numbers}
            for name in PROPOSED
            for profile in found.rules
        }
        top = ceiling(curve for row in curves.values() for curve in row.values())
        for (name, profile), row in curves.items():
            best = "; ".join(f"{arms} arms {lowest(curve):g}" for arms, curve in row.items())
            figure = figures.regret_by(
                "discount",
                [line(f"{arms} arms", curve, figures.STYLES[place]) for place, (arms, curve) in enumerate(row.items())],
                size=SIZE, title=f"{name}, {profile.title.lower()}", y_limits=(0, top),
            )  # fmt: skip
            yield Panel(
                f"{self.id}-{name.lower()}-{profile.id}", f"Normalised regret of {name}", figure,
                f"Normalised regret of {name} against the discount for several numbers of arms, {self.setting.id}, "
                f"{profile.id}. Best discounts: {best}.",
            )  # fmt: skip
