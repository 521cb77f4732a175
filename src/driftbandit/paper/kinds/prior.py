"""Regret over discount and prior, as a map."""

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from driftbandit import figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.contenders import Discounts, discounted
from driftbandit.paper.experiment import InSetting, Section
from driftbandit.paper.findings import Findings
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.panel import SIZE
from driftbandit.paper.printed import HORIZON
from driftbandit.paper.profiles import Profile


@dataclasses.dataclass(frozen=True)
class PriorMap(InSetting):
    """Normalised regret over discount and prior."""

    policy: str
    grid: tuple[float, ...]
    priors: tuple[float, ...]
    runs: int
    section = Section(
        "prior",
        "Beyond the paper: what the prior does",
        "Normalised regret over discount and prior (the same for successes and failures). The framed cell is the "
        "least. A prior never fades: with every arm discounted, it is what an idle arm returns to, and so what makes "
        "the policy look at that arm again. With a small prior an idle arm's sample is almost 0 or almost 1.",
    )
    axes = ("discount", "prior")

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        where = (self.setting.environment, HORIZON, self.runs)
        return [
            Entry(self.policy, scale.game(discounted(self.policy, profile, discount, prior), *where), discount, prior)
            for prior in self.priors
            for discount in self.grid
        ]

    def place(self, entry: Entry) -> tuple[float | None, float | None]:
        return entry.x, entry.y

    def panels(self, found: Findings) -> Iterator[Panel]:
        for profile in found.rules:
            values = np.array(
                [
                    [found.record(self.id, profile, self.policy, x, y).normalized_regret.mean for x in self.grid]
                    for y in self.priors
                ]
            )
            row, column = np.unravel_index(int(values.argmin()), values.shape)
            best = (self.grid[int(column)], self.priors[int(row)], values.min())
            figure = figures.regret_map(
                [f"{x:g}".lstrip("0") for x in self.grid], [_power(y) for y in self.priors], values,
                x_label="discount", y_label="prior", size=SIZE, title=f"{self.policy}, {profile.title.lower()}",
            )  # fmt: skip
            yield Panel(
                f"{self.id}-{profile.id}", "Normalised regret", figure,
                f"Normalised regret of {self.policy} over discount and prior, {self.setting.id}, {profile.id}. "
                f"Least at discount {best[0]:g} and prior {best[1]:g}: {best[2]:.3f}; with prior 1 at best "
                f"{values[0].min():.3f}.",
            )  # fmt: skip


def _power(prior: float) -> str:
    exponent = round(np.log10(prior))
    return "1" if exponent == 0 else f"1e{exponent:d}".replace("-", "−")
