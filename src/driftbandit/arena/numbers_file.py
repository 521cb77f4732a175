"""What was found as one JSON object: equal files mean equal results."""

import math
from typing import Any

from driftbandit._version import __version__
from driftbandit.arena.effort import Effort
from driftbandit.arena.standings import Standings


def numbers(found: Standings, effort: Effort, draw: int) -> dict[str, Any]:
    """The policies with their summaries, then every environment with everybody's regret."""
    return {
        "version": __version__,
        "seed": effort.seed,
        "draw": draw,
        "runs": effort.runs,
        "policies": [_summary(found, entrant) for entrant in found.entrants],
        "environments": [
            {
                "id": world.id,
                "family": family.id,
                "n_arms": world.n_arms,
                "horizon": world.horizon,
                "changes": world.changes,
                "rested": world.environment.rested,
                "says": world.says,
                "best_fitted": str(found.fits[world].settings[found.fits[world].best]),
                "results": [_showing(found, world, entrant) for entrant in found.entrants],
            }
            for family, worlds in found.families.items()
            for world in worlds
        ],
    }


def _summary(found: Standings, entrant: Any) -> dict[str, Any]:
    summary = found.summary(entrant)
    return {
        "policy": entrant.label,
        "column": entrant.column,
        "geometric_mean": _finite(summary.geometric_mean),
        "geometric_mean_ci95": [_finite(end) for end in summary.geometric_mean_interval],
        "worst": _finite(summary.worst),
        "worst_ci95": [_finite(end) for end in summary.worst_interval],
        "worst_environment": summary.worst_world,
        "within_5_percent": summary.near,
        "within_5_percent_ci95": [_finite(end) for end in summary.near_interval],
        "by_family": {family.id: _finite(found.of_family(entrant, family)) for family in found.families},
    }


def _showing(found: Standings, world: Any, entrant: Any) -> dict[str, Any]:
    showing = found.showings[world, entrant]
    return {
        "policy": entrant.label,
        "setting": showing.setting,
        "normalized_regret": showing.regret.mean,
        "ci95": _finite(showing.regret.ci95),
        "runs": showing.runs,
        "ratio": _finite(showing.ratio),
    }


def _finite(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else None
