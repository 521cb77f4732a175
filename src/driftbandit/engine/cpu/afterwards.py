"""A look at the numbers of a block when its kernel returns: compiled code plays on with a NaN, and nobody would know.

Functions of a user's own are tried before (`policies.validation`, `environments.validation`), but with some numbers
only. Here those are looked at that a game really met, every some millions of steps, which costs nothing that shows.
"""

import numpy as np

from driftbandit.engine.cpu.block import Desk, Evidence, World
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
from driftbandit.policies import Policy

OURS = "driftbandit."


def check_numbers(
    policy: Policy, environment: Environment, evidence: Evidence, desk: Desk, world: World, step: int
) -> None:
    """`InvalidValue` where a function of a user's own has returned what is no number, or no mean."""
    if not type(policy).__module__.startswith(OURS):
        name = type(policy).__name__
        for part, numbers in (("learn", evidence), ("scores", desk.scores)):
            if np.isnan(numbers).any():
                raise InvalidValue(f"{part} of {name} must return numbers, got nan by step {step}")
    if world.mean.size and not type(environment).__module__.startswith(OURS):
        least, most = world.mean.min(), world.mean.max()
        if not 0.0 <= least <= most <= 1.0:
            wrong = most if least >= 0.0 else least
            raise InvalidValue(
                f"following of {type(environment).__name__} must return means in [0, 1], got {wrong:g} by step {step}"
            )
