"""Print the tables of docs/filter.md and docs/choosing.md, and draw the profile, from what `driftbandit arena` found.

python docs/figures/arena.py arena/numbers.json
"""

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from driftbandit.arena.drawn import opening
from driftbandit.arena.entrants import Entrant
from driftbandit.arena.families import FAMILIES
from driftbandit.arena.standings import Showing, Standings
from driftbandit.campaign.pictures import written
from driftbandit.engine.estimate import Estimate

IMAGES = Path(__file__).parents[1] / "images"
LETTERS = {"window": "τ", "discount": "γ", "confidence": "ξ", "prior_successes": "α0", "prior_failures": "β0"}


class World(SimpleNamespace):
    """An environment of the file."""

    def __hash__(self) -> int:
        return hash(self.id)


def standings(found: dict[str, Any]) -> Standings:
    """What the file says, as the pictures want it."""
    entrants = [Entrant(row["policy"], row["column"], row["policy"].split()[0]) for row in found["policies"]]
    worlds = [World(**row) for row in found["environments"]]
    families = {family: [world for world in worlds if world.family == family.id] for family in FAMILIES}
    showings = {
        (world, entrant): Showing(
            row["setting"],
            Estimate(row["normalized_regret"], math.nan if row["ci95"] is None else row["ci95"]),
            row["runs"],
            math.inf if row["ratio"] is None else row["ratio"],
        )
        for world in worlds
        for entrant, row in zip(entrants, world.results, strict=True)
    }
    return Standings({family: some for family, some in families.items() if some}, entrants, {}, showings)


def short(setting: str) -> str:
    """A fitted setting, with the paper's letters."""
    for name, letter in LETTERS.items():
        setting = setting.replace(name, letter)
    return setting


def main(path: str) -> None:
    """Everything, in the order of the file."""
    found = json.loads(Path(path).read_text(encoding="utf-8"))
    for row in sorted(found["policies"], key=lambda row: row["geometric_mean"] or math.inf):
        low, high = (math.nan if end is None else end for end in row["geometric_mean_ci95"])
        print(
            f"| `{row['policy']}` | {row['column']} | {row['geometric_mean']:.2f} ({low:.2f} to {high:.2f}) | "
            f"{row['worst']:.1f} ({row['worst_environment']}) | {row['within_5_percent']:.0%} |"
        )
    print()
    for world in found["environments"]:
        rows = {row["policy"]: row for row in world["results"]}
        own, ts = rows["drift-filter"], rows["ts"]["normalized_regret"]
        best = own["normalized_regret"] / own["ratio"]
        print(
            f"| {world['id']} | {world['n_arms']} | {own['normalized_regret']:.4f} ± {own['ci95']:.4f} | "
            f"{best:.4f} {short(world['best_fitted'])} | {own['ratio']:.2f} | {own['normalized_regret'] / ts:.2f} |"
        )
    if found["draw"] == 1:
        written(opening(standings(found))._replace(id="arena-profile"), IMAGES)


if __name__ == "__main__":
    main(sys.argv[1])
