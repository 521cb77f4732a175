"""A user's own rule is tried in plain Python before it is compiled, so that a mistake is answered in one line.

Compiled code does not stop at a NaN, and what a compiler says about a wrong function is about the engine, not about the
function. Here an arm is played for a while, and every function is called with the numbers of an arm that was never
chosen, of one that was chosen a few times, and of one that was chosen very often.
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from driftbandit import checks
from driftbandit.compiling.compilable import trouble
from driftbandit.errors import DriftbanditError, InvalidValue
from driftbandit.policies.beliefs import Beliefs
from driftbandit.policies.policy import Policy
from driftbandit.policies.posterior import LAWS_OF_PAIRS, Posterior, Sampler, larger, sampler_of
from driftbandit.policies.rule import LONGEST_HISTORY, MOST_COMMON, MOST_NUMBERS, Rule, no_context, no_notice

OURS = "driftbandit.policies."
WORDS = tuple(np.uint64(word) for word in (0x9E3779B9, 0x3C6EF372, 0x5A827999, 0x6ED9EBA1))
MORE = tuple(np.uint64(word) for word in (0xBB67AE85, 0x510E527F, 0x1F83D9AB, 0x5BE0CD19))
SHARES = (0.5, 0.25, 0.125)
ROUNDING = 1e-9
TRIED_STEPS = 12
"""Of beliefs, which take long in plain Python."""
LOOKED_AT = (0, 1, 2, 3, 5, 8, 13, 40, 200, 1000)
"""After how many choices of the arm its numbers are looked at."""


def tried(policy: Policy, n_arms: int) -> Rule:
    """The policy's rule; `InvalidValue` where one of its parts cannot be right."""
    if type(policy).__module__.startswith(OURS):
        return policy.rule(n_arms)
    name = type(policy).__name__
    try:
        rule = policy.rule(n_arms)
    except DriftbanditError:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise InvalidValue(f"rule of {name}, called as rule({n_arms}) for {n_arms} arms, fails: {told}") from error
    if not policy.name:
        raise InvalidValue(f'{name} must have a name, as in name: ClassVar[str] = "{name.lower()}"')
    if not isinstance(rule, Rule):
        raise InvalidValue(f"rule of {name} must return a Rule, got {checks.shown(rule)}")
    _check_numbers(name, rule)
    _check_functions(name, rule)
    if rule.beliefs is not None:
        _check_beliefs(name, rule)
        try_beliefs(name, rule, n_arms)
    _Trial(name, rule, n_arms).run()
    return rule


def _check_numbers(name: str, rule: Rule) -> None:
    checks.one_of(f"selection of {name}", rule.selection, ("sampled", "index", "weighted"))
    checks.one_of(f"window_of of {name}", rule.window_of, ("steps", "choices"))
    checks.one_of(f"alarm_resets of {name}", rule.alarm_resets, ("arm", "all"))
    checks.one_of(f"learning of {name}", rule.learning, ("additive", "by arm", "sequential"))
    for part, least, most in (("parameters", 0, 10**6), ("initial", 1, MOST_NUMBERS), ("common", 0, MOST_COMMON)):
        value = getattr(rule, part)
        if not isinstance(value, tuple) or not all(map(_is_finite, value)) or not least <= len(value) <= most:
            count = "" if part == "parameters" else f"{least} to {most} " if least else f"up to {most} "
            raise checks.reject(f"{part} of {name}", f"a tuple of {count}numbers", value)
    for part, interval in (("decay", "(0, 1]"), ("drift", "(-inf, inf)")):
        value = getattr(rule, part)
        if isinstance(value, tuple) and len(value) != len(rule.initial):
            raise checks.reject(f"{part} of {name}", f"one number, or {len(rule.initial)} as initial has", value)
        for each in value if isinstance(value, tuple) else (value,):
            checks.real(f"{part} of {name}", each, interval)
    for part in ("window", "restart"):
        checks.whole(f"{part} of {name}", getattr(rule, part), 0)
    checks.whole(f"history of {name}", rule.history, 0, LONGEST_HISTORY)
    if rule.window_of == "choices":
        checks.whole(f"window of {name}", rule.window, 0, LONGEST_HISTORY)
    checks.flag(f"luck of {name}", rule.luck)
    checks.flag(f"binary of {name}", rule.binary)
    if not callable(rule.explore):
        checks.real(f"explore of {name}", rule.explore, "[0, 1]")
    ends = (rule.least_reward, rule.largest_reward)
    if not all(map(_is_number, ends)) or not ends[0] < ends[1]:
        raise checks.reject(f"least_reward and largest_reward of {name}", "two numbers, the first below", ends)


def _check_functions(name: str, rule: Rule) -> None:
    needed = {"sampled": [], "index": ["score"], "weighted": ["probability"]}[rule.selection]
    for part in [*needed, "learn", "context", "notice"]:
        if not callable(getattr(rule, part)):
            raise checks.reject(f"{part} of {name}", "a function", getattr(rule, part))
    for part in ("blend", "alarm", "renew", "observations", "interval", "pieces", "log_weight", "unlearn"):
        if getattr(rule, part) is not None and not callable(getattr(rule, part)):
            raise checks.reject(f"{part} of {name}", "a function or None", getattr(rule, part))
    if rule.selection == "sampled":
        _check_sampler(name, rule)
    for part, function in _compiled(rule):
        wrong = trouble(function)
        if wrong:
            raise InvalidValue(f"{part} of {name} must be what can be compiled, but {wrong}")
    if rule.window and rule.unlearn is None:
        raise InvalidValue(f"unlearn of {name} must be given, as observations leave its window")
    if rule.pieces is not None and not rule.luck:
        raise InvalidValue(f"luck of {name} must be True, as pieces are given")
    if rule.luck and rule.context is no_context:
        raise InvalidValue(f"context of {name} must be given, as it is what gets the luck")
    if rule.context is not no_context and rule.observations is None:
        if rule.alarm is not None:
            raise InvalidValue(f"observations of {name} must be given, as an alarm changes how many there are")
        if rule.window and rule.window_of == "choices":
            raise InvalidValue(f"observations of {name} must be given, as its window changes how many there are")


def _compiled(rule: Rule) -> Iterator[tuple[str, Any]]:
    """The functions that are compiled: not those that only odds and summaries need."""
    for value in (rule, sampler_of(rule)) if rule.selection == "sampled" else (rule,):
        for field in dataclasses.fields(value):
            if field.name not in {"pieces", "interval"} and callable(getattr(value, field.name)):
                yield field.name, getattr(value, field.name)


def _check_sampler(name: str, rule: Rule) -> None:
    if (rule.posterior is None) == (rule.sampler is None):
        raise InvalidValue(f"{name} must have a posterior or a sampler, as its selection is sampled")
    if rule.posterior is not None:
        if not isinstance(rule.posterior, Posterior):
            raise checks.reject(f"posterior of {name}", 'a Posterior, as in Posterior("beta")', rule.posterior)
        checks.one_of(f"law of {name}", rule.posterior.law, ("beta", "optimistic beta", "normal"))
    elif not isinstance(rule.sampler, Sampler):
        raise checks.reject(f"sampler of {name}", "a Sampler", rule.sampler)
    elif rule.sampler.law not in ("", *LAWS_OF_PAIRS):
        checks.one_of(f"law of the sampler of {name}", rule.sampler.law, LAWS_OF_PAIRS)
    elif rule.sampler.law and rule.sampler.size != 4:
        told = "4, the shapes of two Beta laws"
        raise checks.reject(f"size of the sampler of {name}", told, rule.sampler.size)
    elif rule.sampler.rough is not None and rule.sampler.apart is larger:
        raise InvalidValue(f"apart of {name} must say how far rough scores are off, as rough is given")


def _check_beliefs(name: str, rule: Rule) -> None:
    """That beliefs are arrays, have functions, and are all that the rule learns by."""
    beliefs = rule.beliefs
    if not isinstance(beliefs, Beliefs):
        raise checks.reject(f"beliefs of {name}", "Beliefs", beliefs)
    for part in ("initial", "common"):
        array = getattr(beliefs, part)
        if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != 1 or not array.size:
            raise checks.reject(f"{part} of the beliefs of {name}", "an array of np.float32 of one dimension", array)
    checks.whole(f"room of the beliefs of {name}", beliefs.room, 1, 1 << 20)
    for part in ("lucky", "own_luck", "keeps"):
        checks.flag(f"{part} of the beliefs of {name}", getattr(beliefs, part))
    if (beliefs.own_luck or beliefs.pieces is not None) and not beliefs.lucky:
        raise InvalidValue(f"lucky of the beliefs of {name} must be True, as its judge looks at luck")
    if beliefs.pieces is not None and not (callable(beliefs.pieces) and rule.posterior is not None):
        raise InvalidValue(f"pieces of the beliefs of {name} must be a function, and its rule have a posterior")
    for part in ("judge", "learn", "move", *(("odds",) if beliefs.odds is not None else ())):
        wrong = trouble(getattr(beliefs, part)) if callable(getattr(beliefs, part)) else "it is no function"
        if wrong:
            raise InvalidValue(f"{part} of the beliefs of {name} must be what can be compiled, but {wrong}")
    checks.whole(f"scratch of the beliefs of {name}", beliefs.scratch, 0, beliefs.initial.size)
    checks.whole(f"chance_at of the beliefs of {name}", beliefs.chance_at, 0, len(rule.initial) - 1)
    others = {
        "common": rule.common,
        "notice": rule.notice is not no_notice,
        "blend": rule.blend is not None,
        "decay": any(decay != 1.0 for decay in rule.decays),
        "drift": any(rule.drifts),
        "window": rule.window,
        "history": rule.history,
        "alarm": rule.alarm is not None,
        "restart": rule.restart,
        "luck": rule.luck,
    }
    for part, there in others.items():
        if there:
            raise InvalidValue(f"{part} of {name} must be left out, as its rule has beliefs")
    for part, right in (("selection", ["index", "sampled"]), ("learning", ["sequential"])):
        checks.one_of(f"{part} of {name}, which has beliefs,", getattr(rule, part), right)


def try_beliefs(name: str, rule: Rule, n_arms: int) -> None:
    """Play some steps in plain Python: every number that arms are compared by must be one."""
    beliefs, arms = rule.beliefs, np.arange(n_arms)
    assert beliefs is not None
    every, common = np.tile(beliefs.initial, (n_arms, 1)), beliefs.common.copy()
    own, room = np.tile(np.array(rule.initial, np.float64), (n_arms, 1)), np.zeros(beliefs.room, np.float32)
    luck = np.full(n_arms, 0.5) if beliefs.own_luck else 0.5
    for step in range(TRIED_STEPS):
        arm, pending, reward = step % n_arms, np.zeros(n_arms, np.int64), (1.0, 0.0, 0.5)[step % 3]
        pending[0] = step % 2
        constants = (beliefs.tables, common)
        part = "judge"
        try:
            with np.errstate(all="ignore"):
                beliefs.judge(*constants, every, arms, pending, luck, own, room)
                part = "learn"
                beliefs.learn(*constants, every[arm], reward, room)
                part = "move"
                beliefs.move(*constants, every, arms, 1.0 if step % 5 else 2.5, arm, room)
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            raise InvalidValue(f"{part} of the beliefs of {name} fails at step {step + 1}: {told}") from error
        if beliefs.odds is not None:
            beliefs.odds(*constants, every, arms, own, np.zeros((2, n_arms)))
            total = own[:, beliefs.chance_at].sum()
            if not abs(total - 1.0) < 1e-3:
                raise InvalidValue(f"odds of the beliefs of {name} must sum to 1, got {total:g} at step {step + 1}")
        if beliefs.pieces is not None:
            _check_pieces(name, rule, beliefs, beliefs.pieces(*constants, every), n_arms)
        if not np.all(np.isfinite(own)):
            raise InvalidValue(f"judge of the beliefs of {name} must fill numbers, got nan or inf at step {step + 1}")


def _check_pieces(name: str, rule: Rule, beliefs: Beliefs, found: Any, n_arms: int) -> None:
    """That weights are of pieces that there are, and sum to 1."""
    try:
        weights, numbers = (np.asarray(each, np.float64) for each in found)
        lucks, count = weights.shape
        right = lucks == (n_arms if beliefs.own_luck else 1) and numbers.shape == (n_arms, count, len(rule.initial))
    except (TypeError, ValueError):
        right = False
    if not right:
        shapes = f"[{'arm' if beliefs.own_luck else '1'}, piece] and [arm, piece, number]"
        raise InvalidValue(f"pieces of the beliefs of {name} must be weights and numbers of shapes {shapes}")
    if not np.all(weights >= 0.0) or not np.all(np.abs(weights.sum(axis=1) - 1.0) < 1e-3):
        raise InvalidValue(f"weights of the pieces of {name} must be at least 0 and sum to 1")


class _Trial:
    """One rule, and an arm that plays it."""

    def __init__(self, name: str, rule: Rule, n_arms: int) -> None:
        self.name, self.rule, self.n_arms = name, rule, n_arms
        self.parameters = tuple(map(float, rule.parameters))
        self.common = tuple(map(float, rule.common))

    def run(self) -> None:
        for choices, own in self.played():
            shared = self.shared(float(choices))
            if self.rule.observations is not None:
                self.number("observations", self.rule.observations, *own)
            if callable(self.rule.explore):
                share = self.number("explore", self.rule.explore, float(choices + 1), *self.common)
                if not 0.0 <= share <= 1.0:
                    raise self.wrong("explore", "a number from 0 to 1", share, (float(choices + 1),))
            if self.rule.interval is not None:
                self.numbers("interval", self.rule.interval, 3, shared, *own, undefined=True)
            if self.rule.selection == "index":
                self.number("score", self.rule.score, shared, *own)
            elif self.rule.selection == "sampled":
                self.try_sample(shared, own)
            elif self.rule.log_weight is not None:
                found = self.number("log_weight", self.rule.log_weight, shared, *own)
                if not math.isfinite(found):
                    raise self.wrong("log_weight", "a finite number", found, (shared, *own))
        if self.rule.selection == "weighted":
            self.try_probability()

    def played(self) -> Iterator[tuple[int, tuple[float, ...]]]:
        """The arm's numbers after some choices of it, with rewards of every kind."""
        rule = self.rule
        own = tuple(map(float, rule.initial))
        ring: list[float] = []
        for choice in range(max(LOOKED_AT) + 1):
            if choice in LOOKED_AT:
                yield choice, own
            reward, chance = self.reward(choice), 1.0 / self.n_arms
            own = tuple(x * d + c for x, d, c in zip(own, rule.decays, rule.drifts, strict=True))
            if rule.blend is not None:
                mean = (own[0] + (self.n_arms - 1) * rule.initial[0]) / self.n_arms
                own = self.tuple_of("blend", self.called("blend", rule.blend, self.common, mean, *own), len(own), own)
            if rule.common:
                given = (self.common, own, reward, chance)
                self.common = self.tuple_of("notice", self.called("notice", rule.notice, *given), len(self.common), own)
            own = self.numbers("learn", rule.learn, len(own), *own, reward, chance)
            ring.append(reward)
            if rule.window and len(ring) > rule.window:
                assert rule.unlearn is not None
                own = self.numbers("unlearn", rule.unlearn, len(own), *own, ring[-1 - rule.window])
            if rule.alarm is not None and self.alarmed(own, ring):
                own, ring = tuple(map(float, rule.initial)), []
        if rule.window >= max(LOOKED_AT):
            assert rule.unlearn is not None
            self.numbers("unlearn", rule.unlearn, len(own), *own, 0.5)

    def alarmed(self, own: tuple[float, ...], ring: list[float]) -> bool:
        rule = self.rule
        assert rule.alarm is not None
        last = ((np.array(ring[-rule.history :]), len(ring[-rule.history :]), rule.history),) if rule.history else ()
        found = self.called("alarm", rule.alarm, *own, *last)
        if not isinstance(found, bool | np.bool_):
            raise self.wrong("alarm", "True or False", found, own)
        if found and rule.renew is not None:
            found_common = self.called("renew", rule.renew, self.common)
            self.common = self.tuple_of("renew", found_common, len(self.common), self.common)
        return bool(found)

    def reward(self, choice: int) -> float:
        """Rewards that take turns: large, small, between, many of one kind."""
        low, high = max(self.rule.least_reward, -3.0), min(self.rule.largest_reward, 3.0)
        share = (1.0, 0.0, 0.5, 1.0, 1.0, 0.25, 0.0)[choice % 7] if choice < 100 else float(choice % 3 == 0)
        if self.rule.binary:
            share = round(share)
        return low + (high - low) * share

    def shared(self, total: float) -> float:
        luck = (0.5,) if self.rule.luck else ()
        if self.rule.pieces is not None:
            ends = self.called("pieces", self.rule.pieces, total, *self.common)
            if not isinstance(ends, tuple) or not ends or not all(map(_is_number, ends)):
                raise self.wrong("pieces", "a tuple of numbers", ends, (total,))
            if list(ends) != sorted(ends) or ends[0] < 0.0 or abs(ends[-1] - 1.0) > 1e-6:
                raise self.wrong("pieces", "increasing numbers from 0 to 1, the last one 1", ends, (total,))
            for start, end in zip((0.0, *ends[:-1]), ends, strict=True):
                points = [start + (end - start) * part for part in (0.01, 0.5, 0.99)]
                values = {self.number("context", self.rule.context, total, *self.common, point) for point in points}
                if len(values) > 1 and end - start > 1e-9:
                    allowed = f"the same number for all luck from {start:g} to {end:g}, as pieces say"
                    raise self.wrong("context", allowed, sorted(values), (total,))
        if self.rule.context is no_context:
            return 0.0
        return self.number("context", self.rule.context, total, *self.common, *luck)

    def try_sample(self, shared: float, own: tuple[float, ...]) -> None:
        sampler = sampler_of(self.rule)
        size = sampler.size
        shape = own if sampler.shape is None else self.numbers("shape", sampler.shape, size, shared, *own)
        if len(shape) != size:
            raise InvalidValue(f"size of the sampler of {self.name} must be {len(shape)}, got {size}")
        if self.rule.posterior is not None:
            least = (-math.inf, 0.0) if self.rule.posterior.law == "normal" else (1e-300, 1e-300)
            if any(value < low for value, low in zip(shape, least, strict=True)):
                allowed = "a mean and a deviation" if self.rule.posterior.law == "normal" else "two numbers above 0"
                raise self.wrong("shape", allowed, shape, (shared, *own))
            if self.rule.posterior.law != "normal" and not self.rule.posterior.small and min(shape) < 1.0:
                raise self.wrong("shape", "numbers of at least 1, as small is False", shape, (shared, *own))
        elif sampler.law and min(shape) < 1.0:
            raise self.wrong("shape", "numbers of at least 1, as the law of its sampler needs", shape, (shared, *own))
        try:
            found = sampler.attempt(shape, WORDS, MORE)
            sampler.accepted(shape, WORDS)
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            raise InvalidValue(f"sampler of {self.name} fails for {_told(shape)}: {told}") from error
        if not isinstance(found, tuple) or len(found) != 2:
            raise self.wrong("attempt", "a number and whether it is sure", found, shape)
        if not _is_number(found[0]):
            raise self.wrong("attempt", "a number", found[0], shape)

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

    def numbers(
        self, part: str, function: Callable[..., Any], count: int, *arguments: Any, undefined: bool = False
    ) -> tuple[float, ...]:
        found = self.called(part, function, *arguments)
        return self.tuple_of(part, found, count, arguments, undefined)

    def tuple_of(
        self, part: str, found: Any, count: int, arguments: tuple[Any, ...], undefined: bool = False
    ) -> tuple[float, ...]:
        right = isinstance(found, tuple) and len(found) == count
        if not right or not all(_is_number(each) or (undefined and each != each) for each in found):
            raise self.wrong(part, f"a tuple of {count} numbers", found, arguments)
        return tuple(map(float, found))

    def wrong(self, part: str, allowed: str, found: Any, arguments: tuple[Any, ...]) -> InvalidValue:
        return InvalidValue(
            f"{part} of {self.name} must return {allowed}, got {checks.shown(found)} for {_told(arguments)}"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and not math.isnan(value)


def _is_finite(value: Any) -> bool:
    return _is_number(value) and math.isfinite(value)


def _told(arguments: tuple[Any, ...]) -> str:
    """The numbers among the arguments."""
    found: list[str] = []
    for value in arguments:
        if isinstance(value, float):
            found.append(f"{value:g}")
        elif isinstance(value, tuple):
            found += [f"{each:g}" for each in value if isinstance(each, float)]
    return ", ".join(found)
