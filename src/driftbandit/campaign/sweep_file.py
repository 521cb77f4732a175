"""A sweep in a TOML file: policies × environments × horizons × seeds. All is checked before anything is played.

    horizon = [1000, 5000]
    runs = 200
    policies = ["ts", "mine.py:Mine", { name = "dts", discount = [0.9, 0.97] }]
    environments = ["fast", { name = "abrupt", period = [100, 250], n_arms = 3 }]

A list in a table is several values of that parameter, each with every value of the others.
"""

import itertools
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driftbandit import checks
from driftbandit.engine.games import Game
from driftbandit.environments import Environment
from driftbandit.errors import InvalidValue
from driftbandit.files import read_whole
from driftbandit.own_files import class_in_file
from driftbandit.policies import Policy

KEYS = ("policies", "environments", "horizon", "runs", "seed")
USUAL_HORIZON, USUAL_RUNS = 5000, 1000
MOST_GAMES = 100_000
"""Of one policy each."""


def games_of(
    path: str | Path, horizon: int | None = None, runs: int | None = None, seed: int | None = None
) -> list[Game]:
    """The games that a file asks for, each with all its policies; what is given here counts instead of what it says."""
    where = Path(path).name
    told = _read(path)
    try:
        given = {"horizon": horizon, "runs": runs, "seed": seed}
        told |= {name: value for name, value in given.items() if value is not None}
        _check_keys(told)
        policies = tuple(_specifications(Policy, told["policies"]))
        worlds = _specifications(Environment, told["environments"])
        count = checks.whole("runs", told.get("runs", USUAL_RUNS), 1)
        horizons, seeds = _several("horizon", told.get("horizon"), 1), _several("seed", told.get("seed", 0), 0)
        if len(policies) * len(worlds) * len(horizons) * len(seeds) > MOST_GAMES:
            raise InvalidValue(f"games must be at most {MOST_GAMES}, policies times environments and all else")
        return [
            Game(policies, world, steps or world.usual_horizon or USUAL_HORIZON, count, number or 0)
            for world, steps, number in itertools.product(worlds, horizons, seeds)
        ]
    except InvalidValue as error:
        raise InvalidValue(f"{where}: {error}") from None


def _read(path: str | Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_whole("file", path, "TOML file").decode())
    except UnicodeDecodeError:
        raise checks.reject("file", "a TOML file in UTF-8", str(path)) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = " ".join(str(error).split())[:100]
        raise InvalidValue(f"file must be TOML, got {checks.shown(str(path))} ({reason})") from None


def _check_keys(told: dict[str, Any]) -> None:
    for key in told:
        if key not in KEYS:
            raise InvalidValue(f"keys must be {', '.join(KEYS[:-1])} or {KEYS[-1]}, got {checks.shown(key)}")
    for key in KEYS[:2]:
        if key not in told:
            raise InvalidValue(f"{key} must be given, got keys {checks.shown(list(told))}")


def _several(name: str, value: Any, low: int) -> list[int | None]:
    """One whole number or several different ones; None where nobody says."""
    if value is None:
        return [None]
    values = value if isinstance(value, list) else [value]
    if not values:
        raise checks.reject(name, "a whole number, or a list of at least one", value)
    numbers: list[int | None] = [checks.whole(name, each, low, 2**64 - 1) for each in values]
    if len(set(numbers)) < len(numbers):
        raise checks.reject(name, "different numbers", value)
    return numbers


def _specifications(kind: Any, value: Any) -> list[Any]:
    """The policies, or the environments, that a list names: texts, and tables with a name and parameters."""
    if not isinstance(value, list) or not value:
        raise checks.reject(kind.plural, "a list of at least one text or table", value)
    found = [one for place, item in enumerate(value) for one in _named(kind, f"{kind.plural}[{place}]", item)]
    labels = [str(one) for one in found]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidValue(f"{kind.plural} must all be different, got {checks.shown(label)} twice")
    return found


def _named(kind: Any, where: str, item: Any) -> Iterator[Any]:
    """What one entry of a list names."""
    if not isinstance(item, str | dict):
        raise checks.reject(where, "a text, or a table with a name", item)
    try:
        if isinstance(item, str):
            yield kind.of(item)
            return
        yield from _product(kind, item)
    except InvalidValue as error:
        raise InvalidValue(f"{where}: {error}") from None


def _product(kind: Any, table: dict[str, Any]) -> Iterator[Any]:
    """Every combination of the values of a table's parameters."""
    name = table.get("name")
    if not isinstance(name, str):
        raise checks.reject("name", "a text", name)
    parameters = {key: value for key, value in table.items() if key != "name"}
    known, more = _name_of(kind, name)
    values = [_values(key, value) for key, value in parameters.items()]
    for chosen in itertools.product(*values):
        yield kind.build(known, more | dict(zip(parameters, chosen, strict=True)))


def _name_of(kind: Any, name: str) -> tuple[str, dict[str, Any]]:
    """The name under which a kind is known, and the parameters that the name itself tells."""
    if ".py" in name:
        cls, parameters = class_in_file(kind, name)
        if parameters:
            raise checks.reject("name", "without parameters, which have keys of their own", name)
        return cls.name, {}
    if kind is Environment and name.lower().endswith(".csv"):
        return "from-means", {"means": name}
    if ":" in name:
        raise checks.reject("name", "without parameters, which have keys of their own", name)
    return name, {}


def _values(key: str, value: Any) -> list[Any]:
    """The values of one parameter."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise checks.reject(key, "a value, or a list of at least one", value)
    for each in values:
        if not isinstance(each, bool | int | float | str):
            rows = 'rows of numbers are a text, as "0.1 0.9; 0.9 0.1"'
            raise checks.reject(key, f"a number, a text, true or false, or a list of such ({rows})", each)
    return values
