"""`simulate`: many runs of policies in one environment, wherever there is room to run them."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.engine import oracle
from driftbandit.engine.progress import Progress
from driftbandit.engine.result import Result, assemble
from driftbandit.engine.shard import Shard
from driftbandit.engine.threads import run_on_threads
from driftbandit.environments import Environment
from driftbandit.errors import Interrupted, InvalidValue
from driftbandit.policies import Policy
from driftbandit.rng import MAX_RUN, MAX_STEP

MOST_POINTS = 250
"""At how many steps the figures of every run are kept, at most."""
POINT_NUMBERS = 1 << 22
"""How many figures of one kind are kept for one policy: a million runs then fit into memory."""
MOST_BINS = 1 << 18
"""In how many intervals choices are counted, at most."""
SHARD_RUNS = 512
"""Runs in a shard."""


def simulate(
    policies: Policy | Iterable[Policy],
    environment: Environment,
    *,
    horizon: int,
    runs: int,
    seed: int = 0,
    threads: int | None = None,
    device: str = "cpu",
    precision: str = "float64",
    cluster: Any = None,
    progress: bool | None = None,
) -> Result:
    """Play `runs` games of `horizon` steps with every policy and record what happened.

    Same seed, same answer to the bit, whatever the threads, the other policies, or the number of runs beyond. Every policy
    meets the same environment, and in a random one the same path in the same run, so differences are paired.

    Parameters:
        policies: one policy or several different ones.
        environment: where they play.
        horizon: steps in a game, at least 1.
        runs: games for each policy, at least 1.
        seed: of all random numbers, from 0 to 2^64 − 1.
        threads: how many to use; None: one for each core.
        device: "cpu", or "cuda" for a GPU.
        precision: "float64", or "float32" on a GPU.
        cluster: the address of a Dask scheduler or a Dask client; None: this machine.
        progress: whether to show a bar; None: on a terminal, when it takes longer than a moment.

    >>> from driftbandit import DiscountedThompsonSampling, Fast, ThompsonSampling
    >>> result = simulate([DiscountedThompsonSampling(discount=0.9), ThompsonSampling()], Fast(), horizon=500, runs=200, seed=1)
    >>> result.normalized_regret["dts:discount=0.9"].mean < result.normalized_regret["ts"].mean
    True
    """
    chosen = checked_policies(policies)
    if not isinstance(environment, Environment):
        raise checks.reject("environment", "an environment such as Fast()", environment)
    horizon = checks.whole("horizon", horizon, 1, MAX_STEP - 1)
    runs = checks.whole("runs", runs, 1, MAX_RUN - 1)
    seed = checks.whole("seed", seed, 0, 2**64 - 1)
    threads = None if threads is None else checks.whole("threads", threads, 1, 4096)
    checks.one_of("device", device, ["cpu", "cuda"])
    checks.one_of("precision", precision, ["float64", "float32"])
    if precision == "float32" and device == "cpu":
        raise InvalidValue('precision must be "float64" on device "cpu", got "float32"')
    if progress is not None:
        checks.flag("progress", progress)

    steps = recorded_steps(horizon, runs)
    bin_width = -(-horizon // MOST_BINS)
    shards = [
        Shard(policy, environment, horizon, seed, first, min(SHARD_RUNS, runs - first), steps, bin_width)
        for policy in chosen
        for first in range(0, runs, SHARD_RUNS)
    ]
    figures = _empty(len(chosen), runs, len(steps), -(-horizon // bin_width), environment.n_arms)
    per_policy = len(shards) // len(chosen)
    with Progress(f"{len(chosen)} policies in {environment}", len(chosen) * runs * horizon, progress) as bar:
        try:
            for index, outcome in run_on_threads(shards, threads, bar.advance):
                shard, row = shards[index], index // per_policy
                own = slice(shard.first_run, shard.first_run + shard.runs)
                for name in ("regret", "expected", "reward"):
                    figures[name][row, own] = getattr(outcome, name)
                figures["choices"][row] += outcome.choices
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted after {bar.finished / bar.total:.0%}; nothing was kept") from None
    static = oracle.static_oracle(environment, horizon, seed, runs)
    return assemble(chosen, environment, horizon, seed, steps, bin_width, figures, static)


def checked_policies(policies: Policy | Iterable[Policy]) -> list[Policy]:
    """The policies as a list: at least one, all different."""
    chosen = [policies] if isinstance(policies, Policy) else list(policies) if _is_iterable(policies) else [policies]
    if not chosen:
        raise checks.reject("policies", "at least one policy", chosen)
    for policy in chosen:
        if not isinstance(policy, Policy):
            raise checks.reject("policies", "policies such as ThompsonSampling()", policy)
    labels = [str(policy) for policy in chosen]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidValue(f"policies must all be different, got {label} {labels.count(label)} times")
    return chosen


def _is_iterable(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def recorded_steps(horizon: int, runs: int) -> tuple[int, ...]:
    """Evenly spaced steps, the last one included; fewer where there are very many runs."""
    points = min(horizon, MOST_POINTS, max(1, POINT_NUMBERS // runs))
    return tuple(
        int(step) for step in np.unique(np.round(np.linspace(horizon / points, horizon, points)).astype(np.int64))
    )


def _empty(policies: int, runs: int, points: int, bins: int, n_arms: int) -> dict[str, NDArray[Any]]:
    shape = (policies, runs, points)
    return {
        "regret": np.empty(shape),
        "expected": np.empty(shape),
        "reward": np.empty(shape),
        "choices": np.zeros((policies, bins, n_arms), np.int64),
    }
