"""The environments themselves."""

import dataclasses
from collections.abc import Iterator

from driftbandit import figures
from driftbandit.campaign.pictures import Panel
from driftbandit.paper.experiment import Section, WithoutGames
from driftbandit.paper.findings import Findings
from driftbandit.paper.panel import SIZE


@dataclasses.dataclass(frozen=True)
class Environments(WithoutGames):
    """The means of the arms over two periods."""

    section = Section(
        "environments", "The environments", "The means of four arms over two periods; rewards are 0 or 1."
    )

    def panels(self, found: Findings) -> Iterator[Panel]:
        for setting in self.settings:
            steps = 2 * setting.period
            yield Panel(
                f"{self.id}-{setting.id}", "Means of the arms",
                figures.environment_means(setting.environment, steps, size=SIZE, title=setting.adjective.capitalize()),
                f"The mean reward of four arms over {steps} steps of the {setting.adjective} environment.",
            )  # fmt: skip
