"""A user's own rule is tried in plain Python before it is compiled, so that a mistake is answered in one line.

Compiled code does not stop at a NaN, and what a compiler says about a wrong function is about the engine, not about the
function. Here each function is called with the evidence of an arm that was never chosen and of some that were.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.errors import InvalidValue
from driftbandit.policies.policy import Policy, Rule, larger

OURS = "driftbandit.policies."
WORDS = tuple(np.uint64(word) for word in (0x9E3779B9, 0x3C6EF372, 0x5A827999, 0x6ED9EBA1))
MORE = tuple(np.uint64(word) for word in (0xBB67AE85, 0x510E527F, 0x1F83D9AB, 0x5BE0CD19))
SHARES = (0.5, 0.25, 0.125)
ROUNDING = 1e-9


def tried(policy: Policy, n_arms: int) -> Rule:
    """The policy's rule; `InvalidValue` where one of its parts cannot be right."""
    rule = policy.rule(n_arms)
    if type(policy).__module__.startswith(OURS):
        return rule
    name = type(policy).__name__
    if not policy.name:
        raise InvalidValue(f'{name} must have a name, as in name: ClassVar[str] = "{name.lower()}"')
    if not isinstance(rule, Rule):
        raise InvalidValue(f"rule of {name} must return a Rule, got {checks.shown(rule)}")
    _check_numbers(name, rule)
    _Trial(name, rule, n_arms).run()
    return rule


def _check_numbers(name: str, rule: Rule) -> None:
    checks.one_of(f"selection of {name}", rule.selection, ("sampled", "index", "weighted"))
    if not isinstance(rule.parameters, tuple) or not all(map(_is_number, rule.parameters)):
        raise checks.reject(f"parameters of {name}", "a tuple of numbers", rule.parameters)
    if not isinstance(rule.initial, tuple) or len(rule.initial) != 2 or not all(map(_is_number, rule.initial)):
        raise checks.reject(f"initial of {name}", "two numbers", rule.initial)
    if rule.rough is not None and rule.apart is larger:
        raise InvalidValue(f"apart of {name} must say how far rough scores are off, as rough is given")
    checks.real(f"decay of {name}", rule.decay, "(0, 1]")
    checks.whole(f"window of {name}", rule.window, 0)
    checks.whole(f"restart of {name}", rule.restart, 0)
    needed = ["learn", "context", "unlearn", "probability" if rule.selection == "weighted" else "score"]
    for part in [*needed, "accepted"] if rule.selection == "sampled" else needed:
        if not callable(getattr(rule, part)):
            raise checks.reject(f"{part} of {name}", "a function", getattr(rule, part))


class _Trial:
    """One rule with evidence to try it on."""

    def __init__(self, name: str, rule: Rule, n_arms: int) -> None:
        self.name, self.rule, self.n_arms = name, rule, n_arms
        self.parameters = tuple(map(float, rule.parameters))

    def run(self) -> None:
        rule = self.rule
        shared = [self.number("context", rule.context, total) for total in (0.0, 1.0, 10.0)]
        evidence = [tuple(map(float, rule.initial))]
        for reward in (1.0, 0.0, 0.5):
            found = self.called("learn", rule.learn, *evidence[-1], reward, 1.0 / self.n_arms)
            evidence.append(self.pair("learn", found, (*evidence[-1], reward, 1.0 / self.n_arms)))
        if rule.window > 0:
            self.pair("unlearn", self.called("unlearn", rule.unlearn, *evidence[-1], 0.5), (*evidence[-1], 0.5))
        if rule.selection == "weighted":
            self.try_probability()
        for total, (a, b) in zip(shared, evidence, strict=False):
            if rule.selection == "index":
                self.number("score", rule.score, total, a, b)
            elif rule.selection == "sampled":
                self.try_sample(total, a, b)

    def try_sample(self, shared: float, a: float, b: float) -> None:
        found = self.called("score", self.rule.score, shared, a, b, WORDS, MORE)
        if not isinstance(found, tuple) or len(found) != 2:
            raise self.wrong("score", "a number and whether it is sure", found, (shared, a, b))
        if not _is_number(found[0]):
            raise self.wrong("score", "a number", found[0], (shared, a, b))
        self.called("accepted", self.rule.accepted, a, b, WORDS)

    def try_probability(self) -> None:
        """Over arms that are alike, and over a few that are not: how many arms have each share of the weights."""
        few = SHARES[: self.n_arms - 1]
        uneven = dict.fromkeys(few, 1) | {0.0: self.n_arms - 1 - len(few)}
        uneven[1.0 - sum(few)] = uneven.get(1.0 - sum(few), 0) + 1
        for shares in ({1.0 / self.n_arms: self.n_arms}, uneven):
            total = 0.0
            for share, count in shares.items():
                chance = self.number("probability", self.rule.probability, share)
                if not -ROUNDING <= chance <= 1 + ROUNDING:
                    raise self.wrong("probability", "a number from 0 to 1", chance, (share,))
                total += count * chance
            if abs(total - 1.0) > 1e-6:
                raise InvalidValue(
                    f"probability of {self.name} must sum to 1 over all arms, got {total:g} for {self.n_arms} arms"
                )

    def called(self, part: str, function: Callable[..., Any] | None, *arguments: Any) -> Any:
        assert function is not None
        try:
            return function(self.parameters, *arguments)
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            raise InvalidValue(f"{part} of {self.name} fails for {_told(arguments)}: {told}") from error

    def number(self, part: str, function: Callable[..., Any] | None, *arguments: Any) -> float:
        found = self.called(part, function, *arguments)
        if not _is_number(found):
            raise self.wrong(part, "a number", found, arguments)
        return float(found)

    def pair(self, part: str, found: Any, arguments: tuple[Any, ...]) -> tuple[float, float]:
        if not isinstance(found, tuple) or len(found) != 2 or not all(map(_is_number, found)):
            raise self.wrong(part, "two numbers, a and b", found, arguments)
        return float(found[0]), float(found[1])

    def wrong(self, part: str, allowed: str, found: Any, arguments: tuple[Any, ...]) -> InvalidValue:
        return InvalidValue(
            f"{part} of {self.name} must return {allowed}, got {checks.shown(found)} for {_told(arguments)}"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and not math.isnan(value)


def _told(arguments: tuple[Any, ...]) -> str:
    """The numbers among the arguments: random words say nothing."""
    return ", ".join(f"{value:g}" for value in arguments if isinstance(value, float))
