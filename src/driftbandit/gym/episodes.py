"""Episodes are runs: of the seed that `reset` was given last, one after the other from run 0 on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.engine.encounter import Encounter
from driftbandit.environments import Environment
from driftbandit.environments.validation import tried
from driftbandit.errors import InvalidValue
from driftbandit.numerics.rng import MAX_RUN, MAX_STEP

TRIED = 1000
"""Steps for which a user's own environment is tried where nobody says how many there will be."""


def environment_of(given: Any, parameters: Mapping[str, Any], horizon: int | None) -> Environment:
    """The environment that was given, or whose name and parameters were."""
    if isinstance(given, str) and parameters:
        given = Environment.build(given, parameters)
    elif parameters:
        names = ", ".join(parameters)
        raise InvalidValue(
            f"parameters must go with the name of an environment, got {names} with {checks.shown(given)}"
        )
    given = Environment.of(given, "environment", "an environment such as Fast(), or its name")
    return tried(given, horizon or TRIED)


class Episodes:
    """Some runs side by side, and after them those that follow."""

    def __init__(self, environment: Environment, runs: int, horizon: int | None = None) -> None:
        self.runs, self.n_arms = runs, int(environment.n_arms)
        self.seed: int | None = None
        self.first_run = 0
        self.begun = False
        self.regret = np.zeros(runs)
        """Of the episode so far."""
        self._encounter = Encounter(environment, runs, horizon)
        self._next = 0

    def begin(self, seed: int | None, options: Mapping[str, Any] | None, drawn: np.random.Generator) -> None:
        """The next episode; with a seed, that of run 0, or of the run that `options` name."""
        given = dict(options or {})
        run = given.pop("run", None)
        if given:
            raise InvalidValue(f"options must be run or nothing, got {', '.join(map(str, given))}")
        if seed is not None:
            self.seed, self._next = checks.whole("seed", seed, 0, 2**64 - 1), 0
        if self.seed is None:
            self.seed = int(drawn.integers(2**63))
        if run is not None:
            self._next = checks.whole("run", run, 0, MAX_RUN - self.runs)
        self.first_run, self._next = self._next, (self._next + self.runs) % (MAX_RUN - self.runs)
        self._encounter.begin(self.seed, self.first_run)
        self.regret[:] = 0.0
        self.begun = True

    def play(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
        """One step of every run: what its arm earned, and what is known of it, a row each."""
        if self._encounter.step >= MAX_STEP:
            raise InvalidValue(f"steps of an episode must be fewer than {MAX_STEP}")
        means = self._encounter.mean.T.copy()
        self._encounter.meet(chosen)
        self.regret += self._encounter.regret
        told = {"means": means, "regret": self._encounter.regret.copy(), "total_regret": self.regret.copy()}
        return self._encounter.reward.copy(), told
