"""The kinds of figures, one a file: which games a figure needs, its panels, its numbers, its part of the report.

A new kind is a new file here, as short as `arms.py`, and a line in `experiments.py` that lists a figure of it. What it
must have is abstract in `Experiment`: if one thing is missing, the package cannot be imported. A kind is an attribute
of this package by the name of its class, as `kinds.ByArms`.
"""

import importlib
import pkgutil
from typing import Any

from driftbandit.paper.experiment import Experiment


def __getattr__(name: str) -> Any:
    for module in pkgutil.iter_modules(__path__):
        found = getattr(importlib.import_module(f"{__name__}.{module.name}"), name, None)
        if isinstance(found, type) and issubclass(found, Experiment):
            return found
    raise AttributeError(f"no kind of figure is called {name}")
