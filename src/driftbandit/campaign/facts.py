"""What every report says of how it was made: the games, their time, the machine, the versions."""

import os
import platform
from typing import Any

from driftbandit._version import __version__
from driftbandit.campaign.times import Times
from driftbandit.campaign.work import Work


def games_played(work: Work[Any], times: Times) -> dict[str, str]:
    """How many games there were, and how long they took."""
    loaded = len(work.records) - work.simulated
    steps = sum(len(game.policies) * game.runs * game.horizon for game in work.records)
    return {
        "Games": f"{len(work.records)}: {work.simulated} run now, {loaded} kept from before",
        "Run-steps": f"{steps / 1e9:.2f} billion",
        "Time": f"{times.total:.0f} seconds, on {os.cpu_count()} cores of {platform.machine()}: {times}",
    }


def versions() -> str:
    """Everything that may change a digit or a pixel."""
    import matplotlib
    import numba
    import numpy
    import scipy

    found = {"driftbandit": __version__, "Python": platform.python_version()}
    found |= {module.__name__: module.__version__ for module in (numpy, scipy, numba, matplotlib)}
    return ", ".join(f"{name} {version}" for name, version in found.items())
