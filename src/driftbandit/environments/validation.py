"""A user's own environment is tried before anything is played, so that a mistake is answered in one line.

Compiled code reads beyond a table that is too small, and does not stop at a NaN or at a mean of 1.5. Here the means are
computed over the whole game, and the functions of a path are called in plain Python for some runs.
"""

import dataclasses
import json
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftbandit import checks
from driftbandit.compiling.compilable import trouble
from driftbandit.environments.environment import Environment, Means
from driftbandit.environments.path import Path
from driftbandit.errors import InvalidValue
from driftbandit.numerics.rng import MAX_ARM, START, TOGETHER, WALK, draw

OURS = ("driftbandit.environments.", "driftbandit.datasets.")
ROWS = 1 << 16
NUMBERS = 1 << 22
"""How many means are computed at once, at most."""
CYCLE_READINGS = 64
SAME = 1e-6
"""How far means may differ that repeat: rounding, in single precision too."""
RUNS, ARMS, STEPS = 3, 4, 300
ZERO = np.uint64(0)


def tried(environment: Environment, horizon: int) -> Environment:
    """The environment; `InvalidValue` where a part of it cannot be right for a game of so many steps."""
    if _is_ours(environment):
        return environment
    name = type(environment).__name__
    if not environment.name:
        raise InvalidValue(f'{name} must have a name, as in name: ClassVar[str] = "{name.lower()}"')
    _check_fields(name, environment)
    _whole(f"n_arms of {name}", getattr(environment, "n_arms", None), 2, MAX_ARM)
    path = _called(f"path of {name} fails", environment.path)
    if path is None:
        _try_means(name, environment, horizon + 1 if environment.rested else horizon)
    else:
        _check_path(name, path)
        _try_path(name, path, environment.n_arms, min(horizon, STEPS))
    return environment


def means_of(environment: Environment, clock: NDArray[np.int64]) -> Means:
    """`means_at`, looked at: a row a reading and a column an arm, every value in [0, 1]."""
    part = f"means_at of {type(environment).__name__}"
    found = _called(f"{part} fails for clock {clock[0]} to {clock[-1]}", environment.means_at, clock)
    try:
        means = np.asarray(found)
    except (TypeError, ValueError):
        raise InvalidValue(f"{part} must return an array of numbers, got {checks.shown(found)}") from None
    if means.dtype.kind not in "fiub":
        raise InvalidValue(f"{part} must return an array of numbers, got {checks.shown(found)}")
    if means.shape != (len(clock), environment.n_arms):
        wanted = (len(clock), environment.n_arms)
        raise InvalidValue(f"{part} must return a row a reading and a column an arm, {wanted}, got shape {means.shape}")
    means = np.ascontiguousarray(means, dtype=np.float64)
    if not (means.min() >= 0.0 and means.max() <= 1.0):
        row, column = np.argwhere(~((means >= 0.0) & (means <= 1.0)))[0]
        raise InvalidValue(
            f"{part} must return means in [0, 1], got {means[row, column]} at clock {clock[row]}, column {column + 1}"
        )
    return means if _is_ours(environment) else means.copy()  # a user's own array may change later


def _is_ours(environment: Environment) -> bool:
    return type(environment).__module__.startswith(OURS)


def _check_fields(name: str, environment: Environment) -> None:
    """Tables of means are kept by environment, and results tell its parameters."""
    fields = {field.name: getattr(environment, field.name) for field in dataclasses.fields(environment)}
    for check, values in ((hash, fields), (json.dumps, environment.parameters())):
        for part, value in values.items():
            try:
                check(value)
            except (TypeError, ValueError):
                raise checks.reject(f"{part} of {name}", "a number, a text or a tuple of them", value) from None


def _try_means(name: str, environment: Environment, last: int) -> None:
    if type(environment).means_at is Environment.means_at:
        raise InvalidValue(f"{name} must define means_at(clock) or path()")
    rows = max(1, min(ROWS, NUMBERS // environment.n_arms))
    for first in range(1, last + 1, rows):
        means_of(environment, np.arange(first, min(first + rows, last + 1)))
    cycle = _called(f"cycle of {name} fails", lambda: environment.cycle)
    if cycle is None:
        return
    cycle = _whole(f"cycle of {name}", cycle, 1, None)
    if cycle >= last:
        return
    readings = min(CYCLE_READINGS, max(1, NUMBERS // environment.n_arms))
    clock = np.unique(np.linspace(1, min(cycle, last - cycle), readings).astype(np.int64))
    apart = np.abs(means_of(environment, clock) - means_of(environment, clock + cycle)).max(axis=1)
    if apart.max() > SAME:
        wrong = clock[apart > SAME][0]
        raise InvalidValue(
            f"cycle of {name} must be after how many steps the means repeat, "
            f"got {cycle}, but those at clock {wrong} and {wrong + cycle} differ"
        )


def _check_path(name: str, path: Any) -> None:
    if not isinstance(path, Path):
        raise InvalidValue(f"path of {name} must return a Path or None, got {checks.shown(path)}")
    if not isinstance(path.parameters, tuple) or not all(map(_is_number, path.parameters)):
        raise checks.reject(f"parameters of the path of {name}", "a tuple of numbers", path.parameters)
    for part in ("first", "following"):
        if not isinstance(getattr(path, part), types.FunctionType):
            raise checks.reject(f"{part} of {name}", "a plain function", getattr(path, part))
        wrong = trouble(getattr(path, part))
        if wrong:
            raise InvalidValue(f"{part} of {name} must be what can be compiled, but {wrong}")


def _try_path(name: str, path: Path, n_arms: int, steps: int) -> None:
    """Some arms of some runs, as the engine would play them with the seed 0."""
    for run in map(np.uint64, range(RUNS)):
        for k in {*range(min(n_arms, ARMS)), n_arms - 1}:
            arm = np.uint64(k)
            words = draw(ZERO, run, ZERO, arm, START, ZERO), draw(ZERO, run, ZERO, ZERO, TOGETHER, ZERO)
            mean = _mean(f"first of {name}", f"arm {k}", path.first, path.numbers, k, *words)
            for t in range(1, steps + 1):
                clock = np.uint64(t)
                words = draw(ZERO, run, clock, arm, WALK, ZERO), draw(ZERO, run, clock, ZERO, TOGETHER, ZERO)
                mean = _mean(f"following of {name}", f"{mean:g}", path.following, path.numbers, mean, t, k, *words)


def _mean(part: str, told: str, function: Callable[..., Any], *arguments: Any) -> float:
    with np.errstate(all="ignore"):  # a NaN is answered below
        found = _called(f"{part} fails for {told}", function, *arguments)
    found = found.item() if isinstance(found, np.generic) else found
    if not _is_number(found) or not 0.0 <= found <= 1.0:
        raise InvalidValue(f"{part} must return a mean in [0, 1], got {checks.shown(found)} for {told}")
    return float(found)


def _called(told: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except InvalidValue:
        raise
    except Exception as error:
        text = " ".join(str(error).split())
        raise InvalidValue(f"{told}: {type(error).__name__}: {text}") from error


def _whole(name: str, value: Any, low: int, high: int | None) -> int:
    """A whole number that is one by its type too: arrays are made by it."""
    number = checks.whole(name, value, low, high)
    if not isinstance(value, int | np.integer):
        raise checks.reject(name, "a whole number", value)
    return number


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool) and value == value
