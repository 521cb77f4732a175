"""The names under which Gymnasium knows our environments."""

import dataclasses

import gymnasium

from driftbandit import datasets, environments
from driftbandit.environments import Environment

NAMESPACE = "driftbandit"
ANY = f"{NAMESPACE}/Bandit-v0"
"""The name for any environment, a user's own too, which is then an argument."""
USUAL_STEPS = 1000
"""Steps of an episode where nobody says another number, and none was published."""


def register_all() -> None:
    """Register every environment of the package by the name of its class, and `ANY`."""
    for place in (environments, datasets):
        for name in place.__all__:
            found = getattr(place, name)
            if isinstance(found, type) and issubclass(found, Environment) and found.name:
                _register(f"{NAMESPACE}/{name}-v0", _steps(found), environment=found.name)
    _register(ANY, USUAL_STEPS)


def _register(name: str, steps: int, **arguments: str) -> None:
    if name not in gymnasium.registry:  # else this module is loaded again
        gymnasium.register(
            name,
            entry_point="driftbandit.gym:BanditEnv",
            vector_entry_point="driftbandit.gym:BanditVectorEnv",
            max_episode_steps=steps,
            kwargs=arguments,
        )


def _steps(found: type[Environment]) -> int:
    needed = any(field.init and field.default is dataclasses.MISSING for field in dataclasses.fields(found))
    return USUAL_STEPS if needed else Environment.build(found.name, {}).usual_horizon or USUAL_STEPS
