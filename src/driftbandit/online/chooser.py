"""Chooses an arm: the compiled choice of a policy, with its seed, its floor and the number of its next decision."""

import math
from typing import Any

import numpy as np

from driftbandit.compiling.gears import Functions, Gears, geared, geared_part
from driftbandit.engine.cpu import context, watch
from driftbandit.engine.cpu.block import Reals
from driftbandit.engine.step import numbers, one_run
from driftbandit.engine.step.rule_slots import rule_slots
from driftbandit.errors import InvalidValue
from driftbandit.numerics.rng import TRIAL, draw, uniform
from driftbandit.online import choice_kernels as kernels
from driftbandit.online.sleeping import ZERO, Order, best_asleep, exponential, sleeping_slots
from driftbandit.policies import Policy, Rule
from driftbandit.policies.posterior import sampler_of
from driftbandit.policies.rule import no_context

MOST_INTERPRETED = 2000
"""Arms that are looked at one by one while the choice is not compiled; for more, the compiler is waited for."""
Bounds = tuple[tuple[float, float], tuple[float, float]]
SMALL: Bounds = (0.0, 0.0), (1e150, 1e150)
"""Shapes of a Beta law of which samples can be drawn: of larger ones the odds overflow, and 0 has faded from above."""
LARGE: Bounds = (0.5, 0.5), (1e150, 1e150)
"""The same where they are never below 1, but for rounding."""
NORMAL: Bounds = (-1e150, 0.0), (1e150, 1e150)
"""The same of a normal law."""


class Chooser:
    """Chooses an arm from evidence."""

    def __init__(self, policy: Policy, n_arms: int, seed: int, replica: int, floor: float) -> None:
        self._policy = policy
        self._rules: dict[int, tuple[Rule, tuple[float, ...]]] = {}
        self._compiled: Any = None
        self._sleepy = False
        self.rule = rule = policy.rule(max(2, n_arms))
        self.seed, self.replica = seed, replica
        self.by_step = callable(rule.explore)
        """Whether it matters which step it is."""
        self.plain = rule.context is no_context and not (rule.common or rule.luck or self.by_step)
        """Whether odds follow from the arms' own numbers alone."""
        first = [0.0] * kernels.FIRST
        ones = [1.0] * len(rule.initial)
        most = float(rule.steps_window) if rule.steps_window and not told_total(rule) else math.inf
        self._settings = np.array([*first, *rule.initial, *ones, most, *rule.common, *rule.parameters], np.float64)
        self._settings[[kernels.SEED_HIGH, kernels.SEED_LOW]] = seed >> 32, seed & 0xFFFFFFFF
        self._settings[[kernels.REPLICA, kernels.FLOOR, kernels.STEP]] = replica, floor, 1.0
        weights, common = kernels.FIRST + len(ones), kernels.FIRST + 2 * len(ones) + 1
        self.weights = self._settings[weights : common - 1]
        """A factor for each number, where they fade differently."""
        self.common = self._settings[common : common + len(rule.common)]
        """The shared numbers."""
        self._ahead = 0
        """By how much numbers of decisions are ahead of their count."""
        self._for_count = 0
        self.current = (rule, policy.name)
        """The rule for as many arms as were eligible last."""
        self._prepare(n_arms)
        self._gears = geared_choice(rule)

    @property
    def number(self) -> int:
        """The number of the latest decision, from which its random numbers follow."""
        return int(self._settings.item(kernels.SEQUENCE))

    @number.setter
    def number(self, number: int) -> None:
        self._settings[kernels.SEQUENCE] = number

    @property
    def made(self) -> int:
        """How many decisions were made."""
        return self.number - self._ahead

    def go_on_at(self, number: int, made: int) -> None:
        """So many decisions were made, and the next has the number after this one."""
        self.number, self._ahead = number, number - made

    def rule_for(self, count: int) -> Rule:
        """The rule where this many arms are eligible; where only one is, any will do."""
        return self._found(count)[0]

    def parameters(self, count: int) -> tuple[float, ...]:
        """What the rule's functions get where this many arms are eligible."""
        return self._found(count)[1]

    def _found(self, count: int) -> tuple[Rule, tuple[float, ...]]:
        found = self._rules.get(count)
        if found is None:
            rule = self._policy.rule(max(2, count))
            _check_alike(self._policy, self.rule, rule)
            found = self._rules[count] = (rule, tuple(map(float, rule.parameters)))
        return found

    def _prepare(self, count: int) -> None:
        rule, parameters = self._found(count)
        self._settings[len(self._settings) - len(parameters) :] = parameters
        if not callable(rule.explore):
            self._settings[kernels.SHARE] = rule.explore
        self._for_count, self.current = count, (rule, self._policy.name)

    def choose(self, table: Reals, shapes: Reals, order: Order, weight: float, best: float) -> kernels.Choice:
        """The next decision, as `choice_kernels` describes it."""
        count, settings = order.count, self._settings
        if count != self._for_count:
            self._prepare(count)
        if self.by_step:
            settings[kernels.STEP] = self.made + 1.0
        if order.sleepy != self._sleepy:
            settings[kernels.SLEEPY] = self._sleepy = order.sleepy
        run = self._compiled or self._in_gear(order.active)
        choice: kernels.Choice = run(table, order.list, shapes, settings, weight, order.active, count, best)
        if order.sleepy:
            order.active = choice[3]
        return choice

    def _in_gear(self, looked_at: int) -> Any:
        """What chooses among so many arms while the compiled choice may not be there yet."""
        self._compiled = self._gears.kernel
        return self._compiled or (self._gears if looked_at <= MOST_INTERPRETED else self._gears.wait)

    def functions(self, table: Reals, shapes: Reals, order: Order) -> Functions:
        """What choosing runs, each with arguments of the right types."""
        yield self._gears, (table, order.list, shapes, self._settings, 1.0, order.active, order.count, 0.0)
        if self.rule.binary:
            yield geared_part(trial), (np.uint64(self.seed), 0, 1)
        if order.may_sleep:
            yield geared_part(exponential), (np.uint64(self.seed), 0, 1)

    def keep(self, floor: float) -> None:
        """No eligible arm has less than this probability from now on."""
        self._settings[kernels.FLOOR] = floor

    def draw_from(self, replica: int) -> None:
        """The random numbers of the next decisions are those of another replica."""
        self.replica = self._settings[kernels.REPLICA] = replica

    def settings_for(self, count: int) -> Reals:
        """What a kernel is told of a choice among so many arms, as `choice_kernels` describes it; a copy."""
        self._prepare(count)
        return self._settings.copy()

    def best_asleep(self, shared: float, order: Order) -> float:
        """The largest score of the arms that are asleep in the next decision."""
        rule, asleep = self.rule_for(order.count), order.count - order.active
        return best_asleep(rule, shared, asleep, self.seed, self.replica, self.number + 1)

    def seen(self) -> tuple[tuple[float, ...], float, float]:
        """Shared numbers, the number of observations, and the step, as the latest choice saw them."""
        settings = self._settings
        return tuple(self.common.tolist()), settings.item(kernels.TOTAL), settings.item(kernels.STEP)

    def trial(self, replica: int, number: int) -> float:
        """The uniform number of the Bernoulli trial with a fractional reward.

        It is keyed by the decision, so the outcome does not depend on when or where the reward comes.
        """
        gears = geared_part(trial)
        return float((gears.kernel or gears)(np.uint64(self.seed), replica, number))


def _check_alike(policy: Policy, first: Rule, other: Rule) -> None:
    """That rules for more and for fewer arms differ in the values of parameters only."""
    sizes = (len(first.parameters), first.initial, first.common, first.decays, first.drifts, first.window)
    if sizes != (len(other.parameters), other.initial, other.common, other.decays, other.drifts, other.window):
        what = "only in the values of its parameters where arms come and go"
        raise InvalidValue(f"rule of {type(policy).__name__} must differ {what}, got other numbers")
    if first.beliefs is not None and other.beliefs is not None:
        for part in ("initial", "common"):
            if getattr(first.beliefs, part).tolist() != getattr(other.beliefs, part).tolist():
                what = f"the same {part} of its beliefs for any number of arms"
                raise InvalidValue(f"rule of {type(policy).__name__} must have {what}, got another")


def told_total(rule: Rule) -> bool:
    """Whether a rule's numbers say how many observations there are; else they are counted as rewards are learned."""
    return rule.own_total or (rule.learning != "additive" and rule.observations is not None)


def shared_by(rule: Rule, total: float, common: tuple[float, ...]) -> list[float]:
    """What arms may share in a decision, whatever the luck."""
    ends = (1.0,) if rule.pieces is None else rule.pieces(rule.parameters, total, *common)
    return [rule.shared(total, common, 0.5 * sum(piece)) for piece in zip((0.0, *ends), ends, strict=False)]


def can_score(rule: Rule, shared: float, own: list[float]) -> bool:
    """Whether a rule can score an arm with these numbers; compiled code would go on with a NaN, or never end."""
    p = rule.parameters
    try:
        if rule.selection == "weighted":
            return math.isfinite(rule.weigh(shared, tuple(own)))
        if rule.selection == "index":
            assert rule.score is not None
            return not math.isnan(rule.score(p, shared, *own))
        sampler = sampler_of(rule)
        shape = own if sampler.shape is None else sampler.shape(p, shared, *own)
    except (ArithmeticError, ValueError):
        return False
    if rule.posterior is None:
        pair = all(LARGE[0][0] <= value <= LARGE[1][0] for value in shape)
        return pair if sampler.law else all(map(math.isfinite, shape))
    least, most = NORMAL if rule.posterior.law == "normal" else SMALL if rule.posterior.small else LARGE
    return all(low <= value <= high for low, value, high in zip(least, shape, most, strict=True))


def geared_choice(rule: Rule) -> Gears:
    """The selection of a rule."""
    function, slots = choice_of(rule)
    return geared(function, **slots)


def choice_of(rule: Rule) -> tuple[Any, dict[str, Any]]:
    """The selection of a rule as a kernel, and what its slots are filled with."""
    count = len(rule.initial)
    first, columns = kernels.FIRST, kernels.columns_of(count)
    common = first + 2 * count + 1
    surrounded = rule.context is not no_context and (bool(rule.common) or rule.luck)
    lucky = rule.luck or (rule.beliefs is not None and rule.beliefs.lucky)
    known_now = rule.selection == "weighted" or (rule.selection == "index" and not lucky)
    slots: dict[str, Any] = rule_slots(rule, context, watch) | {
        "size": count,
        "other_at": columns.other,
        "weight_at": columns.weight,
        "weights_at": first + count,
        "own_of": numbers.row_reader(count),
        "arm_at": one_run.listed,
        "start_of": numbers.span_reader(first, count),
        "common_of": numbers.span_reader(common, len(rule.common)),
        "parameters_of": numbers.span_reader(common + len(rule.common), len(rule.parameters)),
        "fade": kernels.one_weight if len(set(rule.decays)) == 1 else kernels.own_weight,
        "counted": kernels.told_count if told_total(rule) else kernels.kept_count,
        "shared_now": kernels.with_more if surrounded else kernels.plainly,
        "turn": kernels.turn_to_any if rule.explore != 0.0 else kernels.no_turn,
        "spread": kernels.with_share if known_now and rule.explore != 0.0 else kernels.as_chosen,
        "observations": rule.observations,
    }
    if rule.selection == "weighted":
        return kernels.choose_by_weight, slots
    slots |= sleeping_slots(rule) | {
        "attempted": one_run.attempted_score if rule.selection == "sampled" else one_run.index_score,
        "chance_of": kernels.even_split if known_now else kernels.later,
    }
    return kernels.choose_by_score, slots


def trial(seed: np.uint64, replica: int, sequence: int) -> float:
    """The uniform number that decides whether a fractional reward is a success."""
    words = draw(seed, np.uint64(replica), np.uint64(sequence), ZERO, TRIAL, ZERO)
    return uniform(words[0], words[1])
