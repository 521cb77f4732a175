"""Regret against the number of arms."""

import dataclasses
from collections.abc import Iterator, Sequence

from driftbandit import figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.contenders import Discounts, contender
from driftbandit.paper.experiment import InSetting, Section
from driftbandit.paper.findings import Findings
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.panel import SIZE, ceiling, line
from driftbandit.paper.printed import HORIZON, MAIN_RUNS
from driftbandit.paper.profiles import Profile


@dataclasses.dataclass(frozen=True)
class ByArms(InSetting):
    """Normalised regret against the number of arms; no parameter is changed with it."""

    contenders: tuple[str, ...]
    numbers: tuple[int, ...]
    section = Section(
        "arms", "More arms", "No parameter is changed with the number of arms, as in the paper. 5000 steps."
    )
    axes = ("arms",)

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        policies = [(name, contender(name, self.setting, profile, fits)) for name in self.contenders]
        return [
            Entry(name, scale.game(policy, self.setting.with_arms(number), HORIZON, MAIN_RUNS), float(number))
            for name, policy in policies
            for number in self.numbers
        ]

    def place(self, entry: Entry) -> tuple[int]:
        return (int(entry.x or 0),)

    def panels(self, found: Findings) -> Iterator[Panel]:
        curves = {
            profile: {name: found.curve(self.id, profile, name) for name in self.contenders}
            for profile in found.profiles
        }
        top = ceiling(curve for row in curves.values() for curve in row.values())
        most = max(self.numbers)
        for profile, row in curves.items():
            ends = "; ".join(f"{name} {curve[most].normalized_regret.mean:.3f}" for name, curve in row.items())
            figure = figures.regret_by(
                "number of arms", [line(name, curve) for name, curve in row.items()],
                size=SIZE, title=profile.title, y_limits=(0, top),
            )  # fmt: skip
            figure.axes[0].set_xticks(self.numbers)
            words = f"Normalised regret against the number of arms, {self.setting.id}, {profile.id}."
            yield Panel(f"{self.id}-{profile.id}", "Normalised regret", figure, f"{words} With {most} arms: {ends}.")
