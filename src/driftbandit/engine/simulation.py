"""`simulate`: many runs of policies in one environment, wherever there is room to run them."""

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from driftbandit import checks
from driftbandit.engine.foreign import Foreign
from driftbandit.engine.games import Game, backend_for, checked_policies, play_games
from driftbandit.engine.result import Result
from driftbandit.engine.visitors import check_place
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
from driftbandit.policies import Policy


def simulate(
    policies: Policy | str | Iterable[Policy | str],
    environment: Environment | str,
    *,
    horizon: int,
    runs: int,
    seed: int | None = 0,
    threads: int | None = None,
    device: str = "cpu",
    precision: str = "float64",
    cluster: Any = None,
    progress: bool | None = None,
    keep: str | Path | None = None,
) -> Result:
    """Play `runs` games of `horizon` steps with every policy and record what happened.

    Same seed, same answer to the bit, whatever the threads, the other policies, or the number of runs beyond. Every
    policy meets the same environment, and in a random one the same path in the same run, so differences are paired.

    Parameters:
        policies: one policy or several different ones, each a value, or its text such as "dts:discount=0.9" or
            "mine.py:Mine"; `Foreign` ones too, which Python plays, slowly.
        environment: where they play: a value, or its text such as "abrupt:n_arms=6", "means.csv" or "mine.py:Mine".
        horizon: steps in a game, at least 1.
        runs: games for each policy, at least 1.
        seed: of all random numbers, from 0 to 2^64 − 1; None: another one each time, which `Result.seed` tells.
        threads: how many to use; None: one for each core.
        device: "cpu", or "cuda" for a GPU.
        precision: "float64", or "float32" on a GPU.
        cluster: the address of a Dask scheduler or a Dask client; None: this machine.
        progress: whether to show a bar; None: on a terminal, when it takes longer than a moment.
        keep: a folder for finished parts, so that the same call goes on where an interrupted one stopped.

    >>> from driftbandit import DiscountedThompsonSampling, Fast, ThompsonSampling
    >>> policies = [DiscountedThompsonSampling(discount=0.9), ThompsonSampling()]
    >>> result = simulate(policies, Fast(), horizon=500, runs=200, seed=1)
    >>> result.normalized_regret["dts:discount=0.9"].mean < result.normalized_regret["ts"].mean
    True
    >>> print(simulate("ts", "fast", horizon=500, runs=200, seed=1).environment)
    fast
    """
    if progress is not None:
        checks.flag("progress", progress)
    if seed is None:
        if keep is not None:
            raise InvalidValue("seed must be given with keep, as the same call must go on, got None")
        seed = secrets.randbits(64)
    world = Environment.of(environment, "environment", "an environment such as Fast()")
    game = Game(checked_policies(policies), world, horizon, runs, seed)
    visited = any(isinstance(policy, Foreign) for policy in game.policies)
    if visited:
        check_place(device, cluster, keep)
    backend = backend_for(threads, device, precision, cluster, visited)
    [(_, result)] = play_games([game], backend, progress, keep)
    return result
