"""Final regret against two oracles."""

import dataclasses
from collections.abc import Iterator, Sequence

from driftbandit import figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.contenders import Discounts
from driftbandit.paper.experiment import InSetting, Section
from driftbandit.paper.findings import Findings
from driftbandit.paper.game_of import Entry, Scale
from driftbandit.paper.kinds.over_time import OverTime
from driftbandit.paper.panel import SIZE, group
from driftbandit.paper.profiles import Profile


@dataclasses.dataclass(frozen=True)
class TwoOracles(InSetting):
    """Regret against the best arm of every step, beside regret against the best single arm in hindsight."""

    contenders: tuple[str, ...]
    section = Section(
        "oracles",
        "Beyond the paper: two oracles",
        "Regret a step against the best arm of every step (dynamic) and against the best single arm in hindsight "
        "(static); below 0 a policy earns more than any single arm would.",
    )
    axes = ()

    def entries(self, profile: Profile, scale: Scale, fits: Discounts) -> Sequence[Entry]:
        return OverTime(self.id, self.title, self.setting, self.contenders).entries(profile, scale, fits)

    def place(self, entry: Entry) -> tuple[()]:
        return ()

    def panels(self, found: Findings) -> Iterator[Panel]:
        rows = {
            profile: [found.record(self.id, profile, name) for name in self.contenders] for profile in found.profiles
        }
        dynamic = {profile: [record.normalized_regret for record in records] for profile, records in rows.items()}
        static = {profile: [record.static_regret for record in records] for profile, records in rows.items()}
        every = [value.mean for values in (*dynamic.values(), *static.values()) for value in values]
        margin = 0.06 * (max(every) - min(every))
        for profile in rows:
            figure = figures.dots(
                self.contenders,
                [
                    group("dynamic oracle", figures.STYLES[0], dynamic[profile]),
                    group("static oracle", figures.STYLES[1], static[profile]),
                ],
                x_label="regret a step", size=SIZE, title=profile.title,
                x_limits=(min(every) - margin, max(every) + margin),
            )  # fmt: skip
            numbers = "; ".join(
                f"{name} {one.mean:.3f} dynamic, {other.mean:.3f} static"
                for name, one, other in zip(self.contenders, dynamic[profile], static[profile], strict=True)
            )
            yield Panel(
                f"{self.id}-{profile.id}", "Regret a step against two oracles", figure,
                f"Regret a step against the two oracles, {self.setting.id}, {profile.id}: {numbers}.",
            )  # fmt: skip
