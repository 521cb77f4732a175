"""Final regret with restless and with rested arms."""

import dataclasses
from collections.abc import Iterator, Sequence

from driftbandit import figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.contenders import Discounts, contender
from driftbandit.paper.experiment import InSetting, Section
from driftbandit.paper.findings import Findings
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.panel import SIZE, group
from driftbandit.paper.printed import APPENDIX_RUNS, HORIZON
from driftbandit.paper.profiles import Profile

WORDS = {0.0: "restless", 1.0: "rested"}


@dataclasses.dataclass(frozen=True)
class Rested(InSetting):
    """Final regret where an arm moves only when it is chosen, beside final regret where all arms move."""

    contenders: tuple[str, ...]
    section = Section(
        "rested",
        "Beyond the paper: rested arms",
        "The same comparison where an arm's mean moves only when that arm is chosen. The dynamic oracle then sees the "
        "means that the policy's own choices have led to.",
    )
    axes = ("environment",)

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        policies = [(name, contender(name, self.setting, profile, fits)) for name in self.contenders]
        return [
            Entry(name, scale.game(policy, environment, HORIZON, APPENDIX_RUNS), None, rested)
            for name, policy in policies
            for rested, environment in ((0.0, self.setting.environment), (1.0, self.setting.rested))
        ]

    def place(self, entry: Entry) -> tuple[str]:
        return (WORDS[entry.y or 0.0],)

    def panels(self, found: Findings) -> Iterator[Panel]:
        rows = {
            profile: [
                [found.record(self.id, profile, name, None, y).normalized_regret for name in self.contenders]
                for y in WORDS
            ]
            for profile in found.profiles
        }
        right = 1.08 * max(value.high if value.ci95 == value.ci95 else value.mean
                           for row in rows.values() for values in row for value in values)  # fmt: skip
        for profile, row in rows.items():
            figure = figures.dots(
                self.contenders, [group(*each) for each in zip(WORDS.values(), figures.STYLES, row, strict=False)],
                x_label="normalised regret", size=SIZE, title=profile.title, x_limits=(0, right),
            )  # fmt: skip
            numbers = "; ".join(
                f"{name} {free.mean:.3f} restless, {own.mean:.3f} rested"
                for name, free, own in zip(self.contenders, *row, strict=True)
            )
            yield Panel(
                f"{self.id}-{profile.id}", "Normalised regret", figure,
                f"Normalised regret with restless and rested arms, {self.setting.id}, {profile.id}: {numbers}.",
            )  # fmt: skip
