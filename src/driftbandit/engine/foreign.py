"""Policies from elsewhere: an object of river, or any that says which arm it takes and hears what came of it."""

import dataclasses
import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from driftbandit.checks import reject, shown
from driftbandit.errors import InvalidValue
from driftbandit.policies import Policy, Rule
from driftbandit.specification import parameter

TOLD = ("n_arms", "horizon", "seed", "run")
"""What a factory may ask for, by the names of its arguments."""


def _callable(name: str, value: Any) -> Any:
    if not callable(value):
        raise reject(name, "a class or function that makes a player, such as lambda seed: Mine(seed)", value)
    return value


def _label(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable() or not value or {*":,= "} & {*value}:
        raise reject(name, "a word without : , = or space", value)
    if value in Policy.known:
        raise InvalidValue(f"{name} must be a new one, got {value!r}, which is {Policy.known[value].__name__}'s")
    return value


@dataclasses.dataclass(frozen=True, repr=False)
class Foreign(Policy):
    """A policy that is plain Python, from another library or your own, to be compared in `simulate`.

    `factory` makes a player for every run. A player has `update(arm, reward)`, and `pull(arms)`, as policies of river
    have, or `select()`; both return the number of an arm. It meets the same means and the same draws of rewards as
    every other policy, but is played by Python, a step at a time: microseconds where others take nanoseconds, by one
    thread, on this machine only. A `Bandit`, a log, a card or a cluster has no use for it.

    Parameters:
        factory: makes a player. It is given what its arguments ask for by their names: `n_arms`, `horizon`, `seed`
            (of 32 bits, another for every run), `run`. It is called once before the first run, to look at a player.
        label: what results call it.

    >>> import random
    >>> class Guessing:
    ...     def __init__(self, n_arms, seed):
    ...         self.arms, self.random = range(n_arms), random.Random(seed)
    ...     def select(self):
    ...         return self.random.choice(self.arms)
    ...     def update(self, arm, reward):
    ...         pass
    >>> from driftbandit import Slow, UCB1, simulate
    >>> result = simulate([UCB1(), Foreign(Guessing, label="guessing")], Slow(), horizon=100, runs=50)
    >>> result.difference("guessing", "ucb1").low > 0.0
    True
    """

    factory: Callable[..., Any] = parameter(_callable)
    _: dataclasses.KW_ONLY
    label: str = parameter(_label)

    def parameters(self) -> dict[str, Any]:
        """What a result can tell: the label."""
        return {"label": self.label}

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"<Foreign {self.label}>"

    def rule(self, n_arms: int) -> Rule:
        """There is none, and so nothing that needs one: what is said here is what live use, logs and odds answer."""
        raise InvalidValue(f"policy must have a rule, got {self.label}, a Foreign one, which only simulate can play")

    def player(self, n_arms: int, horizon: int, seed: int, run: int) -> "Player":
        """The player of a run."""
        told = {"n_arms": n_arms, "horizon": horizon, "seed": seed_of(seed, run), "run": run}
        asked = self._asked()
        try:
            made = self.factory(**{name: told[name] for name in asked})
        except Exception as error:
            raise InvalidValue(f"factory of {self.label} fails for run {run}: {_one_line(error)}") from error
        return Player(self.label, made, n_arms, run)

    def _asked(self) -> list[str]:
        """The arguments of the factory that are told; others must have a default."""
        try:
            arguments = inspect.signature(self.factory).parameters.values()
        except (TypeError, ValueError):  # of C, without a signature
            return []
        starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        for argument in arguments:
            by_name = argument.kind is not inspect.Parameter.POSITIONAL_ONLY and argument.name in TOLD
            if argument.default is argument.empty and argument.kind not in starred and not by_name:
                raise InvalidValue(f"factory of {self.label} must ask for {', '.join(TOLD)} only, got {argument.name}")
        return [argument.name for argument in arguments if argument.name in TOLD]


class Player:
    """A player in one run, whose mistakes are told in one line: of whom, in which run, at which step."""

    def __init__(self, label: str, made: Any, n_arms: int, run: int) -> None:
        self.label, self.n_arms, self.run, self.step = label, n_arms, run, 0
        pull, select = getattr(made, "pull", None), getattr(made, "select", None)
        self._update: Any = getattr(made, "update", None)
        if not callable(self._update) or not (callable(pull) or callable(select)):
            raise InvalidValue(
                f"factory of {label} must make what has update(arm, reward), and select() or pull(arms), "
                f"got {shown(made)}"
            )
        self._select: Any = pull if callable(pull) else select
        self._given = ([*range(n_arms)],) if callable(pull) else ()
        self._asked = "pull" if callable(pull) else "select"

    def select(self) -> int:
        """The arm that it takes at the next step."""
        self.step += 1
        try:
            found = self._select(*self._given)
        except Exception as error:
            raise InvalidValue(f"{self._asked} of {self._where()} fails: {_one_line(error)}") from error
        if type(found) is not int:
            found = self._number(found)
        if not 0 <= found < self.n_arms:
            raise self._no_arm(found)
        return found

    def update(self, arm: int, reward: float) -> None:
        """What came of it."""
        try:
            self._update(arm, reward)
        except Exception as error:
            raise InvalidValue(f"update of {self._where()} fails: {_one_line(error)}") from error

    def _number(self, found: Any) -> int:
        try:
            if isinstance(found, bool | np.bool_):
                raise TypeError
            return operator.index(found)
        except TypeError:  # a float, NaN, None, a list
            raise self._no_arm(found) from None

    def _no_arm(self, found: Any) -> InvalidValue:
        return InvalidValue(
            f"{self._asked} of {self._where()} must return an arm from 0 to {self.n_arms - 1}, got {shown(found)}"
        )

    def _where(self) -> str:
        return f"{self.label} at step {self.step} of run {self.run}"


def seed_of(seed: int, run: int) -> int:
    """The seed of a player, of 32 bits: any generator takes those."""
    return int(np.random.SeedSequence((seed, run)).generate_state(1)[0])


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
