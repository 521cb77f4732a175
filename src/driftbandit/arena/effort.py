"""How many runs every part of the arena has, and on which seed."""

import dataclasses

from driftbandit.arena.world import World

USUAL_STEPS = 5000 * 4
"""Steps times arms of a usual environment: larger ones get fewer runs while settings are tried."""
MOST_TRIED, FEWEST_TRIED = 60, 12
AGAIN = 5
"""The best settings are tried again with so many times the runs."""
RUNS = 400
SEED_SHIFT = 1_000_003


@dataclasses.dataclass(frozen=True)
class Effort:
    """The seed of what is reported, and a number of runs for everything where it is not the usual one."""

    seed: int
    runs: int | None = None

    def first_runs(self, world: World) -> int:
        """Of every setting, to find those that are good."""
        share = USUAL_STEPS / (world.horizon * world.n_arms)
        return self.runs or int(min(MOST_TRIED, max(FEWEST_TRIED, MOST_TRIED * share)))

    def second_runs(self, world: World) -> int:
        """Of the good settings, to find the best."""
        return self.runs or AGAIN * self.first_runs(world)

    def reported_runs(self, usual: int) -> int:
        """Of everything that is reported; a slow policy says how many are usual for it."""
        return self.runs or usual

    @property
    def first_seed(self) -> int:
        """Never reported."""
        return (self.seed + SEED_SHIFT) % 2**64

    @property
    def second_seed(self) -> int:
        """Never reported either, and another one: what was lucky at first is not lucky again."""
        return (self.seed + 2 * SEED_SHIFT) % 2**64
