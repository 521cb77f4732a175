"""The environments, one a file."""

from driftbandit.environments.abrupt import Abrupt
from driftbandit.environments.besson import Besson
from driftbandit.environments.brownian import Brownian
from driftbandit.environments.env_a import EnvA
from driftbandit.environments.environment import Environment
from driftbandit.environments.f_dsw import FDSW
from driftbandit.environments.from_means import FromMeans
from driftbandit.environments.path import Path
from driftbandit.environments.piecewise import Piecewise
from driftbandit.environments.random_piecewise import RandomPiecewise
from driftbandit.environments.sinusoidal import Fast, Sinusoidal, Slow
from driftbandit.environments.stationary import Stationary
from driftbandit.environments.switching import Switching

__all__ = [
    "FDSW",
    "Abrupt",
    "Besson",
    "Brownian",
    "EnvA",
    "Environment",
    "Fast",
    "FromMeans",
    "Path",
    "Piecewise",
    "RandomPiecewise",
    "Sinusoidal",
    "Slow",
    "Stationary",
    "Switching",
]
