"""`replay`: policies play the rows of a table in order, and what they earn is compared block by block of time."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.engine.games import Game, checked_policies, recorded_steps
from driftbandit.engine.result import Result
from driftbandit.engine.simulation import simulate
from driftbandit.environments import Environment, FromMeans
from driftbandit.environments.means_table import table_of
from driftbandit.errors import InvalidValue
from driftbandit.logs.blocks import block_ends, block_means
from driftbandit.logs.half_lives import discount_of
from driftbandit.logs.late import LAWS, MOST_RUNS, play_late
from driftbandit.logs.replayed import Replay
from driftbandit.logs.yardsticks import best_arm, yardsticks
from driftbandit.policies import (
    DiscountedThompsonSampling,
    DiscountedUCB,
    DriftFilter,
    Policy,
    ThompsonSampling,
)

NOISY = (
    "rows of shares are repeated: where a share is counted from few events, policies learn its noise and earn it, and "
    "forgetting seems to pay; play each row once, or shares whose noise was shrunk away, as in flights:by=day"
)


def replay(
    table: Any,
    policies: Policy | str | Iterable[Policy | str] | None = None,
    *,
    repeat: int = 1,
    delay: int = 0,
    blocks: int = 40,
    window: int | None = None,
    runs: int = 200,
    split: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> Replay:
    """Let policies play a table of full information: a row a moment, with the reward of every arm or its probability.

    Rewards are drawn from the shares; outcomes of 0 and 1 are the rewards themselves. Without a delay it is `simulate`
    that plays, with a delay a live `Bandit` for every run, which takes some microseconds a decision.

    Parameters:
        table: an array, the path of a CSV file (as for `FromMeans`), or an environment or its text, as "flights".
        policies: one or several different ones, values or texts; None: those of `usual`.
        repeat: decisions on each row, for outcomes or for shares without noise.
        delay: after how many further decisions a reward comes.
        blocks: into how many parts time is cut for intervals; at most one a row.
        window: rows in the moving average of the rolling oracle; None: a twentieth of the table.
        runs: games of each policy, at most 4096 with a delay.
        split: the share of the rows, between 0 and 1, that comes first: there the policy with the largest reward is
            chosen; the rest is played from scratch by all, and is what is returned.
        seed: of all random numbers, from 0 to 2^64 − 1.
        threads, progress: as for `simulate`.

    >>> from driftbandit import SlidingWindowUCB, datasets
    >>> found = replay(datasets.weather(), [ThompsonSampling(), SlidingWindowUCB(window=50, confidence=0.1)], runs=20)
    >>> found.arm, found.difference("sw-ucb:window=50,confidence=0.1", "ts").mean > 0
    ('New York', True)
    """
    environment = _table(table, checks.whole("repeat", repeat, 1))
    late = checks.whole("delay", delay, 0)
    count = checks.whole("blocks", blocks, 2)
    around = None if window is None else checks.whole("window", window, 2)
    if late:
        checks.whole("runs", runs, 1, MOST_RUNS)
        if environment.rewards not in LAWS:
            raise InvalidValue(f'table must have "bernoulli" or "mean" rewards with a delay, got {environment}')
    parts = [environment] if split is None else _parts(environment, checks.real("split", split, "(0, 1)"))
    chosen = tuple(usual(parts[-1].usual_horizon)) if policies is None else checked_policies(policies)
    games = [Game(chosen, part, part.usual_horizon, runs, seed) for part in parts]
    warnings = (NOISY,) if _is_noisy(environment) else ()
    found: Replay | None = None
    for game in games:
        if late:
            result = play_late(game, late, progress)
        else:
            result = simulate(
                chosen, game.environment, horizon=game.horizon, runs=runs, seed=seed, threads=threads, progress=progress
            )
        found = _replayed(game, result, late, count, around, warnings, found)
    assert found is not None
    return found


def usual(horizon: int) -> list[Policy]:
    """What to compare where nobody says: one that never forgets, two that do, narrow bounds, and the drift filter.

    >>> [str(policy) for policy in usual(5475)][:3]
    ['ts', 'dts:discount=0.9987', 'dts:discount=0.987']
    """
    slow, fast = (discount_of(max(least, horizon / parts)) for parts, least in ((10, 2.0), (100, 1.0)))
    return [
        ThompsonSampling(),
        DiscountedThompsonSampling(discount=slow),
        DiscountedThompsonSampling(discount=fast),
        DiscountedUCB(discount=slow, confidence=0.02),
        DriftFilter(),
    ]


def _table(value: Any, repeat: int) -> FromMeans:
    if isinstance(value, str) and (value.partition(":")[0].strip() in Environment.known or ".py:" in value):
        value = Environment.of(value)
    if isinstance(value, Environment) and not isinstance(value, FromMeans):
        raise checks.reject(
            "table", "an array, the path of a CSV file, or an environment with a table, such as weather", str(value)
        )
    environment = value if isinstance(value, FromMeans) else FromMeans(means=table_of("table", value))
    if environment.rested:
        raise InvalidValue(f"table must be of moments, which pass for all arms, got one that is rested: {environment}")
    return dataclasses.replace(environment, repeat=environment.repeat * repeat)


def _parts(environment: FromMeans, split: float) -> list[FromMeans]:
    """The rows before a split, and those after it."""
    rows, table = len(environment.means), environment.means
    first = round(split * rows)
    if not 0 < first < rows:
        raise InvalidValue(f"split must leave rows on both sides, got {split:g} of {rows}")
    common = {name: getattr(environment, name) for name in ("repeat", "rewards", "concentration", "deviation")}
    return [FromMeans(means=table.rows(*part), **common) for part in ((1, first), (first + 1, rows))]


def _is_noisy(environment: FromMeans) -> bool:
    """Whether rows are repeated that hold shares, from which nobody is known to have taken the noise of counting."""
    shares = (environment.means.values > 0.0) & (environment.means.values < 1.0)
    return environment.repeat > 1 and not environment.smoothed and bool(shares.any())


def _replayed(
    game: Game,
    result: Result,
    delay: int,
    blocks: int,
    window: int | None,
    warnings: tuple[str, ...],
    before: Replay | None,
) -> Replay:
    """A result, cut into blocks beside what the table offers."""
    environment: Any = game.environment
    table, repeat = environment.means, environment.repeat
    steps = np.array(recorded_steps(game.horizon, game.runs))
    ends = block_ends(steps, min(blocks, len(table), len(steps)))
    lasts = steps[ends]
    around = max(2, len(table) // 20) if window is None else window
    earned = result.dataset["reward"].values.mean(axis=1)
    means = {label: block_means(row[ends], lasts) for label, row in zip(result.policies, earned, strict=True)}
    for name, rows in yardsticks(table.values, around).by_name().items():
        means[name] = block_means(np.cumsum(np.repeat(rows, repeat))[lasts - 1], lasts)
    arm = table.arms[best_arm(table.values)]
    names = tuple(table.steps[row] for row in (lasts - 1) // repeat) if table.steps else ()
    return Replay(result, arm, around, repeat, delay, lasts, means, names, warnings, before)
